"""Somebody who writes to the database, and can hash as we do, but does not hold the secret: nothing is granted, nothing is drawn twice."""

import json
import os

import pytest

from discreet.accounting import open_filter
from discreet.errors import BadInput, LedgerDamaged, LedgerEdited, NoSecret
from discreet.ledger import Entry, Ledger, verify
from discreet.ledger.accounts.caps import CATALOG
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.entries import canonical
from discreet.ledger.charges.ledger_opening import seal_ledger
from tests.ledger.asking import OPENED, PRICE, a_ledger, a_request, append, ask, forge, open_ledger

CAP = 5 * PRICE


def busy_books(where, **options):
    """Answers, an open question, caps by hand, a frozen analyst, a watch; and a checkpoint behind all of it."""
    ledger = a_ledger(where, cap=CAP, analysts=("alice", "bob"), **options)
    ledger.open_account(open_filter(10 * CAP), by=CATALOG)
    ledger.open_account(open_filter(CAP))  # lowered by somebody
    for number in range(3):
        ask(ledger, a_request(number))
    ledger.reserve(a_request(3))
    ledger.freeze("bob")
    ledger.evaluated(a_request(0).key, version=1, above=True, analyst="alice")
    ledger.record(lambda _: [("user", {"user": "eve", "role": "analyst"})], by="test")
    assert verify(ledger).sound
    return ledger


def looking(where):
    ledger = Ledger.look(where)
    OPENED.append(ledger)
    return ledger


class Editor:
    """Everything that can be done with a database and this code, but for the secret."""

    def __init__(self, t):
        self.t = t

    def entries(self):
        return list(entry_chain.entries_after(self.t, 0))

    def write(self, entries):
        """The whole chain anew, numbered and hashed as ours; each entry keeps the seal it had."""
        self.t.run("DELETE FROM ledger_entries")
        last = None
        for entry in entries:
            last = Entry.following(last, time=entry.time, kind=entry.kind, body=entry.body)
            append(self.t, Entry(*(getattr(last, name) for name in Entry.__slots__[:6]), entry.seal))

    def append(self, kind, body, seal=None):
        self.write([*self.entries(), Entry(0, self.entries()[-1].time, kind, body, "", "", seal)])

    def change(self, such, about, *, rehash, **columns):
        """Entries of such a kind whose body has that text, in their place."""
        such = [entry for entry in self.entries() if entry.kind == such and about in canonical(entry.body)]
        assert such
        for entry in such:
            for column, value in columns.items():
                self.t.run(f"UPDATE ledger_entries SET {column} = ? WHERE seq = ?", value, entry.seq)
        if rehash:
            self.write(self.entries())

    def remove(self, kind, about):
        self.write([e for e in self.entries() if e.kind != kind or about not in canonical(e.body)])

    def forget_answer(self, query):
        self.t.run("UPDATE ledger_questions SET answer = NULL WHERE question = ?", query)


KEY = a_request(0).key
DEAR = a_request(50, epsilon=20 * CAP)
EASY_CAP = {"account": "dataset", "kind": "pure", "epsilon": "100", "delta": "0", "by": "command line"}


def raise_cap(editor):
    editor.append("cap", EASY_CAP)
    editor.append("cap", {**EASY_CAP, "account": "analyst:alice"})
    editor.t.run("UPDATE ledger_accounts SET epsilon = '100'")


def raise_cap_with_a_seal_of_ours(editor):
    editor.append("cap", EASY_CAP, seal=editor.entries()[-1].seal)
    editor.t.run("UPDATE ledger_accounts SET epsilon = '100' WHERE name = 'dataset'")


def edit_caps(editor):
    editor.write(
        [Entry(0, e.time, e.kind, {**e.body, "epsilon": "100"} if e.kind == "cap" else e.body, "", "", e.seal)
         for e in editor.entries()]
    )  # fmt: skip
    editor.t.run("UPDATE ledger_accounts SET epsilon = '100'")


def thaw(editor):
    editor.append("thaw", {"account": "analyst:bob", "by": "command line"})
    editor.t.run("UPDATE ledger_accounts SET frozen = 0")


def unfreeze(editor):
    editor.remove("freeze", "bob")
    editor.t.run("UPDATE ledger_accounts SET frozen = 0")


def make_an_owner(editor):
    editor.append("user", {"user": "eve", "role": "owner", "by": "command line"})


def pay_for_nothing(editor):
    body = {
        "accounts": ["dataset", "analyst:alice"], "analyst": "alice", "request": "x", "question": DEAR.key,
        "format": 1, "label": "", "prices": 2,
        "releases": [{"mechanism": "Laplace", "sensitivity": "1", "epsilon": "1/1000000", "size": "1"}],
    }  # fmt: skip
    editor.append("charge", body)
    seq = editor.entries()[-1].seq
    editor.t.run("INSERT INTO ledger_questions (question, charged) VALUES (?, ?)", DEAR.key, seq)
    editor.t.run("INSERT INTO ledger_paid (analyst, question, charged) VALUES ('alice', ?, ?)", DEAR.key, seq)


def lower_prices(editor):
    editor.write(
        [Entry(0, e.time, e.kind, json.loads(canonical(e.body).replace("1/100", "1/100000")), "", "", e.seal)
         for e in editor.entries()]
    )  # fmt: skip
    editor.t.run("UPDATE ledger_accounts SET spent_pure = '40000000000000000000'")


def hide_answer(rehash, **columns):
    def edit(editor):
        editor.change("answer", KEY, rehash=rehash, **columns)
        editor.forget_answer(KEY)

    return edit


def delete_answer(editor):
    editor.t.run(
        "DELETE FROM ledger_entries WHERE seq = ?", next(e.seq for e in editor.entries() if e.kind == "answer")
    )
    editor.forget_answer(KEY)


def remove_answer(editor):
    editor.remove("answer", KEY)
    editor.forget_answer(KEY)


def swap_answers(editor):
    """Between two questions, in the rows and in the entries."""
    keys = [a_request(number).key for number in range(2)]
    answers = [editor.t.run("SELECT answer FROM ledger_questions WHERE question = ?", key)[0][0] for key in keys]
    for key, answer in zip(keys, reversed(answers), strict=True):
        editor.t.run("UPDATE ledger_questions SET answer = ? WHERE question = ?", answer, key)
    other = dict(zip(keys, reversed(keys), strict=True))
    editor.write(
        [Entry(0, e.time, e.kind, {**e.body, "question": other.get(e.body["question"], e.body["question"])}
               if e.kind == "answer" else e.body, "", "", e.seal)
         for e in editor.entries()]
    )  # fmt: skip


def reorder(editor):
    first, second, *rest = editor.entries()
    editor.write([second, first, *rest])


def forget_queries(editor):
    editor.write([e for e in editor.entries() if e.kind not in ("charge", "answer", "watch")])
    for table in ("questions", "paid", "requests"):
        editor.t.run(f"DELETE FROM ledger_{table}")
    editor.t.run("UPDATE ledger_accounts SET spent_pure = '0', spent_rho = '0'")


def hide_cap(editor):
    """The cap that somebody lowered, so that the catalog's counts again."""
    editor.change("cap", '"by":"command line"', rehash=False, kind="catalog")


def hide_look(editor):
    editor.change("watch", KEY, rehash=False, kind="catalog")


def strip_seals(editor):
    editor.t.run("UPDATE ledger_entries SET seal = NULL")
    make_an_owner(editor)
    editor.t.run("DELETE FROM ledger_checkpoint")


def ask_dear(ledger):
    ledger.reserve(DEAR)


def ask_again(ledger):
    ledger.reserve(a_request(0, request_id="again"))


def ask_new(ledger):
    ledger.reserve(a_request(60))


def look_again(ledger):
    ledger.evaluated(KEY, version=1, above=False, analyst="alice")


ATTACKS = {
    "a cap appended": (raise_cap, ask_dear),
    "a cap appended with a copied seal": (raise_cap_with_a_seal_of_ours, ask_dear),
    "caps changed where they are": (edit_caps, ask_dear),
    "a charge appended that nobody paid": (pay_for_nothing, ask_dear),
    "a thaw appended": (thaw, lambda ledger: ledger.reserve(a_request(0, analyst="bob"))),
    "a freeze removed": (unfreeze, lambda ledger: ledger.reserve(a_request(0, analyst="bob"))),
    "a user appended": (make_an_owner, lambda ledger: ledger.totals()),
    "prices lowered": (lower_prices, ask_new),
    "an answer of no known kind": (hide_answer(False, kind="catalog"), ask_again),
    "an answer of no known kind, hashed anew": (hide_answer(True, kind="catalog"), ask_again),
    "an answer that cannot be read": (hide_answer(False, body="{}"), ask_again),
    "an answer without a seal": (hide_answer(False, seal=None), ask_again),
    "an answer deleted": (delete_answer, ask_again),
    "an answer removed, hashed anew": (remove_answer, ask_again),
    "answers swapped": (swap_answers, ask_again),
    "entries reordered": (reorder, ask_new),
    "all questions forgotten": (forget_queries, ask_again),
    "a lowered cap hidden from the catalog": (
        hide_cap, lambda ledger: ledger.open_account(open_filter(20 * CAP), by=CATALOG)
    ),
    "a look hidden": (hide_look, look_again),
    "every seal taken away": (strip_seals, ask_new),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_who_edits_the_database_without_the_secret_is_stopped_by_name(where, name):
    """While the service runs; and between two runs, where all but what was appended lies behind the checkpoint."""
    edit, temptation = ATTACKS[name]
    running = busy_books(where)
    with running._store.transaction() as t:
        edit(Editor(t))
    rows = everything(running)
    for ledger in (running, open_ledger(where)):
        with pytest.raises(LedgerDamaged) as refused:
            temptation(ledger)
        assert refused.value.code in ("ledger-edited", "ledger-damaged")
    assert everything(running) == rows  # nothing granted, nothing drawn
    assert not verify(looking(where)).sound


def everything(ledger):
    with ledger._store.transaction() as t:
        tables = ("entries", "accounts", "requests", "questions", "paid")
        return {table: sorted(map(repr, t.run(f"SELECT * FROM ledger_{table}"))) for table in tables}


def test_an_answer_under_way_is_not_given_twice_when_the_first_is_hidden(where):
    ledger = busy_books(where)
    slow = ledger.reserve(a_request(3))
    given = ask(ledger, a_request(3))
    ask(ledger, a_request(1, request_id="later"))
    assert verify(ledger).sound
    with ledger._store.transaction() as t:
        editor = Editor(t)
        editor.change("answer", slow.request.key, rehash=False, kind="catalog")
        editor.forget_answer(slow.request.key)
    for books in (open_ledger(where), ledger):
        with pytest.raises(LedgerEdited):
            books.finish(slow, b"not " + given)


def test_after_an_edit_was_noticed_everything_is_refused_until_the_process_starts_again(where):
    ledger = busy_books(where)
    with ledger._store.transaction() as t:
        Editor(t).change("answer", KEY, rehash=False, seal="x")
    assert ask(ledger, a_request(1))  # not noticed yet, and not touched
    with pytest.raises(LedgerEdited, match="does not have the seal"):
        ask_again(ledger)
    for refused in (ask_new, lambda books: books.totals(), lambda books: books.check_writable()):
        with pytest.raises(LedgerEdited, match="Entry"):
            refused(ledger)


@pytest.mark.parametrize("column", ["hash", "body", "kind", "time", "previous", "seal"])
def test_an_entry_that_is_no_text_is_refused_by_name(tmp_path, column):
    where = str(tmp_path / "ledger.sqlite")
    ledger = busy_books(where)
    with ledger._store.transaction() as t:
        last = entry_chain.last_entry(t).seq
        nested = "[" * 100_000 if column == "body" else b"\xff\x00"
        t.run(f"UPDATE ledger_entries SET {column} = ? WHERE seq = ?", nested, last)
    for books in (ledger, open_ledger(where)):
        with pytest.raises(LedgerDamaged):
            ask_new(books)


def test_balances_card_and_bill_are_not_what_an_edited_row_says(where):
    from discreet.catalog import parse_catalog
    from discreet.results.ledger_views import balances, card, history

    catalog = parse_catalog('[source]\npath = "."\n[budget]\nepsilon = 1\n[tables.t]\npublic = true\n')
    ledger = busy_books(where)
    with ledger._store.transaction() as t:
        (kept,) = t.run("SELECT spent_pure FROM ledger_accounts WHERE name = 'dataset'")
        t.run("UPDATE ledger_accounts SET spent_pure = '0' WHERE name = 'dataset'")
    for look in (lambda: balances(ledger, None), lambda: card(ledger, catalog, dataset="t", version=1)):
        with pytest.raises(LedgerDamaged):
            look()
    with ledger._store.transaction() as t:
        t.run("UPDATE ledger_accounts SET spent_pure = ? WHERE name = 'dataset'", *kept)
        t.run("UPDATE ledger_entries SET body = replace(body, '1/100', '1/999') WHERE kind = 'charge'")
    assert balances(ledger, None)
    for look in (lambda: history(ledger, None), lambda: card(ledger, catalog, dataset="t", version=1)):
        with pytest.raises(LedgerEdited):
            look()


def test_an_account_that_is_gone_is_missed_in_the_budget(where):
    ledger = busy_books(where)
    with ledger._store.transaction() as t:
        t.run("DELETE FROM ledger_accounts WHERE name = 'analyst:bob'")
    with pytest.raises(LedgerDamaged):
        ledger.accounts()


def test_an_older_checkpoint_put_back_changes_nothing(where):
    ledger = busy_books(where)
    with ledger._store.transaction() as t:
        (kept,) = t.run("SELECT state, signature FROM ledger_checkpoint")
    ask(ledger, a_request(3))
    assert verify(ledger).sound
    with ledger._store.transaction() as t:
        t.run("UPDATE ledger_checkpoint SET state = ?, signature = ?", *kept)
    again = open_ledger(where)
    again.totals().checkpoint = ledger.totals().checkpoint
    assert again.totals() == ledger.totals()
    assert again.reserve(a_request(3)).replayed


def test_whoever_has_no_secret_can_verify_the_chain_and_write_nothing(where):
    ledger = busy_books(where)
    stranger = open_ledger(where, secret=None)
    found = verify(stranger)
    assert found.sound
    assert found.head == ledger.head().hash
    with pytest.raises(NoSecret):
        ask_new(stranger)
    forge(ledger, "user", {"user": "eve", "role": "owner"}, sealed=False)
    assert verify(stranger).sound  # the hashes are right
    assert verify(open_ledger(where)).problems == (f"entry {found.entries + 1} does not have the seal of this ledger",)


def test_books_of_another_secret_are_refused_by_name(where):
    busy_books(where)
    with pytest.raises(LedgerEdited, match="secret"):
        ask_new(open_ledger(where, secret=b"t" * 64))


@pytest.mark.parametrize("where", ["postgres"], indirect=True)  # a file has its secret beside it
def test_a_server_without_its_secret_is_told_the_name_of_the_variable(where, monkeypatch):
    monkeypatch.delenv("DISCREET_SECRET")
    with pytest.raises(NoSecret, match="DISCREET_SECRET"):
        Ledger.new(where)
    monkeypatch.setenv("DISCREET_SECRET", "s" * 64)
    Ledger.new(where).close()
    monkeypatch.setenv("DISCREET_SECRET", "too short")
    with pytest.raises(NoSecret, match="DISCREET_SECRET"):
        Ledger.open(where)


# Seals that are taken away, and secrets that change


def test_seals_that_were_taken_away_are_not_made_again(tmp_path):
    place, anchor = str(tmp_path / "ledger.sqlite"), tmp_path / "anchor"
    ledger = busy_books(place, anchor=anchor)
    with ledger._store.transaction() as t:
        strip_seals(Editor(t))
    ledger.close()
    for given in (anchor, None):
        opened = Ledger.open(place, anchor=given)
        with pytest.raises(LedgerEdited):
            opened.totals()
        opened.close()
    with pytest.raises(BadInput):
        seal_ledger(place, anchor=anchor)


def test_a_changed_secret_seals_everything_anew_if_the_earlier_one_is_given(tmp_path):
    place = str(tmp_path / "ledger.sqlite")
    ledger = busy_books(place)
    given, earlier = ask(ledger, a_request(0)), (tmp_path / "ledger.sqlite.secret").read_bytes()
    ledger.close()
    (tmp_path / "ledger.sqlite.secret").unlink()
    with pytest.raises(NoSecret):
        Ledger.open(place)
    with pytest.raises(BadInput):
        seal_ledger(place, anchor=None)
    with pytest.raises(LedgerEdited):
        seal_ledger(place, anchor=None, earlier=b"no, another" * 4)
    seal_ledger(place, anchor=None, earlier=earlier)
    assert (tmp_path / "ledger.sqlite.secret").read_bytes() != earlier
    again = Ledger.open(place)
    assert verify(again).sound
    assert again.head().body["before"] == "another secret"
    assert ask(again, a_request(0)) == given
    again.close()
    with pytest.raises(LedgerEdited):
        ask_new(open_ledger(place, secret=earlier))


def test_a_lost_secret_is_remarked_on_for_ever(where, monkeypatch):
    busy_books(where).close()
    if where.endswith("sqlite"):
        os.remove(f"{where}.secret")
    else:
        monkeypatch.setenv("DISCREET_SECRET", "t" * 64)
    seal_ledger(where, anchor=None, lost=True)
    ledger = open_ledger(where)
    found = verify(ledger)
    assert found.sound
    assert [remark for remark in found.remarks if "lost" in remark]
    assert ask(ledger, a_request(0))
