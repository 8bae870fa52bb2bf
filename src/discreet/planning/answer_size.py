"""The size of an answer, as far as the plan determines it: a query whose answer could be too large is refused before the charge."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import TooLarge
from discreet.postprocessing.plan import Plan
from discreet.postprocessing.table_shape import value_bytes

_MOST_ROW_BYTES = 2**22


@dataclass(frozen=True, slots=True)
class AnswerLimit:
    """How large an answer may be in the format it is written in.

    `size` is in bytes, `cells` is rows times columns. Each row repeats the names of the columns `names` times.
    """

    size: int
    cells: int | None = None
    names: int = 0

    def check(self, plan: Plan) -> None:
        """Refuse a query whose answer certainly has too many cells, or whose bytes could exceed the limit."""
        shape = plan.shape
        if self.cells is not None and shape.fewest_rows * len(shape.columns) > self.cells:
            raise too_many_cells(self.cells, charged=False)
        row = sum(column.cell_bytes + self.names * value_bytes(column.name) for column in shape.columns)
        if row > _MOST_ROW_BYTES:
            raise _too_long("A row of this answer", _MOST_ROW_BYTES)
        if row * shape.most_rows > self.size:
            raise _too_long("This answer", self.size)


def too_many_cells(limit: int, *, charged: bool) -> TooLarge:
    """Return the error for an answer with too many cells for JSON."""
    stored = " It was charged and is stored: the same query costs nothing more." if charged else ""
    return TooLarge(
        f"As JSON this answer would have more than {limit:,} cells.{stored}",
        next_step="Request it as application/vnd.apache.parquet (Accept header), or with fewer groups: LIMIT, HAVING, fewer keys.",
    )


def _too_long(what: str, limit: int) -> TooLarge:
    return TooLarge(
        f"{what} could have more than {limit >> 20} MiB: every text is counted with its greatest length, in every row.",
        next_step="Leave long texts out of the columns, give shorter parameters or names, or set a LIMIT. Nothing was charged.",
    )
