"""A real Chroma server in a process of its own, that can be stopped, frozen, killed and started again."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import httpx

from tests.fakes.server_process import ServerProcess, free_port


class ChromaProcess(ServerProcess):
    """``chroma run`` on a folder and a port that stay the same over restarts."""

    def __init__(self, folder, log=None):
        self.folder = folder
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(folder)]
        address = ["--host", "127.0.0.1", "--port", str(port)]
        environment = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
        super().__init__("Chroma", [*command, *address], self._answers, log, env=environment)

    def lose_everything(self):
        """Only while it is not running."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self):
        try:
            return httpx.get(f"{self.url}/api/v2/heartbeat", timeout=1).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False
