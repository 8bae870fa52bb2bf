"""The curator from end to end: charge before reading, replay for free, honest intervals, nothing private in a refusal."""

import json
from contextlib import nullcontext

import pytest

from discreet.algebra.query import MeasureKind
from discreet.errors import BudgetExceeded, DiscreetError, EngineFailure, TooLarge
from discreet.results.stored_answer import read_stored
from discreet.samples import write_clinic
from tests.sql.checking import run as run_plan
from tests.support import commands
from tests.support.inside import exact_groups, planned
from tests.support.opening import open_curator

WARDS = "SELECT ward, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY ward"


@pytest.fixture
def curator(tmp_path):
    made = open_curator(write_clinic(tmp_path / "clinic", patients=3000, visits=30_000))
    yield made
    made.close()


def test_a_question_is_answered_with_intervals_that_cover_the_bounded_truth(curator):
    exact = exact_groups(curator, WARDS)
    answer = curator.as_analyst("alice").ask(WARDS, epsilon=2)
    assert [row["ward"] for row in answer.rows] == ["ER", "ICU", "Surgery"]
    measures = planned(curator, WARDS, epsilon=2).queries[0].measures
    rows_at = next(i for i, measure in enumerate(measures) if measure.kind is MeasureKind.ROWS)
    for row, interval in zip(answer.rows, answer.intervals(1 - 1e-9), strict=True):
        assert interval["ward"] is None
        low, high = interval["visits"]
        assert low <= exact[(row["ward"],)][rows_at] <= high
        assert interval["mean_cost"][0] <= row["mean_cost"] <= interval["mean_cost"][1]
        assert 0 <= row["mean_cost"] <= 10_000


def test_what_others_asked_before_is_not_called_free_while_an_analyst_s_own_account_pays(curator):
    first = curator.ask(WARDS, epsilon=0.5)
    paid, again = (curator.as_analyst("alice").ask(WARDS, epsilon=0.5) for _ in range(2))
    assert (paid.replayed, again.replayed) == (False, True)
    assert first.rows == paid.rows == again.rows
    assert curator.ledger.account("alice").spent.epsilon == pytest.approx(0.5)


def test_the_same_question_is_free_and_has_the_same_answer(curator):
    first = curator.as_analyst("alice").ask(WARDS, epsilon=0.5)
    again = curator.as_analyst("alice").ask(
        "select  ward, count(*) as visits, avg(cost) as mean_cost from visits group by ward",
        epsilon=0.5,
    )
    assert (first.replayed, again.replayed) == (False, True)
    assert again.rows == first.rows
    assert curator.ledger.account().spent.epsilon == pytest.approx(0.5)


def test_four_questions_at_a_half_fit_alices_cap_and_a_fifth_does_not(curator):
    for age in range(4):
        curator.as_analyst("alice").ask(f"SELECT COUNT(*) FROM patients WHERE age > {age}", epsilon=0.5)
    with pytest.raises(BudgetExceeded):
        curator.as_analyst("alice").ask("SELECT COUNT(*) FROM patients", epsilon=0.5)


def test_a_refused_question_never_reads_the_data(curator, monkeypatch):
    def read(*_, **__):
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
        def execute(self, *_, **__):
            assert curator.ledger.account().spent.epsilon == 0.5
            raise duckdb.ConversionException("Could not convert string 'secret-diagnosis' to INT32")

        sql = execute

        def cursor(self):
            return self

        def close(self):
            pass

        def interrupt(self):
            pass

    assert not curator._engine._cursors
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
    from discreet.noise import RandomBits
    from discreet.pipeline.release import release

    made = open_curator(write_clinic(tmp_path / "clinic", patients=300, visits=2000))
    plan = planned(made, "SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
    exact, bits = run_plan(plan, made._engine), RandomBits()
    width = plan.grouping_sets[0][0].mechanisms[0][0].error(0.8)
    truth = exact_groups(made, "SELECT COUNT(*) AS n FROM visits")[()][0]
    covered = sum(abs(release(plan, exact, bits)[0][0].measures[0][0][0] - truth) <= width for _ in range(600))
    made.close()
    assert covered >= 480 - 6.2 * (600 * 0.16) ** 0.5
    assert covered <= 600 * 0.83 + 6.2 * (600 * 0.16) ** 0.5
    assert "hidden" in repr(exact)


def test_a_question_can_be_asked_by_its_accuracy(curator):
    answer = curator.ask("SELECT COUNT(*) AS n FROM visits WHERE ward = 'ICU'", within=300, confidence=0.95)
    assert 295 <= answer.half_widths(0.95)[0]["n"] <= 300
    with pytest.raises(DiscreetError, match="depends on the data"):
        curator.ask("SELECT AVG(cost) FROM visits", within=10, confidence=0.95)
    for given in ({}, {"epsilon": 1, "within": 5, "confidence": 0.9}, {"within": 5}, {"epsilon": 1, "confidence": 0.9}):
        with pytest.raises(DiscreetError):
            curator.ask("SELECT COUNT(*) FROM visits", **given)


def test_the_search_for_an_epsilon_ends_with_the_seconds_of_a_question(curator, monkeypatch):
    monkeypatch.setattr(curator._engine, "one_limit", lambda *_: nullcontext(0.0))
    with pytest.raises(TooLarge, match="too long to plan"):
        curator.explain("SELECT COUNT(*) AS n FROM visits", within=300, confidence=0.95)


def test_an_answer_becomes_a_table(curator):
    answer = curator.ask(WARDS, epsilon=1)
    table = answer.to_arrow()
    assert table.column_names == [
        "ward", "visits", "visits_low", "visits_high", "mean_cost", "mean_cost_low", "mean_cost_high"
    ]  # fmt: skip
    assert table.to_pylist()[0]["visits"] == answer.rows[0]["visits"]
    assert '<th colspan="3">visits</th>' in answer._repr_html_()


def test_the_same_rows_of_a_person_are_kept_every_time_the_curator_opens(tmp_path):
    catalog = write_clinic(tmp_path / "clinic", patients=300, visits=20_000)
    totals = []
    for _ in range(2):
        made = open_curator(catalog)
        totals.append(exact_groups(made, "SELECT SUM(cost) FROM visits"))
        made.close()
    assert totals[0] == totals[1]


EXTREME_ROWS = {
    "nan": (7, "ER", float("nan"), "2024-01-01"),
    "infinite": (7, "ER", float("inf"), "2024-01-01"),
    "minus infinite": (7, "ER", float("-inf"), "2024-01-01"),
    "huge": (7, "ER", 1e308, "2024-01-01"),
    "empty": (7, "", None, None),
    "a megabyte": (7, "x" * 10**6, 1.0, "2024-01-01"),
    "a quote": (7, "'; DROP TABLE visits; --", 1.0, "2024-01-01"),
    "a bad date": (7, "ER", 1.0, "2024-13-45"),
    "largest id": (2**63 - 1, "ER", 1.0, "2024-01-01"),
    "nobody": (None, "ER", 1.0, "2024-01-01"),
}
QUERIES = [
    WARDS,
    "SELECT SUM(cost * cost) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE 1 / cost > 0 AND LENGTH(ward) > 2",
    "SELECT ward, SUM(cost) / COUNT(*) AS r FROM visits WHERE YEAR(date) = 2024 GROUP BY ward HAVING COUNT(*) > 0",
    "SELECT COUNT(*) FROM visits WHERE cost % 0 = 1 OR cost BETWEEN 1 AND 2",
    "SELECT MAX(cost) FROM visits",
]


def behaviour(folder, row):
    """Status, columns, groups and error text of every question, on a clinic in CSV with one extreme row more."""
    folder.mkdir()
    lines = ["patient_id,ward,cost,date", "1,ER,100,2024-01-01", "2,ICU,200,2024-01-02"]
    if row is not None:
        fields = ['"' + str("" if value is None else value).replace('"', '""') + '"' for value in row]
        lines.append(",".join(fields))
    (folder / "visits.csv").write_text("\n".join(lines) + "\n")
    (folder / "discreet.toml").write_text(
        '[source]\npath = "."\n[budget]\nepsilon = 1000\n[tables.visits]\nprivacy_unit = "patient_id"\nmax_rows = 20\n'
        'columns.patient_id = { type = "integer" }\ncolumns.ward = { type = "text", values = ["ER", "ICU"] }\n'
        'columns.cost = { type = "real", lower = 0, upper = 10000 }\ncolumns.date = { type = "date" }\n'
    )
    made, seen = open_curator(folder / "discreet.toml"), []
    for sql in QUERIES:
        try:
            answer = made.ask(sql, epsilon=50)
            ((noisy,),) = read_stored(answer.stored)
            keys = [column.to_pylist() for column in noisy.keys]
            seen.append(("answered", answer.columns, keys, [measure.shape for measure in noisy.measures]))
        except DiscreetError as error:
            seen.append((error.code, str(error)))
    made.close()
    return seen


@pytest.mark.parametrize("name", EXTREME_ROWS)
def test_an_extreme_row_changes_no_status_no_columns_and_no_error(name, tmp_path):
    assert behaviour(tmp_path / "with", EXTREME_ROWS[name]) == behaviour(tmp_path / "without", None)


def test_every_output_is_there_under_a_name_of_its_own(curator):
    answer = curator.ask("SELECT SUM(cost), AVG(cost), COUNT(*), COUNT(*), ward FROM visits GROUP BY ward", epsilon=1)
    assert answer.columns == ["sum(cost)", "avg(cost)", "count(*)", "count(*)_2", "ward"]
    assert len(answer.rows[0]) == 5


def test_what_cannot_be_computed_after_the_noise_is_null_and_never_an_error(curator):
    sql = (
        "SELECT COUNT(*) / (COUNT(*) - COUNT(*)) AS zero, -(COUNT(*) / (COUNT(*) - COUNT(*))) / 2 AS deeper, "
        f"COUNT(*) {' * 1e99' * 4} AS huge, COUNT(*) {(' * 1' + '0' * 29) * 12} * 1.5 AS long FROM visits "
        "ORDER BY COUNT(*) / (COUNT(*) - COUNT(*))"
    )
    answer = curator.ask(sql, epsilon=1)
    assert answer.rows == [{"zero": None, "deeper": None, "huge": None, "long": None}]
    assert answer.half_widths(0.95) == [{"zero": None, "deeper": None, "huge": None, "long": None}]
    assert answer.to_arrow().num_rows == 1


def test_text_is_not_compared_with_noisy_numbers_and_that_is_told_before_paying(curator):
    for sql in (
        "SELECT COUNT(*) + 'a' FROM visits",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*) > 'a'",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING ward > COUNT(*)",
    ):
        with pytest.raises(DiscreetError) as caught:
            curator.ask(sql, epsilon=1)
        assert caught.value.code == "not-allowed"
    assert curator.ledger.account().spent.epsilon == 0


@pytest.mark.parametrize("damage", ["a missing column", "no Parquet file"])
def test_files_that_do_not_fit_the_catalog_are_told_without_quoting_them(tmp_path, damage):
    catalog = write_clinic(tmp_path, patients=10, visits=20)
    if damage == "no Parquet file":
        (tmp_path / "visits.parquet").write_bytes(b"secret-diagnosis")
    else:
        catalog.write_text(catalog.read_text().replace("columns.cost", "columns.price"))
    with pytest.raises(DiscreetError) as caught:
        open_curator(catalog)
    assert caught.value.code == "bad-catalog"
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_failure_after_the_charge_does_not_claim_that_nothing_was_spent(monkeypatch, capsys):
    from discreet import __main__ as command
    from discreet.errors import BudgetExceeded, EngineFailure

    for error, code, words in (
        (EngineFailure("It failed.", next_step="Tell the owner."), 5, "failed: engine-failure"),
        (BudgetExceeded("Too much.", next_step="Ask less."), 4, "(nothing was spent)"),
    ):

        def refuse(*, prog_name, error=error):
            raise error

        monkeypatch.setattr(command, "command", lambda: refuse)
        with pytest.raises(SystemExit) as caught:
            command.main()
        shown = capsys.readouterr().err
        assert caught.value.code == code
        assert words in shown
        assert ("nothing was spent" in shown) == (code != 5)


def run(folder, *arguments, code=0):
    return commands.run(*arguments, code=code, cwd=folder)


def test_the_command_line_asks_explains_and_refuses(tmp_path):
    write_clinic(tmp_path, patients=1000, visits=10_000)
    started = commands.run_apart("init", "visits.parquet", "--output", "draft.toml", "--epsilon", "2", cwd=tmp_path)
    assert "draft.toml" in started
    assert "already" in run(tmp_path, "init", "visits.parquet", code=3)
    told = commands.run_apart("explain", WARDS, "--epsilon", "0.5", cwd=tmp_path)
    assert "at most 20 rows of a patient_id" in told
    assert "rows by ward: one person moves it by 20; Laplace, scale 120, ± 359" in " ".join(told.split())
    assert "nothing was spent" in told
    explained = json.loads(run(tmp_path, "explain", WARDS, "--epsilon", "0.5", "--analyst", "alice", "--json"))
    assert explained["measures"][0]["sensitivity"] == explained["rows_per_person"] == 20
    assert [account["account"] for account in explained["accounts"]] == ["dataset", "alice"]
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
