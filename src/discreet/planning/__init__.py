"""From a query to a plan: what it measures, what each measure costs, and how long it may take."""
