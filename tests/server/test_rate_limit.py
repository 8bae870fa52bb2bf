"""Limits: so many a second, so many at once, and a memory that does not grow with strangers."""

import pytest

from discreet.concurrency import token_bucket
from discreet.errors import TooMany
from discreet.server.auth.rate_limit import RateLimit
from discreet.server.http.server_limits import Limits, address_group


def admit(limit, name):
    with limit.admit(name):
        pass


def test_a_bucket_empties_and_fills_again():
    now = [0.0]
    limit = RateLimit(rate=2, at_once=8, now=lambda: now[0])
    for _ in range(4):
        admit(limit, "alice")
    with pytest.raises(TooMany):
        admit(limit, "alice")
    admit(limit, "bob")
    now[0] = 0.5
    admit(limit, "alice")
    with pytest.raises(TooMany):
        admit(limit, "alice")


def test_strangers_are_forgotten_when_they_are_like_new(monkeypatch):
    monkeypatch.setattr(token_bucket, "_MOST_REMEMBERED", 50)
    now = [0.0]
    limit = RateLimit(rate=2, at_once=8, now=lambda: now[0])
    for number in range(200):
        now[0] += 0.1
        admit(limit, f"from:{number}")
    assert len(limit._requests._buckets) <= 60
    assert not limit._working
    for _ in range(3):
        admit(limit, "from:199")
    with pytest.raises(TooMany):
        admit(limit, "from:199")


def test_an_address_of_version_4_is_one_place_however_it_is_written():
    written = ["203.0.113.9", "::ffff:203.0.113.9", "64:ff9b::203.0.113.9", "2002:cb00:7109::5"]
    assert {address_group(address) for address in written} == {"203.0.113.9"}
    assert address_group("::ffff:203.0.113.8") == address_group("203.0.113.8")
    assert address_group("2001:db8:1:2:3::4") == address_group("2001:db8:1:2:5::6") == "2001:db8:1:2::"
    assert Limits(proxies=("10.0.0.0/24",)).is_proxy("::ffff:10.0.0.2")
