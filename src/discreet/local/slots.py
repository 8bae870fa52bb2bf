"""Numbers that a collector assigned to devices, and which of them were used: a bit each."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.store import Transaction

_PART = 8192


class Slots:
    """The numbers of one task, inside one transaction: those below `given` were given out."""

    def __init__(self, t: Transaction, task: str, *, given: int) -> None:
        self._t, self._task, self._given = t, task, given

    def is_free(self, slot: int) -> bool:
        """Whether a number was given to a device that has not used it."""
        return slot < self._given and not self._used(slot // _PART)[slot % _PART // 8] >> slot % 8 & 1

    def use(self, slots: Sequence[int]) -> None:
        """Each number serves once."""
        for slot in slots:
            used = self._used(slot // _PART)
            used[slot % _PART // 8] |= 1 << slot % 8
            self._t.run(
                "INSERT INTO collection_slots VALUES (?, ?, ?) ON CONFLICT (task, part) DO UPDATE SET used = excluded.used",
                *(self._task, slot // _PART, bytes(used)),
            )

    def _used(self, part: int) -> bytearray:
        rows = self._t.run("SELECT used FROM collection_slots WHERE task = ? AND part = ?", self._task, part)
        return bytearray(rows[0][0]) if rows else bytearray(_PART // 8)
