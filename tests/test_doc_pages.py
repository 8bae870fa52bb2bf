"""Pages a stranger can read: short, reachable from the navigation, and with links that lead somewhere."""

import re
from pathlib import Path

import pytest
import yaml
from markdown.extensions.toc import slugify

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINKING = [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"))]
LINES, WORDS, CELL = 250, 120, 200


def _name(page):
    return str(page.relative_to(ROOT))


def _without_code(text):
    text = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)


def _paragraphs(text):
    """Paragraphs and list items; headings, tables and indented blocks are none."""
    for block in re.split(r"\n\s*\n", _without_code(text)):
        for item in re.split(r"\n(?=\s*(?:[-*]|\d+\.) )", block):
            lines = [line for line in item.splitlines() if not re.match(r"\s*\||#|    ", line)]
            yield " ".join(lines)


@pytest.mark.parametrize("page", LINKING, ids=_name)
def test_a_page_is_short_and_so_are_its_paragraphs_and_cells(page):
    text = page.read_text()
    assert len(text.splitlines()) <= (150 if page.name == "README.md" else LINES)
    assert not [words for words in _paragraphs(text) if len(words.split()) > WORDS]
    rows = [line for line in _without_code(text).splitlines() if line.startswith("|")]
    cells = [cell.strip() for row in rows for cell in re.split(r"(?<!\\)\|", row)]
    assert not [cell for cell in cells if len(_shown(cell)) > CELL]


def _shown(cell):
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell)


@pytest.mark.parametrize("page", LINKING, ids=_name)
def test_lines_fit_120_columns(page):
    lines = _without_code(page.read_text()).splitlines()
    assert not [line for line in lines if len(line) > 120 and not line.startswith(("|", "!["))]


def _navigation(entries):
    for entry in entries:
        below = next(iter(entry.values())) if isinstance(entry, dict) else entry
        yield from [below] if isinstance(below, str) else _navigation(below)


def test_every_page_is_in_the_navigation_once():
    listed = sorted(_navigation(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    assert listed == sorted(str(page.relative_to(DOCS)) for page in PAGES)


def _anchors(page):
    headings = re.findall(r"^#+ (.+)$", _without_code(page.read_text()), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "") for heading in headings]
    return {slugify(heading, "-") for heading in plain}


@pytest.mark.parametrize("page", LINKING, ids=_name)
def test_links_lead_to_files_and_headings_that_exist(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", _without_code(page.read_text())):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if DOCS in page.parents:
            assert DOCS in file.parents, f"{target} is not part of the site"
        if anchor:
            assert anchor in _anchors(file), target


def test_a_page_begins_with_one_title():
    for page in PAGES:
        assert len(re.findall(r"^# ", _without_code(page.read_text()), re.MULTILINE)) == 1, page


def test_every_picture_is_shown_somewhere():
    text = "".join(page.read_text() for page in LINKING)
    assert [image.name for image in (DOCS / "images").iterdir() if image.name not in text] == []
