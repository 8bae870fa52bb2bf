"""Tasks: a query to devices, fixed in a specification that is identified by its hash."""

from __future__ import annotations

import hashlib
import json
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.core.exact import Number, exact, read_bounds, read_count, read_epsilon, rounded_up
from discreet.errors import BadData, BadEpsilon, BadTask
from discreet.local.device.client import (
    BUDGET,
    VERSION,
    ClientRefused,
    Randomizer,
    TwoRounds,
    build_coder,
    build_randomizer,
    canonical_bytes,
    format_loss,
    lifetime_loss,
    shown,
    task_digest,
)
from discreet.local.protocols import heavy, numeric, protocol_for
from discreet.local.protocols.bloom import rappor_shape
from discreet.local.protocols.protocol import Protocol
from discreet.local.tasks.protocol_choice import (
    Choice,
    auto,
    hadamard_option,
    hashing_buckets,
    projective_option,
    subset_width,
)

Value = str | int

_ALIASES = {
    "krr": "grr",
    "k-rr": "grr",
    "ss": "subset",
    "projective": "pgr",
    "basic-rappor": "sue",
    "hr": "hadamard",
    "1bit": "duchi",
    "onebit": "duchi",
    "sw": "square-wave",
}
_FREQUENCY = (
    "coin",
    "warner",
    "grr",
    "subset",
    "pgr",
    "olh",
    "loloha",
    "sue",
    "oue",
    "cms",
    "hcms",
    "hadamard",
    "rappor",
)
_MEAN = ("duchi", "piecewise", "hybrid")
_MOST_REPORTS = 1000
"""Default cap on the reports of one device; less if that many would cost more than the default device budget."""
_STEPS = 1 << 16
_MOST_VALUES = 1 << 26


@dataclass(frozen=True)
class Task:
    """One query to many devices. The specification is all that a device needs; its hash is in every message.

    Build one with `Task.frequency`, `Task.mean`, `Task.distribution` or `Task.heavy_hitters`; read a published one with
    `Task.from_json`. Caps limit how many reports one device makes per epoch and in its lifetime.
    """

    spec: Mapping[str, Any]

    def __post_init__(self) -> None:
        _ = self.randomizer  # refuses an invalid task

    @classmethod
    def frequency(
        cls,
        name: str,
        *,
        epsilon: Number,
        domain: Sequence[Value] | range | None = None,
        protocol: str = "auto",
        first: Number | None = None,
        parameters: Mapping[str, int] | None = None,
        **rules: Any,
    ) -> Task:
        """Ask how many people have each value of `domain`, or, without a domain, of a list of candidates given later.

        `first` is the cost of a single report, for protocols whose `epsilon` is for all reports of an epoch (rappor,
        loloha).
        """
        values = _domain(domain)
        chosen = _named(protocol, _FREQUENCY, default="auto")
        size = values.get("range") or len(values.get("values", ()))
        if chosen == "auto":
            picked = auto(size, epsilon) if size else None
            chosen, shape = (picked.protocol, picked.parameters) if picked else ("olh", _olh(0, epsilon))
        else:
            shape = _frequency_parameters(chosen, size, epsilon, first)
        if not size and chosen not in ("olh", "loloha", "cms", "hcms"):
            raise BadTask(
                f"The protocol {chosen} needs the list of values.",
                next_step="Give domain=[...], or protocol='olh' for values that are not known yet.",
            )
        return cls(_spec(name, "frequency", chosen, epsilon, values, {**shape, **(parameters or {})}, rules))

    @classmethod
    def mean(
        cls,
        name: str,
        *,
        lower: Number,
        upper: Number,
        epsilon: Number,
        protocol: str = "auto",
        steps: int = _STEPS,
        **rules: Any,
    ) -> Task:
        """Ask for the mean of a number between public bounds; devices clamp numbers to them."""
        chosen = _named(protocol, _MEAN, default="hybrid")
        e = float(read_epsilon(epsilon))
        parameters = {"steps": read_count(steps, name="steps")}
        if chosen in ("piecewise", "hybrid"):
            parameters["width"] = numeric.piecewise_width(parameters["steps"], e)
        if chosen == "hybrid":
            parameters["share"] = numeric.hybrid_share(e)
        return cls(_spec(name, "mean", chosen, epsilon, _bounds(lower, upper), parameters, rules))

    @classmethod
    def distribution(
        cls, name: str, *, lower: Number, upper: Number, epsilon: Number, bins: int = 64, **rules: Any
    ) -> Task:
        """Ask for the distribution of a number between public bounds over `bins` equal parts (square wave)."""
        steps = read_count(bins, name="bins", least=2) - 1
        width = numeric.square_wave_width(steps, float(read_epsilon(epsilon)))
        parameters = {"steps": steps, "width": width}
        return cls(_spec(name, "distribution", "square-wave", epsilon, _bounds(lower, upper), parameters, rules))

    @classmethod
    def heavy_hitters(
        cls,
        name: str,
        *,
        epsilon: Number,
        length: int = 8,
        protocol: str = "pem",
        parameters: Mapping[str, Any] | None = None,
        **rules: Any,
    ) -> Task:
        """Ask for the most frequent texts of at most `length` bytes, if they cannot be listed beforehand."""
        chosen = _named(protocol, ("pem", "sfp"), default="pem")
        bytes_long = read_count(length, name="length", least=2)
        e = float(read_epsilon(epsilon))
        if chosen == "pem":
            prefixes, buckets = heavy.pem_shape(bytes_long, e)
            shape: dict[str, Any] = {"length": bytes_long, "prefixes": list(prefixes), "buckets": buckets}
        else:
            bytes_long += bytes_long % 2  # in pieces of two
            shape = {"length": bytes_long, "piece": 2, "rows": 256, "columns": 256}
        domain = {"length": bytes_long}
        return cls(_spec(name, "heavy-hitters", chosen, epsilon, domain, {**shape, **(parameters or {})}, rules))

    @classmethod
    def from_json(cls, text: str | bytes) -> Task:
        """Read a published task."""
        try:
            return cls(json.loads(text))
        except (ValueError, TypeError) as error:
            if isinstance(error, BadTask):
                raise
            raise _unreadable() from None

    def to_json(self) -> str:
        """The specification, as it is published and hashed."""
        return canonical_bytes(self.spec).decode()

    @property
    def name(self) -> str:
        """The name of the task."""
        return str(self.spec["name"])

    @property
    def kind(self) -> str:
        """frequency, mean, distribution or heavy-hitters."""
        return str(self.spec["kind"])

    @property
    def epsilon(self) -> float:
        """The cost of one report; for rappor, loloha and `memoize`, the cost of all reports of one epoch."""
        return float(_number(self.spec["epsilon"]))

    @cached_property
    def digest(self) -> bytes:
        """The first 16 bytes of the hash of the specification."""
        return task_digest(self.spec)

    @property
    def id(self) -> str:
        """The digest as text."""
        return self.digest.hex()

    @cached_property
    def randomizer(self) -> Randomizer:
        """The randomizer that devices use."""
        return _randomizer(self.spec)

    @cached_property
    def protocol(self) -> Protocol[Any]:
        """The randomizer for many people at once, with the estimator."""
        return protocol_for(self.randomizer)

    @property
    def values(self) -> Sequence[Value]:
        """The values of the domain, in order; empty if it is open."""
        domain = self.spec["domain"]
        return range(domain["range"]) if "range" in domain else domain.get("values", ())

    @property
    def lifetime_epsilon(self) -> float:
        """The most that a device can lose with all its permitted reports, for any two histories of values."""
        return rounded_up(lifetime_loss(self.randomizer, **self.spec["caps"]))

    @property
    def is_linkable(self) -> bool:
        """Whether two reports of a device can be linked, because they repeat or carry the device's number.

        Shuffling does not protect such reports: those in one crowd but not in the next belong to one person.
        """
        keeps_answer = self.spec["memoize"] or isinstance(self.randomizer, TwoRounds)
        return bool(keeps_answer or self.spec["assigned"] or self.randomizer.slot_at is not None)

    def code_of(self, value: Any) -> Any:
        """Return the code that the randomizer takes for a value."""
        try:
            return self._coder(value)
        except ClientRefused as error:
            raise BadData(error.problem, next_step=error.next_step) from None

    @cached_property
    def _coder(self) -> Callable[[Any], Any]:
        return build_coder(self.spec)

    def explain(self) -> str:
        """Describe what a person is asked for, what it costs, and why this protocol was chosen."""
        caps, bits = self.spec["caps"], self.randomizer.bits
        at_most = f"{caps['per_epoch']:,} an epoch and {caps['lifetime']:,} in all"
        lines = [
            f"{shown(self.name)}: {self.kind}, protocol {self.spec['protocol']}, ε {format_loss(self.randomizer.loss(1))} a report",
            f"a report has {bits:,} bits; a device makes at most {at_most}",
            f"a device that makes them all gives away ε {format_loss(self.lifetime_epsilon)} altogether, whatever its values",
        ]
        if self.lifetime_epsilon > BUDGET:
            lines.append(f"devices stop at ε {BUDGET} for all their tasks together, unless their owners say more")
        if self.kind == "frequency" and self.values:
            lines += ["", self.choice().explain()]
        return "\n".join(lines)

    def choice(self) -> Choice:
        """Return the choice of `auto` for this number of values and this epsilon."""
        return auto(len(self.values), _number(self.spec["epsilon"]))


def _unreadable() -> BadTask:
    return BadTask("This is not a task.", next_step="Give the whole specification, as it was published.")


def _randomizer(spec: Mapping[str, Any]) -> Randomizer:
    try:
        return build_randomizer(spec)
    except ClientRefused as error:
        raise BadTask(error.problem, next_step="Change the task's parameters.") from None


def _number(text: object) -> Fraction:
    return Fraction(str(text))


def _named(protocol: str, known: Sequence[str], *, default: str) -> str:
    name = _ALIASES.get(protocol, protocol)
    if name == "auto":
        return default
    if name not in known:
        raise BadTask("This kind of task has no such protocol.", next_step=f"Use one of: {', '.join(known)}.")
    return name


def _domain(domain: Sequence[Value] | range | None) -> dict[str, Any]:
    if domain is None:
        return {"open": True}
    if isinstance(domain, range):
        if domain.start != 0 or domain.step != 1:
            raise BadTask("A range of values must start at 0 with step 1.", next_step="Give range(n), or a list.")
        size = len(domain)
        described: dict[str, Any] = {"range": size}
    else:
        values = list(domain)
        size = len(values)
        if not all(type(value) in (str, int) for value in values) or len(set(map(str, values))) != size:
            raise BadTask("Values must be distinct texts or integers.", next_step="Remove duplicates and other types.")
        described = {"values": values}
    if not 2 <= size <= _MOST_VALUES:
        raise BadTask(
            f"A domain must have 2 to {_MOST_VALUES:,} values.", next_step="Leave domain out for an open domain."
        )
    return described


def _bounds(lower: Number, upper: Number) -> dict[str, str]:
    low, high = read_bounds(lower, upper)
    return {"lower": str(low), "upper": str(high)}


def _olh(size: int, epsilon: Number) -> dict[str, Any]:
    return {"size": size, "buckets": hashing_buckets(float(read_epsilon(epsilon)))}


def _frequency_parameters(protocol: str, size: int, epsilon: Number, first: Number | None) -> dict[str, Any]:
    e = float(read_epsilon(epsilon))
    if protocol in ("coin", "warner") and size != 2:
        raise BadTask("This protocol is for two values.", next_step="Use grr for more values.")
    if protocol == "subset":
        return {"size": size, "width": subset_width(size, e)}
    if protocol == "pgr":
        return projective_option(size, e).parameters
    if protocol == "hadamard":
        return hadamard_option(size, e).parameters
    if protocol == "olh":
        return _olh(size, epsilon)
    if protocol in ("cms", "hcms"):
        return {"rows": 1024, "columns": 1024, "size": size}
    if protocol in ("rappor", "loloha"):
        once = read_epsilon(first if first is not None else exact(epsilon) / 2, name="first")
        if once >= exact(epsilon):
            raise BadEpsilon("first must be below epsilon.", next_step="Leave it out for half of epsilon.")
        if protocol == "loloha":
            return {"size": size, "buckets": _loloha_buckets(float(once)), "first": str(once)}
        filter_bits, hashes, cohorts = rappor_shape(size)
        shape = {"filter_bits": filter_bits, "hashes": hashes, "cohorts": cohorts}
        return {"size": size, **shape, "first": str(once)}
    return {"size": size}


def _loloha_buckets(first: float) -> int:
    """Return the number of buckets with the least variance of one report; a false match has probability 1 / buckets."""

    def variance(buckets: int) -> float:
        truthful = math.exp(first) / (math.exp(first) + buckets - 1)
        untruthful = 1 / buckets
        return untruthful * (1 - untruthful) / (truthful - untruthful) ** 2

    return min(range(2, max(3, round(math.exp(first)) + 3)), key=variance)


def _spec(  # noqa: PLR0917  the parts of a specification, in its order
    name: str,
    kind: str,
    protocol: str,
    epsilon: Number,
    domain: Mapping[str, Any],
    parameters: Mapping[str, Any],
    rules: Mapping[str, Any],
) -> dict[str, Any]:
    known = {"per_epoch", "lifetime", "epoch_seconds", "min_batch", "memoize", "assigned", "seed"}
    if unknown := set(rules) - known:
        raise BadTask(f"A task has no option {min(unknown)!r}.", next_step=f"Use one of: {', '.join(sorted(known))}.")
    spec: dict[str, Any] = {
        "version": VERSION,
        "name": str(name),
        "kind": kind,
        "protocol": protocol,
        "epsilon": str(read_epsilon(epsilon)),
        "domain": dict(domain),
        "parameters": dict(parameters),
        "caps": {},
        "epoch_seconds": read_count(rules.get("epoch_seconds", 0), name="epoch_seconds", least=0),
        "min_batch": read_count(rules.get("min_batch", 1), name="min_batch"),
        "memoize": bool(rules.get("memoize", False)),
        "assigned": bool(rules.get("assigned", False)),
    }
    spec["caps"] = _caps(spec, rules)
    # The hash functions are public: any seed that does not depend on people's values is good.
    drawn = int.from_bytes(hashlib.sha256(canonical_bytes(spec)).digest()[:6], "big")
    spec["seed"] = read_count(rules.get("seed", drawn), name="seed", least=0)
    return spec


def _caps(spec: Mapping[str, Any], rules: Mapping[str, Any]) -> dict[str, int]:
    """Return the caps in the rules. The default lifetime cap costs at most the default device budget."""
    randomizer = _randomizer({**spec, "caps": {"per_epoch": 1, "lifetime": 1}, "seed": 0})
    per_epoch = rules.get("per_epoch")

    def caps(lifetime: object) -> dict[str, int]:
        reports = read_count(lifetime, name="lifetime")
        return {"lifetime": reports, "per_epoch": read_count(per_epoch or reports, name="per_epoch")}

    if "lifetime" in rules:
        return caps(rules["lifetime"])
    affordable = bisect_right(
        range(1, _MOST_REPORTS + 1), False, key=lambda n: lifetime_loss(randomizer, **caps(n)) > BUDGET
    )
    return caps(max(1, affordable))
