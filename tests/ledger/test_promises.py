"""Books are kept for the people whom a catalog protects: who they are is in the chain, and so are the catalogs and analysts that came and went."""

import hashlib

import pytest

from discreet.accounting import open_filter
from discreet.api.opening import open_curator, refresh, successor
from discreet.api.requests.ask import AskRequest
from discreet.catalog import load_catalog
from discreet.errors import BadCatalog, BadInput, LedgerDamaged, SourceChanged, UnknownAccount, WrongUnit
from discreet.ledger import Ledger, verify
from discreet.ledger.accounts.declared_ledger import open_existing_ledger
from discreet.samples import write_clinic
from tests.ledger.asking import forge
from tests.support.opening import start_ledger

COUNT = "SELECT COUNT(*) AS n FROM visits"
UNIT = 'privacy_unit = "patient_id"\nmax_rows = 20 '
ALICE = "[budget.analysts.alice]\nepsilon = 2.0"


@pytest.fixture
def config(tmp_path):
    made = write_clinic(tmp_path / "clinic", patients=20, visits=50)
    assert UNIT in made.read_text()
    assert ALICE in made.read_text()
    start_ledger(made)
    return made


def edit(config, before, after):
    text = config.read_text()
    assert text.count(before) == 1
    config.write_text(text.replace(before, after))


def entries_of(config, kind):
    catalog = load_catalog(config)
    ledger = Ledger.open(catalog.ledger, anchor=catalog.anchor)
    found = [entry.body for entry in ledger.history() if entry.kind == kind]
    assert verify(ledger).sound
    ledger.close()
    return found


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ('privacy_unit = "row" ', "each row"),
        ("public = true ", "no one"),
        ('privacy_unit = { column = "patient_id", references = "patients.patient_id" }\nmax_rows = 20 ', "→"),
    ],
)
def test_other_people_are_refused_by_name_and_nothing_is_written_of_them(config, after, words):
    with open_curator(config) as curator:
        curator.ask(COUNT, epsilon=0.5)
        before = curator.ledger.head()
    text = config.read_text()
    edit(config, UNIT, after)
    for opened in (open_curator, lambda place: open_existing_ledger(load_catalog(place))):
        with pytest.raises(WrongUnit, match="create a new ledger") as caught:
            opened(config)
        assert words in caught.value.problem
    config.write_text(text)
    with open_curator(config) as curator:
        assert curator.ledger.head() == before
        assert curator.ask(COUNT, epsilon=0.5).replayed


def test_a_curator_is_followed_by_none_that_protects_others(config):
    with open_curator(config) as curator:
        edit(config, UNIT, 'privacy_unit = "row" ')
        with pytest.raises(WrongUnit):
            successor(curator, load_catalog(config))


def test_a_table_that_was_taken_out_and_comes_back_protects_whom_it_did(config):
    text = config.read_text()
    section = text[text.index("[tables.visits]") :].split("\n\n")[0]
    config.write_text(text.replace(section, ""))
    open_existing_ledger(load_catalog(config)).close()
    config.write_text(text.replace(UNIT, 'privacy_unit = "row" '))
    with pytest.raises(WrongUnit):
        open_existing_ledger(load_catalog(config))


def test_how_many_rows_of_one_person_count_may_change_and_the_chain_says_so(config):
    edit(config, "max_rows = 20", "max_rows = 7")
    open_existing_ledger(load_catalog(config)).close()
    open_existing_ledger(load_catalog(config)).close()
    first, second = (entry["tables"] for entry in entries_of(config, "units"))
    assert first["visits"] == {
        "unit": {"column": "patient_id", "path": [], "each_row": False},
        "max_rows": 20,
        "bounding": "once",
    }
    assert (list(second), second["visits"]["max_rows"]) == (["visits"], 7)


def test_books_of_before_have_their_people_written_when_they_are_first_opened(tmp_path):
    config = write_clinic(tmp_path / "clinic", patients=20, visits=50)
    catalog = load_catalog(config)
    Ledger.new(catalog.ledger, neighbours=catalog.neighbours, anchor=catalog.anchor).close()
    assert entries_of(config, "units") == []
    open_existing_ledger(catalog).close()
    assert entries_of(config, "units")[0]["tables"].keys() == {"patients", "visits"}


def test_an_entry_that_names_other_people_is_noticed(config):
    catalog = load_catalog(config)
    ledger = Ledger.open(catalog.ledger, anchor=catalog.anchor)
    forge(ledger, "units", {"tables": {"visits": {"unit": None, "max_rows": 1, "bounding": "once"}}})
    assert "another privacy unit" in str(verify(ledger).problems)
    with pytest.raises(LedgerDamaged):
        ledger.totals()
    ledger.close()


def test_the_chain_tells_which_catalog_answered(config):
    hashes = []

    def change():
        config.write_text(f"{config.read_text()}\n")
        hashes.append(hashlib.sha256(config.read_bytes()).hexdigest())

    for _ in range(2):
        change()
        with open_curator(config), open_curator(config):
            pass
    with open_curator(config) as curator:
        change()
        successor(curator, load_catalog(config)).close_data()
    assert [entry["sha256"] for entry in entries_of(config, "served")] == hashes


def test_an_analyst_whom_the_catalog_lists_no_more_is_refused_until_it_does_again(config):
    text = config.read_text()
    with open_curator(config) as curator:
        curator.as_analyst("alice").ask(COUNT, epsilon=0.5)
        curator.ledger.freeze("alice")
        curator.ledger.freeze("alice", frozen=False)
        edit(config, ALICE, "")
        following = successor(curator, load_catalog(config))
        for asked in (curator, following):
            with pytest.raises(UnknownAccount):
                asked.as_analyst("alice").ask(COUNT, epsilon=0.5)
            with pytest.raises(UnknownAccount):
                asked.as_analyst("alice").recall(AskRequest(COUNT, epsilon=0.5))
        following.close_data()
    with open_curator(config) as curator:
        with pytest.raises(UnknownAccount):
            curator.as_analyst("alice").ask(COUNT, epsilon=0.1)
        assert curator.ask(COUNT, epsilon=0.5).replayed, "what was paid is paid"
    config.write_text(text)
    with open_curator(config) as curator:
        assert curator.as_analyst("alice").ask(COUNT, epsilon=0.5).replayed
        assert curator.ledger.account("alice").spent.epsilon == 0.5
    (closed,) = entries_of(config, "close")
    assert (closed["account"], closed["by"]) == ("analyst:alice", "catalog")


def test_of_a_catalog_that_is_refused_not_a_word_counts(config):
    text = config.read_text()
    with open_curator(config) as curator:
        curator.as_analyst("alice").ask(COUNT, epsilon=0.1, mechanism="gaussian", delta=1e-7)
        before = curator.ledger.head()
        edit(config, "epsilon = 5.0", "epsilon = 50.0")
        edit(config, "max_rows = 20", "max_rows = 7")
        edit(config, ALICE, f"[budget.analysts.bob]\nepsilon = 1.0\n\n{ALICE}\ndelta = 0")
        for opened in (lambda catalog: successor(curator, catalog), open_existing_ledger):
            with pytest.raises(BadInput, match="no pure epsilon"):
                opened(load_catalog(config))
            assert curator.ledger.head() == before
            assert curator.ledger.account().cap.epsilon == 5.0
            with pytest.raises(UnknownAccount):
                curator.ledger.account("bob")
        config.write_text(text)
        successor(curator, load_catalog(config)).close_data()
        assert curator.ledger.head() == before
        assert verify(curator.ledger).sound


def test_whom_somebody_let_in_stays_whatever_the_catalog_lists(config):
    catalog = load_catalog(config)
    ledger = open_existing_ledger(catalog)
    ledger.open_account(ledger.account("alice").filter, analyst="bob")
    ledger.close()
    edit(config, ALICE, "")
    ledger = open_existing_ledger(load_catalog(config))
    assert ledger.totals().closed == {"analyst:alice"}
    ledger.open_account(ledger.account("alice").filter, analyst="alice")  # by hand, with the cap that she had
    ledger.close()
    ledger = open_existing_ledger(load_catalog(config))
    assert not ledger.totals().closed
    assert verify(ledger).sound
    ledger.close()


def test_whom_the_catalog_lists_again_with_the_cap_it_had_is_closed_when_it_lists_them_no_more(config):
    text = config.read_text()
    without = text.replace(ALICE, "")
    config.write_text(without)
    ledger = open_existing_ledger(load_catalog(config))
    ledger.open_account(open_filter(1, 1e-6), analyst="alice", by="key 7")
    ledger.close()
    config.write_text(text)
    for _ in range(2):
        open_existing_ledger(load_catalog(config)).close()
    (listed,) = entries_of(config, "list")
    assert (listed["account"], listed["by"]) == ("analyst:alice", "catalog")
    config.write_text(without)
    ledger = open_existing_ledger(load_catalog(config))
    assert ledger.account("alice").cap.epsilon == 1, "listing raised nothing that somebody set"
    assert not ledger.totals().is_open("analyst:alice")
    ledger.close()


def test_of_a_catalog_whose_source_cannot_be_read_not_a_word_counts(config):
    with open_curator(config) as curator:
        before = curator.ledger.head()
    edit(config, "epsilon = 5.0", "epsilon = 50.0")
    edit(config, ALICE, "")
    visits = config.parent / "visits.parquet"
    whole = visits.read_bytes()
    visits.write_bytes(b"no parquet")
    for opened in (open_curator, refresh):
        with pytest.raises((BadCatalog, SourceChanged)):
            opened(config)
    visits.write_bytes(whole)
    catalog = load_catalog(config)
    ledger = Ledger.open(catalog.ledger, anchor=catalog.anchor)
    assert ledger.head() == before
    ledger.close()
