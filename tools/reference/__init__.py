"""The generated parts of docs/reference: `make reference` writes them, and a test fails where they are not current.

A page holds marks such as `<!-- functions: begin -->` and `<!-- functions: end -->`. Their first word names a generator
of this package, further words are its arguments; what lies between them is generated.
"""
