"""SELECTs that aggregate across people, and SELECTs over their results."""
