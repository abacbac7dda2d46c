"""A server in a process of its own, that can be stopped, frozen, killed and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

_PAUSE = 0.05


class ServerProcess:
    """A command that serves until it is killed.

    Args:
        name: for errors and logs.
        command: what starts it; it must not leave the foreground.
        ready: whether it answers.
        log: file that gets its output; None drops it.
        options: as of :class:`subprocess.Popen`.
    """

    def __init__(self, name, command, ready, log=None, **options):
        self.name = name
        self._command = command
        self._ready = ready
        self._log = log
        self._options = options
        self._process = None

    def start(self, seconds=120):
        """Start it and wait until it answers."""
        with Path(self._log or os.devnull).open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, start_new_session=True, **self._options
            )
        until = time.monotonic() + seconds
        while not self._ready():
            if self._process.poll() is not None:
                raise RuntimeError(f"{self.name} ended with {self._process.returncode}, see {self._log}")
            if time.monotonic() > until:
                raise RuntimeError(f"{self.name} did not answer within {seconds} s, see {self._log}")
            time.sleep(_PAUSE)
        return self

    def freeze(self):
        self._signal(signal.SIGSTOP)

    def thaw(self):
        self._signal(signal.SIGCONT)

    def kill(self):
        """``kill -9`` it with its children, if it runs."""
        if self._process is not None and self._process.poll() is None:
            self._signal(signal.SIGKILL)
            self._process.wait()

    close = kill

    def _signal(self, number):
        os.killpg(self._process.pid, number)


def free_port():
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    """Whether somebody takes connections there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
