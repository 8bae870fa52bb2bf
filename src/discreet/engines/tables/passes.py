"""A pass over coded rows, in SQL and in numpy, side by side because both must give the same integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.engines.tables.residual_sums import Curve, Integers, Partition, Residuals, Score


class PassText:
    """Builds the SQL of a pass over a table of codes `c0`, `c1`, …; `values` are the list parameters of the text."""

    def __init__(self) -> None:
        self.values: dict[str, list[int]] = {}

    def _entry(self, entries: Sequence[int], position: str) -> str:
        name = f"e{len(self.values)}"
        self.values[name] = list(entries)
        return f"CAST(${name} AS BIGINT[])[{position} + 1]"

    def _score(self, score: Score) -> str:
        parts = [self._entry(entries, f"CAST(c{at} AS BIGINT)") for at, entries in score.entries.items()]
        return " + ".join([f"CAST({score.constant} AS BIGINT)", *parts])

    def _on_curve(self, curve: Curve, score: str) -> str:
        position = f"(greatest(0, least({_last(curve)}, {score} + {curve.offset})) >> {curve.shift})"
        return self._entry(curve.entries, position)

    def rows(self, residuals: Residuals, table: str, columns: Sequence[int]) -> str:
        """Select some columns, and each integer as `r0`, `r1`, …"""
        count, kept = len(residuals.scores), [f"c{at}" for at in columns]
        needed = sorted({*columns, *(() if residuals.label is None else (residuals.label,))})
        scores = ", ".join(f"{self._score(score)} AS z{k}" for k, score in enumerate(residuals.scores))
        source = f"SELECT {', '.join([*(f'c{at}' for at in needed), scores])} FROM {table}"
        values = [f"z{k}" for k in range(count)]
        if residuals.curve is not None:
            curve = residuals.curve
            if residuals.whole is not None:
                source = f"SELECT *, greatest({', '.join(values)}) AS top FROM ({source})"
                shares = [f"{self._on_curve(curve, f'z{k} - top')} AS s{k}" for k in range(count)]
                source = f"SELECT *, {', '.join(shares)} FROM ({source})"
                whole = " + ".join(f"s{k}" for k in range(count))
                values = [f"(s{k} * {residuals.whole}) // ({whole})" for k in range(count)]
            else:
                values = [self._on_curve(curve, value) for value in values]
        if residuals.label is not None:
            position = f"CAST(c{residuals.label} AS BIGINT)"
            values = [f"{value} - {self._entry(residuals.labels[k], position)}" for k, value in enumerate(values)]
        parts = [*kept, *(f"{value} AS r{k}" for k, value in enumerate(values))]
        return f"SELECT {', '.join(parts)} FROM ({source})"

    def winners(self, scores: Sequence[Score], table: str, label: int) -> str:
        """Select the label of each row, and the index of its largest score as `winner`."""
        listed = ", ".join(f"{self._score(score)} AS z{k}" for k, score in enumerate(scores))
        whens = " ".join(f"WHEN z{k} THEN {k}" for k in range(len(scores)))
        largest = f"greatest({', '.join(f'z{k}' for k in range(len(scores)))})"
        return f"SELECT c{label}, CASE {largest} {whens} END AS winner FROM (SELECT c{label}, {listed} FROM {table})"

    def parts(self, partition: Partition, table: str) -> str:
        """Select all rows, and the index of the part of each as `part`."""
        source = f"SELECT *, 0 AS part FROM {table}"
        for level in partition:
            sides = [self._entry(split.is_second, f"CAST(c{split.column} AS BIGINT)") for split in level]
            whens = " ".join(f"WHEN {number} THEN {side}" for number, side in enumerate(sides))
            source = f"SELECT * REPLACE (2 * part + CASE part {whens} END AS part) FROM ({source})"
        return source


def of_arrays(residuals: Residuals, codes: Integers) -> Integers:
    """Compute the same from an array of codes: one row of the result per integer."""
    scores = np.stack([_score_of(score, codes) for score in residuals.scores])
    if residuals.curve is not None and residuals.whole is not None:
        shares = _on_curve(residuals.curve, scores - scores.max(axis=0))
        scores = shares * residuals.whole // shares.sum(axis=0)
    elif residuals.curve is not None:
        scores = _on_curve(residuals.curve, scores)
    if residuals.label is not None:
        scores -= np.array(residuals.labels, np.int64)[:, codes[:, residuals.label]]
    return scores


def winners_of_arrays(scores: Sequence[Score], codes: Integers) -> Integers:
    """Return the index of the largest score of each row, the first of equal ones."""
    return np.stack([_score_of(score, codes) for score in scores]).argmax(axis=0)


def parts_of_arrays(partition: Partition, codes: Integers) -> Integers:
    """Return the index of the part of each row."""
    part = np.zeros(len(codes), np.int64)
    for level in partition:
        moved = 2 * part
        for number, split in enumerate(level):
            inside = part == number
            moved[inside] += np.array(split.is_second, np.int64)[codes[inside, split.column]]
        part = moved
    return part


def _score_of(score: Score, codes: Integers) -> Integers:
    total = np.full(len(codes), score.constant, np.int64)
    for at, entries in score.entries.items():
        total += np.array(entries, np.int64)[codes[:, at]]
    return total


def _on_curve(curve: Curve, scores: Integers) -> Any:
    positions = np.clip(scores + curve.offset, 0, _last(curve)) >> curve.shift
    return np.array(curve.entries, np.int64)[positions]


def _last(curve: Curve) -> int:
    """The last score in the table. Scores are made non-negative before the shift, because engines disagree about negative ones."""
    return (len(curve.entries) << curve.shift) - 1
