"""A cell of SQL in a real IPython shell."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from discreet.errors import BadInput
from discreet.samples import write_clinic
from tests.opening import open_curator


def test_a_cell_is_asked_and_its_answer_kept(tmp_path):
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "discreet")
    with open_curator(write_clinic(tmp_path, patients=100, visits=500)) as curator:
        shell.user_ns["clinic"] = curator
        shown = shell.run_cell_magic(
            "discreet", "clinic --epsilon 0.5 --into kept", "SELECT COUNT(*) AS n FROM visits\n"
        )
        assert shell.user_ns["kept"] is shown
        assert '<th colspan="3">n</th>' in shown._repr_html_()
        for line in ("nobody --epsilon 1", "clinic --epsilon much", ""):
            with pytest.raises(BadInput):
                shell.run_cell_magic("discreet", line, "SELECT COUNT(*) FROM visits")
    InteractiveShell.clear_instance()
