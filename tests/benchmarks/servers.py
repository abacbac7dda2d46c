"""Servers of one's own that may be killed: a PostgreSQL cluster and a Chroma server in a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import psycopg

from tests.fakes.chroma_server import ChromaProcess
from tests.fakes.server_process import ServerProcess, free_port


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
    server = ServerProcess("PostgreSQL", command, lambda: _takes_questions(port), folder / "postgresql.log")
    return server, f"postgresql+psycopg://postgres@127.0.0.1:{port}/postgres"


def _takes_questions(port):
    try:
        psycopg.connect(host="127.0.0.1", port=port, user="postgres", connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def chroma(folder):
    """A Chroma server of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    return ChromaProcess(folder / "chroma", folder / "chroma.log")
