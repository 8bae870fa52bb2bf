"""Answers as JSON: what is written piece by piece is what would be written at once."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from discreet.results import answer_json
from discreet.samples import write_clinic
from tests.support.opening import open_curator


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward, sex, COUNT(*) AS n, AVG(cost) AS m FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY ward, sex",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 1000000",
        "SELECT ward, date, CASE WHEN ward = 'ER' THEN COUNT(*) END AS n FROM visits GROUP BY ward, date",
        "SELECT MAX(date) AS last, COUNT(*) AS n FROM visits",
        "SELECT sex, MEDIAN(age) AS middle, SUM(age) AS total FROM patients GROUP BY ROLLUP (sex)",
    ],
)
def test_an_answer_in_pieces_is_the_whole_answer(sql, tmp_path, monkeypatch):
    monkeypatch.setattr(answer_json, "_ROWS", 4)
    with open_curator(write_clinic(tmp_path, patients=20, visits=50)) as curator:
        answer = curator.ask(sql, epsilon=0.5)
        at_once = json.dumps(answer_json.answer_to_json(answer, 0.9), separators=(",", ":"), ensure_ascii=False)
        assert "".join(answer_json.answer_text(answer, 0.9)) == at_once
        assert answer.drawn is not None
        assert "".join(answer_json.answer_text(replace(answer, drawn=None), 0.9)) == at_once, (
            "what was drawn is not what was stored"
        )
        assert pa.concat_tables(part.to_arrow() for part in answer.parts(4, level=0.95)) == answer.to_arrow()
