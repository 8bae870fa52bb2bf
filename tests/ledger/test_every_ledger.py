"""The promises that every ledger must keep, on SQLite and on PostgreSQL."""

import datetime
import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.accounting import open_filter
from discreet.errors import (
    AccountFrozen,
    BadInput,
    BudgetExceeded,
    DiscreetError,
    LedgerDamaged,
    RequestConflict,
    UnknownAccount,
)
from discreet.ledger import Request, verify
from discreet.mechanisms import Gaussian, Laplace, PartitionSelection
from discreet.results.ledger_views import balances, history
from discreet.store import open_store
from tests.ledger.asking import a_ledger, a_request, ask, open_ledger


def test_ten_tenths_fit_and_an_eleventh_does_not(where):
    ledger = a_ledger(where)
    for number in range(10):
        ask(ledger, a_request(number, epsilon=0.1))
    with pytest.raises(BudgetExceeded, match="is spent"):
        ledger.reserve(a_request(10, epsilon=0.1))
    assert ledger.account().spent.epsilon == 1.0
    assert ledger.account("alice").left == 0.0
    assert verify(ledger).sound


def test_a_refusal_changes_nothing(where):
    ledger = a_ledger(where, cap=0.05)
    before = ledger.head()
    with pytest.raises(BudgetExceeded):
        ledger.reserve(a_request(1, epsilon=0.1))
    assert ledger.head() == before
    assert ask(ledger, a_request(1, epsilon=0.05))


def test_the_dataset_cap_binds_all_analysts_together(where):
    ledger = a_ledger(where, analysts=("alice", "bob"))
    for number in range(5):
        ask(ledger, a_request(number, epsilon=0.1))
        ask(ledger, a_request(number + 100, epsilon=0.1, analyst="bob"))
    with pytest.raises(BudgetExceeded, match="the dataset's account"):
        ledger.reserve(a_request(300, epsilon=0.1, analyst="bob"))
    assert ledger.account("bob").spent.epsilon == 0.5


def test_both_accounts_are_charged_or_neither(where):
    ledger = a_ledger(where)
    ledger.open_account(open_filter(0.05), analyst="alice")
    with pytest.raises(BudgetExceeded, match="this account"):
        ledger.reserve(a_request(1, epsilon=0.1))
    assert ledger.account().spent.epsilon == 0


def test_the_same_id_and_question_get_the_same_bytes_for_one_charge(where):
    ledger = a_ledger(where)
    answers = {ask(ledger, a_request(1, epsilon=0.1)) for _ in range(5)}
    assert len(answers) == 1
    assert ledger.account().spent.epsilon == 0.1
    again = ledger.reserve(a_request(1, epsilon=0.1))
    assert again.replayed
    assert again.charged == ()


def test_the_same_id_with_another_question_or_price_is_refused(where):
    ledger = a_ledger(where)
    ask(ledger, a_request(1, request_id="mine"))
    with pytest.raises(RequestConflict):
        ledger.reserve(a_request(2, request_id="mine"))
    with pytest.raises(RequestConflict):
        ledger.reserve(a_request(1, request_id="mine", epsilon=0.02))


def test_request_ids_belong_to_their_analyst(where):
    ledger = a_ledger(where, analysts=("alice", "bob"))
    ask(ledger, a_request(1, request_id="same"))
    assert ask(ledger, a_request(2, request_id="same", analyst="bob"))


def test_the_same_question_is_free_for_the_dataset_and_paid_once_by_each_analyst(where):
    ledger = a_ledger(where, analysts=("alice", "bob"))
    first = ask(ledger, a_request(1, epsilon=0.1))
    bobs = ledger.reserve(a_request(1, epsilon=0.1, analyst="bob"))
    assert bobs.answer == first
    assert bobs.charged == ("analyst:bob",)
    once_more = ledger.reserve(a_request(1, epsilon=0.1, analyst="bob", request_id="another"))
    assert (once_more.answer, once_more.charged) == (first, ())
    assert ledger.account().spent.epsilon == 0.1
    assert ledger.account("bob").spent.epsilon == 0.1
    assert verify(ledger).sound


def test_the_same_question_at_another_price_is_another_question(where):
    ledger = a_ledger(where)
    assert ask(ledger, a_request(1, request_id="a", epsilon=0.1)) != ask(
        ledger, a_request(1, request_id="b", epsilon=0.2)
    )
    assert ledger.account().spent.epsilon == 0.3


def test_the_owner_at_the_keyboard_charges_the_dataset_only(where):
    ledger = a_ledger(where)
    assert ledger.reserve(a_request(1, analyst=None)).charged == ("dataset",)
    assert ledger.account("alice").spent.epsilon == 0


def test_of_two_answers_to_one_question_only_the_first_is_ever_seen(where):
    ledger = a_ledger(where)
    first, second = ledger.reserve(a_request(1)), ledger.reserve(a_request(1))
    assert not second.replayed
    assert ledger.finish(second, b"second was faster") == b"second was faster"
    assert ledger.finish(first, b"first was slower") == b"second was faster"
    assert ledger.account().spent.epsilon == 0.01


def test_an_analyst_without_an_account_is_refused(where):
    with pytest.raises(UnknownAccount):
        a_ledger(where).reserve(a_request(1, analyst="mallory"))
    with pytest.raises(UnknownAccount):
        open_ledger(where).account("mallory")


def test_a_frozen_account_gets_nothing_not_even_what_it_had(where):
    ledger = a_ledger(where)
    ask(ledger, a_request(1))
    ledger.freeze("alice")
    for number in (1, 2):
        with pytest.raises(AccountFrozen):
            ledger.reserve(a_request(number))
    ledger.freeze("alice", frozen=False)
    assert ledger.reserve(a_request(1)).replayed


def test_a_cap_can_be_raised_and_lowered_and_the_books_stay_sound(where):
    ledger = a_ledger(where, cap=0.1)
    ask(ledger, a_request(1, epsilon=0.1))
    for cap, fits in ((0.3, True), (0.15, False)):
        ledger.open_account(open_filter(cap))
        ledger.open_account(open_filter(cap), analyst="alice")
        if fits:
            ask(ledger, a_request(2, epsilon=0.1))
        else:
            with pytest.raises(BudgetExceeded):
                ledger.reserve(a_request(3, epsilon=0.01))
    assert verify(ledger).sound


def test_every_kind_of_account_can_be_kept(where):
    ledger = a_ledger(where, analysts=())
    ledger.open_account(open_filter(3, 1e-6))
    ledger.open_account(open_filter(2, 1e-6, kind="renyi"), analyst="alice")
    releases = (Gaussian.for_rho(sensitivity=4, rho=0.01), PartitionSelection(epsilon=0.1, delta=1e-8))
    ask(ledger, Request(id="1", query="groups", releases=releases, analyst="alice"))
    assert ledger.account().total.pure is None
    assert ledger.account("alice").spent.delta > 1e-8
    assert [account.name for account in ledger.accounts()] == ["dataset", "analyst:alice"]
    assert verify(ledger).sound


def test_everything_is_still_there_after_a_restart(where):
    ledger = a_ledger(where)
    answer = ask(ledger, a_request(1))
    ledger.close()
    reopened = open_ledger(where)
    assert reopened.reserve(a_request(1)).answer == answer
    assert reopened.account().spent.epsilon == 0.01
    assert reopened.head() == ledger.head()
    assert [entry.kind for entry in reopened.history()] == ["cap", "cap", "charge", "answer"]
    assert [entry.kind for entry in reopened.history(last=1)] == ["answer"]


def test_a_clock_that_jumped_ahead_once_blocks_nothing_and_is_remarked_on(where):
    time = datetime.datetime(2026, 11, 15, 12, tzinfo=datetime.UTC)
    clock = [time]
    ledger = a_ledger(where, now=lambda: clock[0])
    clock[0] = time + datetime.timedelta(days=1500)
    ask(ledger, a_request(1))
    clock[0] = time + datetime.timedelta(minutes=1)
    ask(ledger, a_request(2))
    assert ledger.history()[-1].time == clock[0].isoformat()  # times go on from what the clock says now
    ledger.refresh()
    assert ledger.data_day() == time.date()
    verification = verify(ledger)
    assert verification.sound
    assert verification.remarks == ("the clock was set back at entry 5",)


def test_a_small_skew_is_waited_out_and_clocks_that_disagree_remark_on_each_other_once_an_hour(where):
    time = datetime.datetime(2026, 11, 15, 12, tzinfo=datetime.UTC)
    slow = a_ledger(where, now=lambda: time - datetime.timedelta(seconds=30))
    fast, late = (
        open_ledger(where, now=lambda hours=hours: time + datetime.timedelta(hours=hours)) for hours in (0, -2)
    )
    for number in range(0, 30, 3):
        for ledger, own in zip((fast, slow, late), range(3), strict=True):
            ask(ledger, a_request(number + own))
    times = [entry.time for entry in slow.history() if entry.kind != "clock"]
    assert [entry.kind for entry in slow.history()].count("clock") == 1
    assert max(times) == time.isoformat()
    assert verify(slow).sound


def test_an_entry_is_what_the_documentation_says(where):
    """docs/explanation/ledger.md: SHA-256 over canonical JSON, which an outsider can recompute with the standard library."""
    import json

    ledger = a_ledger(where)
    ask(ledger, a_request(1, epsilon=0.1))
    previous = "0" * 64
    for entry in ledger.history():
        document = {"seq": entry.seq, "time": entry.time, "kind": entry.kind, "body": entry.body, "previous": previous}
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        assert hashlib.sha256(text.encode()).hexdigest() == entry.hash
        previous = entry.hash
    charge = ledger.history()[2].body
    assert charge["releases"] == [{"mechanism": "Laplace", "sensitivity": "1", "epsilon": "1/10", "size": "1"}]
    assert charge["accounts"] == ["dataset", "analyst:alice"]


def test_the_charged_releases_convert_to_dp_accounting_events(where):
    import dp_accounting

    from discreet import accounting
    from discreet.ledger.charges.release_json import mechanism_from_json

    ledger = a_ledger(where, cap=5)
    ledger.open_account(open_filter(5, 1e-6))
    ledger.open_account(open_filter(5, 1e-6), analyst="alice")
    for number in range(5):
        releases = (Laplace(sensitivity=4096, epsilon=0.3), Gaussian.for_rho(sensitivity=4096, rho=0.02))
        ask(ledger, Request(id=str(number), query=str(number), releases=releases, analyst="alice"))
    charged = [release for entry in ledger.history() if entry.kind == "charge" for release in entry.body["releases"]]
    accountant = dp_accounting.pld.PLDAccountant()
    for release in map(mechanism_from_json, charged):
        multiplier = (
            float(release.scale / release.sensitivity)
            if isinstance(release, Laplace)
            else release.sigma / float(release.sensitivity)
        )
        kind = dp_accounting.LaplaceDpEvent if isinstance(release, Laplace) else dp_accounting.GaussianDpEvent
        accountant.compose(kind(multiplier))
    ours = accounting.compose(map(mechanism_from_json, charged), delta=1e-6).epsilon
    assert ours == pytest.approx(accountant.get_epsilon(1e-6), rel=0.01)


@pytest.mark.parametrize(
    "broken",
    [
        {"id": ""},
        {"query": ""},
        {"releases": ()},
        {"analyst": ""},
        {"id": "a\0b"},
        {"id": "\ud800"},
        {"analyst": "x" * 1000},
        {"id": 7},
        {"label": float("nan")},
    ],
)
def test_a_request_needs_everything(broken):
    whole = {"id": "1", "query": "q", "releases": (Laplace(sensitivity=1, epsilon=1),), "analyst": "alice"}
    with pytest.raises(BadInput):
        Request(**{**whole, **broken})


def test_errors_of_the_ledger_carry_no_names_and_no_answers(where):
    ledger = a_ledger(where, cap=0.1)
    ask(ledger, a_request(1))
    for request in (a_request(1, analyst="mallory"), a_request(9, epsilon=5), a_request(7, request_id="request-1")):
        with pytest.raises(DiscreetError) as caught:
            ledger.reserve(request)
        assert not any(secret in str(caught.value) for secret in ("mallory", "alice", "question-", "request-"))


def test_a_restored_backup_is_noticed_by_the_anchor(where, tmp_path):
    anchor = tmp_path / "anchor"
    ledger = a_ledger(where, anchor=anchor)
    ask(ledger, a_request(1))
    seen = f"{ledger.head().seq}:{ledger.head().hash}"
    assert verify(ledger, anchor=seen).sound
    with ledger._store.transaction() as t:
        t.run("DELETE FROM ledger_entries WHERE seq = (SELECT MAX(seq) FROM ledger_entries)")
    assert not verify(ledger, anchor=seen).sound
    with pytest.raises(LedgerDamaged):
        open_ledger(where, anchor=anchor)


def test_a_freeze_holds_between_the_charge_and_the_answer(where):
    ledger = a_ledger(where)
    reservation = ledger.reserve(a_request(1))
    ledger.freeze("alice")
    with pytest.raises(AccountFrozen):
        ledger.finish(reservation, b"too late")


def test_a_reservation_belongs_to_its_ledger_and_an_answer_is_bytes(where, tmp_path):
    ledger, other = a_ledger(where), a_ledger(str(tmp_path / "other.sqlite"))
    reservation = ledger.reserve(a_request(1))
    with pytest.raises(BadInput):
        other.finish(reservation, b"elsewhere")
    with pytest.raises(BadInput):
        ledger.finish(reservation, "text")


def test_a_receipt_is_the_hash_of_the_charge_and_stays_the_same(where):
    ledger = a_ledger(where)
    first = ledger.reserve(a_request(1))
    ask(ledger, a_request(2))
    assert ledger.reserve(a_request(1)).receipt == first.receipt
    assert [entry.hash for entry in ledger.charges_with(first.receipt)] == [first.receipt]


def test_no_receipt_and_no_head_can_be_made_from_a_guess_of_the_question(where, tmp_path):
    """Two ledgers with the same requests at the same time, as somebody would keep who guesses: no hash is the same."""
    time = datetime.datetime(2026, 11, 15, 12, tzinfo=datetime.UTC)
    heads = []
    for place in (where, str(tmp_path / "guess.sqlite")):
        ledger = a_ledger(place, now=lambda: time)
        ledger.finish(ledger.reserve(a_request(1)), b"41")
        heads.append({entry.hash for entry in ledger.history()})
    assert not heads[0] & heads[1]
    assert all(len(entry.body["salt"]) == 32 for entry in ledger.history())


def test_what_is_left_would_be_granted_and_a_little_more_would_not(where):
    ledger = a_ledger(where, analysts=())
    ledger.open_account(open_filter(5, 1e-6))
    for releases in ((Gaussian.for_rho(sensitivity=1, rho=1e-4),), (Laplace(sensitivity=1, epsilon=0.05),) * 100):
        ask(ledger, Request(id=str(len(releases)), query=str(len(releases)), releases=releases))
        left = ledger.account().left
        with pytest.raises(BudgetExceeded):
            ledger.reserve(Request(id="more", query="more", releases=(Laplace(sensitivity=1, epsilon=left + 0.01),)))
    ledger.reserve(Request(id="fits", query="fits", releases=(Laplace(sensitivity=1, epsilon=left),)))


def test_an_account_that_holds_a_gaussian_cannot_become_pure(where):
    ledger = a_ledger(where, analysts=())
    ledger.open_account(open_filter(5, 1e-6))
    ask(ledger, Request(id="1", query="1", releases=(Gaussian.for_rho(sensitivity=1, rho=0.1),)))
    with pytest.raises(BadInput):
        ledger.open_account(open_filter(5))


def test_who_looks_waits_for_no_writer_and_sees_what_was_committed(where):
    ledger = a_ledger(where)
    ask(ledger, a_request(1))
    elsewhere = open_store(where)
    with (
        elsewhere.transaction(),
        ledger._store._writers.queue,
    ):  # the lock of the database, and the line of this process
        running, (account,), (charge,) = ledger.latest()
        assert (running.head, account.spent.epsilon) == (ledger.head(), 0.01)
        assert ledger.entry(charge.seq) == ledger.history()[charge.seq - 1] == charge
        assert ledger.would_be_free(a_request(1))
        assert ledger.would_charge(a_request(2)) == {"dataset": True, "analyst:alice": True}
        assert ledger.stored_reservation(a_request(1)).receipt == charge.hash
        assert [past.number for past in history(ledger, None)] == [charge.seq]
        assert [balance.account for balance in balances(ledger, "alice")] == ["dataset", "alice"]
    elsewhere.close()


def test_looking_and_charging_at_once_never_disagree(where):
    ledger, ended = a_ledger(where), threading.Event()

    def look():
        while not ended.is_set():
            running, (account,), latest = ledger.latest()
            assert running.accounts["dataset"].total == account.total
            assert tuple(entry.seq for entry in reversed(latest)) == running.latest
            ledger.stored_reservation(a_request(1))

    with ThreadPoolExecutor() as threads:
        lookers = [threads.submit(look) for _ in range(3)]
        try:
            for number in range(40):
                ask(ledger, a_request(number))
        finally:
            ended.set()
    for looker in lookers:
        looker.result()
    assert verify(ledger).sound
