"""Choose a protocol: the one with the least variance whose reports and decoding are small enough."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from discreet.core.exact import Number, read_count, read_epsilon
from discreet.errors import BadTask
from discreet.local.device.client import LEAST_EPSILON

_MOST_EPSILON = 100
"""A larger epsilon protects nothing, and for a much larger one e^ε overflows."""
MOST_BITS = 32
MOST_WORK = 1 << 25
_LARGEST_ORDER = 1200
_LAST_RESORT = 1.05
"""Local hashing is slow to decode, so it is chosen only if the others have more than this times its variance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A protocol with its best parameters, its variance and its cost."""

    protocol: str
    parameters: dict[str, int]
    variance: float
    """The variance of a rare value's estimated count, per report."""
    bits: int
    work: int
    """Size of the table that the collector needs for an estimate of all values."""
    reason: str = ""
    """Why it was not chosen; empty for the chosen one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The chosen protocol, and all protocols that were considered."""

    size: int
    epsilon: float
    chosen: Option
    options: tuple[Option, ...]

    @property
    def protocol(self) -> str:
        """Its name."""
        return self.chosen.protocol

    @property
    def parameters(self) -> dict[str, int]:
        """Its parameters."""
        return dict(self.chosen.parameters)

    @property
    def line(self) -> float:
        """4 e^ε / (e^ε - 1)²: the least variance of any protocol for many values."""
        return best_line(self.epsilon)

    def explain(self) -> str:
        """The table of all considered protocols that justifies the choice."""
        rows = [("protocol", "variance a report", "× best line", "bits a report", "")]
        for option in sorted(self.options, key=lambda option: (option is not self.chosen, option.variance)):
            note = option.reason or "taken"
            ratio = f"{option.variance / self.line:.3f}"
            rows.append((option.protocol, f"{option.variance:.4g}", ratio, f"{option.bits:,}", note))
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = [
            "  ".join(
                cell.ljust(width) if i in (0, 4) else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        return "\n".join(line.rstrip() for line in lines)


def best_line(epsilon: float) -> float:
    """4 e^ε / (e^ε - 1)² (Wang, Blocki, Li, Jha 2017)."""
    return 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2


def auto(domain_size: int, epsilon: Number, *, most_bits: int = MOST_BITS, most_work: int = MOST_WORK) -> Choice:
    """Choose the protocol with the least variance among those whose reports and tables are small enough."""
    size = read_count(domain_size, name="domain_size", least=2)
    e = float(read_epsilon(epsilon))
    if not LEAST_EPSILON <= e <= _MOST_EPSILON:
        raise BadTask("The epsilon of a task is too small or too large.", next_step="Give one from 0.01 to 10.")
    return _auto(size, e, read_count(most_bits, name="most_bits"), read_count(most_work, name="most_work"))


@lru_cache(maxsize=1 << 12)
def _auto(size: int, epsilon: float, most_bits: int, most_work: int) -> Choice:
    options = [_with_limits(option, most_bits, most_work) for option in _options(size, epsilon, most_bits, most_work)]
    hashing = next(option for option in options if option.protocol == "olh")
    admitted = [option for option in options if not option.reason and option is not hashing]
    chosen = min(admitted, key=lambda option: (option.variance, option.bits, option.work), default=hashing)
    if chosen.variance > _LAST_RESORT * hashing.variance:
        chosen = hashing
    seen = [option if option is chosen else _with_reason(option, chosen) for option in options]
    return Choice(size=size, epsilon=epsilon, chosen=chosen, options=tuple(seen))


def _with_limits(option: Option, most_bits: int, most_work: int) -> Option:
    if option.protocol != "olh" and option.bits > most_bits:
        return replace(option, reason=f"more than {most_bits} bits a report")
    if option.work > most_work and option.protocol != "olh":
        return replace(option, reason=f"tables of more than {most_work:,} numbers")
    return option


def _with_reason(option: Option, chosen: Option) -> Option:
    if option.reason:
        return option
    if option.protocol == "olh":
        return replace(option, reason="hashes every value for every report: for domains too large to list")
    same = option.variance <= chosen.variance * (1 + 1e-9)
    return replace(option, reason="larger reports" if same else "more variance")


def _options(size: int, epsilon: float, most_bits: int, most_work: int) -> Iterator[Option]:
    e = math.exp(epsilon)
    yield Option(
        protocol="grr", parameters={"size": size}, variance=(size - 2 + e) / (e - 1) ** 2, bits=_bits(size), work=size
    )
    width = subset_width(size, epsilon)
    yield Option(
        protocol="subset",
        parameters={"size": size, "width": width},
        variance=_subset_variance(size, width, e),
        bits=size,
        work=size,
    )
    yield projective_option(size, epsilon, most_bits=most_bits, most_work=most_work)
    buckets = hashing_buckets(epsilon)
    yield Option(
        protocol="olh",
        parameters={"size": size, "buckets": buckets},
        variance=(e - 1 + buckets) ** 2 / ((e - 1) ** 2 * (buckets - 1)),
        bits=32 + _bits(buckets),
        work=size,
    )
    half = math.exp(epsilon / 2)
    yield Option(protocol="sue", parameters={"size": size}, variance=half / (half - 1) ** 2, bits=size, work=size)
    yield Option(protocol="oue", parameters={"size": size}, variance=best_line(epsilon), bits=size, work=size)
    yield hadamard_option(size, epsilon)
    rows, columns = 1024, 1024
    sketch = {"rows": rows, "columns": columns, "size": size}
    yield Option(
        protocol="cms",
        parameters=sketch,
        variance=half / (half - 1) ** 2 + 1 / columns,
        bits=columns + _bits(rows),
        work=rows * columns,
    )
    yield Option(
        protocol="hcms",
        parameters=sketch,
        variance=((e + 1) / (e - 1)) ** 2,
        bits=1 + _bits(rows) + _bits(columns),
        work=rows * columns,
    )


def _bits(size: int) -> int:
    return max(1, (size - 1).bit_length())


def hashing_buckets(epsilon: float) -> int:
    """Return the best number of buckets for local hashing: e^ε + 1, rounded."""
    return max(2, min(round(math.exp(epsilon)) + 1, 1 << 16))


def subset_width(size: int, epsilon: float) -> int:
    """Return how many values a reported set has: size / (e^ε + 1), rounded up or down, whichever is better."""
    e = math.exp(epsilon)
    widths = {max(1, min(size - 1, math.floor(size / (e + 1)))), max(1, min(size - 1, math.ceil(size / (e + 1))))}
    return min(widths, key=lambda width: _subset_variance(size, width, e))


def _subset_variance(size: int, width: int, e: float) -> float:
    total = e * width + size - width
    p = e * width / total
    q = width * (e * (width - 1) + size - width) / ((size - 1) * total)
    return _pure_variance(p, q)


def _pure_variance(p: float, q: float) -> float:
    return q * (1 - q) / (p - q) ** 2


@lru_cache(maxsize=1)
def prime_powers() -> tuple[int, ...]:
    """Return the orders of finite fields whose elements have at most eight digits."""
    orders = []
    for order in range(2, _LARGEST_ORDER):
        prime = next(p for p in range(2, order + 1) if order % p == 0)
        rest, digits = order, 0
        while rest % prime == 0:
            rest, digits = rest // prime, digits + 1
        if rest == 1 and digits <= 8:
            orders.append(order)
    return tuple(orders)


def projective_option(size: int, epsilon: float, *, most_bits: int = MOST_BITS, most_work: int = MOST_WORK) -> Option:
    """Return the geometry with the least variance among those that are small enough, or else the smallest."""
    e = math.exp(epsilon)
    geometries = []
    for order in prime_powers():
        dimension = 2
        while order ** (dimension - 1) < size:
            dimension += 1
        points, plane, line = ((order ** (dimension - i) - 1) // (order - 1) for i in range(3))
        total = e * plane + points - plane
        variance = _pure_variance(e * plane / total, (e * line + plane - line) / total)
        too_large = points > most_work or _bits(points) > most_bits
        geometries.append((too_large, points if too_large else 0, variance, points, order, dimension))
    _, _, variance, points, order, dimension = min(geometries)
    parameters = {"size": size, "order": order, "dimension": dimension}
    return Option(protocol="pgr", parameters=parameters, variance=variance, bits=_bits(points), work=points)


def hadamard_option(size: int, epsilon: float) -> Option:
    """Return the number of blocks with the least variance if values are spread evenly over them."""
    e = math.exp(epsilon)
    layouts = []
    for exponent in range(max(1, math.ceil(epsilon / math.log(2)) + 2)):
        blocks = 1 << exponent
        columns = 1 << max(1, math.ceil(math.log2(-(-size // blocks) + 1)))
        half, outputs = columns // 2, blocks * columns
        total = e * half + outputs - half
        share = min(1.0, (columns - 1) / size)  # of people in the value's own block
        variance = total / (half * (e - 1) ** 2) * ((e + 1) * share + 2 * (1 - share))
        layouts.append((variance, blocks, columns, outputs))
    variance, blocks, columns, outputs = min(layouts)
    parameters = {"size": size, "blocks": blocks, "columns": columns}
    return Option(protocol="hadamard", parameters=parameters, variance=variance, bits=_bits(outputs), work=outputs)
