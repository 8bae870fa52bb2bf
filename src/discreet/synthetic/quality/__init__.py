"""How good synthetic data are, predicted and measured."""
