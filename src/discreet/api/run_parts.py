"""What the parts of a curator that are not operations yet share."""

from __future__ import annotations

import threading
from abc import ABC
from contextlib import AbstractContextManager
from dataclasses import replace

from discreet.api.context import Context
from discreet.catalog import Catalog
from discreet.core.documenting import Told
from discreet.engines import Engine
from discreet.ledger import Ledger
from discreet.pipeline.call import Call
from discreet.pipeline.pipeline import Pipeline


def call_of(analyst: str | None, request_id: str | None, asking: Call | None) -> Call:
    """One object for who asks, under which name, and how it is cancelled."""
    return replace(asking or Call(), analyst=analyst, request_id=request_id)


class CuratorPart(Told, ABC):
    """A part of the curator."""

    declared: Catalog
    ledger: Ledger
    version: int
    context: Context
    _engine: Engine
    _pipeline: Pipeline

    def _planning(self, analyst: str | None, cancelled: threading.Event | None) -> AbstractContextManager[None]:
        return self.context.of(analyst=analyst, cancelled=cancelled or threading.Event()).planning()
