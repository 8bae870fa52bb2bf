"""Measurers that tell too much."""

from dataclasses import replace

import numpy as np

from discreet.measurement.measuring import Measuring
from discreet.measurement.replay import Run
from discreet.measurement.sparse_vector import count_query_to_json
from discreet.measurement.transcript import Step, about
from tests.support.memory_tables import measuring


class _ExactNumber(Measuring):
    def noisy(self, columns, mechanism):
        look = super().noisy(columns, mechanism)
        return look if columns else replace(look, values=np.asarray(self._exact(())))


def with_exact_number(rows, domain, *, bits):
    """The number of rows is read, and not measured."""
    ours = measuring(rows, domain, bits=bits)
    return _ExactNumber(ours.domain, ours._tables, ours._run)


class _FreeCounts(Measuring):
    def counted(self, query, mechanism):
        asked = about("count", paid=None, question=count_query_to_json(query))
        noisy = mechanism.release(np.array([self._exactly(query)]))
        return int(self._run.take_step(asked, mechanism=None, draw=lambda: noisy).outcome[0])


def with_free_counts(rows, domain, **details):
    """What the guard of a session finds is measured, and nobody pays."""
    ours = measuring(rows, domain, **details)
    return _FreeCounts(ours.domain, ours._tables, ours._run)


class ShowsBeforeStoring(Run):
    """Progress is shown as it is drawn; the books hear of it later."""

    def take_step(self, asked, *, mechanism, draw):
        step = Step(asked, draw())
        self.steps.append(step)
        for number in range(len(self.steps) - 1):
            self._store.store(number, self.steps[number].encoded(), mechanism=mechanism)
        return step


class DrawsAnew(Run):
    """After a crash everything is drawn a second time, and that is what is shown."""

    def take_step(self, asked, *, mechanism, draw):
        step = Step(asked, draw())
        self._store.store(len(self.steps), step.encoded(), mechanism=mechanism)
        self.steps.append(step)
        return step
