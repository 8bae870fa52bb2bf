"""Where rows come from: databases, Parquet and CSV files, data frames."""
