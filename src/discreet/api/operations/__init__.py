"""What the local curator does with a request. A module has the name of its request's module, and the functions `run`, `plan` (if the request has
a free plan) and `recall` (if the result of an earlier charge can be loaded again).
"""
