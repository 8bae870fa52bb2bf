"""Retired words may leave a package, and never come back.

`remaining.json` has how many lines of each package still have one. Some are keys of stored formats, which keep their words.
After removing some, run `python -m tests.vocabulary.retired --write`.
"""

import json

import pytest

from tests.vocabulary.retired import REMAINING, count, packages, retired_in


@pytest.mark.parametrize(("name", "path"), packages().items(), ids=packages())
def test_no_package_has_more_retired_words_than_it_had(name, path):
    assert count(path) <= json.loads(REMAINING.read_text()).get(name, 0), (
        f"python -m tests.vocabulary.retired {path} lists them; docs/reference/glossary.md has the terms to use"
    )


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("the books are kept", ["books"]),
        ("class QuestionBody:", ["question"]),
        ("def taken_back(self):", ["take back"]),
        ("a query is charged", []),
        ("it looks up a value", []),
        ("there is no longer a migration", []),
    ],
)
def test_words_are_found_in_prose_and_in_identifiers(line, found):
    assert retired_in(line) == found
