"""Membership inference: three tests whether a person was in the training data, from the confidence in their label.

The tests need shadow models: trained by the attacker like the target, on known training sets.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.bool_]

_CLIP = 1e-4
"""Confidences are clipped to this distance from 0 and 1."""
_SPREAD = 0.05
"""Least standard deviation of log-odds."""


def by_loss(confidences: Floats) -> Floats:
    """Score by the loss: the smaller the loss on a person, the likelier they are a member.

    Citation: Yeom, Giacomelli, Fredrikson, Jha 2018 (arXiv:1709.01604).
    """
    return np.log(np.maximum(confidences, _CLIP))


def by_shadows(confidences: Floats, labels: Floats, shadows: Floats, members: Bits) -> Floats:
    """Score by a classifier that is trained on shadow models to recognise the confidences of members.

    Citation: Shokri, Stronati, Song, Shmatikov 2017 (arXiv:1610.05820).
    """
    kind = import_module("sklearn.tree").DecisionTreeClassifier
    seen = np.column_stack([log_odds(shadows).ravel(), np.tile(labels, len(shadows))])
    attack = kind(max_depth=6, min_samples_leaf=20, random_state=0).fit(seen, members.ravel())
    return attack.predict_proba(np.column_stack([log_odds(confidences), labels]))[:, -1]


def by_likelihood(confidences: Floats, shadows: Floats, members: Bits) -> Floats:
    """Score by LiRA: the likelihood ratio of a person's log-odds between shadow models with and without the person.

    All people share one standard deviation, which is more stable for few shadow models.
    Citation: Carlini, Chien, Nasr, Song, Terzis, Tramèr 2022 (arXiv:2112.03570).
    """
    own_odds, odds = log_odds(confidences), log_odds(shadows)
    likelihoods = []
    for which, middle in zip((members, ~members), _middles(odds, members), strict=True):
        spread = _SPREAD + float(np.sqrt(np.mean((odds - middle)[which] ** 2)))
        likelihoods.append(-np.log(spread) - (own_odds - middle) ** 2 / (2 * spread**2))
    return likelihoods[0] - likelihoods[1]


def _middles(odds: Floats, members: Bits) -> tuple[Floats, Floats]:
    """Return each person's mean log-odds with and without them, with an average shift if one of both is unknown."""
    inside, outside = ((odds * which).sum(axis=0) / np.maximum(1, which.sum(axis=0)) for which in (members, ~members))
    never, always = ~members.any(axis=0), members.all(axis=0)
    both = ~never & ~always
    moved = float(np.mean((inside - outside)[both])) if both.any() else 0.0
    return np.where(never, outside + moved, inside), np.where(always, inside - moved, outside)


def log_odds(confidences: Floats) -> Floats:
    """Return log(p / (1 - p)), which is approximately normally distributed."""
    clipped = np.clip(confidences, _CLIP, 1 - _CLIP)
    return np.log(clipped / (1 - clipped))


def above_outsiders(scores: Floats, outsiders: Floats, *, rank: int, rng: np.random.Generator) -> Bits:
    """Return who scores above all but `rank` - 1 of the outsiders; ties are broken at random.

    Among m outsiders and one more person who is not in the data, all orders are equally likely, so the rate of false
    positives is exactly rank / (m + 1).
    """
    everyone = np.concatenate([scores, outsiders])
    positions = np.empty(everyone.size, dtype=np.int64)
    positions[np.lexsort((rng.random(everyone.size), everyone))] = np.arange(everyone.size)
    bar = np.sort(positions[scores.size :])[-rank]
    return positions[: scores.size] > bar
