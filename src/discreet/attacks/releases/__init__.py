"""Weak releases: ways of publishing data or answering queries that were used or proposed, and are not private."""
