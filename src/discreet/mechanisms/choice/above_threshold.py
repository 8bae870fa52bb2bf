"""AboveThreshold, the sparse vector technique: many queries, a price only for the few that are above."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.exact import Number, exact, read_count, read_epsilon, read_flag, read_level, read_sensitivity
from discreet.errors import BadData, BadInput
from discreet.mechanisms.additive.laplace_mechanism import Laplace
from discreet.mechanisms.mechanism import SolvedForEpsilon
from discreet.noise import SYSTEM_BITS, RandomBits, one_discrete_laplace
from discreet.noise.laplace_sampler import check_scale


@dataclass(frozen=True, slots=True, kw_only=True)
class AboveThreshold(SolvedForEpsilon):
    """Say of each integer query whether its noisy value reaches a noisy threshold, until `positives` of them have.

    Guarantee: epsilon-DP for any number of adaptively chosen queries of sensitivity `sensitivity`; only True costs.
    The threshold's noise is drawn once, of scale sensitivity / epsilon_1; each query's noise is fresh, of scale
    2 positives sensitivity / epsilon_2; no noisy value is ever returned. (With `monotone` queries, which all move the
    same way when a person comes, half that noise is enough.) epsilon_1 + epsilon_2 = epsilon.
    Citation: Lyu, Su, Li 2017 (arXiv:1603.01699), algorithm 7 and theorems 4, 5; the variants that they show to be
    broken are in `tests/mutants`, where our checks catch them.

    Args:
        epsilon: What the whole run costs.
        sensitivity: How far one person can move each query.
        threshold: What queries are compared with; public.
        positives: How many may be above before it ends.
        monotone: Whether all queries move one way when a person comes.
    """

    epsilon: Number
    sensitivity: Number
    threshold: int
    positives: int = 1
    monotone: bool = False

    def __post_init__(self) -> None:
        read_epsilon(self.epsilon)
        read_sensitivity(self.sensitivity)
        object.__setattr__(self, "positives", read_count(self.positives, name="positives"))
        read_flag(self.monotone, name="monotone")
        if type(self.threshold) is not int:
            raise BadInput(
                "The threshold must be an int.", next_step="Give the threshold in the queries' integer unit."
            )
        check_scale(self.query_scale)

    @property
    def _moves(self) -> int:
        """By how many sensitivities a query can move against the threshold, over all positives."""
        return self.positives * (1 if self.monotone else 2)

    @property
    def threshold_epsilon(self) -> Fraction:
        """The share 1 : moves**(2/3), which minimises the variance of the comparison (section 4.2 there)."""
        return exact(self.epsilon) / (1 + Fraction(self._moves ** (2 / 3)).limit_denominator(1000))

    @property
    def threshold_scale(self) -> Fraction:
        return exact(self.sensitivity) / self.threshold_epsilon

    @property
    def query_scale(self) -> Fraction:
        return self._moves * exact(self.sensitivity) / (exact(self.epsilon) - self.threshold_epsilon)

    def noisy_threshold(self, bits: RandomBits = SYSTEM_BITS) -> int:
        """The threshold with its noise: drawn once for a run, kept by whoever runs it, and never shown.

        Args:
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        return self.threshold + one_discrete_laplace(self.threshold_scale, bits)

    def is_above(self, value: int, noisy_threshold: int, bits: RandomBits = SYSTEM_BITS) -> bool:
        """One comparison with fresh noise. Whoever calls it counts the positives, and stops.

        Args:
            value: The exact query.
            noisy_threshold: What `noisy_threshold` gave for this run.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        return _reaches(value, noisy_threshold, self.query_scale, bits)

    def start(self, bits: RandomBits = SYSTEM_BITS) -> Watch:
        """Begin: the whole epsilon is spent now, however few queries follow.

        Args:
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        return Watch(self, self.noisy_threshold(bits), bits)

    def release(self, exact: Iterable[int], bits: RandomBits = SYSTEM_BITS) -> list[bool]:
        """Answers in order; the list ends with the last True allowed."""
        values = list(exact)
        if any(type(value) is not int for value in values):
            raise BadData("Watched queries must be ints.", next_step="Put the values on an integer grid first.")
        watch = self.start(bits)
        answers = []
        for value in values:
            if watch.exhausted:
                break
            answers.append(watch.is_above(value))
        return answers

    def error(self, confidence: Number) -> int:
        """One comparison is right when value and threshold differ by more than this, in `confidence` of all cases."""
        half = 1 - (1 - read_level(confidence)) / 2
        return sum(
            Laplace(sensitivity=scale, epsilon=1).error(half) for scale in (self.threshold_scale, self.query_scale)
        )


class Watch:
    """One run of AboveThreshold. It holds the noisy threshold, which must never be shown."""

    __slots__ = ("_bits", "_left", "_lock", "_noisy_threshold", "_scale")

    def __init__(self, mechanism: AboveThreshold, noisy_threshold: int, bits: RandomBits) -> None:
        self._noisy_threshold = noisy_threshold
        self._bits = bits
        self._scale = mechanism.query_scale
        self._left = mechanism.positives
        self._lock = threading.Lock()

    @property
    def exhausted(self) -> bool:
        """Whether all positives have been given."""
        return self._left <= 0

    def is_above(self, value: int) -> bool:
        """Whether the next query's noisy value reaches the noisy threshold."""
        with self._lock:  # two threads must not share the last positive
            if self.exhausted:
                raise BadInput("Every allowed positive answer is given.", next_step="Start a new watch and pay again.")
            above = _reaches(value, self._noisy_threshold, self._scale, self._bits)
            self._left -= above
        return above


def _reaches(value: int, noisy_threshold: int, scale: Fraction, bits: RandomBits) -> bool:
    if type(value) is not int:
        raise BadData("A watched query must be an int.", next_step="Put the value on an integer grid first.")
    return value + one_discrete_laplace(scale, bits) >= noisy_threshold
