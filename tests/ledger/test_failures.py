"""Disks that are full, that can only be read, and that do not sync: refused by name, and nothing granted."""

import os
import platform
import resource
import signal

import pytest

from discreet.errors import StoreUnavailable
from discreet.ledger import Anchor, Ledger, verify
from tests.ledger.asking import a_ledger, a_request, ask, in_child, open_ledger, output_of
from tests.ledger.failing import _SYNCS, syncs_fail

syncing = pytest.mark.skipif(platform.machine() not in _SYNCS, reason="no filter of system calls for this machine")
STEPS = ["reserve: begun", "reserve: checked", "reserve: written", "reserve: committed", "finish: begun", "finish: written"]  # fmt: skip


@pytest.fixture
def path(tmp_path):
    """Books with one question in them, and a note of their head."""
    place = str(tmp_path / "ledger.sqlite")
    ledger = a_ledger(place, anchor=f"{place}.anchor")
    ask(ledger, a_request(0))
    ledger.close()
    return place


def tried(attempt):
    """What came of it, as one letter."""
    try:
        attempt()
    except StoreUnavailable:
        return b"x"
    return b"g"


@syncing
@pytest.mark.parametrize("step", STEPS)
def test_a_sync_that_fails_at_any_moment_grants_nothing_and_the_process_goes_on(path, step):
    def work(write):
        ledger = open_ledger(
            path, anchor=f"{path}.anchor", on_step=lambda passed: syncs_fail() if passed == step else None
        )
        write(tried(lambda: ask(ledger, a_request(1))))
        ledger._step = lambda _: None
        for number in (2, 3):
            write(tried(lambda number=number: ask(ledger, a_request(number))))
        write(tried(ledger.check_writable))

    assert output_of(*in_child(work)) == b"xxxx"
    healed = open_ledger(path, anchor=f"{path}.anchor")
    assert verify(healed, anchor=Anchor(f"{path}.anchor").noted).sound
    assert ask(healed, a_request(1))
    assert healed.account().spent.epsilon >= 0.02 * (1 - 1e-12)


@syncing
def test_books_are_not_begun_where_their_note_does_not_reach_the_disk(tmp_path):
    place = str(tmp_path / "ledger.sqlite")

    def work(write):
        syncs_fail()
        write(tried(lambda: Ledger.new(place, anchor=f"{place}.anchor")))

    assert output_of(*in_child(work)) == b"x"


def test_a_full_disk_is_told_by_the_look_whether_books_can_be_written(path):
    def work(write):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        ledger = open_ledger(path, anchor=f"{path}.anchor")
        write(tried(ledger.check_writable))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        ledger._pulse = (float("-inf"), True)  # as a second later
        write(tried(ledger.check_writable))
        write(tried(lambda: ask(ledger, a_request(1))))

    assert output_of(*in_child(work)) == b"gxx"
    assert verify(open_ledger(path)).sound


def test_an_anchor_that_can_only_be_read_grants_nothing(path, tmp_path):
    os.chmod(f"{path}.anchor", 0o400)
    if os.geteuid() == 0:
        for place in (tmp_path, *tmp_path.iterdir()):
            os.chown(place, 65534, 65534)
        for folder in tmp_path.parents[:-2]:
            folder.chmod(folder.stat().st_mode | 0o011)

    def work(write):
        if os.geteuid() == 0:
            os.setuid(65534)  # permissions do not bind root
        ledger = open_ledger(path)  # without it, books can be opened and written
        write(tried(ledger.check_writable))
        write(tried(lambda: open_ledger(path, anchor=f"{path}.anchor")))
        ledger.writer._anchor = Anchor(f"{path}.anchor")
        write(tried(lambda: ledger.reserve(a_request(1))))

    assert output_of(*in_child(work)) == b"gxx"
    assert open_ledger(path).account().spent.epsilon == pytest.approx(0.01)


def test_every_file_is_its_owners_alone_from_the_moment_it_is_made(tmp_path):
    from discreet.samples import write_clinic
    from tests.support.opening import open_curator

    config = write_clinic(tmp_path, patients=20, visits=50)
    public = {file.name for file in tmp_path.iterdir()}
    before = os.umask(0)
    try:
        with open_curator(config) as curator:
            curator.ask("SELECT COUNT(*) FROM visits", epsilon=0.5)
            files = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir() if file.name not in public}
    finally:
        os.umask(before)
    kept = {"", "-wal", "-shm", ".anchor", ".secret", ".snapshot"}
    assert {f"ledger.sqlite{suffix}" for suffix in kept} <= set(files)
    assert files.pop("ledger.sqlite.snapshot.tmp") == 0o700
    assert set(files.values()) == {0o600}


def test_a_ledger_that_others_could_read_is_closed_to_them(path):
    os.chmod(path, 0o644)
    open_ledger(path).account()
    assert os.stat(path).st_mode & 0o777 == 0o600
