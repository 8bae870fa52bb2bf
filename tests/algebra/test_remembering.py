"""What is remembered of an object is never told of another one, and only the last few are held."""

from discreet.algebra.identity_cache import Remembering


def test_an_object_is_worked_on_once_and_one_like_it_by_itself():
    worked = []
    known = Remembering(lambda thing: worked.append(thing) or len(worked))
    first, like_it = [1], [1]
    assert [known(first), known(first), known(like_it), known(first)] == [1, 1, 2, 1]


def test_only_the_last_few_are_held_and_none_is_taken_for_one_that_is_gone():
    known = Remembering(lambda thing: thing[0])
    assert [known([number]) for number in range(2000)] == list(range(2000))
    assert len(known._known) <= 512
