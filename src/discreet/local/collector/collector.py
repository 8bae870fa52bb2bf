"""The collector of one task in memory: check messages, count reports and compute estimates."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.exact import read_count
from discreet.errors import (
    BadInput,
    OutOfDomain,
    ReplayedReport,
    ReportRefused,
    TooFewReports,
    TooManyReports,
    WrongTask,
)
from discreet.local.collector.local_estimates import Estimate, MeanEstimate
from discreet.local.collector.tickets import TicketIssuer, max_reports_per_sender
from discreet.local.protocols.draws import Codes
from discreet.local.protocols.protocol import PureProtocol, Reports, Tally, TextProtocol
from discreet.local.tasks.messages import NO_SENDER, Message, read_message
from discreet.local.tasks.task import Task, Value


def check_message(
    task: Task, message: Message, *, seen: bool, sent: int, from_shuffler: bool, slots: TicketIssuer | None
) -> None:
    """Refuse a valid message that is a replay, has a wrong ticket, or exceeds what its sender may send.

    `slots` checks tickets, for a task that assigns numbers to devices.
    """
    if seen:
        raise ReplayedReport("This message was counted before.", next_step="Nothing needs to be done.")
    if slots is not None:
        slots.check(message)
    if message.sender == NO_SENDER:
        if not from_shuffler:
            raise OutOfDomain("The message has no sender.", next_step="Use the client that comes with Discreet.")
    elif sent + len(message.reports) > max_reports_per_sender(task):
        raise TooManyReports("This device has reached its report limit.", next_step="Wait for the next epoch.")


class Collector:
    """Count the reports of one task, each message once. Collectors of the same task can be merged.

    `invited` is the number of people invited to report; it gives the response rate.
    """

    def __init__(self, task: Task, *, invited: int | None = None) -> None:
        self.task, self.invited = task, invited
        self.reports = 0
        self.refused: Counter[str] = Counter()
        self._tally: Tally = task.protocol.tally(self.no_reports())
        self._messages: set[bytes] = set()
        self._senders: Counter[bytes] = Counter()
        self._slots, self._assigned = TicketIssuer(os.urandom(32), task), 0

    def no_reports(self) -> Reports:
        """Return an empty array of reports, in the shape that this task's reports have."""
        bits = self.task.randomizer.bits
        return np.zeros((0, -(-bits // 8)), np.uint8) if self.task.protocol.wide else np.zeros(0, np.uint64)

    @classmethod
    def with_tally(cls, task: Task, tally: Tally, *, reports: int) -> Collector:
        """Return a collector that continues from a stored tally."""
        collector = cls(task)
        collector._tally, collector.reports = tally, reports
        return collector

    @property
    def tally(self) -> Tally:
        """The sufficient statistics: all that the collector keeps of the reports."""
        return self._tally

    def assign(self) -> str:
        """Return a ticket for a new device. Its number selects the hash function of the device."""
        self._assigned += 1
        return self._slots.ticket(self._assigned - 1)

    def add(self, message: bytes, *, from_shuffler: bool = False) -> int:
        """Count a message and return its number of reports. Only a shuffler may send a message without a sender."""
        try:
            read = read_message(self.task, message)
            self._check(read, from_shuffler=from_shuffler)
        except ReportRefused as error:
            self.refused[error.code] += 1
            raise
        self._messages.add(read.id)
        if read.sender != NO_SENDER:
            self._senders[read.sender] += len(read.reports)
        self.add_reports(read.reports)
        return len(read.reports)

    def add_reports(self, reports: Reports) -> None:
        """Count reports that are already checked."""
        self._tally = self.task.protocol.merged(self._tally, self.task.protocol.tally(reports))
        self.reports += len(reports)

    def _check(self, message: Message, *, from_shuffler: bool) -> None:
        sent = self._senders[message.sender]
        seen = message.id in self._messages
        check_message(self.task, message, seen=seen, sent=sent, from_shuffler=from_shuffler, slots=self._slots)

    def merge(self, other: Collector) -> None:
        """Add the reports of another collector of the same task."""
        if other.task.digest != self.task.digest:
            raise WrongTask("The collectors have different tasks.", next_step="Merge collectors of the same task.")
        if self._messages & other._messages:
            raise ReplayedReport(
                "Both collectors counted the same message.", next_step="Send each message to one collector only."
            )
        self._tally = self.task.protocol.merged(self._tally, other._tally)
        self.reports += other.reports
        self.refused.update(other.refused)
        self._messages |= other._messages
        self._senders.update(other._senders)
        if self.invited is not None and other.invited is not None:
            self.invited += other.invited

    def estimate(self, *, candidates: Sequence[Value] | None = None, most: int = 32) -> Any:
        """Estimate the statistic of the task: an Estimate, or a MeanEstimate for a mean.

        `candidates` are the values to estimate if the domain is open; `most` is the maximum number of heavy hitters.
        """
        least = int(self.task.spec["min_batch"])
        if self.reports < least:
            raise TooFewReports(
                f"An estimate needs at least {least} report{'' if least == 1 else 's'}.", next_step="Wait for more."
            )
        if self.task.kind == "mean":
            return self._mean()
        if isinstance(self.task.protocol, TextProtocol):
            return self._heavy(self.task.protocol, read_count(most, name="most"))
        return self._frequencies(candidates)

    def _frequencies(self, candidates: Sequence[Value] | None) -> Estimate:
        protocol = self.task.protocol
        values, codes = self._values(candidates)
        counts = protocol.estimate(self._tally, self.reports, codes)
        return Estimate(
            values=values,
            counts=counts,
            variances=(
                protocol.variance(np.clip(counts, 0, self.reports), self.reports, codes)
                if isinstance(protocol, PureProtocol)  # decoding once is enough
                else protocol.estimated_variance(self._tally, self.reports, codes)
            ),
            reports=self.reports,
            influence=protocol.influence,
            invited=self.invited,
            smoothed=protocol.smoothed(self._tally, self.reports),
        )

    def _values(self, candidates: Sequence[Value] | None) -> tuple[Sequence[Any], Codes]:
        task = self.task
        if task.kind == "distribution":
            points = int(task.spec["parameters"]["steps"]) + 1
            lower, upper = bounds_of(task)
            return np.linspace(lower, upper, points).tolist(), np.arange(points)
        values = task.values if candidates is None else candidates
        if not values:
            raise BadInput(
                "The domain of this task is open.", next_step="Give candidates=[...], the values to estimate."
            )
        if isinstance(values, range) and task.spec["protocol"] not in ("cms", "hcms"):
            return values, np.arange(len(values))
        codes = [task.code_of(value) for value in values]
        return values, np.array(codes, np.uint64 if max(codes) >= 2**63 else np.int64)

    def _mean(self) -> MeanEstimate:
        lower, upper = bounds_of(self.task)
        step = (upper - lower) / int(self.task.spec["parameters"]["steps"])
        none = np.zeros(0, np.int64)
        protocol = self.task.protocol
        return MeanEstimate(
            raw=lower + step * float(protocol.estimate(self._tally, self.reports, none)[0]),
            standard_error=step * float(protocol.estimated_variance(self._tally, self.reports, none)[0]) ** 0.5,
            reports=self.reports,
            lower=lower,
            upper=upper,
            influence=step * protocol.influence,
            invited=self.invited,
        )

    def _heavy(self, protocol: TextProtocol[Any], most: int) -> Estimate:
        hitters = protocol.heavy_hitters(self._tally, self.reports, keep=most)
        return Estimate(
            values=[text.decode("utf-8", "replace") for text, _, _ in hitters],
            counts=np.array([count for _, count, _ in hitters], np.float64),
            variances=np.array([variance for _, _, variance in hitters], np.float64),
            reports=self.reports,
            influence=protocol.influence,
            invited=self.invited,
            candidate_count=most << 8,  # every text kept was extended by a byte, and all of those were judged
        )


def bounds_of(task: Task) -> tuple[float, float]:
    """Return the bounds to which devices clamp the number they report."""
    return float(Fraction(task.spec["domain"]["lower"])), float(Fraction(task.spec["domain"]["upper"]))
