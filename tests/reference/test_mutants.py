"""Every check of the heart notices the mistakes that it is there for: first our code passes it, then the code with the mistake does not."""

import pytest

from tests.reference.mutants import constructors, kernel, noticing, pricing, reader, registry, stored

MUTANTS = [mutant for part in (constructors, reader, registry, kernel, stored, pricing) for mutant in part.MUTANTS]


@pytest.fixture(scope="module", autouse=True)
def opened():
    yield
    noticing.close()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mistake_is_noticed_and_its_absence_too(mutant, monkeypatch):
    assert list(mutant.check()) == []
    mutant.apply(monkeypatch)
    assert list(mutant.check()) != []


def test_no_mistake_is_listed_twice():
    names = [mutant.name for mutant in MUTANTS]
    assert len(set(names)) == len(names) >= 30
