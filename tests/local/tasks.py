"""Tasks, codes of refusals and a clock, for those who test books of collections."""

from discreet.local import Task
from discreet.store import open_store
from tests.local.test_collector import EMOJI

DAY = 86400


def task(**rules):
    return Task.frequency("emoji", domain=EMOJI, epsilon=4.0, **rules)


NUMBERED = Task.frequency(
    "sites", domain=range(50), epsilon=2.0, protocol="olh", assigned=True, lifetime=3, per_epoch=1, epoch_seconds=DAY
)


def codes_of(done):
    return [refusal and refusal.code for refusal in done.refusals]


class Clock:
    """Midnight of some day, until it is moved."""

    def __init__(self):
        self.now = 20_000 * DAY

    def __call__(self):
        return self.now


def rows_in(where):
    with open_store(where).transaction() as t:
        tables = ("intake_numbers", "intake_senders", "collection_waiting", "collection_tallies", "intake_counts")
        return {table: t.run(f"SELECT COUNT(*) FROM {table}")[0][0] for table in tables}
