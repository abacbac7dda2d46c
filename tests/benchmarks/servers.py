"""Servers of one's own that may be killed: a PostgreSQL cluster and a Chroma server in a temporary folder."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psycopg


class Server:
    """A process that can be killed and started again.

    Args:
        name: for the log.
        command: what starts it; it must not leave the foreground.
        ready: whether it answers.
        log: where its output goes.
    """

    def __init__(self, name, command, ready, log, **options):
        self.name = name
        self._command = command
        self._ready = ready
        self._log = log
        self._options = options
        self.process = None

    def start(self, seconds=120):
        """Start it and wait until it answers."""
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command, stdout=log, stderr=log, start_new_session=True, **self._options
            )
        until = time.monotonic() + seconds
        while not self._ready():
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} ended with {self.process.returncode}, see {self._log}")
            if time.monotonic() > until:
                raise RuntimeError(f"{self.name} did not answer within {seconds} s, see {self._log}")
            time.sleep(0.2)

    def kill(self):
        """``kill -9`` it with its children."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


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


def postgresql(folder):
    """A cluster of its own: (server, database URL).

    Raises:
        FileNotFoundError: PostgreSQL is not installed here.
    """
    installed = max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)
    binaries = installed or Path(shutil.which("postgres") or "postgres").parent
    # The server refuses to run as root.
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    data, port = folder / "cluster", free_port()
    data.mkdir(parents=True)
    if user:
        shutil.chown(data, "postgres", "postgres")
        for parent in data.parents:
            if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o011)
    initialise = [*user, str(binaries / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust"]
    subprocess.run(initialise, check=True, capture_output=True)
    command = [
        *user,
        str(binaries / "postgres"),
        "-D",
        str(data),
        "-p",
        str(port),
        "-c",
        f"unix_socket_directories={data}",
    ]
    server = Server("PostgreSQL", command, lambda: _takes_questions(port), folder / "postgresql.log")
    return server, f"postgresql+psycopg://postgres@127.0.0.1:{port}/postgres"


def _takes_questions(port):
    try:
        psycopg.connect(host="127.0.0.1", port=port, user="postgres", connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def chroma(folder):
    """A Chroma server of its own: (server, URL)."""
    port = free_port()
    binary = Path(sys.executable).with_name("chroma")
    command = [str(binary), "run", "--path", str(folder / "chroma"), "--host", "127.0.0.1", "--port", str(port)]
    folder.mkdir(parents=True, exist_ok=True)
    return Server("Chroma", command, lambda: listens(port), folder / "chroma.log"), f"http://127.0.0.1:{port}"
