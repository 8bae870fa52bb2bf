"""Books that are missing, older than their note, or without it; caps and sources that changed between two openings."""

import os

import pytest

from discreet.accounting import open_filter
from discreet.api.opening import open_curator, refresh
from discreet.catalog import load_catalog, parse_catalog
from discreet.engines import fingerprint_source
from discreet.errors import BadInput, LedgerDamaged, NoAnchor, NoLedger, SourceChanged
from discreet.ledger import Ledger, verify
from discreet.ledger.accounts.declared_ledger import open_existing_ledger, start_ledger
from discreet.samples import write_clinic
from tests.ledger.asking import a_ledger, a_request, ask, open_ledger
from tests.support.opening import shorten

COUNT = "SELECT COUNT(*) FROM visits"


@pytest.fixture
def config(tmp_path):
    return write_clinic(tmp_path / "clinic", patients=20, visits=50)


def begun(config):
    """The catalog whose books were begun."""
    catalog = load_catalog(config)
    start_ledger(catalog).close()
    return catalog


def test_a_ledger_that_is_missing_is_not_begun_by_whoever_opens_it(where, config):
    with pytest.raises(NoLedger, match="discreet ledger new"):
        Ledger.open(where)
    with pytest.raises(NoLedger):
        open_curator(config)
    with pytest.raises(NoLedger):
        refresh(config)
    assert sorted(file.suffix for file in config.parent.iterdir()) == [".parquet"] * 3 + [".toml"]
    Ledger.new(where).close()
    Ledger.open(where).close()
    with pytest.raises(BadInput, match="already"):
        Ledger.new(where)


def test_a_ledger_that_is_gone_while_it_is_served_is_not_begun_anew(tmp_path):
    place = str(tmp_path / "ledger.sqlite")
    Ledger.new(place).close()
    ledger = Ledger.open(place)
    ledger.close()  # as after any failure of the database; the next question opens it again
    os.rename(place, f"{place}.away")
    with pytest.raises(Exception, match="cannot be read or written"):
        ledger.reserve(a_request(1))
    assert not os.path.exists(place)
    ledger.close()


def test_the_note_of_books_is_beside_them_unless_the_catalog_says_otherwise(tmp_path):
    def anchor(ledger):
        text = f'[source]\npath = "."\n[ledger]\n{ledger}\n[budget]\nepsilon = 1\n[tables.t]\npublic = true\n'
        return parse_catalog(text, base=tmp_path).anchor

    assert anchor("") == str(tmp_path / "ledger.sqlite.anchor")
    assert anchor('path = "b.sqlite"') == str(tmp_path / "b.sqlite.anchor")
    assert anchor('path = "postgresql://db/books"') == str(tmp_path / "ledger.anchor")
    assert anchor('anchor = "elsewhere/head"') == str(tmp_path / "elsewhere/head")
    assert anchor("anchor = false") is None
    assert anchor('path = ":memory:"') is None


def test_books_whose_note_is_gone_are_refused_also_while_they_are_open(where, tmp_path):
    anchor = tmp_path / "anchor"
    ledger = a_ledger(where, anchor=anchor)
    anchor.unlink()
    with pytest.raises(NoAnchor, match="discreet ledger anchor"):
        ledger.reserve(a_request(1))
    with pytest.raises(NoAnchor):
        open_ledger(where, anchor=anchor)
    assert not anchor.exists()


def test_no_books_are_begun_where_others_were_noted(tmp_path):
    place, anchor = str(tmp_path / "ledger.sqlite"), tmp_path / "anchor"
    ask(a_ledger(place, anchor=anchor), a_request(1))
    with pytest.raises(LedgerDamaged, match="no longer exists"):
        Ledger.new(tmp_path / "other.sqlite", anchor=anchor)
    assert not Ledger.open(place, anchor=anchor).close()


def cap(catalog):
    with_accounts = open_existing_ledger(catalog)
    held = with_accounts.account("alice").cap.epsilon
    assert verify(with_accounts).sound
    with_accounts.close()
    return held


def declaring(config, epsilon):
    text = (config.parent / "first.toml").read_text() if (config.parent / "first.toml").exists() else config.read_text()
    (config.parent / "first.toml").write_text(text)
    config.write_text(text.replace("epsilon = 2.0", f"epsilon = {epsilon}"))
    return load_catalog(config)


def set_by_hand(catalog, epsilon):
    ledger = Ledger.open(catalog.ledger, anchor=catalog.anchor)
    ledger.open_account(open_filter(epsilon), analyst="alice")
    ledger.close()


def test_a_restart_changes_no_cap_that_somebody_set(config):
    catalog = begun(config)
    for epsilon in (0.5, 3.0):
        set_by_hand(catalog, epsilon)
        assert cap(catalog) == epsilon
        assert cap(catalog) == epsilon


def test_what_the_catalog_newly_declares_counts_but_raises_nothing_that_somebody_set(config):
    begun(config)
    assert cap(declaring(config, 4.0)) == 4.0  # both are the catalog's word
    set_by_hand(load_catalog(config), 1.0)
    assert cap(declaring(config, 3.0)) == 1.0
    assert cap(declaring(config, 0.5)) == 0.5
    assert cap(declaring(config, 2.0)) == 1.0
    set_by_hand(load_catalog(config), 3.0)
    assert cap(load_catalog(config)) == 3.0
    assert cap(declaring(config, 2.5)) == 2.5


@pytest.mark.parametrize("snapshot", ["file", ":memory:"])
def test_another_source_is_refused_wherever_snapshot_and_ledger_are(where, config, snapshot):
    text = config.read_text().replace('path = "ledger.sqlite"', f'path = "{where}"')
    if snapshot == ":memory:":
        text = text.replace("[source]", '[source]\nsnapshot = ":memory:"')
    config.write_text(text)
    begun(config)
    with open_curator(config) as opened:
        first = opened.ask(COUNT, epsilon=0.5)
    visits = config.parent / "visits.parquet"
    visits.touch()  # what is in it is what it was
    with open_curator(config) as opened:
        assert opened.ask(COUNT, epsilon=0.5).rows == first.rows
    shorten(visits)
    for file in (*config.parent.glob("*.snapshot"), *config.parent.parent.glob("*.snapshot")):
        file.unlink()
    with pytest.raises(SourceChanged, match="discreet refresh"):
        open_curator(config)
    assert refresh(config) == 2
    with open_curator(config) as opened:
        assert not opened.ask(COUNT, epsilon=0.5).replayed
        assert verify(opened.ledger).sound


def test_nothing_in_the_chain_lets_a_reader_test_a_guess_about_the_source(config):
    catalog = begun(config)
    with open_curator(config) as opened:
        (noted,) = [entry for entry in opened.ledger.history() if entry.kind == "source"]
    assert fingerprint_source(catalog).content not in noted.body["source"]
    assert str(config.parent) not in str(noted)
