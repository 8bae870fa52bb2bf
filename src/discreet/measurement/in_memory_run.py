"""A run over rows at hand: what the pipeline does for a curator, with an array for an engine and no books."""

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
    """Everything that `measure` looked at, under a budget that was paid for.

    Args:
        codes: A row each, a column for each of the domain.
        domain: What is public about them.
        budget: What may be spent.
        purpose: What it is for, as JSON has it.
        measure: Looks until it has enough.
        bits: Where randomness comes from.
    """
    run = Run(Meter(budget, bits), NoJournal())
    tables = CodedArray(codes, domain.shape(domain.names)).tables()
    measure(Summing(domain, tables, run))
    return Transcript(
        {"purpose": dict(purpose), "domain": domain_to_json(domain), "budget": mechanism_to_json(budget)},
        tuple(run.steps),
    )


def of_nobody(domain: Domain, budget: AdaptiveBudget) -> tuple[SumMeasurer, Meter]:
    """A measurer of no rows, and the meter that it pays from: for noise that is known before anything is drawn.

    Args:
        domain: What is public about the rows.
        budget: What may be spent.
    """
    nothing, meter = np.zeros((0, len(domain.columns)), np.int64), Meter(budget)
    tables = CodedArray(nothing, domain.shape(domain.names)).tables()
    return Summing(domain, tables, Run(meter, NoJournal())), meter
