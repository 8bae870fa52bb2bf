"""Expressions as SQL. An argument that a template mentions more than once becomes a column of an inner SELECT, so the text stays short.

Only generated names, templates of the registry and constants of the dialect are written: never text of an analyst.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from string import Formatter

from discreet.algebra.expressions import Call, Expression, Field, fields_of, shift_fields
from discreet.algebra.registry import Template
from discreet.engines.sqlgen.dialects import duckdb as dialect
from discreet.errors import NotAllowed, TooLarge

LONGEST_CONDITION = 20_000
"""The most characters of a join condition, whose arguments cannot always be moved into a subquery."""


def _template(call: Call) -> Template:
    template = call.function.engines[dialect.NAME]
    if template is None:
        raise NotAllowed(
            f"{call.function.spelled[0]} is not available on this engine.",
            next_step="See the list of functions in the SQL reference.",
        )
    return template


def _filled(template: Template, texts: Sequence[str], args: Sequence[Expression]) -> str:
    return f"({template.format(*texts) if isinstance(template, str) else template(texts, args)})"


def mentions(call: Call) -> tuple[int, ...]:
    """How often the call's template mentions each argument."""
    template = _template(call)
    if isinstance(template, str):
        return _mentions_in(template, len(call.args))
    marks = [f"\0{at}\0" for at in range(len(call.args))]
    written = template(marks, call.args)
    return tuple(written.count(mark) for mark in marks)


@lru_cache(maxsize=4096)
def _mentions_in(template: str, count: int) -> tuple[int, ...]:
    names = [name for _, name, _, _ in Formatter().parse(template)]
    return tuple(names.count(str(at)) for at in range(count))


class Levels:
    """Expressions over one source, and the nested SELECTs that compute shared arguments.

    Level 0 holds the columns of the source; a column of level n is computed from columns of lower levels. `used` collects the names of
    the source's columns that are read.
    """

    def __init__(self, fresh: Callable[[], str]) -> None:
        self._fresh = fresh
        self.used: set[str] = set()
        self._columns: list[dict[str, str]] = []

    def text(self, expression: Expression) -> str:
        """Write the value of an expression in terms of the outermost level."""
        return self._text(expression)[0]

    def name(self, expression: Expression) -> str:
        """Write it as a name or a constant, which may be repeated."""
        text, level = self._text(expression)
        return self._moved_below(text, level)[0] if isinstance(expression, Call) else text

    def computed(self, expression: Expression, formula: Callable[[str], str]) -> str:
        """The name of a formula over the value of an expression."""
        text, level = self._text(expression)
        if isinstance(expression, Call):
            text, level = self._moved_below(text, level)
        return self._moved_below(formula(text), level)[0]

    def column(self, letter: str, at: int) -> str:
        """The name of a column of the source, or of what is stored beside it."""
        name = f"{letter}{at + 1}"
        self.used.add(name)
        return name

    def source(self, below: str, *, closed: bool = False) -> str:
        """Write the FROM item: the source with all levels around it; `closed` to outer conditions (see condition_size.py)."""
        for columns in self._columns:
            below = f"(SELECT *, {', '.join(f'{text} AS {name}' for text, name in columns.items())} FROM {below})"
        return f"(SELECT * FROM {below} OFFSET 0)" if closed else below

    def _text(self, expression: Expression) -> tuple[str, int]:
        if isinstance(expression, Field):
            return self.column("c", expression.at), 0
        if not isinstance(expression, Call):
            return dialect.literal(expression.type, expression.value), 0
        texts, level = [], 0
        for arg, count in zip(expression.args, mentions(expression), strict=True):
            text, height = self._text(arg)
            if count > 1 and isinstance(arg, Call):
                text, height = self._moved_below(text, height)
            texts.append(text)
            level = max(level, height)
        return _filled(_template(expression), texts, expression.args), level

    def _moved_below(self, text: str, level: int) -> tuple[str, int]:
        if level == len(self._columns):
            self._columns.append({})
        columns = self._columns[level]
        if text not in columns:
            columns[text] = self._fresh()
        return columns[text], level + 1


class Sides:
    """Conditions between two relations: columns of the first, then of the second, each under its own name.

    An argument that reads one side only becomes a column of that side; one that reads both is repeated, up to a limit.
    """

    def __init__(self, *, width: int, names: tuple[str, str], levels: tuple[Levels, Levels]) -> None:
        self._width, self._names, self._levels = width, names, levels

    def text(self, expression: Expression) -> str:
        if isinstance(expression, Field):
            side = int(expression.at >= self._width)
            return f"{self._names[side]}.{self._levels[side].column('c', expression.at - side * self._width)}"
        if not isinstance(expression, Call):
            return dialect.literal(expression.type, expression.value)
        texts = [self._argument(arg, count) for arg, count in zip(expression.args, mentions(expression), strict=True)]
        text = _filled(_template(expression), texts, expression.args)
        if len(text) > LONGEST_CONDITION:
            raise TooLarge("A condition of a join is too long.", next_step="Compute its parts in a subquery first.")
        return text

    def _argument(self, arg: Expression, count: int) -> str:
        side = self._side(arg)
        if count > 1 and isinstance(arg, Call) and side is not None:
            own = shift_fields(arg, -self._width) if side else arg
            return f"{self._names[side]}.{self._levels[side].name(own)}"
        return self.text(arg)

    def _side(self, expression: Expression) -> int | None:
        """Return the side whose columns are read; None for both or neither."""
        sides = {int(field.at >= self._width) for field in fields_of(expression)}
        return sides.pop() if len(sides) == 1 else None
