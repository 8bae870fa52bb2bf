"""Mechanisms that choose one of many."""
