"""The vectorised twins of the randomizers, one family a file."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from discreet.local.client import Randomizer
from discreet.local.protocols.base import Protocol

_TWINS = {
    "Direct": "direct.DirectResponse",
    "Subset": "subset.SubsetSelection",
    "Projective": "projective.ProjectiveResponse",
    "Hashing": "hashing.LocalHashing",
    "Unary": "unary.UnaryEncoding",
    "Sketch": "sketches.CountMeanSketch",
    "Hadamard": "hadamard.HadamardResponse",
    "Bloom": "bloom.BloomFilter",
    "OneBit": "numeric.OneBitMean",
    "Window": "square_wave.window_twin",
    "Hybrid": "numeric.HybridMean",
    "Prefixes": "heavy.PrefixExtension",
    "Puzzle": "puzzle.FragmentPuzzle",
}


def twin_of(randomizer: Randomizer) -> Protocol[Any]:
    """The protocol that does for many people what a randomizer does for one."""
    module, _, name = _TWINS[type(randomizer).__name__].partition(".")
    twin: Protocol[Any] = getattr(import_module(f"discreet.local.protocols.{module}"), name)(randomizer)
    return twin
