"""A cached result belongs to one object and is never returned for another one; only the last few are kept."""

from discreet.algebra.identity_cache import IdentityCache


def test_an_object_is_worked_on_once_and_one_like_it_by_itself():
    worked = []
    known = IdentityCache(lambda thing: worked.append(thing) or len(worked))
    first, like_it = [1], [1]
    assert [known(first), known(first), known(like_it), known(first)] == [1, 1, 2, 1]


def test_only_the_last_few_are_kept_and_none_is_mistaken_for_one_that_is_gone():
    known = IdentityCache(lambda thing: thing[0])
    assert [known([number]) for number in range(2000)] == list(range(2000))
    assert len(list(known._known)) <= 512
