"""`discreet` as somebody types it: in this process, which is quick, or in one of its own, which is the real thing.

Both go through `main`, with what it writes and the code it ends with.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from unittest import mock

from discreet.__main__ import main
from discreet.cli.app import command

COLUMNS = "120"


def run(*arguments, code=0, cwd=None):
    """What a command writes, in this process; it must end with `code`."""
    written = io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["discreet", *map(str, arguments)]),
        mock.patch.dict(os.environ, COLUMNS=COLUMNS),
        contextlib.chdir(cwd or os.getcwd()),
        contextlib.redirect_stdout(written),
        contextlib.redirect_stderr(written),
    ):
        try:
            main()
            ended = 0
        except SystemExit as leaving:
            ended = leaving.code or 0
    assert ended == code, written.getvalue()
    return written.getvalue()


def call(*arguments):
    """What a command writes, in this process; its errors are raised as they are."""
    written = io.StringIO()
    with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written):
        ended = command()(list(map(str, arguments)), prog_name="discreet", standalone_mode=False)
    assert not ended, written.getvalue()
    return written.getvalue()


def run_apart(*arguments, code=0, cwd=None):
    """What a command writes, in a process of its own with hardly any environment."""
    done = subprocess.run(
        [sys.executable, "-m", "discreet", *map(str, arguments)],
        capture_output=True, text=True, check=False, cwd=cwd, timeout=600,
        env={"COLUMNS": COLUMNS, "PATH": "", "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
