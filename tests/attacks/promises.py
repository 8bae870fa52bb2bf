"""What is asked of every attack: it breaks its weak release, and does no better than the bound on Discreet."""

from discreet import attacks

SURE = 1 - 1e-9
"""A red run means a bug, not bad luck."""
FEW = 8
"""Trials at epsilon 10, where no number of right guesses of a bit breaks the bound."""
EPSILONS = [0.1, 10]
"""Where forty guesses of a bit can break the bound, and where a sensible attacker is right. At 1 neither is so; `make soak` plays enough there."""


def succeeds(name, *, at_least, against="weak", **details):
    """Against a weak release, at a small size and a fixed seed."""
    found = attacks.run(name, against=against, size="small", seed=20, **details)
    assert found.bound is None
    assert found.success >= at_least, found
    assert found.success > found.baseline
    assert {"guess", "truth"} <= {step.kind for step in found.transcript}
    return found


def trials_at(epsilon, *, enough=40):
    """How often to guess a bit: `enough` where that would break the bound (test_power.py)."""
    return enough if epsilon < 1 else FEW


def is_kept_within_the_bound(name, *, epsilon, **details):
    """Against Discreet, whose noise has no seed."""
    found = attacks.run(name, against="discreet", epsilon=epsilon, size="small", seed=20, **details)
    assert found.holds(SURE), found
    assert {"asked", "answered", "guess", "truth"} <= {step.kind for step in found.transcript}
    return found
