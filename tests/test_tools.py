"""The scripts of `tools/`: which tests belong to a change, and coverage summed by package."""

from tools.changed_tests import selected
from tools.coverage_by_package import by_package


def test_a_changed_package_selects_its_tests_and_those_of_the_whole_project():
    chosen = selected(["src/discreet/sql/some_module.py"])
    assert "tests/sql" in chosen
    assert "tests/test_errors.py" in chosen
    assert "tests/ledger" not in chosen


def test_a_changed_test_selects_itself_and_a_changed_helper_its_folder():
    assert selected(["tests/sql/test_no_longer_there.py", "tests/test_errors.py"]) == ["tests/test_errors.py"]
    assert selected(["tests/sql/cases.py"]) == ["tests/sql"]


def test_changed_documentation_selects_the_tests_of_the_documentation():
    assert {"tests/test_docs.py", "tests/test_tutorials.py"} <= set(selected(["docs/reference/errors.md"]))
    assert selected(["pyproject.toml"]) == []


def test_statements_are_summed_by_package():
    def file(statements, executed):
        return {"summary": {"num_statements": statements, "covered_lines": executed}}

    report = {
        "files": {
            "src/discreet/sql/a.py": file(10, 5),
            "src/discreet/sql/functions/b.py": file(30, 30),
            "src/discreet/errors.py": file(4, 4),
        }
    }
    assert by_package(report) == {"(root)": (4, 4), "sql": (40, 35)}
