"""Many measurements under one charge: domains, measurers, runs, transcripts and reuse."""
