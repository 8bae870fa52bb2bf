"""How the lab plays attacks and reports results."""
