"""The cache keeps what was used last, up to its capacity."""

from discreet.concurrency.lru_cache import LruCache


def test_the_least_recently_used_value_is_dropped():
    cache = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1  # "b" is now the least recently used
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


def test_storing_a_key_again_replaces_its_value_and_its_weight():
    cache = LruCache(10, weigh=len)
    cache.put("a", "xxxxxxxx")
    cache.put("a", "x")
    cache.put("b", "xxxxxxxxx")
    assert (cache.get("a"), cache.get("b")) == ("x", "xxxxxxxxx")


def test_the_last_value_stays_although_it_is_heavier_than_the_capacity():
    cache = LruCache(10, weigh=len)
    cache.put("a", "x")
    cache.put("b", "x" * 11)
    assert list(cache) == ["b"]
    cache.clear()
    assert "b" not in cache
