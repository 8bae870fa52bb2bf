"""Writers of SVG and HTML."""
