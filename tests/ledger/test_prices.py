"""Charges that change their kind of account keep books that add up."""

from discreet.accounting import Charge, open_filter
from discreet.ledger import Ledger, Request, verify
from discreet.mechanisms import Exponential, Gaussian, Laplace, PartitionSelection

RELEASES = [
    (Laplace(sensitivity=1, epsilon=0.25), Exponential(sensitivity=1, epsilon=0.1, size=3)),
    (Gaussian.for_rho(sensitivity=1, rho=0.001), PartitionSelection(epsilon=0.2, delta=1e-9)),
]


def charge_all(books, name):
    for number, releases in enumerate(RELEASES):
        books.reserve(Request(id=f"{name}{number}", query=f"{name}{number}", releases=releases))


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
