"""Discreet's own synthetic data of Adult; `aim` also saves what it measured, and `refit` fits a model to measurements that were saved."""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.peers.making import DELTA, EPSILON, Making, make
from benchmarks.synthetic import ORDERED
from discreet.accounting import rho_of_epsilon
from discreet.noise import SYSTEM_BITS
from discreet.synthetic.methods.method_registry import METHODS
from discreet.synthetic.models.fitting import Evidence, Fit
from discreet.synthetic.models.synthetic_model import FINAL_GAP, FINAL_SWEEPS, Start, begun, groups_in
from tests.synthetic.memory import InMemory, domain_of


def by(name: str) -> Making:
    def rows(sizes: dict[str, int], real: np.ndarray) -> np.ndarray:
        domain, method = domain_of(sizes, ordered=ORDERED), METHODS[name]
        measurer = InMemory(domain, real, rho=rho_of_epsilon(EPSILON, delta=DELTA))
        method.measure(measurer, dict.fromkeys(combinations(domain.names, 3), 1))
        model = method.model(domain, measurer.measurements)
        if name == "aim":
            start = Start.of(domain, measurer.measurements)
            codings = start.codings(groups_in(domain, measurer.measurements, method.least_group))
            save(begun(domain, start, codings, measurer.measurements), Path(sys.argv[3]).with_suffix(".measured.npz"))
        return model.rows(round(model.total), SYSTEM_BITS)

    return rows


def save(fit: Fit, target: Path) -> None:
    """Everything that a fit begins with: columns by number, counts and variances cell by cell."""
    tables = {f"alone-{at}": counts for at, counts in enumerate(fit.alone)}
    for columns, evidence in fit.evidence.items():
        name = " ".join(map(str, columns))
        tables |= {f"counts-{name}": evidence.counts, f"variance-{name}": evidence.variance}
    np.savez(target, rows=fit.rows, **tables)


def refit(measured: Path, target: str) -> None:
    """The expected counts of every measured table, by a model of all of them."""
    saved = np.load(measured)
    alone = [saved[f"alone-{at}"] for at in range(sum(name.startswith("alone-") for name in saved))]
    fit = Fit(tuple(alone), float(saved["rows"]))
    names = [name.removeprefix("counts-") for name in saved if name.startswith("counts-")]
    for name in names:
        columns = tuple(map(int, name.split()))
        fit.add(Evidence(columns, saved[f"counts-{name}"], saved[f"variance-{name}"]))
    beliefs = fit.solved(gap=FINAL_GAP, most=FINAL_SWEEPS)
    np.savez(target, **{name: beliefs.table(tuple(map(int, name.split()))) * fit.rows for name in names})


if __name__ == "__main__":
    place, chosen, out = sys.argv[1:]
    if chosen == "refit":
        refit(Path(place), out)
    else:
        make({name: by(name) for name in METHODS})
