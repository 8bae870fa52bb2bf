"""Two datasets with one ledger are refused, however its place is spelt, and before anything is written into it."""

import shutil

import pytest

from discreet.catalog import load_catalog
from discreet.ledger import Ledger
from discreet.samples import write_clinic
from discreet.server.http import uvicorn_server
from tests.support.commands import run
from tests.support.opening import start_ledger


def another_place(where, folder):
    if "://" in where:
        return f"{where}&application_name=another"
    return shutil.copy(where, folder / "copied.sqlite")  # what was spent there was spent once


def test_two_spellings_of_one_ledger_or_a_copy_of_it_are_noticed_before_anything_is_written(
    where, tmp_path, monkeypatch
):
    monkeypatch.setattr(uvicorn_server, "run", lambda *_, **__: pytest.fail("it is served"))
    first, second = (write_clinic(tmp_path / name, patients=20, visits=50) for name in ("a", "b"))
    first.write_text(first.read_text().replace('"ledger.sqlite"', f'"{where}"'))
    start_ledger(first)
    spelt = another_place(where, tmp_path)
    second.write_text(
        second.read_text().replace('"ledger.sqlite"', f'"{spelt}"').replace("epsilon = 5.0", "epsilon = 7.0")
    )
    assert "Two catalogs use the same ledger" in run("serve", first, second, code=3)
    catalog = load_catalog(first)
    ledger = Ledger.open(where, anchor=catalog.anchor)
    assert ledger.account().cap.epsilon == 5.0
    ledger.close()


def test_books_have_a_name_that_no_others_have(where, tmp_path):
    ledgers = [Ledger.new(place) for place in (where, tmp_path / "other.sqlite")]
    assert [ledger.name() for ledger in ledgers] == ["", ""], "nothing is in them"
    for ledger in ledgers:
        ledger.record(lambda _: [("catalog", {"sha256": "0" * 64})], by="the same")
    assert len({ledger.name() for ledger in ledgers}) == 2
    for ledger in ledgers:
        ledger.close()
