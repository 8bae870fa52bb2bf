"""Steps of a run: the first stored is the step, none is beyond the charge, none can be hidden."""

import hashlib
import os

import pytest

from discreet.accounting import open_filter
from discreet.errors import AccountFrozen, BadInput, BudgetExceeded, LedgerDamaged, NameTaken
from discreet.ledger import Request, verify
from discreet.mechanisms import Adaptive, Exponential, Gaussian, Laplace, PureAdaptive
from tests.ledger.asking import a_request, forge, in_child, open_ledger, output_of

RHO = 0.001
PART = Gaussian.for_rho(sensitivity=1, rho=RHO / 4, size=3)


def a_run(number=1, *, budget=None, name=None, analyst="alice"):
    return Request(
        id=f"run-{number}",
        query=f"run-{number}",
        releases=(budget or Adaptive(rho=RHO),),
        analyst=analyst,
        name=name,
    )


def capped(where, **options):
    ledger = open_ledger(where, **options)
    for analyst in (None, "alice"):
        ledger.open_account(open_filter(10, delta=1e-6), analyst=analyst)
    return ledger


def test_the_first_stored_is_the_step(where):
    ledger = capped(where)
    reservation = ledger.reserve(a_run())
    assert ledger.step(reservation, 0, b"first", paid=PART) == b"first"
    assert ledger.step(reservation, 0, b"second", paid=PART) == b"first"
    assert open_ledger(where).step(reservation, 0, b"third", paid=PART) == b"first"
    assert ledger.step(reservation, 1, b"next", paid=None) == b"next"
    assert open_ledger(where).steps(reservation) == [b"first", b"next"]
    assert ledger.finish(reservation, b"all") == b"all"
    assert ledger.step(reservation, 1, b"late", paid=None) == b"next"
    assert ledger.steps(reservation) == [b"first", b"next"]
    assert verify(ledger).sound
    assert verify(ledger, from_checkpoint=True).sound


def test_a_step_beyond_the_budget_is_refused_and_stores_nothing(where):
    ledger = capped(where)
    reservation = ledger.reserve(a_run())
    for number in range(4):
        ledger.step(reservation, number, b"x", paid=PART)
    with pytest.raises(BudgetExceeded):
        ledger.step(reservation, 4, b"x", paid=Exponential(sensitivity=1, epsilon=1e-6, size=2))
    assert len(ledger.steps(reservation)) == 4
    assert ledger.step(reservation, 4, b"free", paid=None) == b"free"
    assert verify(ledger).sound


def test_a_pure_run_takes_what_is_pure_and_adds_epsilons(where):
    ledger = capped(where)
    reservation = ledger.reserve(a_run(budget=PureAdaptive(epsilon=0.3)))
    with pytest.raises(BadInput):
        ledger.step(reservation, 0, b"x", paid=PART)
    for number in range(3):
        ledger.step(reservation, number, b"x", paid=Laplace(sensitivity=2, epsilon=0.1, size=4))
    with pytest.raises(BudgetExceeded):
        ledger.step(reservation, 3, b"x", paid=Laplace(sensitivity=2, epsilon=0.1, size=4))


def test_steps_come_in_order_and_only_of_runs(where):
    ledger = capped(where)
    plain, run = ledger.reserve(a_request(1)), ledger.reserve(a_run(2))
    for reservation, number in ((plain, 0), (run, 1), (run, -1)):
        with pytest.raises(BadInput):
            ledger.step(reservation, number, b"x", paid=None)
    with pytest.raises(BadInput):
        ledger.step(run, 0, "text", paid=None)
    ledger.step(run, 0, b"x", paid=PART)
    ledger.finish(run, b"done")
    with pytest.raises(BadInput):
        ledger.step(run, 1, b"x", paid=PART)
    with pytest.raises(BadInput):
        Request(id="two", query="two", releases=(Adaptive(rho=1), Adaptive(rho=1)))


def test_for_a_frozen_analyst_steps_are_stored_and_nothing_leaves(where):
    """A refusal between two steps would tell when the first was drawn."""
    ledger = capped(where)
    reservation = ledger.reserve(a_run())
    ledger.freeze("alice")
    ledger.step(reservation, 0, b"x", paid=PART)
    calls = [ledger.steps, lambda run: ledger.release_steps(run, 1), lambda run: ledger.finish(run, b"all")]
    for call in calls:
        with pytest.raises(AccountFrozen):
            call(reservation)
    ledger.freeze("alice", frozen=False)
    assert ledger.steps(reservation) == [b"x"]


def seen_by_others(ledger):
    """What strangers, other analysts and auditors are shown, and what a signed checkpoint is of."""
    return len(ledger.history()), ledger.totals().head, ledger.totals().runs


def test_nothing_that_others_can_count_or_compare_moves_before_a_step_leaves(where):
    ledger = capped(where)
    reservation = ledger.reserve(a_run())
    before = seen_by_others(ledger)
    for number in range(3):
        ledger.step(reservation, number, b"x", paid=PART)
        assert seen_by_others(ledger) == before == seen_by_others(open_ledger(where))
    assert verify(ledger).sound
    ledger.release_steps(reservation, 2)  # another process may be drawing the third
    assert [entry.kind for entry in ledger.history()[before[0] :]] == ["step"] * 2
    ledger.release_steps(reservation, 3)
    ledger.release_steps(reservation, 3)
    ledger.step(reservation, 3, b"y", paid=PART)
    assert len(ledger.history()) == before[0] + 3
    ledger.finish(reservation, b"all")
    assert [entry.kind for entry in ledger.history()[before[0] + 3 :]] == ["step", "answer"]
    assert verify(ledger).sound


EDITS = [
    "UPDATE ledger_steps SET body = {other} WHERE number = 1",
    "DELETE FROM ledger_steps WHERE number = 1",
    "UPDATE ledger_steps SET written = written - 1 WHERE number = 1",
    "INSERT INTO ledger_steps SELECT question, 3, body, written, note, seal FROM ledger_steps WHERE number = 1",
]
WHILE_WAITING = [
    "UPDATE ledger_steps SET note = (SELECT note FROM ledger_steps WHERE number = 0), seal = (SELECT seal FROM ledger_steps WHERE number = 0) WHERE number = 2",
    'UPDATE ledger_steps SET note = REPLACE(note, \'"spent":"\', \'"spent":"-\') WHERE number = 2',
    "UPDATE ledger_steps SET seal = NULL WHERE number = 2",
]
ONCE_LEFT = ["DELETE FROM ledger_steps WHERE number = 2", "UPDATE ledger_steps SET written = 0 WHERE number = 2"]


@pytest.mark.parametrize(
    ("edit", "has_left"),
    [*((edit, has_left) for edit in EDITS for has_left in (False, True)), *((edit, False) for edit in WHILE_WAITING)]
    + [(edit, True) for edit in ONCE_LEFT],
)
def test_an_edited_step_is_noticed_by_whoever_goes_on_and_by_verify(where, edit, has_left):
    ledger = capped(where)
    reservation = ledger.reserve(a_run())
    for number in range(3):
        ledger.step(reservation, number, b"x%d" % number, paid=PART)
    if has_left:
        ledger.release_steps(reservation, 3)
    with ledger._store.transaction() as t:
        t.run(edit.format(other="X'00'" if where.endswith("sqlite") else "'\\x00'"))
    assert not verify(ledger).sound
    again = open_ledger(where)
    with pytest.raises(LedgerDamaged):
        [again.step(reservation, number, b"drawn anew", paid=None) for number in range(4)]
    with pytest.raises(LedgerDamaged):
        open_ledger(where).steps(reservation)


def test_a_step_that_was_forged_beyond_the_budget_does_not_add_up(where):
    ledger = capped(where)
    reservation = ledger.reserve(a_run())
    dear = str(Adaptive(rho=1).units(Gaussian.for_rho(sensitivity=1, rho=1)))
    forge(ledger, "step", {"question": reservation.request.key, "number": 0, "salted": "0", "cost": dear})
    assert any("costs more than was charged" in problem for problem in verify(ledger).problems)


def test_books_do_not_tell_what_a_step_drew_or_of_what(where):
    ledger = capped(where)
    reservation = ledger.reserve(a_run())
    for number in range(2):
        ledger.step(reservation, number, b"0", paid=PART)
    ledger.release_steps(reservation, 2)
    entries = [entry for entry in ledger.history() if entry.kind == "step"]
    assert entries[0].body.keys() == {"question", "number", "salted", "cost", "salt"}
    assert entries[0].time == entries[1].time  # when both left
    assert entries[0].body["salted"] != entries[1].body["salted"]
    told = {value for entry in entries for value in entry.body.values()}
    salts = {b"", *(bytes.fromhex(entry.body["salt"]) for entry in entries)}
    assert told.isdisjoint(hashlib.sha256(salt + b"0").hexdigest() for salt in salts)
    with ledger._store.transaction() as t:  # who holds what is stored can verify it
        stored = [bytes(row[0]) for row in t.run("SELECT body FROM ledger_steps ORDER BY number")]
    assert [hashlib.sha256(body).hexdigest() for body in stored] == [entry.body["salted"] for entry in entries]
    assert sum(int(entry.body["cost"]) for entry in entries) == 2 * Adaptive(rho=RHO).units(PART)


def test_a_step_that_was_forged_to_give_back_does_not_add_up(where):
    ledger = capped(where)
    reservation = ledger.reserve(a_run())
    forge(ledger, "step", {"question": reservation.request.key, "number": 0, "salted": "0", "cost": "-5"})
    assert any("costs more than was charged" in problem for problem in verify(ledger).problems)


def test_a_name_means_one_release_of_its_analyst_from_its_end_on(where):
    ledger = capped(where)
    ledger.open_account(open_filter(10, delta=1e-6), analyst="bob")
    ledger.reserve(a_run(1, name="visits"))  # not finished, and so without a name
    other = ledger.reserve(a_run(2, name="visits"))
    ledger.finish(other, b"two")
    with pytest.raises(NameTaken):
        ledger.reserve(a_run(3, name="visits"))
    assert a_run(3).key not in ledger.totals().unanswered
    theirs = ledger.reserve(a_run(3, name="visits", analyst="bob"))
    ledger.finish(theirs, b"three")
    assert ledger.named_answer("visits", analyst="alice") == b"two"
    assert open_ledger(where).named_answer("visits", analyst="bob") == b"three"
    assert ledger.named_releases(analyst=None) == ledger.named_releases(analyst="bob") == ["visits"]
    assert verify(ledger).sound


def test_a_repeat_gives_its_name_and_a_release_has_few(where):
    ledger = capped(where)
    ledger.finish(ledger.reserve(a_run(1)), b"one")
    for number in range(8):
        assert ledger.reserve(a_run(1, name=f"name-{number}")).answer == b"one"  # the same request id each time
        assert ledger.named_answer(f"name-{number}", analyst="alice") == b"one"
    entries = len(ledger.history())
    with pytest.raises(NameTaken, match="8 names"):
        ledger.reserve(a_run(1, name="another"))
    ledger.reserve(a_run(1, name="name-3"))
    assert len(ledger.history()) == entries
    assert verify(ledger).sound


STEPS = ["step: begun", "step: written", "step: committed"]


@pytest.mark.parametrize("label", STEPS)
def test_a_process_that_dies_at_a_step_leaves_one_transcript_and_one_charge(where, label):
    capped(where).close()

    def go_on(ledger):
        reservation = ledger.reserve(a_run())
        return [ledger.step(reservation, number, os.urandom(8), paid=PART) for number in range(4)]

    for dies_at in range(4):

        def work(write, dies_at=dies_at):
            passed = []

            def on_step(step):
                passed.append(step)
                if passed.count(label) > dies_at:
                    os._exit(137)

            go_on(open_ledger(where, on_step=on_step))
            write(b"not dead")

        assert output_of(*in_child(work)) == b""
    ledger = open_ledger(where)
    transcript = go_on(ledger)
    assert go_on(open_ledger(where)) == transcript
    assert ledger.account().total.rho == pytest.approx(RHO * 1e24, rel=1e-9)
    assert verify(ledger).sound
