"""The scripts in examples/ that draw pictures run as they stand."""

import runpy
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
DRAWING = ["auction", "learning", "liars", "rumours", "traffic"]


@pytest.mark.parametrize("name", DRAWING)
def test_a_script_runs_and_draws(name, tmp_path, monkeypatch, capsys):
    script = EXAMPLES / f"{name}.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()
    pictures = list(tmp_path.glob("*.svg"))
    assert pictures
    for picture in pictures:
        assert ElementTree.parse(picture).getroot().tag.endswith("svg")
        assert "nan" not in picture.read_text()
