"""Stored releases as objects of their kind."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from discreet.measurement.run_release import RunRelease
from discreet.measurement.transcript import Transcript

_MODULES = {
    "evaluate": "discreet.learning.runs.evaluation",
    "learn": "discreet.learning.runs.model_release",
    "regions": "discreet.workloads.releases.regional",
    "synthesize": "discreet.synthetic.synthetic_release",
    "tabulate": "discreet.workloads.releases.tabulation",
}
"""Where the class of each kind is. It is imported with the first release of its kind: most calls need none of them."""


def stored_release(stored: bytes, **about: Any) -> RunRelease:
    """A release, from the transcript of its run.

    Args:
        stored: The transcript.
        about: Name, receipt and whether it is repeated, as `RunRelease.of_its_kind` takes them.
    """
    kind = Transcript.decoded(stored).facts["purpose"]["kind"]
    if kind in _MODULES:
        import_module(_MODULES[kind])
    return RunRelease.of_its_kind(stored, **about)
