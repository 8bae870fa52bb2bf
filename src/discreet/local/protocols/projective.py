"""Projective geometry response for many people: encode by tables, decode by Fourier transforms over the field.

A report supports the values whose points are orthogonal to the reported one. The number of reports orthogonal to each
point is a Radon transform, computed dimension by dimension (the derivation is in `docs/explanation/proofs/local.md`).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.local.device.client import Field, Projective
from discreet.local.protocols.draws import Codes, Draws, Flags
from discreet.local.protocols.protocol import PureProtocol, Reports, Tally, chance_of

_CHUNK = 1 << 17
_GEMM_BELOW = 64
"""Axes shorter than this are transformed by a matrix product, longer ones by a fast Fourier transform."""

Elements = NDArray[np.int32]


class FieldTables:
    """A finite field as arrays: products, sums of many products, and characters."""

    def __init__(self, field: Field) -> None:
        self.field, self.order = field, field.order
        powers = np.array(field.powers, np.int32)
        self.log = np.zeros(field.order, np.int32)
        self.log[powers] = np.arange(field.order - 1)
        self.negative = np.array([field.negative(e) for e in range(field.order)], np.int32)
        nonzero = np.arange(1, field.order)
        self.product = np.zeros((field.order, field.order), np.int32)
        self.product[1:, 1:] = powers[(self.log[nonzero][:, None] + self.log[nonzero]) % (field.order - 1)]
        self.by_power = self.product[:, powers]
        """An element times each power of the generator."""
        self._lane = 64 // field.degree
        self._spread = self._spread_digits(self.product)

    def _digits(self, elements: Elements) -> list[Elements]:
        return [elements // self.field.prime**i % self.field.prime for i in range(self.field.degree)]

    def _spread_digits(self, elements: Elements) -> NDArray[np.uint64]:
        """Put each digit into its own group of bits, so that up to 2**lane / prime elements add without carry."""
        spread = np.zeros(elements.shape, np.uint64)
        for i, digit in enumerate(self._digits(elements)):
            spread |= digit.astype(np.uint64) << np.uint64(i * self._lane)
        return spread

    def dot(self, one: list[Elements], other: list[Elements]) -> Elements:
        """Return inner products of vectors, given coordinate by coordinate."""
        if self.field.degree == 1:
            total = np.zeros(one[0].size, np.int64)
            for a, b in zip(one, other, strict=True):
                total += a * b  # below 2**20 each
            return (total % self.order).astype(np.int32)
        spread = np.zeros(one[0].size, np.uint64)
        for a, b in zip(one, other, strict=True):
            spread += self._spread[a, b]
        mask, result = np.uint64((1 << self._lane) - 1), np.zeros(one[0].size, np.int32)
        for i in range(self.field.degree):
            digit = (spread >> np.uint64(i * self._lane)) & mask
            result += (digit % np.uint64(self.field.prime)).astype(np.int32) * self.field.prime**i
        return result

    def add(self, one: Elements, other: Elements) -> Elements:
        """Return sums, digit by digit."""
        if self.field.degree == 1:
            return (one + other) % self.order
        pairs = zip(self._digits(one), self._digits(other), strict=True)
        return sum((a + b) % self.field.prime * self.field.prime**i for i, (a, b) in enumerate(pairs))

    @cached_property
    def trace(self) -> Elements:
        """The trace of each element: the sum of its conjugates, an integer below the prime."""
        total, conjugate = np.zeros(self.order, np.int32), np.arange(self.order, dtype=np.int32)
        for _ in range(self.field.degree):
            total = self.add(total, conjugate)
            power = conjugate
            for _ in range(self.field.prime - 1):
                power = self.product[power, conjugate]
            conjugate = power
        return total

    @cached_property
    def dual(self) -> Elements:
        """The index at which the Fourier transform of the digits has the character v -> trace(element v)."""
        primes = [self.field.prime**i for i in range(self.field.degree)]
        return sum(self.trace[self.product[:, p]] * p for p in primes)

    @cached_property
    def characters(self) -> NDArray[np.complex128]:
        """exp(2 pi i trace(element) / prime)."""
        return np.exp(2j * np.pi * self.trace / self.field.prime)


class ProjectiveResponse(PureProtocol[Projective]):
    """A report supports every value whose point is orthogonal to it."""

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        r = self.randomizer
        inside = chance_of(r.keep)
        outside = 1 - inside
        both = Fraction(r.on_line, r.on_plane), Fraction(r.on_plane - r.on_line, r.points - r.on_plane)
        return inside, inside * both[0] + outside * both[1]

    @cached_property
    def tables(self) -> FieldTables:
        """The field's tables."""
        return FieldTables(self.randomizer.field)

    @cached_property
    def coordinates(self) -> list[list[Elements]]:
        """For each smaller dimension, the coordinates of every point, one array per coordinate."""
        spaces: list[list[Elements]] = [[np.ones(1, np.int32)]]
        for _ in range(2, self.randomizer.dimension):
            below = spaces[-1]
            affine = below[0].size * (self.randomizer.order - 1)
            first = np.zeros(1 + affine + below[0].size, np.int32)
            first[: 1 + affine] = 1
            rest = [np.concatenate([[0], self.tables.by_power[axis].reshape(-1), axis]) for axis in below]
            spaces.append([first, *(axis.astype(np.int32) for axis in rest)])
        return spaces

    def encode(self, codes: Codes, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        inside = draws.chance(self.randomizer.keep, codes.size)
        on_plane = draws.below(self.randomizer.on_plane, codes.size)
        off_plane = draws.below(self.randomizer.affine, codes.size)
        reports = np.empty(codes.size, np.uint64)
        for start in range(0, codes.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            reports[part] = self._encode(codes[part], inside[part], on_plane[part], off_plane[part])
        return reports

    def _encode(
        self, codes: Codes, inside: Flags, on_plane: NDArray[np.int64], off_plane: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        r, tables, around = self.randomizer, self.tables, self.randomizer.order - 1
        point, scale = np.divmod(off_plane - 1, around)
        point, scale = np.where(inside, on_plane, point), np.where(inside, 0, scale)
        below, power = np.divmod(codes.astype(np.int64) - 1, around)
        axes = self.coordinates[-1]
        inner = tables.dot([axis[below] for axis in axes], [axis[point] for axis in axes])
        inner = tables.by_power[inner, (power + scale) % around]
        inner[codes == 0] = 0
        lead = tables.add((~inside).astype(np.int32), tables.negative[inner])
        finite = 1 + point * around + (scale - tables.log[lead]) % around
        reports = np.where(lead == 0, r.affine + point, finite)
        reports[~inside & (off_plane == 0)] = 0
        return reports

    def legal(self, reports: Reports) -> Flags:
        return reports < self.randomizer.points

    def tally(self, reports: Reports) -> Tally:
        return np.bincount(reports.astype(np.int64), minlength=self.randomizer.points)

    def support(self, tally: Tally, codes: Codes) -> NDArray[np.int64]:
        needed = int(codes.max()) + 1 if codes.size else 0
        return self._orthogonal(tally, self.randomizer.dimension, needed)[codes]

    def _orthogonal(self, tally: Tally, dimension: int, needed: int) -> NDArray[np.int64]:
        """Count the reports orthogonal to each of the first `needed` points of a space."""
        if dimension == 1:
            return np.zeros(1, np.int64)  # the one point is not orthogonal to itself
        order, around = self.randomizer.order, self.randomizer.order - 1
        affine = order ** (dimension - 1)
        finite, infinite = tally[:affine], tally[affine:]
        lines = self.randomizer.points_of(dimension - 1)
        if needed <= affine:
            lines = min(lines, max(0, -(-(needed - 1) // around)))
        below = self._orthogonal(infinite, dimension - 1, lines)[:lines]
        spectrum = self._spectrum(finite, dimension, lines)
        characters = self.tables.characters[np.array(self.randomizer.field.powers)]
        turned = np.array([np.roll(characters, shift) for shift in range(around)]).T  # [c, b] -> chi(g^(c - b))
        sums = spectrum.real @ turned.real + spectrum.imag @ turned.imag
        total = int(finite.sum())
        found = [
            np.array([infinite.sum()]),
            (np.rint((total + sums) / order).astype(np.int64) + below[:, None]).reshape(-1),
        ]
        if needed > affine:
            found.append(np.rint((total + spectrum.real.sum(axis=1)) / order).astype(np.int64) + below)
        return np.concatenate(found)[:needed]

    def _spectrum(self, finite: Tally, dimension: int, lines: int) -> NDArray[np.complex128]:
        """Return the transform of the tally over all vectors, at g^c Q for the first `lines` points Q and all c."""
        tables, order = self.tables, self.randomizer.order
        axes = self.coordinates[dimension - 2]
        grid = np.zeros(finite.size)
        grid[0] = finite[0]
        grid[self._positions(axes, tables.by_power)] = finite[1:].reshape(-1, order - 1)
        transformed = _transform(grid, self.randomizer.field.prime, self.randomizer.field.degree * (dimension - 1))
        return transformed[self._positions([axis[:lines] for axis in axes], tables.dual[tables.by_power])]

    def _positions(self, axes: list[Elements], by_power: Elements) -> NDArray[np.int64]:
        """Return the grid indices of the vectors g^b Q: one row per Q, one column per b."""
        positions = np.zeros((axes[0].size, self.randomizer.order - 1), np.int64)
        for axis in axes:
            positions *= self.randomizer.order
            positions += by_power[axis]
        return positions


def _transform(grid: NDArray[np.float64], prime: int, axes: int) -> NDArray[np.complex128]:
    """Return the discrete Fourier transform over (integers mod prime)**axes."""
    if prime >= _GEMM_BELOW:
        return np.fft.fftn(grid.reshape((prime,) * axes)).reshape(-1)
    together = 1
    while prime ** (together + 1) < _GEMM_BELOW and together < axes:
        together += 1
    values: NDArray[np.complex128] = grid.astype(np.complex128)
    done = 0
    while done < axes:  # the leading axes are transformed and moved last; in the end the order is restored
        count = min(together, axes - done)
        values = np.ascontiguousarray((values.reshape(prime**count, -1).T @ _fourier_matrix(prime, count)).reshape(-1))
        done += count
    return values


def _fourier_matrix(prime: int, axes: int) -> NDArray[np.complex128]:
    one_axis = np.exp(-2j * np.pi * np.outer(np.arange(prime), np.arange(prime)) / prime)
    matrix = np.ones((1, 1), np.complex128)
    for _ in range(axes):
        matrix = np.kron(matrix, one_axis)
    return matrix
