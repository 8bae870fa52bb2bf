"""Published tables as constraints, and blocks that satisfy them, found with CP-SAT of the optional OR-Tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from discreet.attacks.reconstruction.census_blocks import OLDEST, RECORDS, VIEWS, Ages, Group, Record, cells_of

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

_WORK = 0.1
"""Search effort in CP-SAT's deterministic units: about seconds, but the same on every machine."""


def block_from_ages(
    printed: Mapping[Group, Ages | None], *, residents: int, least: int, without: Record | None = None
) -> list[Record] | None:
    """Return a block with these published statistics; None if there is none. `without` excludes a record."""
    model = _Model()
    people = [model.person() for _ in range(residents)]
    for younger, older in pairwise(people):  # an order, so that no solution is found twice
        model.add(younger.age <= older.age)
    for group, ages in printed.items():
        inside = [model.all_of([person.traits[column - 1][value] for column, value in group]) for person in people]
        if ages is None:
            model.add(sum(inside) < least)
            continue
        model.add(sum(inside) == ages.count)
        model.add(sum(model.age_if(person, one) for person, one in zip(people, inside, strict=True)) == ages.total)
        middle = {(ages.count + 1) // 2, ages.count // 2 + 1}
        ranked = [model.age_of_rank(people, inside, rank) for rank in middle]
        model.add(sum(ranked) * (2 // len(ranked)) == int(2 * ages.median))
    if without is not None:
        for person in people:
            model.forbid(person, without)
    solver = model.solve()
    return None if solver is None else sorted(person.record(solver) for person in people)


def block_from_counts(
    tables: Mapping[str, Mapping[tuple[int, ...], int]], *, without: Record | None = None
) -> list[Record] | None:
    """Return a block with exactly these counts; None if there is none. `without` excludes a record."""
    model = _Model()
    possible = [
        record
        for record in RECORDS
        if record != without and all(tables[view].get(cell(record), 0) > 0 for view, cell in VIEWS.items())
    ]
    residents = max(sum(table.values()) for table in tables.values())
    numbers = {record: model.number(residents) for record in possible}
    for view, cell in VIEWS.items():
        for key, count in tables[view].items():
            model.add(sum(number for record, number in numbers.items() if cell(record) == key) == count)
    solver = model.solve()
    return None if solver is None else _block(numbers, solver)


def nearest_block(tables: Mapping[str, Mapping[tuple[int, ...], int]], *, residents: int) -> list[Record]:
    """Return the block with the least total distance to noisy counts: the likeliest one under Laplace noise."""
    model = _Model()
    numbers = {record: model.number(residents) for record in RECORDS}
    model.add(sum(numbers.values()) == residents)
    costs: list[Any] = []
    for view, cell in VIEWS.items():
        inside: dict[tuple[int, ...], list[Any]] = {key: [] for key in cells_of(view)}
        for record, number in numbers.items():
            inside[cell(record)].append(number)
        costs += [model.distance(sum(some), tables[view].get(key, 0), most=residents) for key, some in inside.items()]
    solver = model.solve(least=sum(costs), work=_WORK)
    return [] if solver is None else _block(numbers, solver)


def _block(numbers: Mapping[Record, Any], solver: cp_model.CpSolver) -> list[Record]:
    return [record for record, number in numbers.items() for _ in range(solver.value(number))]


class _Person:
    """An unknown record."""

    def __init__(self, age: Any, traits: Sequence[Sequence[Any]]) -> None:
        self.age, self.traits = age, traits

    def record(self, solver: cp_model.CpSolver) -> Record:
        sex, race, married = (int(solver.value(no_or_yes[1])) for no_or_yes in self.traits)
        return int(solver.value(self.age)), sex, race, married


class _Model:
    """The kinds of constraint that the tables need."""

    def __init__(self) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415  heavy, and of the extra "lab"

        self._solver = cp_model.CpSolver()
        self._good = (cp_model.OPTIMAL, cp_model.FEASIBLE)
        self._model = cp_model.CpModel()
        self.add = self._model.add

    def number(self, most: int) -> Any:
        return self._model.new_int_var(0, most, "")

    def person(self) -> _Person:
        traits = []
        for _ in range(3):
            yes = self._model.new_bool_var("")
            traits.append((yes.negated(), yes))
        return _Person(self.number(OLDEST), traits)

    def all_of(self, literals: Sequence[Any]) -> Any:
        """Return a literal that is true if all are."""
        if len(literals) == 1:
            return literals[0]
        both = self._model.new_bool_var("")
        self._model.add_bool_and(literals).only_enforce_if(both)
        self._model.add_bool_or([*(one.negated() for one in literals), both])
        return both

    def age_if(self, person: _Person, inside: Any) -> Any:
        """Return the person's age if `inside`, otherwise 0."""
        age = self.number(OLDEST)
        self.add(age == person.age).only_enforce_if(inside)
        self.add(age == 0).only_enforce_if(inside.negated())
        return age

    def age_of_rank(self, people: Sequence[_Person], inside: Sequence[Any], rank: int) -> Any:
        """Return the age of the member with rank `rank`; people are sorted by age."""
        age, chosen = self.number(OLDEST), [self._model.new_bool_var("") for _ in people]
        self._model.add_exactly_one(chosen)
        for position, (person, one) in enumerate(zip(people, chosen, strict=True)):
            self._model.add_implication(one, inside[position])
            self.add(sum(inside[:position]) == rank - 1).only_enforce_if(one)
            self.add(age == person.age).only_enforce_if(one)
        return age

    def forbid(self, person: _Person, record: Record) -> None:
        other = self._model.new_bool_var("")
        self.add(person.age != record[0]).only_enforce_if(other)
        differs = [no_or_yes[1 - value] for no_or_yes, value in zip(person.traits, record[1:], strict=True)]
        self._model.add_bool_or([other, *differs])

    def distance(self, total: Any, observed: int, *, most: int) -> Any:
        """Return |total - observed| up to a constant, for a total from 0 to `most`."""
        if observed <= 0:
            return total
        if observed >= most:
            return -total
        off = self.number(most)
        self.add(off >= total - observed)
        self.add(off >= observed - total)
        return off

    def solve(self, *, least: Any = None, work: float | None = None) -> cp_model.CpSolver | None:
        if least is not None:
            self._model.minimize(least)
        self._solver.parameters.num_workers = 1
        if work is not None:
            self._solver.parameters.max_deterministic_time = work
        return self._solver if self._solver.solve(self._model) in self._good else None
