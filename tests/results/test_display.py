"""How an answer shows itself: digits that are worth something, columns that machines read, bars that load nothing."""

import math
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from discreet.api.remote import RemoteAnswer
from discreet.core.loss import Loss
from discreet.core.number_format import amount, figure, plus_minus
from discreet.errors import MissingPackage
from discreet.results.tabular import interval_names


def answer(rows, widths, *, replayed=False, notes=()):
    """An answer as it comes over the wire, of these rows and ±."""
    kinds = {str: "text", int: "integer", float: "real"}
    facts = {
        "columns": list(rows[0]),
        "types": [kinds[type(value)] for value in rows[0].values()],
        "rows": rows,
        "half_widths": [{name: widths.get(name) for name in row} for row in rows],
        "intervals": [
            {name: [row[name] - widths[name], row[name] + widths[name]] if name in widths else None for name in row}
            for row in rows
        ],
        "notes": list(notes),
    }
    return RemoteAnswer(lambda level: facts, {0.95: facts}, loss=Loss(0.5), replayed=replayed, receipt="")


WARDS = answer(
    [
        {"ward": "ER", "visits": 41873, "mean_cost": 2204.28436011245},
        {"ward": "急診", "visits": 9962, "mean_cost": 6871.0},
        {"ward": "<b>x</b>", "visits": -18, "mean_cost": 4455.5},
    ],
    {"visits": 118, "mean_cost": 30.21},
)


@pytest.mark.parametrize(
    ("value", "width", "said"),
    [
        (41873, 118, ("41,873", "± 118")),
        (41873, 118.2, ("41,873", "± 119")),
        (2204.28436011245, 30.21, ("2,204", "± 31")),
        (0.28436011245154963, 0.0034, ("0.2844", "± 0.0034")),
        (12.3456, 3.01, ("12.3", "± 3.1")),
        (0.5, 1e-30, ("5.0e-01", "± 1.0e-30")),
        (7.0, 0.0, ("7", "± 0")),
        (-0.001, 5.2, ("0.0", "± 5.2")),
        (3, math.inf, ("3", "± ∞")),
        (None, None, ("—", "—")),
        ("2024-01-31", 12.0, ("2024-01-31", "± 12 days")),
        (10**30, 10.0**28, ("1.0e+30", "± 1.0e+28")),
    ],
)
def test_numbers_have_the_digits_that_their_uncertainty_is_worth(value, width, said):
    assert (figure(value, width), plus_minus(value, width)) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.28436011245154963, "0.28436"),
        (2024, "2024"),
        (1234567.891, "1,234,568"),
        (True, "True"),
        ("a\x1b[31m", "a�[31m"),
    ],
)
def test_what_has_no_uncertainty_is_written_as_it_is_and_drives_no_terminal(value, said):
    assert figure(value) == said


@pytest.mark.parametrize("exponent", range(-12, 12))
def test_no_uncertainty_is_shown_as_nothing_and_none_smaller_than_it_is(exponent):
    width = 2.718281828 * 10.0**exponent
    shown = float(plus_minus(0.1, width).removeprefix("± ").replace(",", ""))
    assert width <= shown * (1 + 1e-1 if exponent < -8 else 1) <= 1.2 * width


def test_an_answer_is_a_table_in_a_terminal():
    lines = repr(WARDS).splitlines()
    assert lines[:4] == [
        "  ward      visits         mean_cost",
        "  ER        41,873  ± 118      2,204  ± 31",
        "  急診       9,962  ± 118      6,871  ± 31",
        "  <b>x</b>     -18  ± 118      4,456  ± 31",
    ]
    assert "in 95 of 100 answers the bounded value is inside ±; paid ε 0.5" in lines[5]
    assert "free: asked before" in repr(answer([{"n": 1}], {"n": 2}, replayed=True, notes=["mostly noise"]))
    assert "mostly noise" in repr(answer([{"n": 1}], {"n": 2}, notes=["mostly noise"]))


def test_a_long_answer_says_how_much_is_left_out():
    long = answer([{"n": number} for number in range(1000)], {"n": 2})
    assert "… 960 more rows" in repr(long)
    assert "… 500 more rows" in long._repr_html_()
    assert "940 more rows are not drawn" in long.plot().svg


def test_html_and_picture_are_well_formed_escaped_and_load_nothing():
    html, picture = WARDS._repr_html_(), WARDS.plot()
    ElementTree.fromstring(f"<div>{html}</div>")
    root = ElementTree.fromstring(picture.svg)
    for text in (html, picture.svg):
        assert "<b>x" not in text
        assert "&lt;b&gt;x" in text
        assert "41,873" in text
        assert "± 118" in text
        assert not [word for word in ("href", "src=", "url(", "<script") if word in text]
    bars = [node for node in root.iter() if node.tag.endswith("rect")]
    whiskers = [node for node in root.iter() if node.get("class") == "whisker"]
    assert len(bars) == len(whiskers) == 6
    assert float(bars[0].get("width")) > 4 * float(bars[1].get("width"))


def test_machines_read_a_column_and_the_ends_of_its_interval():
    table = WARDS.to_arrow()
    assert table.column_names == [
        "ward", "visits", "visits_low", "visits_high", "mean_cost", "mean_cost_low", "mean_cost_high"
    ]  # fmt: skip
    assert table.to_pylist()[0] == {
        "ward": "ER", "visits": 41873, "visits_low": 41755, "visits_high": 41991,
        "mean_cost": 2204.28436011245, "mean_cost_low": 2204.28436011245 - 30.21, "mean_cost_high": 2204.28436011245 + 30.21,
    }  # fmt: skip
    assert list(WARDS.to_pandas().columns) == WARDS.to_polars().columns == table.column_names


def test_a_column_that_is_called_as_an_end_keeps_its_name():
    assert interval_names(["n", "n_low", "k"], ["n", "n_low"]) == {
        "n": ("n_low_", "n_high_"),
        "n_low": ("n_low_low", "n_low_high"),
    }


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_package_that_is_missing_is_named_with_the_command_that_installs_it(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=rf"pip install {package}$") as caught:
        getattr(WARDS, f"to_{package}")()
    assert caught.value.code == "missing-package"
    assert isinstance(caught.value, ImportError)


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pandas", "polars", "matplotlib", "IPython", "sqlalchemy"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
from tests.results.test_display import WARDS, MissingPackage
repr(WARDS), WARDS._repr_html_(), WARDS.plot(), WARDS.to_arrow()
for convert in (WARDS.to_pandas, WARDS.to_polars):
    try:
        convert()
    except MissingPackage:
        continue
    sys.exit("it was there")
"""


def test_an_answer_shows_itself_without_any_optional_package():
    subprocess.run([sys.executable, "-c", WITHOUT], check=True)


def test_prices_and_scales_have_three_digits_and_are_never_written_as_nothing():
    numbers = (0.28436011245154963, 0.5, 2.0, 1.999, 240.13, 12345.678, 0.0012345, 0.000999, 1e-6, 0)
    shown = ["0.284", "0.5", "2", "2", "240", "12,346", "0.00123", "9.99e-4", "1e-6", "0"]
    assert [amount(number) for number in numbers] == shown
