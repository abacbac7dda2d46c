"""The doctor looks at the places where documents for gaps are looked for."""

from __future__ import annotations

import pytest

from bot.app import App
from bot.checks import Verdict, _sources
from bot.settings import Settings
from store.errors import ConfigurationError
from tests.fakes.github import TOKEN, FakeGithub


@pytest.fixture
def look(tmp_path, monkeypatch):
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)

    def looked(token="", **settings):
        if token:
            monkeypatch.setenv("GITHUB_TOKEN", token)
        app = App(Settings(data=tmp_path, **settings))
        try:
            return list(_sources(app))
        finally:
            app.close()

    return looked


@pytest.fixture
def github():
    server = FakeGithub()
    yield server
    server.close()


def test_nothing_is_said_where_nothing_is_set_up(look):
    assert look() == []


def test_a_folder_that_is_not_there_is_named(look, tmp_path):
    (found,) = look(discovery={"folders": [tmp_path, tmp_path / "gone"]})
    assert (found.verdict, str(tmp_path / "gone") in found.text) == (Verdict.WARNING, True)
    assert look(discovery={"folders": [tmp_path]})[0].verdict is Verdict.OK


def test_github_with_a_token_is_well(look, github):
    (found,) = look(TOKEN, discovery={"finders": ["github"]}, github={"api_url": github.url})
    assert (found.verdict, "GitHub answers" in found.text) == (Verdict.OK, True)


def test_github_without_a_token_is_a_warning(look, github):
    (found,) = look(discovery={"finders": ["github"]}, github={"api_url": github.url})
    assert (found.verdict, "GITHUB_TOKEN" in found.text) == (Verdict.WARNING, True)


def test_a_wrong_token_fails(look, github):
    with pytest.raises(ConfigurationError, match="GITHUB_TOKEN"):
        look("wrong", discovery={"finders": ["github"]}, github={"api_url": github.url})
