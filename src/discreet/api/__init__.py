"""The API: one request per verb, the interface that all curators share, and the operations of the local curator."""
