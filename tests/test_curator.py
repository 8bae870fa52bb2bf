"""The curator from end to end: charge before reading, replay for free, honest intervals, nothing private in a refusal."""

import json
import subprocess
import sys

import pytest

from discreet.curator import open_curator
from discreet.errors import BudgetExceeded, DiscreetError, EngineFailure
from discreet.samples import write_clinic

WARDS = "SELECT ward, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY ward"


@pytest.fixture
def curator(tmp_path):
    made = open_curator(write_clinic(tmp_path / "clinic", patients=3000, visits=30_000))
    yield made
    made.close()


def test_a_question_is_answered_with_intervals_that_cover_the_bounded_truth(curator):
    plan = curator.plan(WARDS, epsilon=2)
    exact = curator._engine.run(plan).groups
    answer = curator.ask(WARDS, epsilon=2, analyst="alice")
    assert [row["ward"] for row in answer.rows] == ["ER", "ICU", "Surgery"]
    rows_at = next(i for i, measure in enumerate(plan.measures) if measure.kind.value == "rows")
    for row, interval in zip(answer.rows, answer.intervals(1 - 1e-9), strict=True):
        assert interval["ward"] is None
        low, high = interval["visits"]
        assert low <= exact[(row["ward"],)][rows_at] <= high
        assert interval["mean_cost"][0] <= row["mean_cost"] <= interval["mean_cost"][1]
        assert 0 <= row["mean_cost"] <= 10_000


def test_the_same_question_is_free_and_has_the_same_answer(curator):
    first = curator.ask(WARDS, epsilon=0.5, analyst="alice")
    again = curator.ask(
        "select  ward, count(*) as visits, avg(cost) as mean_cost from visits group by ward",
        epsilon=0.5,
        analyst="alice",
    )
    assert (first.replayed, again.replayed) == (False, True)
    assert again.rows == first.rows
    assert curator.ledger.account().spent.epsilon == pytest.approx(0.5)


def test_four_questions_at_a_half_fit_alices_cap_and_a_fifth_does_not(curator):
    for age in range(4):
        curator.ask(f"SELECT COUNT(*) FROM patients WHERE age > {age}", epsilon=0.5, analyst="alice")
    with pytest.raises(BudgetExceeded):
        curator.ask("SELECT COUNT(*) FROM patients", epsilon=0.5, analyst="alice")


def test_a_refused_question_never_reads_the_data(curator, monkeypatch):
    def read(_):
        raise AssertionError("data was read")

    monkeypatch.setattr(curator._engine, "run", read)
    for sql in ("SELECT * FROM visits", "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward"):
        with pytest.raises(DiscreetError):
            curator.ask(sql, epsilon=0.5)
    with pytest.raises(BudgetExceeded):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=50)
    assert curator.ledger.account().spent.epsilon == 0


def test_the_charge_is_on_disk_before_the_data_is_read_and_a_failure_keeps_it(curator, monkeypatch):
    import duckdb

    class Broken:
        def execute(self, _):
            raise duckdb.ConversionException("Could not convert string 'secret-diagnosis' to INT32")

        def close(self):
            pass

    monkeypatch.setattr(curator._engine, "_data", Broken())
    with pytest.raises(EngineFailure) as caught:
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=0.5)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert curator.ledger.account().spent.epsilon == 0.5


def test_every_declared_group_appears_also_the_empty_ones(curator):
    rows = curator.ask("SELECT ward, COUNT(*) AS n FROM visits WHERE cost > 1e9 GROUP BY ward", epsilon=1).rows
    assert [row["ward"] for row in rows] == ["ER", "ICU", "Surgery"]
    assert all(abs(row["n"]) < 800 for row in rows)


def test_undeclared_groups_are_selected_privately(curator):
    answer = curator.ask("SELECT zip, COUNT(*) AS n FROM patients GROUP BY zip ORDER BY n DESC", epsilon=2, delta=1e-7)
    assert 3 < len(answer.rows) < 60
    assert answer.rows[0]["zip"] == "60601"
    assert answer.loss.delta == pytest.approx(1e-7)


def test_after_the_noise_having_order_and_limit_look_at_noisy_values_only(curator):
    sql = "SELECT ward, COUNT(*) AS n, SUM(cost) / COUNT(*) AS mean FROM visits GROUP BY ward HAVING COUNT(*) > 0 ORDER BY n DESC LIMIT 2"
    answer = curator.ask(sql, epsilon=2)
    assert [row["n"] for row in answer.rows] == sorted((row["n"] for row in answer.rows), reverse=True)
    assert len(answer.rows) == 2
    low, high = answer.intervals(0.95)[0]["mean"]
    assert low < answer.rows[0]["mean"] < high


def test_intervals_cover_as_often_as_they_say(tmp_path):
    """600 fresh answers to one count, at 80 %: exact coverage of the discrete distribution, within 6 standard deviations."""
    from discreet.answering.release import release
    from discreet.noise import RandomBits

    made = open_curator(write_clinic(tmp_path / "clinic", patients=300, visits=2000))
    plan = made.plan("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
    exact, bits = made._engine.run(plan), RandomBits()
    width = plan.measures[0].mechanism.error(0.8)
    truth = exact.groups[()][0]
    covered = sum(abs(release(plan, exact, bits).measures[0][0] - truth) <= width for _ in range(600))
    made.close()
    assert covered >= 480 - 6.2 * (600 * 0.16) ** 0.5
    assert covered <= 600 * 0.83 + 6.2 * (600 * 0.16) ** 0.5
    assert "hidden" in repr(exact)


def run(folder, *arguments, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "discreet", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={"COLUMNS": "110", "PATH": ""},
    )
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_the_command_line_asks_explains_and_refuses(tmp_path):
    write_clinic(tmp_path, patients=1000, visits=10_000)
    told = run(tmp_path, "explain", WARDS, "--epsilon", "0.5")
    assert "at most 20 rows of a person" in told
    assert "nothing was spent" in told
    asked = run(tmp_path, "ask", WARDS, "--epsilon", "0.5", "--analyst", "alice")
    assert "± " in asked
    assert "paid ε 0.5" in asked
    assert "alice" in asked
    assert "free: asked before" in run(tmp_path, "ask", WARDS, "--epsilon", "0.5", "--analyst", "alice")
    facts = json.loads(run(tmp_path, "ask", WARDS, "--epsilon", "0.5", "--analyst", "alice", "--json"))
    assert facts["replayed"] is True
    assert len(facts["rows"]) == 3
    refused = run(
        tmp_path, "ask", "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward", "--epsilon", "1", code=3
    )
    assert "refused: joins-people (nothing was spent)" in refused
    assert "is spent" in run(
        tmp_path, "ask", "SELECT COUNT(*) FROM visits", "--epsilon", "3", "--analyst", "alice", code=4
    )
    assert "SELECT ward" in run(tmp_path, "budget")
