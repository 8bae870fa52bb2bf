"""Books that were priced by the first list of prices stay sound, and go on at today's."""

import pytest

from discreet.accounting import Charge, filters, open_filter
from discreet.ledger import Ledger, Request, verify
from discreet.ledger.charges import ledger
from discreet.mechanisms import Exponential, Gaussian, Laplace, PartitionSelection

RELEASES = [
    (Laplace(sensitivity=1, epsilon=0.25), Exponential(sensitivity=1, epsilon=0.1, size=3)),
    (Gaussian.for_rho(sensitivity=1, rho=0.001), PartitionSelection(epsilon=0.2, delta=1e-9)),
]


def charge_all(books, name):
    for number, releases in enumerate(RELEASES):
        books.reserve(Request(id=f"{name}{number}", query=f"{name}{number}", releases=releases))


@pytest.fixture(params=["hybrid", "renyi"])
def older(request, tmp_path, monkeypatch):
    """Books as they were written before: no entry names its prices, and a pure epsilon costs rho = epsilon**2 / 2."""
    books = Ledger.new(tmp_path / "older.sqlite")
    books.open_account(open_filter(5, 1e-6, kind=request.param))
    first = {
        "hybrid": Charge.at_first_prices,
        "renyi": lambda releases: filters.replace(
            Charge.at_first_prices(releases), renyi=tuple(x + 1 for x in Charge.with_orders(releases).renyi)
        ),
    }[request.param]
    with monkeypatch.context() as patch:
        for kind in (filters.Filter, filters.RenyiFilter):
            patch.setattr(kind, "price", lambda _, releases: first(releases))
        patch.setattr(ledger, "PRICES", 1)
        charge_all(books, "older")
    return books


def test_the_first_list_took_half_the_square_of_a_pure_epsilon():
    assert Charge.at_first_prices([Laplace(sensitivity=1, epsilon=0.25)]).rho == 31_250 * 10**18
    for release in (RELEASES[0][1], RELEASES[1][0]):
        assert Charge.at_first_prices([release]) == Charge.of([release])
    assert Charge.at_first_prices(RELEASES[1]).rho > Charge.of(RELEASES[1]).rho


def test_older_books_are_sound_and_go_on_at_todays_prices(older):
    assert verify(older).sound
    before = older.account().total
    charge_all(older, "newer")
    assert verify(older).sound
    more = sum((Charge.of(releases) for releases in RELEASES), Charge())
    assert older.account().total.rho == before.rho + more.rho


def test_a_total_brought_down_to_todays_prices_is_noticed(older):
    today = sum((Charge.of(releases).rho for releases in RELEASES), 0)
    with older._store.transaction() as t:
        t.run("UPDATE ledger_accounts SET spent_rho = ?", str(today))
    assert not verify(older).sound


def test_an_account_that_becomes_a_renyi_one_and_back_keeps_books_that_add_up(tmp_path):
    books = Ledger.new(tmp_path / "kinds.sqlite")
    for turn, kind in enumerate(["hybrid", "renyi", "renyi", "hybrid", "renyi"]):
        books.open_account(open_filter(5 + turn, 1e-6, kind=kind))
        charge_all(books, f"turn{turn}")
        assert verify(books).sound
    total = books.account().total
    assert total.renyi is not None
    real = sum((Charge.with_orders(releases) for releases in RELEASES * 5), Charge())
    assert all(counted >= has for counted, has in zip(total.renyi, real.renyi, strict=True))
    with books._store.transaction() as t:
        t.run("UPDATE ledger_accounts SET spent_renyi = replace(spent_renyi, '[', '[1')")
    assert not verify(books).sound
