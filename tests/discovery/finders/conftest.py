"""A GitHub on 127.0.0.1."""

import pytest

from tests.fakes.github import FakeGithub


@pytest.fixture
def github():
    server = FakeGithub()
    yield server
    server.close()
