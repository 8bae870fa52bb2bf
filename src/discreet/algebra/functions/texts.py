"""Text functions. They work on code points, and the length of every result is bounded in advance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.algebra.expressions import Expression
from discreet.algebra.functions.letters import LOWER_SQL, UPPER_SQL, lower, upper
from discreet.algebra.functions.record_rules import (
    Accepts,
    Rule,
    constant_of,
    counted,
    image,
    is_nullable,
    longest_of,
    text,
    text_constant,
    truth,
    whole_constant,
)
from discreet.algebra.registry import Effort, Function, Nulls, Signature, Template, register
from discreet.algebra.value_properties import LONGEST_TEXT, Value, ValueProperties
from discreet.catalog import Type

_I, _T, _B = Type.INTEGER, Type.TEXT, Type.BOOLEAN
_MOST_WILDCARDS = 4
_LONGEST_PATTERN, _LONGEST_MIXED = 1_000, 50
"""Maximum length of a LIKE pattern with both % and _, which the engine tries at every position of a text."""

# Properties


def _shortened(value: Callable[..., Value | None], *, least: int = 0) -> Rule:
    """Derive the result of a function that never lengthens a text. It is NULL for a count below `least`."""

    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        numbers = [arg for arg in args if arg.type is _I]
        undefined = any(
            number.low is None or number.low < bound for number, bound in zip(numbers, (least, 0), strict=False)
        )
        return text(_cut(args), nullable=is_nullable(args) or undefined, values=image(args, value))

    return rule


def _cut(args: Sequence[ValueProperties]) -> int:
    """The length of the text, or of the part that is taken of it."""
    longest, last = longest_of(args[0]), args[-1]
    return min(longest, max(0, int(last.high))) if last.type is _I and last.high is not None else longest


def _from(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    undefined = args[1].low is None or args[1].low < 1
    return text(longest_of(args[0]), nullable=is_nullable(args) or undefined, values=image(args, _substring))


def _same_length(value: Callable[..., str | None]) -> Rule:
    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        return text(longest_of(args[0]), nullable=is_nullable(args), values=image(args, value))

    return rule


def _length(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    bounds = Fraction(0), Fraction(longest_of(args[0]))
    return counted(bounds, nullable=is_nullable(args), values=image(args, len))


def _position(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    return counted((Fraction(0), Fraction(max(1, longest_of(args[0])))), nullable=is_nullable(args))


def _replaced(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    old, new, longest = len(str(constant_of(args[1]))), longest_of(args[2]), longest_of(args[0])
    more = longest // old * max(0, new - old)
    return text(longest + more, nullable=args[0].nullable, values=image(args, str.replace))


def _concatenated(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    """Concatenate texts; NULL counts as an empty text."""
    shown = [arg if arg.values is None else _without_null(arg) for arg in args]
    return text(sum(map(longest_of, args)), nullable=False, values=image(shown, lambda *parts: "".join(parts)))


def _without_null(properties: ValueProperties) -> ValueProperties:
    values = tuple(dict.fromkeys("" if value is None else value for value in properties.values or ()))
    return ValueProperties(type=_T, values=values, longest=properties.longest)


def _joined(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    values = image(args, lambda a, b: a + b)
    return text(sum(map(longest_of, args)), nullable=is_nullable(args), values=values)


# Values, as the engine has them


def _substring(value: str, start: int, length: int = LONGEST_TEXT) -> str | None:
    return value[start - 1 : start - 1 + length] if start >= 1 and length >= 0 else None


def _left(value: str, count: int) -> str | None:
    return value[:count] if count >= 0 else None


def _right(value: str, count: int) -> str | None:
    return value[max(0, len(value) - count) :] if count >= 0 else None


def _split(value: str, delimiter: str, number: int) -> str:
    parts = value.split(delimiter)
    return parts[number - 1] if number <= len(parts) else ""


# Constants


def _accepts_pattern(args: Sequence[Expression]) -> str | None:
    pattern = text_constant(args[1])
    if pattern is None:
        return "The pattern of LIKE must be a quoted text."
    is_mixed = "_" in pattern and "%" in pattern
    if len(pattern) > (_LONGEST_MIXED if is_mixed else _LONGEST_PATTERN) or pattern.count("%") > (
        1 if is_mixed else _MOST_WILDCARDS
    ):
        return f"A LIKE pattern may have at most {_MOST_WILDCARDS} %, or one % together with _ in at most {_LONGEST_MIXED} characters."
    return None


def _accepts_replacement(args: Sequence[Expression]) -> str | None:
    if not text_constant(args[1]) or text_constant(args[2]) is None:
        return "The last two arguments of REPLACE must be quoted texts, the first of them not empty."
    return None


def _accepts_part(args: Sequence[Expression]) -> str | None:
    number = whole_constant(args[2])
    if not text_constant(args[1]) or number is None or not 1 <= number <= LONGEST_TEXT:
        return "SPLIT_PART needs a quoted delimiter and an integer constant of at least 1."
    return None


# Templates


def _clamped(at: int) -> str:
    """Clip a count to a range in which the engine's functions do not fail.

    CASE returns NULL for counts out of range.
    """
    return f"GREATEST(LEAST({{{at}}}, {LONGEST_TEXT + 1}), 0)"


def _concat_sql(sql: Sequence[str], _: Sequence[Expression]) -> str:
    return f"concat({', '.join(sql)})"


# Records

_CASED, _TRIMMED = Effort(4000, 800), Effort(700, 40)


def _record(
    name: str,
    spelled: tuple[str, ...],
    *,
    takes: tuple[Type, ...],
    gives: Type,
    usage: str,
    nulls: Nulls,
    properties: Rule,
    template: Template,
    says: str,
    effort: Effort,
    accepts: Accepts | None = None,
) -> Function:
    return Function(
        name=name,
        version=1,
        spelled=spelled,
        signature=Signature(says=usage, takes=takes, gives=gives),
        nulls=nulls,
        properties=properties,
        accepts=accepts,
        effort=effort,
        engines={"duckdb": template},
        says=says,
    )


def _changed(name: str, *, value: Callable[[str], str], template: str, effort: Effort, says: str) -> Function:
    word = name.upper()
    return _record(
        name, (word, *(("LCASE",) if name == "lower" else ("UCASE",) if name == "upper" else ())), takes=(_T,), gives=_T,
        usage=f"{word}(x)", nulls=Nulls.IF_ANY, properties=_same_length(value), template=template, says=says, effort=effort,
    )  # fmt: skip


def _test(name: str, spelled: tuple[str, ...], says: str) -> Function:
    return _record(
        name, spelled, takes=(_T, _T), gives=_B, usage=f"{spelled[0]}(x, part)", nulls=Nulls.IF_ANY, properties=truth,
        template=f"{name}({{0}}, {{1}})", says=says, effort=Effort(350, 80),
    )  # fmt: skip


def _side(name: str) -> Function:
    rule, word = _left if name == "left" else _right, name.upper()
    return _record(
        name, (word,), takes=(_T, _I), gives=_T, usage=f"{word}(x, n)", nulls=Nulls.RULE, properties=_shortened(rule),
        template=f"(CASE WHEN ({{1}} >= 0) THEN {name}({{0}}, {_clamped(1)}) END)",
        says=f"the {'first' if name == 'left' else 'last'} n characters; NULL for n below 0", effort=Effort(500, 25),
    )  # fmt: skip


def _pattern(name: str, template: str, effort: Effort, says: str) -> Function:
    word = name.upper()
    return _record(
        name, (word,), takes=(_T, _T), gives=_B, usage=f"x {word} 'pattern'", nulls=Nulls.IF_ANY, properties=truth,
        template=template, says=says, effort=effort, accepts=_accepts_pattern,
    )  # fmt: skip


RECORDS = (
    _changed("lower", value=lower, template=LOWER_SQL, effort=_CASED, says="in lower case: Latin, Greek and Cyrillic letters, one character for one"),
    _changed("upper", value=upper, template=UPPER_SQL, effort=_CASED, says="in upper case: Latin, Greek and Cyrillic letters, one character for one (ß stays)"),
    _record(
        "length", ("LENGTH", "LEN", "CHAR_LENGTH", "CHARACTER_LENGTH"), takes=(_T,), gives=_I, usage="LENGTH(x)", nulls=Nulls.IF_ANY,
        properties=_length, template="CAST(length({0}) AS BIGINT)", says="number of characters (code points)", effort=Effort(250, 16),
    ),
    _record(
        "substring", ("SUBSTRING", "SUBSTR"), takes=(_T, _I, _I), gives=_T, usage="SUBSTRING(x, start, length)", nulls=Nulls.RULE,
        properties=_shortened(_substring, least=1),
        template=f"(CASE WHEN (({{1}} >= 1) AND ({{2}} >= 0)) THEN substring({{0}}, GREATEST({_clamped(1)}, 1), {_clamped(2)}) END)",
        says="the given number of characters from a start position (the first is 1); NULL for a start below 1 or a length below 0", effort=Effort(500, 25),
    ),
    _record(
        "substring_from", ("SUBSTRING", "SUBSTR"), takes=(_T, _I), gives=_T, usage="SUBSTRING(x, start)", nulls=Nulls.RULE, properties=_from,
        template=f"(CASE WHEN ({{1}} >= 1) THEN substring({{0}}, GREATEST({_clamped(1)}, 1)) END)",
        says="all characters from a start position (the first is 1); NULL for a start below 1", effort=Effort(500, 25),
    ),
    _side("left"),
    _side("right"),
    _changed("trim", value=lambda x: x.strip(" "), template="trim({0}, ' ')", effort=_TRIMMED, says="without spaces (U+0020) at both ends"),
    _changed("ltrim", value=lambda x: x.lstrip(" "), template="ltrim({0}, ' ')", effort=_TRIMMED, says="without spaces (U+0020) at the start"),
    _changed("rtrim", value=lambda x: x.rstrip(" "), template="rtrim({0}, ' ')", effort=_TRIMMED, says="without spaces (U+0020) at the end"),
    _test("starts_with", ("STARTS_WITH", "PREFIX"), "whether a text starts with another; every text starts with the empty one"),
    _test("ends_with", ("ENDS_WITH", "SUFFIX"), "whether a text ends with another; every text ends with the empty one"),
    _test("contains", ("CONTAINS",), "whether a text contains another; every text contains the empty one"),
    _record(
        "position", ("STRPOS", "INSTR", "POSITION"), takes=(_T, _T), gives=_I, usage="STRPOS(x, part)", nulls=Nulls.IF_ANY,
        properties=_position, template="CAST(instr({0}, {1}) AS BIGINT)",
        says="position of the first occurrence, from 1; 0 if there is none, 1 for an empty text", effort=Effort(350, 80),
    ),
    _pattern("like", "({0} LIKE {1})", Effort(400, 50, is_product=True), "whether a text matches a pattern: % is any text, _ any one character; there is no escape character"),
    _pattern("ilike", f"({LOWER_SQL} LIKE {LOWER_SQL.replace('{0}', '{1}')})", Effort(4000, 800, is_product=True), "LIKE after LOWER of both texts"),
    _record(
        "replace", ("REPLACE",), takes=(_T, _T, _T), gives=_T, usage="REPLACE(x, 'old', 'new')", nulls=Nulls.IF_ANY, properties=_replaced,
        template="replace({0}, {1}, {2})", effort=Effort(400, 100), accepts=_accepts_replacement, says="with every occurrence of one text replaced by another",
    ),
    _record(
        "split_part", ("SPLIT_PART",), takes=(_T, _T, _I), gives=_T, usage="SPLIT_PART(x, ',', 1)", nulls=Nulls.IF_ANY,
        properties=_same_length(_split), template="split_part({0}, {1}, {2})", effort=Effort(500, 150), accepts=_accepts_part,
        says="the nth part between delimiters, from 1; empty if there is none",
    ),
    Function(
        name="concat",
        version=1,
        spelled=("CONCAT",),
        signature=Signature(says="CONCAT(a, b, …)", takes=(_T,), repeats=1, gives=_T),
        nulls=Nulls.NEVER,
        properties=_concatenated,
        accepts=None,
        effort=Effort(400, 30),
        engines={"duckdb": _concat_sql},
        says="the concatenated texts; NULL counts as empty",
    ),
    _record(
        "joined", ("||",), takes=(_T, _T), gives=_T, usage="a || b", nulls=Nulls.IF_ANY, properties=_joined, template="({0} || {1})", effort=Effort(500, 30),
        says="the concatenated texts; NULL if one of them is",
    ),
)  # fmt: skip
register(*RECORDS)
