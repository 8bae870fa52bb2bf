"""How large an answer may be, said before it is paid for."""

import pytest

from discreet.api.requests.ask import AskRequest
from discreet.errors import TooLarge
from discreet.pipeline.call import Call
from discreet.planning.answer_size import AnswerLimit
from discreet.samples import write_clinic
from tests.support.opening import open_curator

LONG = "q" * 80_000
LIMIT = AnswerLimit(200_000, names=4)
"""Two such texts fit, and one for each of three wards does not."""
WARDS = "COUNT(*) AS n FROM visits GROUP BY ward"


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    with open_curator(write_clinic(tmp_path_factory.mktemp("sizes"), patients=20, visits=50)) as curator:
        yield curator


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT ward, :p AS t, {WARDS}",
        f"SELECT ward, :p AS t, {WARDS} HAVING COUNT(*) > -1000000",
        f"SELECT ward, CASE WHEN COUNT(*) > 5 THEN :p ELSE '' END AS t, {WARDS}",
        f"SELECT * FROM (SELECT ward, :p AS t, {WARDS}) a JOIN (SELECT ward AS w, {WARDS}) b ON a.ward = b.w",
        f"SELECT MAX(t) AS t, SUM(n) AS n FROM (SELECT ward, :p AS t, {WARDS}) GROUP BY ward",
        f'SELECT ward AS "{LONG[:19_000]}", {WARDS}',
    ],
)
def test_texts_that_stand_in_every_row_are_refused_before_they_are_paid_for(curator, sql):
    before, limited = curator.history(), Call(analyst="alice", limit=LIMIT)
    given = {"epsilon": 0.1, "parameters": {"p": LONG} if ":p" in sql else ()}
    with pytest.raises(TooLarge, match="could have more"):
        curator.with_call(limited).ask(sql, **given)
    with pytest.raises(TooLarge, match="could have more"):
        curator.with_call(limited).recall(AskRequest(sql, **given))
    assert curator.history() == before


def test_a_row_has_an_end_too(curator):
    columns = ", ".join(f":p AS text_{number}" for number in range(60))
    with pytest.raises(TooLarge, match="A row of this answer"):
        curator.with_call(Call(limit=AnswerLimit(2**28))).ask(
            f"SELECT COUNT(*) AS n, {columns} FROM visits", epsilon=0.1, parameters={"p": LONG}
        )


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT ward, :p AS t, {WARDS} ORDER BY n LIMIT 2",
        f"SELECT ward, CASE WHEN :p = ward THEN 1 ELSE 0 END AS t, {WARDS}",
        f"SELECT ward, {WARDS}",
    ],
)
def test_what_fits_is_answered(curator, sql):
    given = {"parameters": {"p": LONG} if ":p" in sql else ()}
    assert len(curator.with_call(Call(limit=LIMIT)).ask(sql, epsilon=0.1, **given)) > 0
