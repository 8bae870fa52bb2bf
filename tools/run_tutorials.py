"""Run the blocks of tutorials in order, and write what they print below them: `make tutorials`.

Blocks of `sh` and `python` run in one empty folder; Python blocks share their variables. A block of `text` holds the
output of the block before it. A command may fail only where this output says `refused`. A block that begins with
`discreet serve` runs in the background until the tutorial ends, on a free port.
"""

import contextlib
import io
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

TUTORIALS = Path(__file__).parent.parent / "docs" / "tutorials"
BLOCK = re.compile(r"```(sh|python|text)\n(.*?)```", re.DOTALL)
PORT = "8000"
"""In the pages."""
SECONDS = 120


def outputs(page, folder):
    """For each block of a page what it printed; for a block of `text`, what the block before it printed."""
    blocks, environment, variables, services = BLOCK.findall(page), _environment(folder), {}, []
    printed = ""
    try:
        for (language, text), (_, after) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
            if language == "python":
                with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(text, variables)
                printed = out.getvalue()
            elif text.startswith("discreet serve"):
                services.append(_started(text, folder, environment))
            elif language == "sh":
                printed = _printed(text, folder, environment, may_fail="refused" in after)
            yield _tidy(printed)
    finally:
        for service in services:
            service.terminate()
            service.wait(30)


def with_outputs(page):
    """The page with the content of every `text` block made anew."""
    with tempfile.TemporaryDirectory() as folder:
        printed = outputs(page, Path(folder))
        return BLOCK.sub(lambda block: _shown(block, next(printed)), page)


def _shown(block, printed):
    return f"```text\n{printed}```" if block[1] == "text" else block[0]


def _tidy(text):
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"


def _environment(folder):
    """`discreet` as this Python has it, in an 80-column terminal, with a home of its own."""
    programs = folder / ".bin"
    programs.mkdir()
    (programs / "discreet").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m discreet "$@"\n')
    (programs / "discreet").chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "COLUMNS": "80", "HOME": str(folder), "XDG_DATA_HOME": str(folder)}


def _printed(commands, folder, environment, *, may_fail):
    done = subprocess.run(
        ["/bin/sh", "-euc", commands], cwd=folder, env=environment, text=True, timeout=SECONDS, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0 or may_fail, f"{commands}\n{done.stdout}"
    return done.stdout


def _started(command, folder, environment):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    assert PORT in command
    service = subprocess.Popen(
        ["/bin/sh", "-c", f"exec {command.replace(PORT, port)}"], cwd=folder, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    for _ in range(10 * SECONDS):
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
            return service
        assert service.poll() is None, f"{command} ended"
        time.sleep(0.1)
    message = f"{command} does not answer"
    raise AssertionError(message)


def main():
    """Run the pages that are named, or all."""
    for name in sys.argv[1:] or sorted(TUTORIALS.glob("*.md")):
        page = Path(name)
        page.write_text(with_outputs(page.read_text()))


if __name__ == "__main__":
    main()
