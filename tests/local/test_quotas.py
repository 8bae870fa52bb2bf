"""What is known of a device and a sender, for how long, and how much a task takes in a day."""

import dataclasses
import os

import pytest

from discreet import errors
from discreet.catalog.toml_reader import _QUOTAS
from discreet.local import Client, Task
from discreet.local.collector import intake
from discreet.local.collector.intake import Quota
from discreet.local.collector.report_store import ReportStore
from discreet.local.collector.sender_limit import DailyLimit
from discreet.store import open_store
from tests.local.tasks import DAY, NUMBERED, codes_of, rows_in, task
from tests.local.test_collector import EMOJI


def test_a_number_serves_the_device_that_has_its_ticket_and_nobody_else(where):
    report_store = ReportStore.open(where)
    report_store.publish(NUMBERED)
    tickets = [report_store.assign(NUMBERED) for _ in range(3)]
    assert [int(ticket[:8], 16) for ticket in tickets] == [0, 1, 2]
    with_anothers_number = tickets[0][:8] + tickets[1][8:]
    random_network = [f"{number:08x}{os.urandom(16).hex()}" for number in range(3)]
    strangers = [Client(NUMBERED, slot=ticket).report(3) for ticket in (with_anothers_number, *random_network)]
    assert set(codes_of(report_store.receive(NUMBERED, strangers))) == {"out-of-domain"}
    honest = [Client(NUMBERED, slot=ticket).report(3) for ticket in tickets]
    assert codes_of(report_store.receive(NUMBERED, honest)) == [None] * 3
    report_store.close()


def test_a_device_with_a_number_is_counted_whenever_it_reports_and_when_it_sends_again_it_is_told_so(where, clock):
    report_store = ReportStore(open_store(where), clock=clock)
    report_store.publish(NUMBERED)
    ticket = report_store.assign(NUMBERED)
    client = Client(NUMBERED, slot=ticket, clock=clock)
    messages = []
    for _ in range(3):
        messages.append(client.report(3))
        assert codes_of(report_store.receive(NUMBERED, messages[-1:] * 2)) == [None, "replayed"]
        clock.now += DAY
    clock.now += 100 * DAY
    greedy = Client(NUMBERED, slot=ticket, clock=clock).report(3)
    assert codes_of(report_store.receive(NUMBERED, [greedy])) == ["too-many-reports"], "its life is over"
    report_store.close()


def test_one_address_has_so_many_numbers_a_day(where, clock):
    report_store = ReportStore(open_store(where), clock=clock, quota=Quota(slots_a_day_per_address=2, numbers=4))
    report_store.publish(NUMBERED)
    for address in "aab":
        report_store.assign(NUMBERED, address=address)
    with pytest.raises(errors.OverQuota, match="tomorrow"):
        report_store.assign(NUMBERED, address="a")
    clock.now += DAY
    report_store.assign(NUMBERED, address="a")
    with pytest.raises(errors.OverQuota, match="all its tickets"):
        report_store.assign(NUMBERED, address="a")
    report_store.close()


def test_what_is_old_is_forgotten_in_pieces_and_the_count_of_numbers_stays_true(where, clock, monkeypatch):
    for name in ("_OLD_NUMBERS", "_OLD_SENDERS"):
        monkeypatch.setattr(intake, name, getattr(intake, name).replace("1000", "4"))
    asked = task(epoch_seconds=DAY)
    report_store = ReportStore(open_store(where), clock=clock, quota=Quota(numbers=12))
    report_store.publish(asked)
    report_store.receive(asked, [Client(asked).report("😀") for _ in range(10)])
    clock.now += 5 * DAY
    for left in (7, 4, 3):
        assert report_store.receive(asked, [Client(asked).report("😀")]).reports == 1
        assert rows_in(where)["intake_numbers"] == rows_in(where)["intake_senders"] == left
    assert report_store.receive(asked, [Client(asked).report("😀") for _ in range(12)]).reports == 9
    report_store.close()


def test_what_is_kept_does_not_grow_with_what_was_counted(where, clock):
    report_store, asked = ReportStore(open_store(where), fold_after=20, clock=clock), task(epoch_seconds=DAY)
    report_store.publish(asked)
    kept = []
    for _ in range(5):
        for _ in range(3):
            report_store.receive(asked, [Client(asked).report("😀") for _ in range(20)])
        kept.append(rows_in(where))
        clock.now += DAY
    assert report_store.collector(asked).reports == 300
    assert kept[1] == kept[2] == kept[3] == kept[4]
    assert kept[4]["intake_numbers"] == kept[4]["intake_senders"] == 120, "today's and yesterday's"
    assert kept[4]["collection_waiting"] == 0
    report_store.close()


@pytest.mark.parametrize(("epoch_seconds", "days"), [(3600, 1), (10 * DAY, 10)])
def test_a_message_is_known_for_a_day_or_for_its_epoch_and_then_it_is_a_new_one(where, clock, epoch_seconds, days):
    asked = task(epoch_seconds=epoch_seconds)
    report_store = ReportStore(open_store(where), clock=clock)
    report_store.publish(asked)
    clock.now += DAY - 1
    message = Client(asked).report("😀")
    assert report_store.receive(asked, [message]).reports == 1
    clock.now += days * DAY
    assert report_store.receive(asked, [message]).refusals[0].code == "replayed"
    clock.now += DAY
    assert report_store.receive(asked, [message]).reports == 1
    report_store.close()


def test_where_the_epoch_never_ends_a_message_is_known_until_the_task_is_closed(where, clock):
    asked = task(per_epoch=1, lifetime=1)
    report_store = ReportStore(open_store(where), clock=clock, quota=Quota(numbers=3))
    report_store.publish(asked)
    message = Client(asked).report("😀")
    assert report_store.receive(asked, [message]).reports == 1
    for _ in range(3):
        clock.now += 400 * DAY
        assert report_store.receive(asked, [message]).refusals[0].code == "replayed"
    assert report_store.receive(asked, [Client(asked).report("😀") for _ in range(2)]).reports == 2
    clock.now += 400 * DAY
    (refusal,) = report_store.receive(asked, [Client(asked).report("😀")]).refusals
    assert (refusal.code, refusal.next_step) == ("over-quota", "Report to another task.")
    assert rows_in(where)["intake_numbers"] == 3
    report_store.close_task(asked.name)
    assert rows_in(where)["intake_numbers"] == rows_in(where)["intake_senders"] == 0
    assert report_store.collector(asked).reports == 3
    report_store.close()


def test_a_clock_that_ran_ahead_forgets_nothing_for_good_and_blocks_nothing(where, clock):
    asked = task(epoch_seconds=DAY)
    report_store = ReportStore(open_store(where), clock=clock, quota=Quota(messages_a_day=2))
    report_store.publish(asked)
    clock.now += 1000 * DAY
    message = Client(asked).report("😀")
    assert report_store.receive(asked, [message, Client(asked).report("😀")]).reports == 2
    clock.now -= 1000 * DAY
    done = report_store.receive(asked, [message, Client(asked).report("😀")])
    assert [refusal and refusal.code for refusal in done.refusals] == ["replayed", None]
    clock.now += 2 * DAY
    report_store.receive(asked, [Client(asked).report("😀")])
    assert rows_in(where)["intake_numbers"] == 1
    report_store.close()


@pytest.mark.parametrize("quota", [{"messages_a_day": 3}, {"bytes_a_day": 3}, {"numbers": 3}, {"bytes_in_all": 3}])
def test_beyond_its_quota_a_task_refuses_by_name_and_another_task_does_not(where, clock, quota):
    report_store = ReportStore(open_store(where), clock=clock, quota=Quota(**quota))
    other = Task.frequency("other", domain=EMOJI, epsilon=1.0)
    report_store.publish(task())
    report_store.publish(other)
    done = report_store.receive(task(), [Client(task()).report("😀") for _ in range(5)])
    assert [refusal and refusal.code for refusal in done.refusals] == [None] * 3 + ["over-quota"] * 2
    assert report_store.collector(task()).refused == {"over-quota": 2}
    assert report_store.receive(other, [Client(other).report("😀")]).reports == 1
    clock.now += 2 * DAY
    tomorrow = report_store.receive(task(), [Client(task()).report("😀")])
    assert tomorrow.reports == (0 if quota.keys() & {"bytes_in_all", "numbers"} else 1)
    report_store.close()


def test_one_address_sends_so_many_messages_a_day_and_others_go_on(where, clock):
    report_store = ReportStore(open_store(where), clock=clock, quota=Quota(messages_a_day_per_address=4))
    report_store.publish(task())

    def sent(address, count):
        done = report_store.receive(task(), [Client(task()).report("😀") for _ in range(count)], address=address)
        return [refusal and refusal.code for refusal in done.refusals]

    assert sent("a", 6) == [None] * 4 + ["over-quota"] * 2
    assert sent("b", 4) == [None] * 4
    clock.now += DAY - clock.now % DAY - 1
    assert sent("a", 1) == ["over-quota"], "it would have twice its share of the day"
    clock.now += 1
    assert sent("a", 5) == [None] * 4 + ["over-quota"]
    assert report_store.collector(task()).refused == {"over-quota": 4}
    report_store.close()


@pytest.mark.parametrize("quota", [{"messages_a_day": 100}, {"bytes_a_day": 6000}])
def test_few_addresses_do_not_take_what_a_task_takes_in_a_day(where, clock, quota):
    report_store = ReportStore(open_store(where), clock=clock, quota=Quota(**quota))
    report_store.publish(task())
    for address in "abcdefghij":
        report_store.receive(task(), [Client(task()).report("😀") for _ in range(20)], address=address)
    assert report_store.receive(task(), [Client(task()).report("😀")], address="honest").reports == 1
    assert report_store.collector(task()).reports <= 51
    report_store.close()


def test_addresses_are_forgotten_when_there_are_too_many(clock):
    allowance = DailyLimit(a_day=1, clock=clock)
    assert all(allowance.take(str(address)) for address in range(60_000))
    assert len(allowance._addresses) == 50_000
    assert not allowance.take("59999")


def test_a_message_larger_than_an_address_may_send_in_a_day_goes_once_and_then_not_for_days(clock):
    allowance = DailyLimit(a_day=10, clock=clock)
    assert allowance.take("a", 25)
    clock.now += 2 * DAY
    assert not allowance.take("a", 25)
    clock.now += DAY
    assert allowance.take("a", 25)


def test_the_catalog_knows_every_quota():
    assert set(_QUOTAS) == {field.name for field in dataclasses.fields(Quota)}


def test_a_closed_task_refuses_and_keeps_its_estimate_and_a_deleted_one_leaves_nothing(where, clock):
    report_store, other = (ReportStore(open_store(where), clock=clock) for _ in range(2))
    report_store.publish(task())
    message = Client(task()).report("😀")
    report_store.receive(task(), [message])
    assert other.collector(task()).reports == 1
    report_store.close_task("emoji")
    with pytest.raises(errors.TaskClosed):
        other.receive(task(), [Client(task()).report("😀")])
    assert other.collector(task()).reports == 1
    assert other.record("emoji").state == "closed"
    report_store.delete_task("emoji")
    for forgotten in (other.receive, other.collector):
        with pytest.raises(errors.UnknownTask):
            forgotten(task(), [message]) if forgotten == other.receive else forgotten(task())
    assert set(rows_in(where).values()) == {0}
    report_store.publish(task())
    assert other.receive(task(), [Client(task()).report("😂")]).reports == 1
    assert other.collector(task()).reports == 1, "it begins at nothing, whatever a process remembers"
    for one in (report_store, other):
        one.close()


def test_after_its_days_all_that_a_task_collected_is_deleted(where, clock):
    report_store = ReportStore(open_store(where), clock=clock)
    report_store.publish(task(), retention_days=30)
    report_store.receive(task(), [Client(task()).report("😀")])
    clock.now += 30 * DAY - 1
    assert report_store.collector(task()).reports == 1
    clock.now += 1
    assert report_store.record("emoji").state == "expired"
    assert set(rows_in(where).values()) == {0}
    with pytest.raises(errors.TaskClosed):
        report_store.collector(task())
    with pytest.raises(errors.TaskClosed):
        report_store.receive(task(), [Client(task()).report("😀")])
    report_store.close()
