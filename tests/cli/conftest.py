"""The command line in the process of the tests."""

import sys

import pytest

from discreet.__main__ import main


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """The command in this process, in a folder of its own; what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["discreet", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert (ended.value.code or 0) == code, told.err
        return told.out + told.err

    return call
