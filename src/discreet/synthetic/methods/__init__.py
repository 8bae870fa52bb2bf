"""Synthesis methods: which tables each measures."""
