"""A cell of SQL in a real IPython shell, of a curator at hand and of one behind a server; and the notebook of the examples, run whole on both."""

import json
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

import discreet
from discreet.errors import BadInput
from tests.support.opening import open_curator

NOTEBOOK = Path(__file__).parents[2] / "examples" / "clinic.ipynb"


@pytest.fixture
def shell():
    made = InteractiveShell.instance()
    made.run_line_magic("load_ext", "discreet")
    yield made
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("face", ["near", "far"])
def test_a_cell_is_asked_and_its_answer_kept(face, shell, server):
    with open_curator(server.config) if face == "near" else discreet.connect(server.url, key=server.alice) as curator:
        shell.user_ns["clinic"] = curator
        shown = shell.run_cell_magic(
            "discreet", "clinic --epsilon 0.1 --into kept", "SELECT COUNT(*) AS n FROM visits\n"
        )
        assert shell.user_ns["kept"] is shown
        assert '<th colspan="3">n</th>' in shown._repr_html_()
        for line in ("nobody --epsilon 1", "clinic --epsilon much", ""):
            with pytest.raises(BadInput):
                shell.run_cell_magic("discreet", line, "SELECT COUNT(*) FROM visits")


def test_the_cells_own_help_names_every_option(shell):
    said = shell.find_cell_magic("discreet").__doc__
    assert not [
        option for option in ("--epsilon", "--within", "--confidence", "--delta", "--into") if option not in said
    ]


@pytest.mark.parametrize("face", ["near", "far"])
def test_the_notebook_of_the_examples_runs_from_top_to_bottom(face, shell, server, monkeypatch, capsys):
    monkeypatch.delenv("DISCREET_URL", raising=False)
    if face == "far":
        monkeypatch.setenv("DISCREET_URL", server.url)
        monkeypatch.setenv("DISCREET_KEY", server.alice)
    notebook = json.loads(NOTEBOOK.read_text())
    assert not any(cell.get("outputs") for cell in notebook["cells"])
    results = [shell.run_cell("".join(cell["source"])) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(result.success for result in results)
    assert [result.result for result in results if isinstance(result.result, tuple)] == [(True, True)]
    assert "paid ε 0.4" in capsys.readouterr().out
    shell.user_ns["clinic"].close()
