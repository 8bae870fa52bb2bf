"""Curators over books and sources: opened, followed by newer ones, and begun anew when the source changed.

A source is copied before the books say a word about it: what cannot be read, or changes while it is copied, begins no data version. Nor does a
catalog count whose source cannot be read: its caps and analysts are stated last.
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
    """The curator that a catalog describes: its accounts opened, its snapshot at hand; `tell` hears which table is read for it.

    With `frames`, tables are pandas, polars or Arrow frames instead of the catalog's source. With `create_ledger`, a ledger
    that is missing is begun. The dataset is called as the folder that its catalog is in.
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
    """Another curator over the same books, for what is newer than `curator`: the catalog, or the data version.

    Both can answer; whoever is done with one closes its data. With `refreshed_by`, who wants it, a data version begins if the source changed.
    What the catalog says of people, caps and analysts counts once everything else is there. Without one, that of `curator` goes on to be
    served and nothing is stated: the owner may have said something else since.
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
    """Begin a new data version, for the owner: the source is read anew, and answers of before are not replayed. `by` is who does it.

    Where the source is what it was, the version stays as it is, unless one is wanted `anyway`.
    """
    catalog = with_public_columns(load_catalog(config))
    with closing(open_ledger(catalog)) as ledger:
        curator = _Opening(ledger, catalog, "dataset", tell).refreshed(by=by, anyway=anyway)
        curator.close_data()
        record_declarations(ledger, catalog)
    return curator.version


def curators_with_new_books(catalog: Catalog, *, frames: Mapping[str, Any]) -> Generator[Curator, None, None]:
    """One curator after another over the same data, each as if nothing had ever been asked; the books of the one before are closed.

    For experiments on generated data, and only where books are in memory.
    """
    if catalog.ledger != ":memory:":
        raise BadInput(
            "Books that are kept cannot be begun anew: what was spent is spent.",
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
    """A curator that is about to be opened over some books, as a catalog declares it."""

    def __init__(self, ledger: Ledger, declared: Catalog, dataset: str, tell: ReportProgress = lambda *_: None) -> None:
        self._ledger, self._declared, self._dataset, self._tell = ledger, declared, dataset, tell

    def present(self, frames: Mapping[str, Any] | None = None) -> Curator:
        """The curator of the ledger's data version: over frames, or a source that is the one which the version was begun with."""
        if frames is not None:
            return self._over(self._ledger.data_version(), frames=frames)
        return self._copied(self._present)

    def refreshed(self, *, by: str, anyway: bool = False) -> Curator:
        """The curator of a new data version; of the present one where the source is what it was, unless a new one is wanted `anyway`."""
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
        """What is opened `over` the source as it stands; once more where it changed meanwhile."""
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
        """Read the data first, then have it written down, in one transaction that finds the books as they were."""
        salt = _salt(self._ledger, version)
        engine = DuckEngine(self._declared, salt=salt, version=version, source=source, frames=frames, tell=self._tell)
        with close_on_error(engine):
            noting()
            return Curator(self._declared, self._ledger, engine, version=version, dataset=self._dataset)


def _salt(ledger: Ledger, version: int) -> str:
    """The same for one data version and independent of the data: the name of the books is both."""
    return f"{ledger.name()}:{version}"
