"""`discreet` on a terminal, as a person sees it: it asks, and prints what it prints to nobody else."""

import os
import pty
import re
import select
import subprocess
import sys
import time


class Terminal:
    """A command on a terminal of its own, talked to as a person would."""

    def __init__(self, folder, *arguments):
        self._mine, theirs = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "discreet", *arguments],
            cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True,
        )  # fmt: skip
        os.close(theirs)
        self.told = ""

    def answer(self, query, text):
        """Wait for a question and answer it."""
        self.wait_for(re.escape(query))
        os.write(self._mine, f"{text}\n".encode())

    def end(self):
        self.wait_for(None)
        os.close(self._mine)
        return self._process.wait(timeout=30)

    def stop(self):
        """End a command that would go on."""
        self._process.terminate()
        self.end()

    def wait_for(self, pattern):
        """What is written from now on, until it has `pattern`; None for the end."""
        start, until = len(self.told), time.monotonic() + 60
        while pattern is None or not re.search(pattern, self.told[start:]):
            assert time.monotonic() < until, self.told
            if select.select([self._mine], [], [], 1)[0]:
                try:
                    read = os.read(self._mine, 4096)
                except OSError:  # the other end is closed
                    read = b""
                if not read:
                    assert pattern is None, self.told
                    break
                self.told += read.decode(errors="replace")
        return self.told[start:]
