"""Low bits: the last bits of a floating-point answer say which number the noise was added to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from discreet.attacks.lab import confidence, success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.presence_game import each_meeting
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.floating import OpendpLaplace, SlideLaplace

_GRID = 2.0**-53
"""numpy draws its uniform numbers from the multiples of this."""
_REHEARSALS = 400

Verdict = Callable[[float, float], int | None]
"""From an answer and the scale of its noise: 0 or 1 where the bits tell, None where they do not."""


def play(game: Game) -> Outcome:
    """Each trial is one answer to a query whose true answer is 0 or 1, at even odds."""
    if game.is_discreet:
        return _against_discreet(game)
    epsilon = game.budget.epsilon
    release = (
        OpendpLaplace(epsilon=epsilon) if game.against == "opendp" else SlideLaplace(epsilon=epsilon, rng=game.rng)
    )
    known: dict[str, Verdict] = {"numpy": by_support, "granularity": by_granularity}
    tell = known.get(game.against) or _rehearsed(release, 1 / epsilon)
    tally, seen = Tally(), []
    for _ in game.each_trial():
        truth = int(game.rng.random() < 0.5)
        one = _Heard(truth=truth, answer=release.answer(truth), scale=1 / epsilon, tell=tell)
        seen.append(one)
        tally.add(one.guess == truth, one.steps())
    facts = {"told by the bits": sum(one.told is not None for one in seen) / len(seen)}
    if game.against != "opendp":
        facts |= {
            "its epsilon would allow": success_bounds.membership(epsilon),
            "epsilon refuted up to": _refuted(seen),
        }
    return tally.outcome(baseline=0.5, bound=game.bound(success_bounds.membership), facts=facts)


def _against_discreet(game: Game) -> Outcome:
    """Whether a person is there, by one count with all of the budget. Whole numbers have no low bits to look at."""
    tally, whole = Tally(), 0
    for meeting in each_meeting(game):
        answer = meeting.analyst.number(meeting.query, epsilon=game.budget.epsilon)
        whole += answer.is_integer()
        heard = _Heard(truth=int(meeting.is_there), answer=answer, scale=1 / game.budget.epsilon, tell=by_either)
        tally.add(heard.guess == heard.truth, [*meeting.analyst.steps, *heard.steps()[1:]])
    facts = {"answers that are whole numbers": whole / len(tally.scores)}
    return tally.outcome(baseline=0.5, bound=game.bound(success_bounds.membership), facts=facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """One answer, and what an attacker makes of it."""

    truth: int
    answer: float
    scale: float
    tell: Verdict

    @property
    def told(self) -> int | None:
        return self.tell(self.answer, self.scale)

    @property
    def guess(self) -> int:
        """What the bits tell; where they do not, the nearer one, which is the likelier one."""
        return int(self.answer > 0.5) if self.told is None else self.told

    def steps(self) -> list[Step]:
        told = "nothing, so it is the nearer one" if self.told is None else f"it was {self.told} plus noise"
        return [
            Step("answered", f"{self.answer!r} = {self.answer.hex()}"),
            Step("note", f"the low bits tell: {told}"),
            Step("guess", f"f(D) = {self.guess}"),
            Step("truth", f"f(D) = {self.truth}"),
        ]


def by_support(answer: float, scale: float) -> int | None:
    """Only 0, or only 1, plus something that numpy's sampler can give, is this answer. A whole number says nothing."""
    possible = [value for value in (0, 1) if in_support(answer, value, scale)]
    return possible[0] if len(possible) == 1 and not answer.is_integer() else None


def by_granularity(answer: float, scale: float) -> int | None:
    """Noise is rounded to 53 bits of its own and the sum to 53 bits of the sum, so its last bit is below neither.

    Needs to know nothing of the sampler. An answer finer than 1 + noise can be was 0 + noise; one that is as coarse as
    1 + noise must be, and 0 + noise need not be, is the likelier to be 1 + noise.
    """
    finest, finest_of_one = math.ulp(answer), max(math.ulp(answer), math.ulp(answer - 1))
    if answer.is_integer() or finest == finest_of_one:
        return None
    if _lowest_bit(answer) < finest_of_one:
        return 0
    likelier = math.log(finest_of_one / finest) + (abs(answer) - abs(answer - 1)) / scale > 0
    return 1 if likelier else None


def by_either(answer: float, scale: float) -> int | None:
    """The first of the two that says something."""
    told = by_support(answer, scale)
    return by_granularity(answer, scale) if told is None else told


def in_support(answer: float, value: int, scale: float) -> bool:
    """Whether numpy's Laplace sampler has a uniform number that gives this answer; exact.

    The noise is scale * log(2u) or -scale * log(2 - 2u) for u on a grid, so only the u near the inverse have to be
    tried. They are as many as rounding can move: a few for the inverse, and those within the last place of the sum.
    """
    noise = answer - value
    share = math.exp(-abs(noise) / scale)
    near = 8 + int(4 * math.ulp(max(abs(answer), abs(noise))) / scale * share / _GRID)
    return any(value + drawn == answer for drawn in _noises(noise, share, scale, near))


def _noises(noise: float, share: float, scale: float, near: int) -> Iterator[float]:
    """What numpy draws from the uniform numbers around the one that would give this noise."""
    middle = round((1 - share / 2 if noise > 0 else share / 2) / _GRID)
    for step in range(max(1, middle - near), min(2**53 - 1, middle + near) + 1):
        u = step * _GRID
        yield -scale * math.log(2.0 - u - u) if u >= 0.5 else scale * math.log(u + u)


def _lowest_bit(number: float) -> float:
    """The value of the last bit that is set."""
    top, bottom = number.as_integer_ratio()
    return (top & -top) / bottom


def _rehearsed(release: SlideLaplace | OpendpLaplace, scale: float) -> Verdict:
    """The attacker has the package too: of all tests, the one that does best on answers to which it knows the truth."""
    draws = [(truth, release.answer(truth)) for truth in (0, 1) for _ in range(_REHEARSALS // 2)]

    def right(tell: Verdict) -> int:
        return sum(_Heard(truth=t, answer=a, scale=scale, tell=tell).guess == t for t, a in draws)

    return max((_silent, by_support, by_granularity), key=right)


def _silent(_answer: float, _scale: float) -> None:
    """No test."""


def _refuted(seen: Sequence[_Heard]) -> float:
    """With 95 % confidence, no epsilon up to this one holds: of the answers that the bits ascribe to 0, ln(p / q)."""
    counts = []
    for truth in (0, 1):
        answers = [one for one in seen if one.truth == truth]
        counts.append((sum(one.told == 0 for one in answers), len(answers)))
    if not all(of for _, of in counts):
        return 0.0
    low, high = confidence.of_a_rate(*counts[0], 0.95)[0], confidence.of_a_rate(*counts[1], 0.95)[1]
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


ATTACKS = (
    Attack(
        name="lowbits",
        title="The least significant bits",
        wants="whether f(D) is 0 or 1",
        sees="one answer f(D) + Laplace noise, as a floating-point number",
        lesson=(
            "A proof about real numbers says nothing about doubles: some of them are never drawn, and those who know "
            "which can tell."
        ),
        citation=(
            "Chicago slides, On Significance of the Least Significant Bits For Differential Privacy; Mironov, CCS "
            "2012; Haney et al. 2022 (arXiv:2207.13793) for granularity"
        ),
        releases={
            "numpy": "val + numpy.random.laplace(0.0, sensitivity / epsilon), whose sampler is known",
            "granularity": "the same, to somebody who knows no sampler and looks at the last bit only",
        },
        bound="membership, even prior",
        small=Size(100, 60),
        full=Size(256, 800),
        play=play,
        peers={"opendp": "OpenDP's Laplace measurement on doubles"},
        priced=frozenset({"numpy", "granularity"}),
    ),
)
