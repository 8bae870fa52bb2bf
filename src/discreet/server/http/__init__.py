"""HTTP below the routes: connections, limits, bodies, responses, threads."""
