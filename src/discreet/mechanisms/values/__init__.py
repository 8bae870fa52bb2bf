"""Values in and out: scalars, lists, arrays, data frames, grids."""
