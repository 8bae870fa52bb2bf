"""The API: one request per verb, the interface that all curators share, and what the local curator does with each request."""
