"""Processes that kill themselves with signal 9 at a point of the books' work: `LABEL/COUNT` is after so many times past the label."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence

from discreet.api.local import Curator


def die_at(curator: Curator, label: str, count: int) -> None:
    """From now on, the process ends where the curator's books pass a label once more than `count` times."""
    passed: list[str] = []

    def on_step(step: str) -> None:
        passed.append(step)
        if passed.count(label) > count:
            os.kill(os.getpid(), signal.SIGKILL)

    curator.ledger._step = on_step


def one_after_another(deaths: Sequence[str], go: Callable[[str, int], None]) -> Iterator[int]:
    """A child for each death, which goes as far as it may; the signal that it died of. Nothing may be open here, so that children can be forked."""
    for death in deaths:
        label, _, count = death.rpartition("/")
        child = os.fork()
        if not child:
            go(label, int(count))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        yield os.WTERMSIG(status)
