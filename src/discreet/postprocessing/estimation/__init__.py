"""Numbers and intervals from noisy measures: estimates, their half-widths, and population intervals."""
