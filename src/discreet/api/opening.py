"""Open curators: for a catalog, for a newer catalog or data version, and after the source changed.

The source is copied before the ledger records anything about it: a source that cannot be read, or that changes during
the copy, starts no data version. The caps and analysts of a catalog are recorded last, so a catalog whose source cannot
be read has no effect.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from discreet.api.local import Curator
from discreet.catalog import Catalog, load_catalog
from discreet.engines import DuckEngine, ReportProgress, SourceFingerprint, fingerprint_source, with_public_columns
from discreet.errors import BadInput, SourceChanged, SourceUnsteady
from discreet.ledger import Ledger
from discreet.ledger.accounts.declared_ledger import (
    check_ledger_matches,
    open_existing_ledger,
    open_ledger,
    record_declarations,
    record_served_catalog,
)
from discreet.ledger.chain.entries import COMMAND_LINE
from discreet.ledger.charges.ledger_opening import close_on_error

_LOG = logging.getLogger("discreet")


def open_curator(
    config: str | Path = "discreet.toml",
    *,
    frames: Mapping[str, Any] | None = None,
    catalog: str | Path | Catalog | None = None,
    create_ledger: bool = False,
    tell: ReportProgress = lambda *_: None,
) -> Curator:
    """Open the curator of a catalog, with its accounts and its snapshot. `tell` is called for each table that is read.

    With `frames`, tables are pandas, polars or Arrow frames instead of the catalog's source. With `create_ledger`, a
    missing ledger is created. The dataset has the name of the folder of its catalog.
    """
    place = None if isinstance(catalog, Catalog) else Path(catalog or config)
    given = catalog if isinstance(catalog, Catalog) else load_catalog(place or config)
    declared = with_public_columns(given, frames)
    with close_on_error(open_ledger(declared, create_ledger=create_ledger)) as ledger:
        dataset = "dataset" if place is None else place.resolve().parent.name
        with close_on_error(_Opening(ledger, declared, dataset, tell).present(frames)) as curator:
            record_declarations(ledger, declared)
            record_served_catalog(ledger, declared)
        return curator


def successor(curator: Curator, catalog: Catalog | None, *, refreshed_by: str | None = None) -> Curator:
    """Open the next curator over the same ledger, for a newer catalog or data version than that of `curator`.

    Both curators can answer; the caller closes the data of each. With `refreshed_by` (the name that the ledger records),
    a changed source starts a new data version. The persons, caps and analysts of `catalog` are recorded after everything
    else succeeded. Without `catalog`, the one of `curator` stays in use and is not recorded again, because the owner may
    have changed caps since.
    """
    declared, ledger = curator.declared if catalog is None else with_public_columns(catalog), curator.ledger
    check_ledger_matches(ledger, declared)
    opening = _Opening(ledger, declared, curator.dataset)
    following = opening.present() if refreshed_by is None else opening.refreshed(by=refreshed_by)
    try:
        if catalog is not None:
            record_declarations(ledger, declared)
            record_served_catalog(ledger, declared)
    except BaseException:
        following.close_data()
        raise
    return following


def refresh(
    config: str | Path = "discreet.toml",
    *,
    by: str = COMMAND_LINE,
    anyway: bool = False,
    tell: ReportProgress = lambda *_: None,
) -> int:
    """Start a new data version, for the owner: read the source again, and no longer replay earlier answers.

    If the source has not changed, the version stays, unless `anyway` is true. The ledger records `by`, who refreshed.
    """
    catalog = with_public_columns(load_catalog(config))
    with closing(open_ledger(catalog)) as ledger:
        curator = _Opening(ledger, catalog, "dataset", tell).refreshed(by=by, anyway=anyway)
        curator.close_data()
        record_declarations(ledger, catalog)
    return curator.version


def curators_with_new_ledgers(catalog: Catalog, *, frames: Mapping[str, Any]) -> Generator[Curator, None, None]:
    """Yield curators over the same data, each with an empty ledger. The ledger of the previous one is closed.

    For experiments on generated data. Only for a catalog with its ledger in memory.
    """
    if catalog.ledger != ":memory:":
        raise BadInput(
            "A stored ledger cannot be replaced by an empty one: spent budget stays spent.",
            next_step='Experiment on generated data, with ledger.path = ":memory:".',
        )
    declared = with_public_columns(catalog, frames)
    with closing(open_existing_ledger(declared)) as ledger:
        salt = _salt(ledger, 1)
    with closing(DuckEngine(declared, salt=salt, frames=frames)) as engine:
        while True:
            with closing(open_existing_ledger(declared)) as ledger:
                yield Curator(declared, ledger, engine)


class _Opening:
    """Opens curators of one catalog over one ledger."""

    def __init__(self, ledger: Ledger, declared: Catalog, dataset: str, tell: ReportProgress = lambda *_: None) -> None:
        self._ledger, self._declared, self._dataset, self._tell = ledger, declared, dataset, tell

    def present(self, frames: Mapping[str, Any] | None = None) -> Curator:
        """The curator of the ledger's data version: over frames, or over the source that this version started with."""
        if frames is not None:
            return self._over(self._ledger.data_version(), frames=frames)
        return self._copied(self._present)

    def refreshed(self, *, by: str, anyway: bool = False) -> Curator:
        """The curator of a new data version; of the current one if the source is unchanged and `anyway` is false."""
        try:
            if not anyway:
                return self.present()
        except SourceChanged:
            pass
        return self._copied(lambda source: self._begun(source, by=by))

    def _present(self, source: SourceFingerprint) -> Curator:
        content, ledger = source.content, self._ledger
        version = ledger.version_for_source(content)
        return self._over(version, source, lambda: ledger.record_source(content, version=version))

    def _begun(self, source: SourceFingerprint, *, by: str) -> Curator:
        content, ledger = source.content, self._ledger
        before = ledger.data_version()
        return self._over(before + 1, source, lambda: ledger.refresh(source=content, after=before, by=by))

    def _copied(self, over: Callable[[SourceFingerprint], Curator]) -> Curator:
        """Call `over` with the fingerprint of the source; once more if the source changed during the copy."""
        try:
            return over(fingerprint_source(self._declared))
        except SourceUnsteady:
            _LOG.warning("the source changed while it was copied: it is copied once more")
            return over(fingerprint_source(self._declared))

    def _over(
        self,
        version: int,
        source: SourceFingerprint | None = None,
        noting: Callable[[], object] = lambda: None,
        frames: Mapping[str, Any] | None = None,
    ) -> Curator:
        """Read the data, then record it in one transaction, which fails if the ledger has changed in the meantime."""
        salt = _salt(self._ledger, version)
        engine = DuckEngine(self._declared, salt=salt, version=version, source=source, frames=frames, tell=self._tell)
        with close_on_error(engine):
            noting()
            return Curator(self._declared, self._ledger, engine, version=version, dataset=self._dataset)


def _salt(ledger: Ledger, version: int) -> str:
    """A salt that is fixed for a data version and independent of the data, because the name of the ledger is."""
    return f"{ledger.name()}:{version}"
