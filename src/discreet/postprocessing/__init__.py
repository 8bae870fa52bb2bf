"""Everything computed after the noise: arithmetic, intervals, ordering and views over released tables."""
