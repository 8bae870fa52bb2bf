"""A run over an array in memory, without an engine and without a ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.tables.array_tables import CodedArray
from discreet.ledger.charges.release_json import mechanism_to_json
from discreet.measurement.domain import Domain, domain_to_json
from discreet.measurement.feature_vectors import SumMeasurer
from discreet.measurement.replay import Run
from discreet.measurement.summing import Summing
from discreet.measurement.transcript import Transcript
from discreet.mechanisms.adaptive_budget import AdaptiveBudget, Meter
from discreet.noise import SYSTEM_BITS, RandomBits
from discreet.pipeline.journal import NoJournal


def transcript_of(
    codes: NDArray[np.int64],
    domain: Domain,
    *,
    budget: AdaptiveBudget,
    purpose: Mapping[str, Any],
    measure: Callable[[SumMeasurer], None],
    bits: RandomBits = SYSTEM_BITS,
) -> Transcript:
    """Run `measure` and return the transcript. `codes` has one column for each column of the domain."""
    run = Run(Meter(budget, bits), NoJournal())
    tables = CodedArray(codes, domain.shape(domain.names)).tables()
    measure(Summing(domain, tables, run))
    return Transcript(
        {"purpose": dict(purpose), "domain": domain_to_json(domain), "budget": mechanism_to_json(budget)},
        tuple(run.steps),
    )


def empty_measurer(domain: Domain, budget: AdaptiveBudget) -> tuple[SumMeasurer, Meter]:
    """Return a measurer of an empty table and its budget meter: to know the noise before a run is charged."""
    nothing, meter = np.zeros((0, len(domain.columns)), np.int64), Meter(budget)
    tables = CodedArray(nothing, domain.shape(domain.names)).tables()
    return Summing(domain, tables, Run(meter, NoJournal())), meter
