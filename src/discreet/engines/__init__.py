"""A query to exact integers: the protocol of engines, and DuckDB behind it."""

from discreet.engines.duckdb.duck_engine import DuckEngine
from discreet.engines.duckdb.snapshot import ReportProgress, fingerprint_source
from discreet.engines.engine import Engine
from discreet.engines.sources.catalog_fit import ColumnFit, TableFit, fits
from discreet.engines.sources.file_profile import profile_files
from discreet.engines.sources.row_sources import with_public_columns
from discreet.engines.sources.source_fingerprint import SourceFingerprint, location_of
from discreet.engines.sqlgen.common_subexpressions import mentions
from discreet.engines.sqlgen.condition_size import is_heavy

__all__ = [
    "ColumnFit",
    "DuckEngine",
    "Engine",
    "ReportProgress",
    "SourceFingerprint",
    "TableFit",
    "fingerprint_source",
    "fits",
    "is_heavy",
    "location_of",
    "mentions",
    "profile_files",
    "with_public_columns",
]
