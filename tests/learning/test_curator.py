"""Models of protected rows: one charge before the first look, rows that stay where they are, a crash at any pass, and what is refused before."""

from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from discreet.api.opening import open_curator
from discreet.api.requests.learn import LearnRequest
from discreet.catalog import parse_catalog
from discreet.errors import BadInput, BudgetExceeded, NeedsDelta, NeedsValues, ScaleOutOfRange, TooLarge, UnknownName
from discreet.learning import (
    PCA,
    Category,
    DecisionTree,
    FiniteClass,
    KMeans,
    LinearRegression,
    LogisticRegression,
    Moments,
    NaiveBayes,
    Number,
)
from discreet.learning.data.hypotheses import conjunctions, halfspaces, own, stumps
from discreet.learning.models import finite_class
from discreet.learning.runs.deciders import Decider
from discreet.ledger import verify
from discreet.measurement.transcript import measurements_in
from discreet.mechanisms import Exponential

PLANTED = "planted-6fe1"
CATALOG = """
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
epsilon = 30
delta = 1e-6
[tables.visits]
privacy_unit = "person"
max_rows = {most}
columns.person = {{ type = "integer" }}
columns.ward = {{ type = "text", values = ["A", "B", "C"], nullable = true }}
columns.age = {{ type = "integer", lower = 0, upper = 99 }}
columns.cost = {{ type = "real", lower = 0, upper = 10, nullable = true }}
columns.died = {{ type = "boolean", nullable = true }}
columns.note = {{ type = "text" }}
"""
PURE = CATALOG.replace("delta = 1e-6\n", "")


def frame(count=3_000, seed=1, most=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, count)
    died = [None if n % 50 == 0 else bool(d) for n, d in enumerate(rng.random(count) < age / 100)]
    wards = [None if n % 40 == 0 else "ABC"[w] for n, w in enumerate(rng.integers(0, 3, count))]
    cost = np.clip(age / 20 + rng.normal(0, 1, count), 0, 10)
    columns = {"person": pa.array(np.arange(count) // most), "ward": pa.array(wards, pa.string()), "age": pa.array(age),
               "cost": pa.array(cost), "died": pa.array(died, pa.bool_()), "note": pa.array([PLANTED] * count)}  # fmt: skip
    return pa.table(columns)


def a_curator(text=CATALOG, most=1, **options):
    return open_curator(catalog=parse_catalog(text.format(most=most)), frames={"visits": frame(most=most, **options)})


MODELS = [
    LogisticRegression(target="died", features=["age", "ward"]),
    LogisticRegression(target="ward", features=[Number("age", bins=6), Category("died")], passes=3),
    LinearRegression(target="cost", features=["age", Category("ward")], ridge=2),
    Moments(features=["age", "cost", "ward"]),
    PCA(features=["age", "cost"], components=1),
    NaiveBayes(target="died", features=["age", "ward"]),
    DecisionTree(target="died", features=["age", "ward"], depth=2),
    KMeans(features=["age", "cost"], clusters=2),
    FiniteClass(target="died", features=["age", "ward"], hypotheses=stumps(4, [0.5, *range(5, 100, 5)])),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_model_is_charged_once_and_the_same_again_is_free_and_byte_equal(model):
    with a_curator() as curator:
        learned = curator.learn(model, "visits", rho=0.5, name="m")
        spent = curator.budget()
        again = curator.learn(model, "visits", rho=0.5)
        assert again.replayed
        assert not learned.replayed
        assert curator.budget() == spent
        assert again.transcript.encoded() == learned.transcript.encoded()
        assert repr(again.card().rows) == repr(learned.card().rows)
        found = curator.release("m").model
        assert repr(found.card().rows) == repr(learned.card().rows)
        assert curator.ledger.account().total.rho == pytest.approx(0.5e24, rel=1e-9)
        assert learned.receipt == again.receipt != ""
        assert verify(curator.ledger).sound


def test_what_is_learned_from_protected_rows_is_what_the_rows_say():
    with a_curator(count=6_000) as curator:
        model = curator.learn(LogisticRegression(target="died", features=["age", "ward"]), "visits", epsilon=8)
        young, old = model.predict_proba({"age": [5, 95], "ward": ["A", "B"]})[:, 1]
        assert young < 0.3
        assert old > 0.7
        line = curator.learn(LinearRegression(target="cost", features=["age"]), "visits", epsilon=8)
        assert line.coef_[0] == pytest.approx(0.046, abs=0.01)
        names = [row["number"] for row in model.card().rows]
        assert names == ["intercept", "age", "ward = A", "ward = B", "ward = C", "ward = none"]
        tree = curator.learn(DecisionTree(target="died", features=["age"], depth=2), "visits", epsilon=8)
        assert tree.predict({"age": [3, 97]}).tolist() == [False, True]


def test_a_select_that_stays_rows_is_a_source_and_a_persons_rows_multiply_the_noise():
    model = NaiveBayes(target="died", features=["age"])
    with a_curator(most=1) as one, a_curator(most=3) as three:
        source = "SELECT age, died FROM visits WHERE age < :most"
        plans = [c.plan_learning(model, source, rho=0.1, parameters={"most": 50}) for c in (one, three)]
        assert plans[1].rows_per_person == 3
        assert plans[1].measurements[0].within == pytest.approx(3 * plans[0].measurements[0].within, rel=0.1)
        assert one.learn(model, source, rho=0.1, parameters={"most": 50}).classes_.tolist() == [False, True]
        assert three.budget()[0].spent.epsilon == 0


def test_rows_whose_label_is_missing_are_left_out_and_missing_values_are_not():
    with a_curator(CATALOG.replace("epsilon = 30", "epsilon = 100000")) as curator:
        moments = curator.learn(Moments(features=["ward", "cost"]), "visits", rho=1000)
        bayes = curator.learn(NaiveBayes(target="died", features=["ward"]), "visits", rho=1000)
        rows = {row["number"]: row["value"] for row in moments.card().rows}
        assert rows["rows"] == pytest.approx(3_000, abs=2)
        assert rows["sum of ward = none"] == pytest.approx(75, abs=2)
        assert np.exp(bayes.prior).sum() == pytest.approx(1)
        assert sum(look.values.sum() for look in measurements_in(bayes.transcript.steps)) == pytest.approx(2_940, abs=3)


@pytest.mark.parametrize(
    "kind", [LogisticRegression, NaiveBayes, DecisionTree, partial(FiniteClass, hypotheses=stumps(4, range(0, 100, 7)))]
)
def test_an_evaluation_counts_what_the_model_decides_and_is_paid_for_once(kind):
    with a_curator(CATALOG.replace("epsilon = 30", "epsilon = 100000")) as curator:
        model = curator.learn(kind(target="died", features=["age", "ward"]), "visits", rho=5)
        found = curator.evaluate(model, "visits", rho=500)
        rows = frame().filter(frame()["died"].is_valid()).to_pydict()
        expected = np.zeros((2, 2))
        for decided, true in zip(model.predict(rows), rows["died"], strict=True):
            expected[int(decided), int(true)] += 1
        close = int((np.abs(model.predict_proba(rows)[:, 1] - 0.5) < 0.01).sum())  # which a place of a grid may decide
        assert np.abs(found.matrix - expected).max() <= 3 + close
        assert found.accuracy.value == pytest.approx(np.trace(expected) / expected.sum(), abs=0.003 + close / 2_940)
        spent = curator.budget()
        again = curator.evaluate(model, "visits", rho=500)
        assert again.replayed
        assert again.stored == found.stored
        assert curator.budget() == spent
        rough = curator.evaluate(model, "visits", rho=0.01, name="rough")
        numbers = {row["number"]: row["value"] for row in rough.card().rows}
        assert {"accuracy", "precision of True", "recall of False"} <= numbers.keys()
        assert rough.accuracy.deviation > 100 * found.accuracy.deviation
        assert curator.release("rough").stored == rough.stored


def test_an_evaluation_is_refused_where_rows_are_seen_in_another_way_or_nothing_was_learned():
    with a_curator() as curator:
        model = curator.learn(NaiveBayes(target="died", features=["age"]), "visits", rho=0.1)
        before = curator.budget()
        with pytest.raises(BadInput):
            curator.evaluate(model, "SELECT age + 1 AS age, died FROM visits", rho=0.1)
        with pytest.raises(BadInput):
            curator.evaluate(NaiveBayes(target="died", features=["age"]), "visits", rho=0.1)
        with pytest.raises(BadInput):
            curator.evaluate(curator.learn(Moments(features=["age"]), "visits", rho=0.1), "visits", rho=0.1)
        assert curator.budget()[0].spent.epsilon > before[0].spent.epsilon  # of the moments alone


def test_a_pure_account_takes_what_has_a_pure_epsilon_and_refuses_the_rest_with_a_next_step():
    with a_curator(PURE) as curator:
        for model in MODELS:
            if isinstance(model, NaiveBayes | DecisionTree | KMeans | FiniteClass):
                learned = curator.learn(model, "visits", epsilon=1)
                assert learned.loss.delta == 0
                if not isinstance(model, KMeans):
                    assert curator.evaluate(learned, "visits", epsilon=1).budget.pure_epsilon == 1
                continue
            before = curator.budget()
            with pytest.raises(NeedsDelta) as refusal:
                curator.learn(model, "visits", epsilon=1)
            assert all(
                kind in refusal.value.next_step for kind in ("NaiveBayes", "DecisionTree", "KMeans", "FiniteClass")
            )
            assert curator.budget() == before


@pytest.mark.parametrize(
    ("model", "source", "price", "refusal"),
    [
        (NaiveBayes(target="died", features=["age"]), "visits", {}, BadInput),
        (NaiveBayes(target="died", features=["nobody"]), "visits", {"rho": 0.1}, UnknownName),
        (NaiveBayes(target="died", features=["note"]), "visits", {"rho": 0.1}, NeedsValues),
        (NaiveBayes(target="died", features=["person"]), "visits", {"rho": 0.1}, UnknownName),
        (NaiveBayes(target="died", features=["age"]), "vists", {"rho": 0.1}, UnknownName),
        (NaiveBayes(target="died", features=[Number("age", 0, 5)]), "visits", {"rho": 0.1}, BadInput),
        (NaiveBayes(target="died", features=["age"], classes=[0, 1]), "visits", {"rho": 0.1}, BadInput),
        (NaiveBayes(target="died", features=["age"], epsilon=1), "visits", {"rho": 0.1}, BadInput),
        (LinearRegression(target="ward", features=["age"]), "visits", {"rho": 0.1}, BadInput),
        (KMeans(features=["ward"]), "visits", {"rho": 0.1}, BadInput),
        (LogisticRegression(target="ward", features=["age", "cost"], passes=100), "visits", {"rho": 0.1}, None),
        (NaiveBayes(target="died", features=["age"]), "visits", {"rho": 1e-300}, ScaleOutOfRange),
        (NaiveBayes(target="died", features=["age"]), "visits", {"rho": 1e6}, BudgetExceeded),
        ("a model", "visits", {"rho": 0.1}, BadInput),
    ],
)  # fmt: skip
def test_what_is_refused_is_refused_before_anything_is_charged_or_read(model, source, price, refusal, monkeypatch):
    with a_curator() as curator:
        monkeypatch.setattr(curator._engine, "tables", lambda *_, **__: pytest.fail("rows were read"))
        if refusal is None:
            monkeypatch.setattr("discreet.learning.runs.model_affordability.MOST_COLUMNS", 100)
            refusal = TooLarge
        with pytest.raises(refusal):
            curator.learn(model, source, **price)
        assert curator.budget()[0].spent.epsilon == 0


def test_a_finite_class_errs_on_protected_rows_as_it_does_on_the_same_rows_in_an_array():
    """Numbers are the middles of bins, yes is 1, other values have a 1 or 0 each; the errors are those of the array, and the best one comes out."""
    rows = frame().filter(frame()["died"].is_valid()).to_pydict()
    bits = np.column_stack([[2 * (age // 2) + 0.5 for age in rows["age"]], rows["died"]])
    old = np.array(rows["age"]) >= 40
    hypotheses = stumps(2, range(0, 100, 10))
    errors = FiniteClass(hypotheses=hypotheses, epsilon=1)._errors(np.floor(bits * 1024).astype(np.int64), old)
    source = "SELECT age, died, age >= 40 AS old FROM visits WHERE died IS NOT NULL"
    with a_curator(CATALOG.replace("epsilon = 30", "epsilon = 100000")) as curator:
        wanted = FiniteClass(target="old", features=[Number("age", bins=50), "died"], hypotheses=hypotheses)
        seen = []
        measure = Exponential.release
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                Exponential, "release", lambda self, scores, bits: (seen.append(scores), measure(self, scores, bits))[1]
            )
            learned = curator.learn(wanted, source, epsilon=500)
        assert (-seen[0]).tolist() == errors.tolist()
        assert errors[learned.chosen] == errors.min() == 0
        assert learned.name == "age >= 40"
        assert learned.predict({"age": [39, 41], "died": [True, False]}).tolist() == [False, True]
        assert "age >= 40" in learned.card().rows[0]["number"]
        assert curator.evaluate(learned, source, rho=1000).accuracy.value > 0.99


@pytest.mark.parametrize("of", ["conjunctions", "stumps", "halfspaces", "own"])
def test_what_a_hypothesis_decides_in_the_engine_is_what_it_says(of, monkeypatch):
    functions = {"young": lambda row: row[0] < 50, "dead": lambda row: row[1] == 1}
    classes = {"conjunctions": conjunctions(2), "stumps": stumps(2, [0.5, 33.2, 70]), "own": own(2, functions),
               "halfspaces": halfspaces(2, weights=2, offsets=[-40, 0, 33.2])}  # fmt: skip
    features = ["died", Category("flag")] if of == "conjunctions" else [Number("age", bins=20), "died"]
    source = "SELECT age, died, age > 50 AS flag, ward = 'A' AS is_a FROM visits"
    with a_curator(CATALOG.replace("epsilon = 30", "epsilon = 1e9")) as curator:
        learned = curator.learn(
            FiniteClass(target="is_a", features=features, hypotheses=classes[of]), source, epsilon=1
        )
        assert curator.learn(
            FiniteClass(target="is_a", features=features, hypotheses=classes[of]), source, epsilon=1
        ).replayed
        if of == "own":
            with pytest.raises(BadInput):
                curator.evaluate(learned, source, rho=1)
            return
        _, tables = learned._numbers_of(learned.domain)
        codes = np.stack(np.meshgrid(*(range(len(table)) for table in tables), indexing="ij"), axis=-1).reshape(-1, 2)
        for chosen in range(len(classes[of])):
            learned.chosen = chosen
            deciding = learned.deciding()
            says = learned.hypotheses.evaluate(finite_class._vectors(tables, codes))[:, chosen]
            no, yes = (
                np.array(
                    [score.constant + sum(score.entries[at][code] for at, code in enumerate(row)) for row in codes]
                )
                for score in deciding.scores
            )
            assert ((yes > no) == says).all()


def test_numbers_of_any_size_and_classes_of_any_length_are_learned_or_refused_before_they_are_paid_for():
    far = CATALOG.replace("lower = 0, upper = 99", "lower = 0, upper = 9000000000000000")
    few, many = stumps(1, [0, 1e15]), halfspaces(1, weights=100, offsets=range(1_000))
    with a_curator(far) as curator:
        wanted = FiniteClass(target="died", features=["age"], hypotheses=few)
        assert curator.learn(wanted, "visits", epsilon=1).name in {"age >= 0", "age < 0", "age >= 1e+15", "age < 1e+15"}
        larger = curator.outcome(
            LearnRequest(FiniteClass(target="died", features=["age"], hypotheses=many), "visits", epsilon=1)
        )
        assert "numbers" not in larger.details  # so many are written down by whoever wants them
        before = curator.budget()
        mine = own(1, {f"f{n}": lambda row: True for n in range(2**18)})
        with pytest.raises(TooLarge):
            curator.learn(FiniteClass(target="died", features=["age"], hypotheses=mine), "visits", epsilon=1)
        assert curator.budget() == before


def test_functions_of_ones_own_are_another_question_where_they_say_something_else():
    with a_curator() as curator:
        asked = [own(1, {"f": function}) for function in (lambda row: row[0] < 50, lambda row: row[0] < 60)]
        models = [FiniteClass(target="died", features=["age"], hypotheses=each) for each in asked]
        first, second = (curator.learn(model, "visits", epsilon=0.5, name=f"f{n}") for n, model in enumerate(models))
        assert (first.replayed, second.replayed) == (False, False)
        assert first.receipt != second.receipt
        with pytest.raises(BadInput):
            curator.release("f0").model.card()  # nothing that was stored is ever run


def test_a_plan_draws_nothing_solves_nothing_and_reads_nothing(monkeypatch):
    """Whoever may ask for a price may ask as often as they like: it must be cheap however wide the model is."""
    classifiers = [model for model in MODELS if isinstance(model, LogisticRegression | NaiveBayes | DecisionTree)]
    with a_curator() as curator:
        learned = [curator.learn(model, "visits", rho=0.01) for model in classifiers]
        decided = [Decider.of(model) for model in learned]
        for place in ("Gaussian.release", "Laplace.release", "Exponential.release", "PermuteAndFlip.release"):
            monkeypatch.setattr(f"discreet.mechanisms.{place}", lambda *_: pytest.fail("something was drawn"))
        monkeypatch.setattr(np.linalg, "eigh", lambda *_: pytest.fail("something was solved"))
        monkeypatch.setattr(curator._engine, "tables", lambda *_, **__: pytest.fail("rows were read"))
        before = curator.budget()
        for model in MODELS:
            plan = curator.plan_learning(model, "visits", epsilon=1)
            assert all(look.norm > 0 and look.within > 0 and look.numbers > 0 for look in plan.measurements)
        for decider in decided:
            assert curator.plan_evaluation(decider, "visits", epsilon=1).measurements[0].what == "confusion"
        assert curator.budget() == before


def test_the_noise_of_a_plan_is_what_one_person_can_move():
    """In rows, of columns that are scaled: the norms of the proofs."""
    with a_curator(most=3) as curator:
        products, *passes = curator.plan_learning(MODELS[0], "visits", rho=0.1).measurements
        assert len(passes) == 10
        assert products.norm == pytest.approx(
            3 * 5**0.5, rel=1e-6
        )  # a number and a column of cells: 3 pairs, 2 squares
        assert {round(each.norm, 6) for each in passes} == {round(3 * 3**0.5, 6)}  # no residual is above 1
        (table,) = curator.plan_learning(KMeans(features=["age"]), "visits", rho=0.1).measurements
        assert table.norm == 3


@pytest.mark.parametrize("bound", ["MOST_COLUMNS", "MOST_NUMBERS"])
def test_a_model_that_would_take_too_long_or_too_much_memory_is_refused_before_it_is_paid_for(bound, monkeypatch):
    with a_curator() as curator:
        model = LogisticRegression(target="died", features=["age", "ward", Number("cost", bins=9)])
        plan = curator.plan_learning(model, "visits", rho=0.1)
        numbers = sum(look.numbers for look in plan.measurements)
        columns = 1 + 3 + 3 + 10 * 3  # how many rows; a number by all columns; tables of two columns of cells; passes
        exactly = {"MOST_COLUMNS": columns, "MOST_NUMBERS": numbers}[bound]
        monkeypatch.setattr(f"discreet.learning.runs.model_affordability.{bound}", exactly)
        curator.plan_learning(model, "visits", rho=0.1)
        monkeypatch.setattr(f"discreet.learning.runs.model_affordability.{bound}", exactly - 1)
        with pytest.raises(TooLarge):
            curator.plan_learning(model, "visits", rho=0.1)
        with pytest.raises(TooLarge):
            curator.learn(model, "visits", rho=0.1)
        assert curator.budget()[0].spent.epsilon == 0
