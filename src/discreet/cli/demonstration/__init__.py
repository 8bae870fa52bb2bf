"""The demo and the attack lab."""
