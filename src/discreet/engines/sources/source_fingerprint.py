"""Fingerprints of a source, to notice changes between two openings and while it is copied."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from discreet.catalog import Catalog
from discreet.engines.sources.row_sources import files_of
from discreet.errors import BadCatalog, SourceUnsteady

_LOGS = (".wal", "-wal")
"""Suffixes of write-ahead logs: of DuckDB and of SQLite."""


@dataclass(frozen=True, slots=True)
class SourceFingerprint:
    """What is known about the files of a source, as hashes that reveal nothing about them."""

    place: str
    """Their real paths, sizes and times of change: quick to look up, and valid on one machine only."""
    content: str
    """Their contents, and the table of each: the same on every machine."""
    content_alone: str
    """The contents without table names, in the catalog's order: a part of the header that nothing else reads."""


def location_of(catalog: Catalog) -> str:
    """Hash where the files are and when they changed. Modification times can be set back; the time of the last status change cannot."""
    with _wrap_source_errors():
        return _hash_of(f"{name}\0{file.resolve()}\0{_seen(file)}" for name, file in _all_files(catalog))


def standing_of(catalog: Catalog, known: SourceFingerprint | None = None) -> SourceFingerprint:
    """Return the fingerprint of a source. Files that are where `known` says, and unchanged, are not read."""
    place = location_of(catalog)
    if known is not None and known.place == place:
        return known
    with _wrap_source_errors():
        contents = [(name, _content(file)) for name, file in _all_files(catalog)]
    named = sorted(f"{name}\0{content}" for name, content in contents)
    standing = SourceFingerprint(place, _hash_of(named), _hash_of(content for _, content in contents))
    check_steady(catalog, standing)
    return standing


def check_steady(catalog: Catalog, standing: SourceFingerprint) -> None:
    """Refuse a source that has changed since the read started."""
    if location_of(catalog) != standing.place:
        raise _unsteady()


def _unsteady() -> SourceUnsteady:
    return SourceUnsteady(
        "The source changed while it was copied.", next_step="Wait until it is no longer written to, then try again."
    )


@contextmanager
def _wrap_source_errors() -> Iterator[None]:
    """Report a file that vanished between listing and reading as a change of the source."""
    try:
        yield
    except FileNotFoundError:
        raise _unsteady() from None
    except OSError:
        raise BadCatalog("The source cannot be read.", next_step="Check the permissions of its files.") from None


def _all_files(catalog: Catalog) -> Iterator[tuple[str, Path]]:
    for name, file in files_of(catalog):
        yield name, file
        logs = ((f"{name}{ending}", Path(f"{file}{ending}")) for ending in _LOGS)
        yield from ((called, log) for called, log in logs if log.is_file() and log.stat().st_size)


def _seen(file: Path) -> str:
    facts = file.stat()
    return f"{facts.st_size}:{facts.st_mtime_ns}:{facts.st_ctime_ns}:{facts.st_ino}"


def _content(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _hash_of(facts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(facts).encode("utf-8", "surrogateescape")).hexdigest()
