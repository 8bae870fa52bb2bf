import json
from datetime import date

import pytest

from discreet.catalog import Type, parse_catalog
from discreet.catalog.metadata_import import import_catalog
from discreet.errors import BadCatalog

SMARTNOISE = """
engine: postgres
PUMS:
  PUMS:
    visits:
      max_ids: 3
      rows: 98765
      censor_dims: false
      pid: {type: int, private_id: true, lower: 1, upper: 1000}
      age: {type: int, lower: 0, upper: 110, nullable: true}
      cost: {type: float, lower: 0, upper: "1e4"}
      ward: {type: string, cardinality: 4321}
      urgent: {type: boolean}
      day: {type: datetime, lower: 2020-01-01, upper: 2025-12-31}
"""
CSVW = {
    "@context": "http://www.w3.org/ns/csvw",
    "tables": [
        {
            "url": "data/visits.csv",
            "csvw-eo:maxContributions": 20,
            "csvw-eo:publicLength": 98765,
            "tableSchema": {
                "columns": [
                    {"name": "pid", "datatype": "integer", "csvw-eo:privacyId": True, "minimum": 1, "maximum": 1000},
                    {"name": "age", "datatype": {"base": "nonNegativeInteger", "minimum": "0", "maximum": 110}},
                    {"name": "cost", "datatype": {"base": "decimal", "minInclusive": 0.5, "maxExclusive": 1e4}},
                    {"name": "sex", "keyValues": ["F", "M"], "exhaustiveKeys": True, "required": True},
                    {"name": "ward", "datatype": "string", "keyValues": ["Ward7"], "required": False},
                    {"name": "day", "datatype": {"base": "date", "minimum": "2020-01-01", "maximum": "2025-12-31"}},
                    {"name": "risk", "datatype": "xsd:double", "minimum": 0},
                ]
            },
        },
        {
            "url": "wards.csv",
            "privacyUnit": "owner",
            "tableSchema": {"columns": [{"name": "owner", "datatype": "integer"}]},
        },
    ],
}


def imported(tmp_path, given, name="metadata.yaml"):
    (tmp_path / name).write_text(given if isinstance(given, str) else json.dumps(given))
    return import_catalog(tmp_path / name)


def filled(text):
    return parse_catalog(text.replace("# epsilon = 5.0", "epsilon = 5.0")).tables


def table(**changes):
    return {"url": "t.csv", "tableSchema": {"columns": [{"name": "pid", "privacyId": True}]}} | changes


def column(**facts):
    return {"url": "t.csv", "tableSchema": {"columns": [{"name": "pid", "privacyId": True}, {"name": "c", **facts}]}}


def test_an_imported_catalog_lacks_the_budget_and_nothing_else(tmp_path):
    for text in (imported(tmp_path, SMARTNOISE), imported(tmp_path, CSVW, "metadata.json")):
        with pytest.raises(BadCatalog, match="has no epsilon"):
            parse_catalog(text)
        assert filled(text)["visits"].unit.column == "pid"


def test_smartnoise_facts_survive_the_way_into_the_catalog(tmp_path):
    visits = filled(imported(tmp_path, SMARTNOISE))["visits"]
    columns = visits.columns
    assert visits.max_rows == 3
    assert [column.type for column in columns.values()] == [
        *(Type.INTEGER, Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN, Type.TIMESTAMP)
    ]
    assert (columns["age"].lower, columns["age"].upper, columns["age"].nullable) == (0, 110, True)
    assert (columns["cost"].upper, columns["cost"].nullable) == (10000, False)
    assert (columns["day"].lower.date(), columns["day"].upper.date()) == (date(2020, 1, 1), date(2025, 12, 31))


def test_csvw_facts_survive_the_way_into_the_catalog(tmp_path):
    tables = filled(imported(tmp_path, CSVW, "metadata.json"))
    visits, columns = tables["visits"], tables["visits"].columns
    assert (visits.max_rows, visits.path) == (20, str(tmp_path / "data" / "visits.csv"))
    assert (tables["wards"].unit.column, tables["wards"].path) == ("owner", None)
    assert (columns["age"].type, columns["age"].lower, columns["age"].upper) == (Type.INTEGER, 0, 110)
    assert (columns["cost"].type, columns["cost"].lower, columns["cost"].upper) == (Type.REAL, 0.5, 10000)
    assert (columns["sex"].values, columns["sex"].nullable) == (("F", "M"), False)
    assert (columns["ward"].values, columns["ward"].nullable) == (None, True)  # its public keys are not all
    assert columns["day"].upper == date(2025, 12, 31)
    assert columns["risk"].lower is None  # one bound is none


def test_ids_get_no_bounds_that_could_merge_two_people(tmp_path):
    for text in (imported(tmp_path, SMARTNOISE), imported(tmp_path, CSVW, "metadata.json")):
        assert 'columns.pid = { type = "integer" }\n' in text


def test_counts_stay_behind_and_the_text_says_so(tmp_path):
    smartnoise, csvw = imported(tmp_path, SMARTNOISE), imported(tmp_path, CSVW, "metadata.json")
    assert "98765" not in smartnoise + csvw
    assert "4321" not in smartnoise
    assert "# Left out (how many there are is private): cardinality, rows." in smartnoise
    assert "# Left out (settings of the other tool): censor_dims." in smartnoise
    assert "# Left out (how many there are is private): publicLength." in csvw


def test_what_the_source_does_not_say_is_never_guessed(tmp_path):
    text = imported(tmp_path, {"tableSchema": {"columns": [{"name": "patient_id"}]}}, "visits.csv-metadata.json")
    assert 'privacy_unit = ""' in text
    assert "# max_rows = 1" in text
    assert filled(text.replace('privacy_unit = ""', "public = true")).keys() == {"visits"}


def test_a_name_cannot_write_facts_of_its_own(tmp_path):
    odd = 'a" = 1 ]\\'
    given = {"url": "t.csv", "privacyUnit": odd, "tableSchema": {"columns": [{"name": odd, "datatype": "int"}]}}
    assert filled(imported(tmp_path, given, "metadata.json"))["t"].unit.column == odd


def test_with_row_privacy_each_row_is_a_person_unless_somebody_is_named(tmp_path):
    given = SMARTNOISE.replace("max_ids: 3", "row_privacy: true")
    assert filled(imported(tmp_path, given))["visits"].unit.column == "pid"
    nobody = given.replace(", private_id: true", "").replace("private_id: true", "")
    assert filled(imported(tmp_path, nobody))["visits"].has_row_people


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("engine: postgres", "engine: [Secret", "has a syntax error"),
        ("engine: postgres", "other: {}", "one database"),
        ("max_ids: 3", "max_ids: Secret", "visits: .*not an integer"),
        ("max_ids: 3", "max_ids: 0", "max_rows: must be a whole number"),
        ("max_ids: 3", "row_privacy: 1", "visits.row_privacy: must be true or false"),
        ("max_ids: 3", "no: {type: int}", "visits: has a name that is not text"),
        ("rows: 98765", '"a$b": {type: int}', "control character"),
        ("rows: 98765", "Age: {type: int}", "differ only in case"),
        ("{type: boolean}", "Secret", "visits.urgent: must hold named entries"),
        ("{type: boolean}", "{type: Secret}", "visits.urgent: has no valid type"),
        ("{type: boolean}", "{type: boolean, lower: 0, upper: 1}", "urgent: needs lower below upper"),
        ("{type: boolean}", "{type: boolean, private_id: true}", "several person ids"),
        ("{type: boolean}", "{type: int, is_key: true}", "visits.urgent: has an unknown key"),
        ("upper: 110", "upper: Secret", "visits.age: has an invalid bound or key"),
        ("upper: 110", "upper: .inf", "visits.age: has an invalid bound"),
        ("upper: 110", "upper: -5", "age: needs lower below upper"),
    ],
)
def test_bad_smartnoise_is_refused_by_name_and_never_quoted(tmp_path, old, new, problem):
    assert old in SMARTNOISE
    with pytest.raises(BadCatalog, match=problem) as refused:
        imported(tmp_path, SMARTNOISE.replace(old, new))
    assert "Secret" not in str(refused.value)
    assert refused.value.next_step


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ('{"url": Secret', "Line 1: has a syntax error"),
        ([], "The file: must hold named entries"),
        ({"tables": []}, "no tables"),
        ({"tables": [table(), table(url="more/T.csv")]}, "two with the same name"),
        (table(tableSchema="Secret.json"), "t.tableSchema: must hold named entries"),
        (table(tableSchema={"columns": []}), "t: has no columns"),
        (table(privacyUnit="Secret"), "privacyUnit that is not a column"),
        (table(maxContributions=True), "not an integer"),
        (table(tableSchema={"columns": [{"name": "a"}, {"name": "a"}]}), "without a unique name"),
        (table(tableSchema={"columns": [{"name": "a\n[budget]"}]}), "not text on one line"),
        (column(datatype="Secret"), "t.c: has no valid type"),
        (column(datatype="date", minimum="Secret", maximum="2020-01-01"), "t.c: has an invalid bound"),
        (column(keyValues=["Secret", 5], exhaustiveKeys=True), "c: has values"),
        (column(keyValues=["Secret\nepsilon = 9"], exhaustiveKeys=True), "t.c: has an invalid bound or key"),
        (column(privacyId="Secret"), "t.c.privacyId: must be true or false"),
    ],
)
def test_bad_csvw_is_refused_by_name_and_never_quoted(tmp_path, given, problem):
    with pytest.raises(BadCatalog, match=problem) as refused:
        imported(tmp_path, given, "metadata.json")
    assert "Secret" not in str(refused.value)
    assert "Line " not in str(refused.value) or isinstance(given, str)  # no line of a text that nobody sees


def test_only_metadata_files_are_imported(tmp_path):
    for name in ("nothing.yaml", "data.csv"):
        (tmp_path / "data.csv").write_text("a")
        with pytest.raises(BadCatalog, match=r"ends in \.yaml"):
            import_catalog(tmp_path / name)
