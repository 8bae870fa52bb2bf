"""Low bits: the last bits of a floating-point answer reveal the number to which the noise was added."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from discreet.attacks.lab import confidence, success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.presence_game import each_presence_trial
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.floating import OpendpLaplace, SlideLaplace

_GRID = 2.0**-53
"""numpy draws its uniform numbers from multiples of this."""
_REHEARSALS = 400

Verdict = Callable[[float, float], int | None]
"""A test: from an answer and the scale of its noise to 0 or 1 if the bits reveal it, None otherwise."""


def play(game: Game) -> Outcome:
    """Each trial is one answer to a query whose true answer is 0 or 1, with probability 1/2 each."""
    if game.is_discreet:
        return _against_discreet(game)
    epsilon = game.budget.epsilon
    release = (
        OpendpLaplace(epsilon=epsilon) if game.against == "opendp" else SlideLaplace(epsilon=epsilon, rng=game.rng)
    )
    known: dict[str, Verdict] = {"numpy": by_support, "granularity": by_granularity}
    test = known.get(game.against) or _choose_test(release, 1 / epsilon)
    tally, seen = Tally(), []
    for _ in game.each_trial():
        truth = int(game.rng.random() < 0.5)
        one = _Observation(truth=truth, answer=release.answer(truth), scale=1 / epsilon, test=test)
        seen.append(one)
        tally.add(one.guess == truth, one.steps())
    details = {"revealed by the low bits": sum(one.inferred is not None for one in seen) / len(seen)}
    if game.against != "opendp":
        details |= {
            "bound at its claimed epsilon": success_bounds.membership(epsilon),
            "epsilon refuted up to": _refuted_epsilon(seen),
        }
    return tally.outcome(baseline=0.5, bound=game.bound(success_bounds.membership), details=details)


def _against_discreet(game: Game) -> Outcome:
    """Guess whether a person is present, from one count with the whole budget. Whole numbers have no low bits."""
    tally, whole = Tally(), 0
    for presence in each_presence_trial(game):
        answer = presence.analyst.number(presence.query, epsilon=game.budget.epsilon)
        whole += answer.is_integer()
        observation = _Observation(
            truth=int(presence.is_there), answer=answer, scale=1 / game.budget.epsilon, test=by_either
        )
        tally.add(observation.guess == observation.truth, [*presence.analyst.steps, *observation.steps()[1:]])
    details = {"answers that are whole numbers": whole / len(tally.scores)}
    return tally.outcome(baseline=0.5, bound=game.bound(success_bounds.membership), details=details)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Observation:
    """One answer, and what an attacker infers from it."""

    truth: int
    answer: float
    scale: float
    test: Verdict

    @property
    def inferred(self) -> int | None:
        return self.test(self.answer, self.scale)

    @property
    def guess(self) -> int:
        """The value revealed by the bits; otherwise the nearer one, which is more likely."""
        return int(self.answer > 0.5) if self.inferred is None else self.inferred

    def steps(self) -> list[Step]:
        inferred = (
            "nothing, so guess the nearer value" if self.inferred is None else f"it was {self.inferred} plus noise"
        )
        return [
            Step("answered", f"{self.answer!r} = {self.answer.hex()}"),
            Step("note", f"the low bits reveal: {inferred}"),
            Step("guess", f"f(D) = {self.guess}"),
            Step("truth", f"f(D) = {self.truth}"),
        ]


def by_support(answer: float, scale: float) -> int | None:
    """Return 0 or 1 if only this value plus a possible output of numpy's sampler gives the answer."""
    possible = [value for value in (0, 1) if in_support(answer, value, scale)]
    return possible[0] if len(possible) == 1 and not answer.is_integer() else None


def by_granularity(answer: float, scale: float) -> int | None:
    """Infer the value from the last set bit of the answer, without knowledge of the sampler.

    Noise is rounded to 53 bits, and so is the sum. An answer with finer bits than 1 + noise can have was 0 + noise. An
    answer as coarse as 1 + noise must be, but 0 + noise need not be, is more likely to be 1 + noise.
    """
    finest, finest_of_one = math.ulp(answer), max(math.ulp(answer), math.ulp(answer - 1))
    if answer.is_integer() or finest == finest_of_one:
        return None
    if _lowest_bit(answer) < finest_of_one:
        return 0
    likelier = math.log(finest_of_one / finest) + (abs(answer) - abs(answer - 1)) / scale > 0
    return 1 if likelier else None


def by_either(answer: float, scale: float) -> int | None:
    """Return the result of the first of both tests that has one."""
    inferred = by_support(answer, scale)
    return by_granularity(answer, scale) if inferred is None else inferred


def in_support(answer: float, value: int, scale: float) -> bool:
    """Whether numpy's Laplace sampler has a uniform number that gives exactly this answer.

    The noise is scale * log(2u) or -scale * log(2 - 2u) for u on a grid, so only the u near the inverse must be tried:
    a few for the rounding of the inverse, and those within the last digit of the sum.
    """
    noise = answer - value
    share = math.exp(-abs(noise) / scale)
    near = 8 + int(4 * math.ulp(max(abs(answer), abs(noise))) / scale * share / _GRID)
    return any(value + drawn == answer for drawn in _noises(noise, share, scale, near))


def _noises(noise: float, share: float, scale: float, near: int) -> Iterator[float]:
    """Yield numpy's noise for the uniform numbers around the one that corresponds to this noise."""
    middle = round((1 - share / 2 if noise > 0 else share / 2) / _GRID)
    for step in range(max(1, middle - near), min(2**53 - 1, middle + near) + 1):
        u = step * _GRID
        yield -scale * math.log(2.0 - u - u) if u >= 0.5 else scale * math.log(u + u)


def _lowest_bit(number: float) -> float:
    """Return the value of the last set bit."""
    top, bottom = number.as_integer_ratio()
    return (top & -top) / bottom


def _choose_test(release: SlideLaplace | OpendpLaplace, scale: float) -> Verdict:
    """Choose the best test on rehearsals: the attacker has the package too, and knows the truth of their own draws."""
    draws = [(truth, release.answer(truth)) for truth in (0, 1) for _ in range(_REHEARSALS // 2)]

    def right(test: Verdict) -> int:
        return sum(_Observation(truth=t, answer=a, scale=scale, test=test).guess == t for t, a in draws)

    return max((_silent, by_support, by_granularity), key=right)


def _silent(_answer: float, _scale: float) -> None:
    """No test."""


def _refuted_epsilon(seen: Sequence[_Observation]) -> float:
    """Return an epsilon that the release exceeds with 95 % confidence: ln(p / q) for answers attributed to 0."""
    counts = []
    for truth in (0, 1):
        answers = [one for one in seen if one.truth == truth]
        counts.append((sum(one.inferred == 0 for one in answers), len(answers)))
    if not all(of for _, of in counts):
        return 0.0
    low, high = confidence.rate_interval(*counts[0], 0.95)[0], confidence.rate_interval(*counts[1], 0.95)[1]
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


ATTACKS = (
    Attack(
        name="lowbits",
        title="The least significant bits",
        wants="whether f(D) is 0 or 1",
        sees="one answer f(D) + Laplace noise, as a floating-point number",
        lesson=(
            "A proof for real numbers does not hold for floating-point numbers: some of them are never drawn, and an "
            "attacker who knows which ones learns the true answer."
        ),
        citation=(
            "Chicago slides, On Significance of the Least Significant Bits For Differential Privacy; Mironov, CCS "
            "2012; Haney et al. 2022 (arXiv:2207.13793) for granularity"
        ),
        releases={
            "numpy": "val + numpy.random.laplace(0.0, sensitivity / epsilon), whose sampler is known",
            "granularity": "the same, against an attacker who does not know the sampler and uses only the last bit",
        },
        bound="membership, even prior",
        small=Size(100, 60),
        full=Size(256, 800),
        play=play,
        peers={"opendp": "OpenDP's Laplace measurement on doubles"},
        priced=frozenset({"numpy", "granularity"}),
    ),
)
