"""Vectorised randomizers with their estimators, one family per module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.local.device import client
from discreet.local.protocols.bloom import BloomFilter
from discreet.local.protocols.direct import DirectResponse
from discreet.local.protocols.hadamard_response import HadamardResponse
from discreet.local.protocols.hashing import LocalHashing
from discreet.local.protocols.heavy import PrefixExtension
from discreet.local.protocols.numeric import HybridMean, OneBitMean
from discreet.local.protocols.projective import ProjectiveResponse
from discreet.local.protocols.protocol import Protocol
from discreet.local.protocols.puzzle import FragmentPuzzle
from discreet.local.protocols.sketches import CountMeanSketch
from discreet.local.protocols.square_wave import window_protocol
from discreet.local.protocols.subset import SubsetSelection
from discreet.local.protocols.unary import UnaryEncoding

_PROTOCOLS: dict[type[client.Randomizer], Callable[[Any], Protocol[Any]]] = {
    client.Direct: DirectResponse,
    client.Subset: SubsetSelection,
    client.Projective: ProjectiveResponse,
    client.Hashing: LocalHashing,
    client.HashingTwice: LocalHashing,
    client.Unary: UnaryEncoding,
    client.Sketch: CountMeanSketch,
    client.Hadamard: HadamardResponse,
    client.Bloom: BloomFilter,
    client.OneBit: OneBitMean,
    client.Window: window_protocol,
    client.Hybrid: HybridMean,
    client.Prefixes: PrefixExtension,
    client.Puzzle: FragmentPuzzle,
}


def protocol_for(randomizer: client.Randomizer) -> Protocol[Any]:
    """Return the vectorised protocol of a randomizer."""
    return _PROTOCOLS[type(randomizer)](randomizer)
