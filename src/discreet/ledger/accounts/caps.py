"""Caps: who set one last, and when the cap in the catalog applies. A restart of the service alone changes no cap."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from discreet.accounting.filters import Filter, open_filter
from discreet.core.exact import exact
from discreet.errors import BadInput
from discreet.ledger.accounts.account_rows import DATASET, Account, analyst_account, new_account
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.entries import Entry
from discreet.ledger.charges.release_json import fraction
from discreet.ledger.charges.requests import check_text

if TYPE_CHECKING:
    from discreet.ledger.charges.unit_of_work import UnitOfWork

KIND, LIST, CLOSE = "cap", "list", "close"
CATALOG = "catalog"
"""The author (`by`) of entries whose cap comes from the catalog."""
_ALL = "all"


def account_for(analyst: str | None) -> str:
    """Return the name of the account of the dataset (`None`) or of an analyst, after a check of the analyst's name."""
    if analyst is None:
        return DATASET
    check_text(analyst, "An analyst's name", most=200)
    if analyst == DATASET:
        raise BadInput("An analyst cannot have the name of the dataset's account.", next_step="Use another name.")
    return analyst_account(analyst)


def set_cap(work: UnitOfWork, name: str, cap: Filter, *, by: str) -> None:
    """Open an account with a cap, or change the cap of an open one. An unchanged cap writes no entry."""
    is_open = name in work.totals.accounts
    known = work.account(name) if is_open else new_account(name, cap, work.today)
    fresh = _effective_cap(work, known, cap, by=by) if is_open else cap
    if fresh is None and name in work.totals.closed:
        fresh = known.filter  # reopened with the cap it had
    if fresh is None:
        return
    if fresh.kind == "pure" and (known.lifetime_total.pure is None or known.lifetime_total.delta):
        raise BadInput(
            "The charges of this account have no pure epsilon, so delta cannot be 0.",
            next_step="Keep a delta above 0 for this account.",
        )
    reaches_back = known.reaches_back(fresh, work.today)
    facts = _cap_entry_body(name, fresh, stated=cap) | ({"counts": _ALL} if reaches_back else {})
    work.append(KIND, {**facts, "by": by})
    work.save(known.with_cap(fresh, work.today, counts_all=reaches_back))


def list_entries(work: UnitOfWork, listed: Collection[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield an entry for each analyst in the catalog who has none yet: an unchanged cap writes no entry."""
    for account in sorted({analyst_account(analyst) for analyst in listed} - work.totals.declared):
        yield LIST, {"account": account}


def close_entries(work: UnitOfWork, listed: Collection[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entries that close the accounts of analysts who are not `listed` in the catalog any more."""
    for account in sorted(work.totals.declared - {analyst_account(analyst) for analyst in listed}):
        yield CLOSE, {"account": account}


def cap_in(entry: Entry) -> Filter:
    """Return the cap that an entry set."""
    return _cap_from_json(entry.body)


def counts_all(entry: Entry) -> bool:
    """Return whether all earlier charges count against the cap that an entry set, until it renews."""
    return entry.body.get("counts") == _ALL


def _effective_cap(work: UnitOfWork, account: Account, stated: Filter, *, by: str) -> Filter | None:
    """Return the new cap of an open account, or `None` if it stays.

    The catalog's cap applies only if it differs from the catalog's previous one, and never exceeds the cap last set by
    another author.
    """
    if by != CATALOG:
        return None if stated == account.filter else stated
    entries = [work.seals.check(entry) for entry in entry_chain.entries_of(work.t, KIND, account=account.name)]
    if len(entries) != work.totals.caps[account.name]:
        work.seals.refuse("An entry that set a cap is missing")
    said = [_cap_from_json(entry.body.get("declared", entry.body)) for entry in entries if entry.body["by"] == CATALOG]
    if said and said[-1] == stated:
        return None
    others = [cap_in(entry) for entry in entries if entry.body["by"] != CATALOG]
    return _lower(stated, others[-1]) if others else stated


def _lower(one: Filter, other: Filter) -> Filter:
    """Combine two caps: the lower epsilon, the lower delta and the longer period."""
    epsilon, delta = min(one.cap.epsilon, other.cap.epsilon), min(one.cap.delta, other.cap.delta)
    renews = None if one.renews is None else one.renews.slower(other.renews)
    return open_filter(epsilon, delta, kind=one.kind if delta == one.cap.delta else other.kind, renews=renews)


def _cap_entry_body(account: str, cap: Filter, *, stated: Filter) -> dict[str, Any]:
    """Return the body of a cap entry, with the catalog's cap if it differs from the one that applies."""
    facts = {"account": account, **_cap_to_json(cap)}
    return facts if stated == cap else {**facts, "declared": _cap_to_json(stated)}


def _cap_to_json(cap: Filter) -> dict[str, str]:
    facts = {"kind": cap.kind, "epsilon": str(exact(cap.cap.epsilon)), "delta": str(exact(cap.cap.delta))}
    return facts if cap.renews is None else {**facts, "renews": cap.renews.value}


def _cap_from_json(facts: Mapping[str, Any]) -> Filter:
    epsilon, delta = fraction(facts["epsilon"]), fraction(facts["delta"])
    return open_filter(epsilon, delta, kind=facts["kind"], renews=facts.get("renews"))
