"""A scripted language model and clients of it."""

from __future__ import annotations

import pytest

from bot.answering.llm_client import LlmClient
from bot.answering.llm_http import Endpoint
from tests.fakes.llm import LlmServer


@pytest.fixture
def server():
    server = LlmServer()
    yield server
    server.close()


@pytest.fixture
def client_of(server):
    """Makes clients of the scripted server; values replace those of the endpoint."""
    clients = []

    def made(breaker=None, pause=None, **endpoint):
        values = {"base_url": server.base_url, "model": "small", "retries": 0, "total_seconds": 10.0} | endpoint
        client = LlmClient(Endpoint(**values), breaker, pause or (lambda _seconds: None))
        clients.append(client)
        return client

    yield made
    for client in clients:
        client.close()
