"""The error that nobody can avoid: lower bounds for whatever keeps a guarantee, beside what the mechanisms here achieve.

Each `Limit` says whether it is proved (`docs/explanation/proofs/limits.md`) or an order of magnitude, for which neighbours, by which
formula, and who showed it. A proved one holds for every mechanism with that guarantee, on some data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from discreet.accounting.stated_guarantee import Promise, read_promise
from discreet.core.exact import Number, read_count, read_level
from discreet.core.loss import Neighbours
from discreet.core.number_format import CONFIDENCE
from discreet.mechanisms import Exponential, Gaussian, Laplace, Mechanism, PermuteAndFlip

_EITHER = "either relation"
_ADD, _REPLACE = Neighbours.ADD_REMOVE.value, Neighbours.REPLACE_ONE.value


@dataclass(frozen=True, slots=True)
class Achieved:
    """What a mechanism here does about the same task.

    Args:
        mechanism: Its name.
        error: Its error, in the unit of the limit.
    """

    mechanism: str
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A task, and the error that no mechanism with the guarantee can avoid on all data.

    Args:
        task: What is asked for.
        unit: What `least` counts.
        least: No mechanism stays below it on all data; 0 where nothing is known.
        proved: Whether it is a theorem with all its constants, or an order of magnitude.
        neighbours: For which relation: add-remove, replace-one, or either relation.
        formula: Where `least` comes from.
        source: Who showed it.
        achieved: The same error of mechanisms here; empty where there is none for the task.
    """

    task: str
    unit: str
    least: float
    proved: bool
    neighbours: str
    formula: str
    source: str
    achieved: tuple[Achieved, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        return asdict(self)


def limits(
    *,
    people: int,
    columns: int,
    queries: int,
    epsilon: Number | None = None,
    delta: Number = 0,
    rho: Number | None = None,
    confidence: Number = CONFIDENCE,
) -> list[Limit]:
    """What nobody can do better than, task by task.

    Args:
        people: How many there are.
        columns: How many means are asked for at once, and how many candidates there are to choose from.
        queries: How many counts are asked for at once.
        epsilon: What may be learned about a person; or `rho` instead.
        delta: Beside epsilon; 0 for pure differential privacy.
        rho: The same as zero-concentrated differential privacy.
        confidence: In which share of all answers an error must not be exceeded.
    """
    size = read_count(people, name="people", most=10**12)
    wide = read_count(columns, name="columns", most=10**12)
    many = read_count(queries, name="queries", most=10**9)
    promise = read_promise(epsilon=epsilon, delta=delta, rho=rho)
    beta = 1 - float(read_level(confidence))
    return [
        _two_neighbours(promise),
        _one_count(promise, size, beta),
        *_many_counts(promise, size, many, beta),
        *_best_of(promise, wide, beta),
        *_subset_sums(promise, size, beta),
        _means(promise, size, wide),
        *_orders(promise, size, wide),
    ]


def _share(beta: float) -> str:
    return f"in {100 * (1 - beta):g} of 100 answers"


def _noise(promise: Promise, *, l1: int, l2_squared: int, size: int = 1) -> Gaussian | Laplace:
    """The additive noise that the guarantee buys: Laplace where it is pure, else Gauss."""
    if promise.pure:
        return Laplace(sensitivity=l1, epsilon=promise.epsilon, size=size)
    return promise.gaussian(l2_squared=l2_squared, size=size)


def _named(mechanism: Mechanism, error: float) -> Achieved:
    return Achieved(type(mechanism).__name__, error)


def _two_neighbours(promise: Promise) -> Limit:
    """A count whose two neighbours are 1 apart: half of that is the error of one who cannot tell them apart."""
    noise = _noise(promise, l1=1, l2_squared=1)
    if isinstance(noise, Gaussian):
        reach = math.ceil(40 * noise.sigma) if noise.sigma < 1e5 else 0
        still = 1 / math.fsum(math.exp(-z * z / 2 / noise.sigma**2) for z in range(-reach, reach + 1)) if reach else 0.0
    else:
        still = math.tanh(promise.epsilon / 2)
    return Limit(
        task="tell two neighbours apart",
        unit="chance that a count is off by 1/2 or more",
        least=promise.confusion(1),
        proved=True,
        neighbours=_EITHER,
        formula="(1 − √min(ρ/2, 1 − e^−ρ)) / 2" if promise.concentrated else "(1 − δ) / (1 + e^ε)",
        source="two-point method; Pinsker, Bretagnolle–Huber"
        if promise.concentrated
        else "Kairouz, Oh, Viswanath 2015",
        achieved=(_named(noise, 1 - still),),
    )


def _one_count(promise: Promise, people: int, beta: float) -> Limit:
    noise = _noise(promise, l1=1, l2_squared=1)
    limit = Limit(
        task="one count",
        unit=f"± {_share(beta)}",
        least=promise.furthest_confused(beta, most=people) / 2,
        proved=True,
        neighbours=_EITHER,
        formula="largest L/2 whose two neighbours at distance L are confused that often",
        source="two-point method with group privacy",
        achieved=(_named(noise, noise.error(1 - beta)),),
    )
    if not promise.pure:
        return limit
    return replace(
        limit,
        task="one count of any size",
        least=float(Laplace(sensitivity=1, epsilon=promise.epsilon).error(1 - beta)),
        formula="P(|error| > w) ≥ 2q^(w+1)/(1+q), q = e^−ε: attained",
        source="Ghosh, Roughgarden, Sundararajan 2009; Gupte, Sundararajan 2010",
    )


def _many_counts(promise: Promise, people: int, queries: int, beta: float) -> Iterator[Limit]:
    """Every set of the queries is one of 2**queries databases that are all close to the empty one."""
    if not (promise.pure or promise.concentrated):
        return
    noise = _noise(promise, l1=queries, l2_squared=queries, size=queries)
    yield Limit(
        task=f"{queries:,} counts at once",
        unit=f"± of the worst {_share(beta)}",
        least=promise.furthest_packed(queries * math.log(2), beta, most=people) / 2,
        proved=True,
        neighbours=_EITHER,
        formula="m/2, m² < ((1−β) k ln 2 − ln 2)/ρ" if promise.concentrated else "m/2, m < (k ln 2 + ln(1−β))/ε",
        source="packing: Hardt, Talwar 2010" + ("; Fano" if promise.concentrated else ""),
        achieved=(_named(noise, noise.error((1 - beta) ** (1 / queries))),),
    )


def _best_of(promise: Promise, candidates: int, beta: float) -> Iterator[Limit]:
    if candidates < 2 or not (promise.pure or promise.concentrated):
        return
    epsilon = promise.epsilon if promise.pure else math.sqrt(8 * promise.rho)
    choices: list[Mechanism] = []
    if candidates <= 1 << 24:
        kinds = (PermuteAndFlip, Exponential) if promise.pure else (Exponential,)
        choices = [kind(sensitivity=1, epsilon=epsilon, size=candidates, monotone=True) for kind in kinds]
    yield Limit(
        task=f"the best of {candidates:,}, by counts",
        unit=f"lead that is needed to win {_share(beta)}",
        least=float(1 + promise.furthest_packed(math.log(candidates), beta, most=10**18)),
        proved=True,
        neighbours=_ADD,
        formula="m + 1, m² < ((1−β) ln d − ln 2)/ρ" if promise.concentrated else "m + 1, m < (ln d + ln(1−β))/ε",
        source="packing" + ("; Fano" if promise.concentrated else ""),
        achieved=tuple(_named(choice, choice.error(1 - beta) + 1) for choice in choices),
    )


def _subset_sums(promise: Promise, people: int, beta: float) -> Iterator[Limit]:
    """Whoever has all sums to within E has all bits but 4E; nobody has more than the guarantee allows."""
    wrong = promise.confusion(1)
    achieved: tuple[Achieved, ...] = ()
    if promise.pure:
        share = 1 / (1 + math.exp(promise.epsilon))
        reported = people * share + math.sqrt(people * math.log(1 / beta) / 2)
        achieved = (Achieved("RandomizedResponse", min(reported, float(people))),)
    yield Limit(
        task="sums over every set of people",
        unit=f"± of the worst {_share(beta)}",
        least=max(0.0, people * (wrong - beta) / 4),
        proved=True,
        neighbours=_REPLACE,
        formula="n (P − β)/4, P the chance of two neighbours above",
        source="Dinur, Nissim 2003, with the guarantee's own chance of a wrong bit",
        achieved=achieved,
    )


def _means(promise: Promise, people: int, columns: int) -> Limit:
    """Fingerprinting: means that are close carry traces of everybody, and a guarantee limits each trace."""
    noise = _noise(promise, l1=2 * columns, l2_squared=4 * columns)
    return Limit(
        task=f"{columns:,} means of values −1 and 1",
        unit="root mean square error of a mean",
        least=least_mean_error(promise, people=people, columns=columns),
        proved=True,
        neighbours=_REPLACE,
        formula="max over k ≤ n of (k/n)(B − √(2/3k)), cB + B² = 1/3 − 8kδ, c = k√((e^2ρ − 1)/d) or k(e^ε − 1)/√d",
        source="fingerprinting: Bun, Ullman, Vadhan 2014; Dwork et al. 2015",
        achieved=(_named(noise, min(1.0, noise.sigma / people)),),
    )


def least_mean_error(promise: Promise, *, people: int, columns: int) -> float:
    """The root mean square error of `columns` means of values -1 and 1 that nobody is below on all data.

    Args:
        promise: The guarantee.
        people: How many there are.
        columns: How many means.
    """
    best, count = 0.0, 1.0
    while count <= people:  # every number of people gives a true bound, so the search may be coarse
        k = math.floor(count)
        trace, wanted = k * promise.trace / math.sqrt(columns), 1 / 3 - 8 * k * promise.delta
        if wanted > 0 and math.isfinite(trace):
            b = 2 * wanted / (trace + math.sqrt(trace * trace + 4 * wanted))
            best = max(best, k / people * (b - math.sqrt(2 / (3 * k))))
        count = max(count + 1, count * 1.01)
    return best


def _orders(promise: Promise, people: int, columns: int) -> Iterator[Limit]:
    """What is known up to constants only."""
    strength = math.sqrt(2 * promise.rho) if promise.concentrated else promise.epsilon
    rate = columns if promise.pure else math.sqrt(columns)
    yield Limit(
        task=f"a model of {columns:,} weights",
        unit="excess risk of a convex, 1-Lipschitz loss on the unit ball",
        least=min(1.0, rate / people / strength),
        proved=False,
        neighbours=_REPLACE,
        formula="d/(nε)" if promise.pure else "√d/(nε), ε = √(2ρ)" if promise.concentrated else "√d/(nε)",
        source="Bassily, Smith, Thakurta 2014",
    )
    yield Limit(
        task="more counts than people, at random",
        unit="error below which nearly everybody's bit is reconstructed",
        least=math.sqrt(people),
        proved=False,
        neighbours=_REPLACE,
        formula="√n, for sums that are not divided by n",
        source="Dinur, Nissim 2003",
    )
    yield Limit(
        task="counts answered in reasonable time",
        unit="counts beyond which no quick mechanism is accurate",
        least=float(people) ** 2,
        proved=False,
        neighbours=_REPLACE,
        formula="n^(2+o(1)), if one-way functions exist",
        source="Ullman 2013",
    )
