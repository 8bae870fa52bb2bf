"""What the books promise of models: killed at any pass they are charged once and go on, and what people have is in nothing that is told."""

import hashlib
import itertools
import json
import logging
import signal
import subprocess
import sys

import pyarrow as pa
import pytest

from discreet.api.opening import open_curator
from discreet.catalog import parse_catalog
from discreet.engines.tables.coded_tables import CodedRows
from discreet.errors import DiscreetError, EngineFailure
from discreet.learning import LogisticRegression, NaiveBayes, Number
from discreet.learning.runs.model_release import ModelRelease
from discreet.ledger import verify
from discreet.pipeline.call import Call
from tests.learning.dying import ASKED, LOOKS, learn
from tests.learning.test_curator import CATALOG, PLANTED, frame
from tests.synthetic.dying import prepared


def everywhere(kind):
    """Every labelled point: of the charge, of each look, and of the end."""
    begin, end = ["reserve: begun", "reserve: written", "reserve: committed"], ["finish: begun", "finish: written"]
    return [*begin, *["step: begun", "step: written", "step: committed"] * LOOKS[kind], *end]


def die_at_its_looks(folder, kind, labels):
    """Processes killed with signal 9, one after another; then one that comes to the end. Each goes on from where the one before was killed."""
    place = prepared(folder)
    command = [sys.executable, "-m", "tests.learning.dying", str(place), kind, *(f"{label}/0" for label in labels)]
    told = [json.loads(line) for line in subprocess.check_output(command, timeout=60 + 20 * len(labels)).splitlines()]
    histories = [death["steps"] for death in told]
    assert [death["signal"] for death in told] == [signal.SIGKILL] * len(labels)
    assert all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(histories))
    assert [death["paid"] for death in told] == [
        int(not label.startswith("reserve") or "committed" in label) for label in labels
    ]
    assert not any(death["answers"] for death in told)  # nothing may leave that is not stored
    with open_curator(place) as curator:
        learned = learn(kind, curator)
        drawn = [hashlib.sha256(step.encoded()).hexdigest() for step in learned.transcript.steps]
        assert drawn[: len(histories[-1])] == histories[-1]
        assert len(drawn) == LOOKS[kind]
        again = learn(kind, curator)
        assert again.replayed
        assert again.transcript.encoded() == learned.transcript.encoded()
        assert repr(again.card().rows) == repr(learned.card().rows)
        assert curator.ledger.account().total.rho == pytest.approx(ASKED["rho"] * 1e24, rel=1e-9)
        assert curator.as_analyst("alice").budget()[1].spent == curator.budget()[0].spent
        assert verify(curator.ledger).sound
    return len(labels)


def test_a_process_killed_at_every_pass_leaves_one_transcript_and_one_charge(tmp_path):
    labels = ["reserve: committed", "step: written", *["step: committed"] * LOOKS["logistic"], "finish: begun"]
    die_at_its_looks(tmp_path, "logistic", labels)  # `make soak` kills every model at every labelled point


def planted_frame():
    """People whose values are none that was declared: a ward, an age and a cost that nobody else has."""
    rows = frame(500).to_pydict()
    rows["ward"][::7] = [PLANTED] * len(rows["ward"][::7])
    rows["age"][::9] = [8_642_097] * len(rows["age"][::9])
    rows["cost"][::11] = [7_531.9753] * len(rows["cost"][::11])
    return pa.table(rows)


def test_planted_values_are_in_no_log_progress_error_model_or_book(caplog, tmp_path, monkeypatch):
    caplog.set_level(logging.DEBUG)
    told, plain = [], CodedRows._totals
    call = Call(on_step=told.append, on_measurement=told.append)
    model = LogisticRegression(target="died", features=["age", "ward", Number("cost", bins=5)], passes=3)

    def fails(*given):
        raise RuntimeError(f"cannot cast {PLANTED} 8642097 7531.9753")

    with open_curator(catalog=parse_catalog(CATALOG.format(most=1)), frames={"visits": planted_frame()}) as curator:
        monkeypatch.setattr(CodedRows, "_totals", fails)
        with pytest.raises(EngineFailure) as failed:
            curator.learn(model, "visits", rho=0.1, name="m")
        spent = curator.budget()
        monkeypatch.setattr(CodedRows, "_totals", plain)
        learned = curator.with_call(call).learn(model, "visits", rho=0.1, name="m")
        assert curator.budget() == spent  # it was paid for when it failed, and a retry answers
        assert told == ["planned", "paid", 1, 2, 3, 4]  # the number of the look, and nothing else
        checked = curator.with_call(call).evaluate(learned, "visits", rho=0.1)
        with pytest.raises(DiscreetError) as refused:
            curator.learn(NaiveBayes(target="died", features=["note"]), "visits", rho=0.1)
        curator.release("m").save(tmp_path / "m")
        with curator.ledger._store.transaction() as t:
            books = [bytes(cell) if isinstance(cell, memoryview | bytes) else repr(cell).encode()
                     for table in ("steps", "entries", "questions") for row in t.run(f"SELECT * FROM ledger_{table}") for cell in row]  # fmt: skip
    said = [
        str(failed.value),
        failed.value.next_step,
        str(refused.value),
        refused.value.next_step,
        str(told),
        caplog.text,
    ]
    said += [repr(learned), repr(learned.card()), learned.card()._repr_html_(), repr(checked.card())]
    everything = b"\n".join([*(text.encode() for text in said), *books, (tmp_path / "m").read_bytes()])
    assert "RuntimeError" in caplog.text
    assert ModelRelease.load(tmp_path / "m").model.transcript.encoded() == learned.transcript.encoded()
    assert not [
        value for value in (PLANTED, "8642097", "8,642,097", "7531.97", "7,531.97") if value.encode() in everything
    ]
