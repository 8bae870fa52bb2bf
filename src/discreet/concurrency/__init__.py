"""Limits on concurrent work: semaphores, rate limits and caches."""
