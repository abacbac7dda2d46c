"""A real Chroma server in a process of its own, that can be stopped, frozen, killed and started again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

_START_SECONDS = 60


class ChromaProcess:
    """``chroma run`` on a folder and a port that stay the same over restarts."""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._process = None

    def start(self):
        command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(self.folder)]
        self._process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "ANONYMIZED_TELEMETRY": "False"},
            start_new_session=True,
        )
        ends = time.monotonic() + _START_SECONDS
        while time.monotonic() < ends:
            try:
                if httpx.get(f"{self.url}/api/v2/heartbeat", timeout=1).status_code == 200:
                    return self
            except httpx.TransportError:
                time.sleep(0.05)
        raise TimeoutError("chroma run did not start")

    def freeze(self):
        self._signal(signal.SIGSTOP)

    def thaw(self):
        self._signal(signal.SIGCONT)

    def kill(self):
        self._signal(signal.SIGKILL)
        self._process.wait()

    def lose_everything(self):
        """Only while it is not running."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def close(self):
        if self._process and self._process.poll() is None:
            self.kill()

    def _signal(self, number):
        os.killpg(self._process.pid, number)
