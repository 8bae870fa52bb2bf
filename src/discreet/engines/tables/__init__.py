"""Coded rows and exact tables of counts."""
