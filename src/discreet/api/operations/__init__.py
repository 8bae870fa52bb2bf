"""What the local curator does for each request."""
