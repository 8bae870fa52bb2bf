"""The one way to an answer: reserve, read, add noise, store, return."""
