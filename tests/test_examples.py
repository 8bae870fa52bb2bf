"""Every script in examples/ runs as it stands and draws its picture."""

import runpy
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

SCRIPTS = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_runs_and_draws(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()
    pictures = list(tmp_path.glob("*.svg"))
    assert pictures
    for picture in pictures:
        assert ElementTree.parse(picture).getroot().tag.endswith("svg")
        assert "nan" not in picture.read_text()
