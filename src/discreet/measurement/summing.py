"""The one place where exact sums over coded rows meet noise: products, passes, splits and counts within parts, as steps of a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import exact, root_above
from discreet.core.loss import Neighbours
from discreet.engines.tables.residual_sums import Partition, Residuals, Score, Split
from discreet.errors import BadInput
from discreet.measurement.domain_checks import check_partition, check_scores, check_splits
from discreet.measurement.feature_vectors import IMPURITY, SCALE, Deciding, Design, impurity
from discreet.measurement.measurer import Counts
from discreet.measurement.measuring import Measuring
from discreet.measurement.run_budget import whole_units
from discreet.measurement.transcript import about
from discreet.mechanisms import Exponential, Gaussian, Laplace, Mechanism, PermuteAndFlip

_ANSWERS = 1 << 24
"""Of hypotheses about cells, in memory at once."""


class Summing(Measuring):
    """A measurer that also adds up vectors of rows, and divides rows into parts."""

    __slots__ = ()

    # Products

    def products_noise(self, design: Design, share: Fraction) -> Gaussian:
        size = design.products[0].size
        return self._gaussian(design.products_reach(self.domain.neighbours), share, size)

    def products(self, design: Design, mechanism: Gaussian) -> Counts:
        first, second = design.products
        self._check(mechanism, design.products_reach(self.domain.neighbours), first.size)
        asked = about("products", paid=mechanism, design=design.described)

        def draw() -> Counts:
            whole = self._exact_products(design)
            return np.asarray(self._run.meter.draw(mechanism, whole[first, second]), np.int64)

        return self._run.take_step(asked, mechanism=mechanism, draw=draw).outcome

    def _exact_products(self, design: Design) -> Counts:
        """A matrix of which only the measured places are filled. Cells by cells are tables of counts; numbers are added up by the codes of all others."""
        places = [self.domain.names.index(attribute.column) for attribute in design.attributes]
        whole = np.zeros((design.width, design.width), np.int64)
        whole[0, 0] = SCALE**2 * int(self._tables.table(()))
        blocks = list(zip(design.attributes, design.blocks, places, strict=True))
        for at, (attribute, block, place) in enumerate(blocks):
            if attribute.numbers is not None:
                totals = self._tables.totals(Residuals((Score({place: attribute.numbers}),)), tuple(places))
                whole[0, block] = SCALE * int(totals[at].sum())
                for (other, others, _), sums in zip(blocks, totals, strict=True):
                    moved = (
                        sums[0] * SCALE if other.numbers is None else sums[0] @ np.array([other.numbers], np.int64).T
                    )
                    whole[block, others] = moved
                    whole[others, block] = moved.reshape(-1, 1)
                continue
            whole[0, block] = SCALE**2 * self._tables.table((place,))
            for other, others, elsewhere in blocks[:at]:
                if other.numbers is None:
                    low, high = sorted((place, elsewhere))
                    table = SCALE**2 * self._tables.table((low, high))
                    whole[others, block] = table if elsewhere < place else table.T
        return whole

    # Passes

    def gradient_noise(self, design: Design, label: str, rows: int, share: Fraction) -> Gaussian:
        residuals = design.residuals(np.zeros((rows, design.width), np.int64), label, self.domain)
        reach = design.gradient_reach(residuals, self.domain.neighbours)
        return self._gaussian(reach, share, rows * design.width)

    def gradient(self, design: Design, label: str, weights: Counts, mechanism: Gaussian) -> Counts:
        residuals = design.residuals(weights, label, self.domain)
        self._check(mechanism, design.gradient_reach(residuals, self.domain.neighbours), weights.size)
        asked = about("pass", paid=mechanism, design=design.described, label=label, weights=weights.tolist())

        def draw() -> Counts:
            exactly = self._exact_gradient(design, residuals)
            return np.asarray(self._run.meter.draw(mechanism, exactly.reshape(-1)), np.int64)

        return self._run.take_step(asked, mechanism=mechanism, draw=draw).outcome.reshape(weights.shape)

    def _exact_gradient(self, design: Design, residuals: Residuals) -> Counts:
        places = tuple(self.domain.names.index(attribute.column) for attribute in design.attributes)
        totals = self._tables.totals(residuals, places)
        parts = [SCALE * totals[0].sum(axis=1, keepdims=True)]
        for attribute, sums in zip(design.attributes, totals, strict=True):
            parts.append(
                sums * SCALE if attribute.numbers is None else sums @ np.array([attribute.numbers], np.int64).T
            )
        return np.concatenate(parts, axis=1)

    # Parts

    def split_choice(self, candidates: int, share: Fraction) -> Exponential | PermuteAndFlip:
        budget, amount = self._run.meter.budget, whole_units(share)
        kind = PermuteAndFlip if self.is_pure else Exponential
        epsilon = amount if self.is_pure else budget.epsilon_of_choice(amount)
        return kind(sensitivity=self._split_moves, epsilon=epsilon, size=candidates, monotone=self._is_monotone)

    @property
    def _is_monotone(self) -> bool:
        """Whoever comes makes every part less pure, and who is replaced does not."""
        return self.domain.neighbours is Neighbours.ADD_REMOVE

    @property
    def _split_moves(self) -> int:
        """All of a person's rows together, wherever they fall: so one choice in each part is paid for once."""
        return 2 * IMPURITY * self.domain.l1

    def splits(
        self, partition: Partition, candidates: Sequence[Split], label: str, mechanism: Exponential | PermuteAndFlip
    ) -> list[Split]:
        kind = PermuteAndFlip if self.is_pure else Exponential
        fits = isinstance(mechanism, kind) and exact(mechanism.sensitivity) >= self._split_moves
        if not fits or mechanism.size != len(candidates) or (mechanism.monotone and not self._is_monotone):
            raise BadInput("This choice is not among these splits.", next_step="Make it with `split_choice`.")
        check_partition(self.domain, partition)
        check_splits(self.domain, candidates)
        asked = about(
            "splits", paid=mechanism, label=label, candidates=_digest(candidates), partition=_digest(*partition)
        )

        def draw() -> Counts:
            scores = self._split_scores(partition, candidates, label)
            return np.array(self._run.meter.draw_each(mechanism, scores), np.int64)

        return [candidates[at] for at in self._run.take_step(asked, mechanism=mechanism, draw=draw).outcome]

    def _split_scores(self, partition: Partition, candidates: Sequence[Split], label: str) -> list[Counts]:
        columns = tuple(dict.fromkeys(split.column for split in candidates))
        tables = dict(
            zip(columns, self._tables.divided(partition, columns, self.domain.names.index(label)), strict=True)
        )
        scores = []
        for part in range(2 ** len(partition)):
            own = []
            for split in candidates:
                counts, second = tables[split.column][part], np.array(split.is_second)
                own.append(-impurity(counts[second].sum(axis=0)) - impurity(counts[~second].sum(axis=0)))
            scores.append(np.array(own, np.int64))
        return scores

    def parts_noise(self, levels: int, label: str, share: Fraction) -> Gaussian | Laplace:
        return self._count_noise((2**levels, self.domain.column(label).size), share)

    def parts(self, partition: Partition, label: str, mechanism: Gaussian | Laplace) -> Counts:
        shape = (2 ** len(partition), self.domain.column(label).size)
        self._check_counts(mechanism, shape)
        check_partition(self.domain, partition)
        asked = about("parts", paid=mechanism, label=label, partition=_digest(*partition))

        def draw() -> Counts:
            counts = self._exact_parts(partition, self.domain.names.index(label))
            return np.asarray(self._run.meter.draw(mechanism, counts.reshape(-1)), np.int64)

        return self._run.take_step(asked, mechanism=mechanism, draw=draw).outcome.reshape(shape)

    def _exact_parts(self, partition: Partition, label: int) -> Counts:
        """By part and label: any other column will do."""
        other = next(at for at in range(len(self.domain.names)) if at != label)
        (table,) = self._tables.divided(partition, (other,), label)
        return table.sum(axis=1)

    # Decisions

    def confusion_noise(self, deciding: Deciding, label: str, share: Fraction) -> Gaussian | Laplace:
        return self._count_noise((deciding.classes, self.domain.column(label).size), share)

    def confusion(self, deciding: Deciding, label: str, mechanism: Gaussian | Laplace) -> Counts:
        shape = (deciding.classes, self.domain.column(label).size)
        self._check_counts(mechanism, shape)
        check_partition(self.domain, deciding.partition)
        check_scores(self.domain, deciding.scores)
        asked = about("confusion", paid=mechanism, label=label, deciding=deciding.described)

        def draw() -> Counts:
            counts = self._exact_confusion(deciding, self.domain.names.index(label))
            return np.asarray(self._run.meter.draw(mechanism, counts.reshape(-1)), np.int64)

        return self._run.take_step(asked, mechanism=mechanism, draw=draw).outcome.reshape(shape)

    def _exact_confusion(self, deciding: Deciding, label: int) -> Counts:
        if deciding.scores:
            return self._tables.winners(deciding.scores, label)
        parts = self._exact_parts(deciding.partition, label)
        counts = np.zeros((deciding.classes, parts.shape[1]), np.int64)
        np.add.at(counts, np.array(deciding.class_of_part), parts)
        return counts

    # Hypotheses

    def error_choice(self, hypotheses: int, share: Fraction) -> Exponential:
        amount = whole_units(share)
        epsilon = amount if self.is_pure else self._run.meter.budget.epsilon_of_choice(amount)
        return Exponential(sensitivity=self.domain.count, epsilon=epsilon, size=hypotheses, monotone=self._is_monotone)

    def fewest_errors(
        self, says: Callable[[Counts], NDArray[np.bool_]], label: str, digest: str, mechanism: Exponential
    ) -> int:
        fits = isinstance(mechanism, Exponential) and exact(mechanism.sensitivity) >= self.domain.count
        if not fits or (mechanism.monotone and not self._is_monotone) or self.domain.names[-1] != label:
            raise BadInput("This choice is not among these hypotheses.", next_step="Make it with `error_choice`.")
        asked = about("hypothesis", paid=mechanism, label=label, hypotheses=digest, count=mechanism.size)

        def draw() -> Counts:
            return np.array([self._run.meter.draw(mechanism, -self._errors(says, mechanism.size))], np.int64)

        return int(self._run.take_step(asked, mechanism=mechanism, draw=draw).outcome[0])

    def _errors(self, says: Callable[[Counts], NDArray[np.bool_]], hypotheses: int) -> Counts:
        """How often each hypothesis errs: every row counts once or not at all, whatever is said.

        All cells are asked about, those without a row too: functions may be anybody's, and what they are asked must tell of nobody.
        """
        table = self._exact(self.domain.check(self.domain.names))
        by_cell, shape = table.reshape(-1, table.shape[-1]), table.shape[:-1]
        errors, block = np.zeros(hypotheses, np.int64), max(1, _ANSWERS // hypotheses)
        for at in range(0, len(by_cell), block):
            part = by_cell[at : at + block]
            cells = np.stack(np.unravel_index(np.arange(at, at + len(part)), shape), axis=1)
            yes = np.asarray(says(cells), np.bool_).reshape(len(part), hypotheses)
            right = part[:, 1]  # of a yes; of a no it is all the others
            errors += right.sum() + (part.sum(axis=1) - 2 * right) @ yes
        return errors

    # Norms

    def _count_noise(self, shape: tuple[int, int], share: Fraction) -> Gaussian | Laplace:
        """Of a table in which every row of a person counts once."""
        size, amount = shape[0] * shape[1], whole_units(share)
        if self.is_pure:
            return Laplace(sensitivity=self.domain.l1, epsilon=amount, size=size)
        return Gaussian.for_rho(sensitivity=self.domain.l2, rho=amount, size=size)

    def _check_counts(self, mechanism: Gaussian | Laplace, shape: tuple[int, int]) -> None:
        needed = self.domain.l2 if isinstance(mechanism, Gaussian) else self.domain.l1
        if mechanism.size != shape[0] * shape[1] or exact(mechanism.sensitivity) < needed:
            raise BadInput("This noise is not for these counts.", next_step="Make it with the measurer.")

    def _far(self, reach: int) -> Fraction:
        """How far one person moves what one row moves by the root of `reach`."""
        return root_above(Fraction(self.domain.rows_per_person**2 * reach))

    def _gaussian(self, reach: int, share: Fraction, size: int) -> Gaussian:
        return Gaussian.for_rho(sensitivity=self._far(reach), rho=whole_units(share), size=size)

    def _check(self, mechanism: Mechanism, reach: int, size: int) -> None:
        if (
            not isinstance(mechanism, Gaussian)
            or mechanism.size != size
            or exact(mechanism.sensitivity) < self._far(reach)
        ):
            raise BadInput("This noise is not for these sums.", next_step="Make it with the measurer.")


def _digest(*levels: Sequence[Split]) -> str:
    """What splits are, in short: they follow from public facts and earlier outcomes."""
    written = [[split.column, "".join("01"[side] for side in split.is_second)] for level in levels for split in level]
    return hashlib.sha256(json.dumps(written).encode()).hexdigest()
