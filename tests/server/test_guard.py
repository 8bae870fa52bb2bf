"""Limits: so many a second, so many at once, and a memory that does not grow with strangers."""

import pytest

from discreet.errors import TooMany
from discreet.server.auth import rate_limit as guards
from discreet.server.auth.rate_limit import Guard
from discreet.server.http.server_limits import Limits, place_of


def admit(guard, name):
    with guard.admit(name):
        pass


def test_a_bucket_empties_and_fills_again():
    now = [0.0]
    guard = Guard(rate=2, at_once=8, now=lambda: now[0])
    for _ in range(4):
        admit(guard, "alice")
    with pytest.raises(TooMany):
        admit(guard, "alice")
    admit(guard, "bob")
    now[0] = 0.5
    admit(guard, "alice")
    with pytest.raises(TooMany):
        admit(guard, "alice")


def test_strangers_are_forgotten_when_they_are_like_new(monkeypatch):
    monkeypatch.setattr(guards, "_MOST_REMEMBERED", 50)
    now = [0.0]
    guard = Guard(rate=2, at_once=8, now=lambda: now[0])
    for number in range(200):
        now[0] += 0.1
        admit(guard, f"from:{number}")
    assert len(guard._buckets) <= 60
    assert not guard._working
    for _ in range(3):
        admit(guard, "from:199")
    with pytest.raises(TooMany):
        admit(guard, "from:199")


def test_an_address_of_version_4_is_one_place_however_it_is_written():
    written = ["203.0.113.9", "::ffff:203.0.113.9", "64:ff9b::203.0.113.9", "2002:cb00:7109::5"]
    assert {place_of(address) for address in written} == {"203.0.113.9"}
    assert place_of("::ffff:203.0.113.8") == place_of("203.0.113.8")
    assert place_of("2001:db8:1:2:3::4") == place_of("2001:db8:1:2:5::6") == "2001:db8:1:2::"
    assert Limits(proxies=("10.0.0.0/24",)).is_proxy("::ffff:10.0.0.2")
