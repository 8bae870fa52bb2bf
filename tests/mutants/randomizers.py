"""Devices with mistakes that were made elsewhere, and one that nobody would see by looking at averages."""

import math

from discreet.local.device.client import WORD, Direct, Hashing, Projective, Subset, Unary, bucket, keep_threshold


class UnaryAtFullEpsilon(Unary):
    """Each bit spends all of epsilon, and two of them differ (pure-ldp before 1.2.0)."""

    def prepare(self, *, size):
        super().prepare(size=size)
        self.one = keep_threshold(self.odds, 1, 1)
        self.zero = WORD - self.one


class ThresholdRoundedUp(Direct):
    """One more unit of 2**-64 than epsilon allows, a thousand times over."""

    def prepare(self, *, size):
        super().prepare(size=size)
        self.keep += math.ceil(WORD * 1e-6)


class SubsetThatAlwaysTells(Subset):
    """The set always has the truth in it."""

    def prepare(self, *, size, width):
        super().prepare(size=size, width=width)
        self.keep = WORD


class HashChosenByValue(Hashing):
    """The device picks the hash function after looking at its value."""

    def randomize(self, code, draw, *, slot=0):
        return super().randomize(code, draw, slot=slot + code)


class HashThatForgetsToLie(Hashing):
    """A lie may be the truth: then the truth is told more often than the odds allow for."""

    def randomize(self, code, draw, *, slot=0):
        truth = bucket(code, slot, self.seed, self.buckets)
        truthful = truth if draw.chance(self.keep) else draw.below(self.buckets)
        return slot << self.value_bits | truthful


class PlaneCountedTwice(Projective):
    """The odds of a hyperplane are those of a point."""

    def prepare(self, **shape):
        super().prepare(**shape)
        self.keep = keep_threshold(self.odds, self.on_plane**2, self.points - self.on_plane)
