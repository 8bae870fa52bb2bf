"""Every command and every line of Python in a tutorial runs, in order, and prints the words that the page shows.

`make tutorials` writes the outputs anew. Numbers differ from run to run, so only words are compared.
"""

import re

import pytest

from tools.run_tutorials import BLOCK, TUTORIALS, outputs

PAGES = sorted(TUTORIALS.glob("*.md"))


def _words(text):
    text = re.sub(r"\b[0-9a-f]{16,}\b", "", text)  # bytes of a report, which are drawn anew
    return set(re.findall(r"[^\W\d_]{3,}", text))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_runs_and_prints_what_it_shows(page, tmp_path):
    text = page.read_text()
    blocks = BLOCK.findall(text)
    assert len(blocks) >= 8
    for (language, shown), printed in zip(blocks, outputs(text, tmp_path), strict=True):
        if language == "text":
            missing = _words(shown) - _words(printed)
            assert len(missing) <= len(_words(shown)) / 5, f"{sorted(missing)} in\n{printed}"


def test_there_are_five_tutorials():
    assert len(PAGES) == 5
