"""How good a release is, told from what was drawn for it: bounds that hold, values that were put together as one, and no outside parts."""

import json
import re
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from discreet.api.opening import open_curator
from discreet.catalog import parse_catalog
from discreet.synthetic.quality.quality_report import html_report, summary

VALUES = ["<b>rare</b>", *(f"v{n}" for n in range(40))]
FRAME = pa.table(
    {
        "person": range(3000),
        "kind": [VALUES[0], *(VALUES[1 + n % 3] for n in range(2999))],
        "age": [n % 90 for n in range(3000)],
        "sex": ["F", "M", "M"] * 1000,
    }
)


@pytest.fixture(scope="module")
def releases():
    text = f"""
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
epsilon = 20
delta = 1e-6
[tables.t]
privacy_unit = "person"
columns.person = {{ type = "integer" }}
columns.kind = {{ type = "text", values = {json.dumps(VALUES)} }}
columns.age = {{ type = "integer", lower = 0, upper = 89 }}
columns.sex = {{ type = "text", values = ["F", "M"] }}
"""
    with open_curator(catalog=parse_catalog(text), frames={"t": FRAME}) as curator:
        yield {
            "aim": curator.synthesize("t", rho=0.05, workload=2, name="<i>t</i>"),
            "smalldb": curator.synthesize("SELECT sex FROM t", rho=0.05, workload=1, method="smalldb"),
        }


def test_bars_are_within_their_bounds_and_values_that_were_put_together_are_one(releases):
    facts = summary(releases["aim"], 0.95)
    kinds, ages, sexes = facts["bars"]
    assert [bar["column"] for bar in facts["bars"]] == ["kind", "age", "sex"]
    assert len(kinds["values"]) < len(VALUES)
    assert "more" in " ".join(value["label"] for value in kinds["values"])
    assert sum(value["count"] for value in ages["values"]) == pytest.approx(facts["total"])
    ends = [value["label"].split(" to ") for value in ages["values"]]
    assert (len(ends) < 90, ends[0][0], ends[-1][-1]) == (True, "0", "89")  # neighbours by their ends
    assert all(int(before[-1]) + 1 == int(after[0]) for before, after in pairwise(ends))
    exact = {"F": 1000, "M": 2000}
    off = sum(abs(value["count"] - exact[value["label"]]) for value in sexes["values"])
    assert 0 <= off <= sexes["within"]
    assert all(0 < bar["share"] <= 2 for bar in facts["bars"])


def test_every_pair_has_a_bound_that_is_that_of_the_release(releases):
    release = releases["aim"]
    facts = summary(release, 0.9)
    assert [tuple(pair["columns"]) for pair in facts["pairs"]] == [("kind", "age"), ("kind", "sex"), ("age", "sex")]
    assert [pair["within"] for pair in facts["pairs"]] == [bound.rows for bound in release.bounds(0.9)]
    assert np.isfinite([pair["share"] for pair in facts["pairs"]]).all()
    json.dumps(facts, allow_nan=False)


def test_the_page_has_no_outside_parts_and_shows_names_and_values_as_text(releases):
    page = html_report(releases["aim"], 0.95)
    assert not re.search(r"<script|<link|<img|url\(|src=|@import", page)
    assert set(re.findall(r"https?://[^\"<]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert "<i>t</i>" not in page
    assert "<b>rare</b>" not in page
    assert "&lt;i&gt;t&lt;/i&gt;" in page
    assert releases["aim"].receipt in page
    assert page.count("<rect") > 6


def test_a_method_without_bounds_says_so(releases):
    assert summary(releases["smalldb"], 0.95)["bars"][0]["within"] is None
    assert "gives no error bounds" in html_report(releases["smalldb"], 0.95)
