"""Secrets come from the environment or from files named there."""

from __future__ import annotations

import pytest

from bot.credentials import credential, needed, secret_values
from store.errors import ConfigurationError


def test_a_secret_comes_from_its_variable_without_the_white_space_that_was_pasted_with_it():
    assert credential("TOKEN", {"TOKEN": " abc\n"}) == "abc"
    assert credential("TOKEN", {}) == ""


def test_a_secret_comes_from_the_file_that_is_named(tmp_path):
    (tmp_path / "token").write_text("abc\n")
    assert credential("TOKEN", {"TOKEN_FILE": str(tmp_path / "token")}) == "abc"


def test_two_secrets_for_one_name_are_refused():
    with pytest.raises(ConfigurationError, match="TOKEN_FILE are set"):
        credential("TOKEN", {"TOKEN": "a", "TOKEN_FILE": "b"})


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="nowhere"):
        credential("TOKEN", {"TOKEN_FILE": str(tmp_path / "nowhere")})


def test_a_secret_that_is_needed_and_not_there_says_what_for(monkeypatch):
    monkeypatch.delenv("TOKEN", raising=False)
    with pytest.raises(ConfigurationError, match="To send letters"):
        needed("TOKEN", "To send letters.")


def test_the_values_that_may_never_be_shown_include_the_passwords_in_addresses(tmp_path):
    (tmp_path / "token").write_text("xoxb-1\n")
    environment = {
        "SLACK_BOT_TOKEN_FILE": str(tmp_path / "token"),
        "DATABASE_URL": "postgresql://me:p%40ss@db/gaplight",
    }
    assert secret_values(environment) == {"xoxb-1", environment["DATABASE_URL"], "p%40ss", "p@ss"}
