"""Was this person in the training data? Three ways to tell, from nothing but the model's confidence in their label.

All need models of the attacker's own: trained like the target, on people of whom the attacker knows who was in.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.bool_]

_CLIP = 1e-4
"""Confidences are kept this far from 0 and 1."""
_SPREAD = 0.05
"""No model is so regular that confidences vary by less, on the scale of log-odds."""


def by_loss(confidences: Floats) -> Floats:
    """The smaller the loss on somebody, the likelier they are a member.

    Citation: Yeom, Giacomelli, Fredrikson, Jha 2018 (arXiv:1709.01604).
    """
    return np.log(np.maximum(confidences, _CLIP))


def by_shadows(confidences: Floats, labels: Floats, shadows: Floats, members: Bits) -> Floats:
    """A classifier that learned, on shadow models, what the confidences of members look like.

    Citation: Shokri, Stronati, Song, Shmatikov 2017 (arXiv:1610.05820).
    """
    kind = import_module("sklearn.tree").DecisionTreeClassifier
    seen = np.column_stack([log_odds(shadows).ravel(), np.tile(labels, len(shadows))])
    attack = kind(max_depth=6, min_samples_leaf=20, random_state=0).fit(seen, members.ravel())
    return attack.predict_proba(np.column_stack([log_odds(confidences), labels]))[:, -1]


def by_likelihood(confidences: Floats, shadows: Floats, members: Bits) -> Floats:
    """LiRA: for each person, how much likelier their log-odds are among shadows that have them than among the others.

    Spreads are shared by all people, which is steadier for few shadows.
    Citation: Carlini, Chien, Nasr, Song, Terzis, Tramèr 2022 (arXiv:2112.03570).
    """
    own_odds, odds = log_odds(confidences), log_odds(shadows)
    likelihoods = []
    for which, middle in zip((members, ~members), _middles(odds, members), strict=True):
        spread = _SPREAD + float(np.sqrt(np.mean((odds - middle)[which] ** 2)))
        likelihoods.append(-np.log(spread) - (own_odds - middle) ** 2 / (2 * spread**2))
    return likelihoods[0] - likelihoods[1]


def _middles(odds: Floats, members: Bits) -> tuple[Floats, Floats]:
    """Each person's usual log-odds with and without them; who was in no shadow, or in all, moves as the mean does."""
    inside, outside = ((odds * which).sum(axis=0) / np.maximum(1, which.sum(axis=0)) for which in (members, ~members))
    never, always = ~members.any(axis=0), members.all(axis=0)
    both = ~never & ~always
    moved = float(np.mean((inside - outside)[both])) if both.any() else 0.0
    return np.where(never, outside + moved, inside), np.where(always, inside - moved, outside)


def log_odds(confidences: Floats) -> Floats:
    """log(p / (1 - p)), which is near a normal distribution."""
    clipped = np.clip(confidences, _CLIP, 1 - _CLIP)
    return np.log(clipped / (1 - clipped))


def above_outsiders(scores: Floats, outsiders: Floats, *, rank: int, rng: np.random.Generator) -> Bits:
    """Who scores above all but `rank` - 1 of the outsiders; equals are put in a random order.

    Among m outsiders and one more person who is not in the data, all orders are as likely: the rate of false positives
    is rank / (m + 1), exactly.
    """
    everybody = np.concatenate([scores, outsiders])
    places = np.empty(everybody.size, dtype=np.int64)
    places[np.lexsort((rng.random(everybody.size), everybody))] = np.arange(everybody.size)
    bar = np.sort(places[scores.size :])[-rank]
    return places[: scores.size] > bar
