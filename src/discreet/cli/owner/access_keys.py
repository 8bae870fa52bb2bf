"""`discreet key` and `discreet user`: manage access keys and the roles of users."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.accounting import open_filter
from discreet.catalog import load_catalog
from discreet.cli.terminal.options import CATALOG, ConfigOption, JsonOption
from discreet.cli.terminal.printing import print_json, say_done
from discreet.ledger.accounts.declared_ledger import open_existing_ledger
from discreet.server.auth.keys import KeyStore, key_summary
from discreet.server.auth.roles import ROLES

RoleOption = Annotated[
    str, typer.Option("--role", help=f"One of: {', '.join(ROLES)}.", autocompletion=lambda: list(ROLES))
]
KeyNumber = Annotated[str, typer.Argument(help="Number of the key.")]
UserName = Annotated[str, typer.Argument(help="User name as the proxy sends it.")]
Days = Annotated[int, typer.Option("--days", help="Days until the key expires.")]


def create_key(
    name: Annotated[str, typer.Argument(help="For whom.")],
    *,
    role: RoleOption = "analyst",
    days: Days = 90,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="Also open the analyst's account with this cap.")
    ] = None,
    delta: Annotated[float, typer.Option("--delta", help="Delta of the cap.")] = 0.0,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Create an API key. It is shown once. An analyst needs an account: the catalog's, or one that --epsilon opens."""
    cap = None if epsilon is None else open_filter(epsilon, delta)
    open_existing_ledger(load_catalog(config)).close()  # with the accounts that the catalog declares by now
    with closing(open_key_store(config)) as store:
        key = store.create(name, role=role, days=days, cap=cap)
    say_done(key, {"key": key}, as_json=as_json)


def rotate_key(
    number: KeyNumber, *, days: Days = 90, config: ConfigOption = CATALOG, as_json: JsonOption = False
) -> None:
    """Create a new key for the holder of an old one. The old key stops working."""
    with closing(open_key_store(config)) as store:
        key = store.rotate(number, days=days)
    say_done(key, {"key": key}, as_json=as_json)


def revoke_key(number: KeyNumber, *, config: ConfigOption = CATALOG, as_json: JsonOption = False) -> None:
    """Revoke a key."""
    with closing(open_key_store(config)) as store:
        store.revoke(number)
    say_done(f"{number} is revoked", {"revoked": number}, as_json=as_json)


def list_keys(*, config: ConfigOption = CATALOG, as_json: JsonOption = False) -> None:
    """List keys by number. Secrets are not shown."""
    with closing(open_key_store(config)) as store:
        keys = store.all()
    states = ("revoked" if issued.revoked else f"until {issued.expires[:10]}" for issued in keys)
    rows = [(issued.id, issued.name, issued.role, state) for issued, state in zip(keys, states, strict=True)]
    _list(rows, [key_summary(issued) for issued in keys], as_json=as_json)


def add_user(
    name: UserName, *, role: RoleOption = "analyst", config: ConfigOption = CATALOG, as_json: JsonOption = False
) -> None:
    """Grant a role to a user authenticated by the proxy. An analyst needs an account, in the catalog or by `ledger cap`."""
    open_existing_ledger(load_catalog(config)).close()  # with the accounts that the catalog declares by now
    with closing(open_key_store(config)) as store:
        store.set_user(name, role)
    say_done(f"{name} has the role {role}", {"name": name, "role": role}, as_json=as_json)


def remove_user(name: UserName, *, config: ConfigOption = CATALOG, as_json: JsonOption = False) -> None:
    """Remove a user."""
    with closing(open_key_store(config)) as store:
        store.set_user(name, None)
    say_done(f"{name} has no access any more", {"name": name, "role": None}, as_json=as_json)


def list_users(*, config: ConfigOption = CATALOG, as_json: JsonOption = False) -> None:
    """List the users of the proxy with their roles."""
    with closing(open_key_store(config)) as store:
        users = sorted(store.users().items())
    _list(users, [{"name": name, "role": role} for name, role in users], as_json=as_json)


def open_key_store(config: Path) -> KeyStore:
    """The keys and users of a catalog's ledger."""
    catalog = load_catalog(config)
    return KeyStore.open(catalog.ledger, anchor=catalog.anchor)


def _list(rows: Sequence[tuple[str, ...]], fields: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json(fields)
        return
    for row in rows:
        typer.echo("  ".join(row))
