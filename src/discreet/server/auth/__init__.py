"""Who may call which route: keys, roles, page sessions, rate limits."""
