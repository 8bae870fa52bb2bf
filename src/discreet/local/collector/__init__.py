"""The collector: messages in, tallies and estimates out."""
