"""What browser tests share: whether a page is accessible, and whether all of it can be seen."""

from pathlib import Path

_AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
_FOUND = (
    "async () => (await axe.run()).violations.map((found) => `${found.impact} ${found.id}: ${found.nodes[0].html}`)"
)


def check_accessible(page):
    """Nothing that the accessibility checker finds, of any weight; and nothing that is cut off at the side."""
    page.evaluate(_AXE)  # not as a script of the page: its Content-Security-Policy forbids those
    found = page.evaluate(_FOUND)
    assert found == [], found
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
