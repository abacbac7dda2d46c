"""What is missing or wrong in ``[llm]`` is named before anything is asked."""

from __future__ import annotations

import pytest

from bot.app import App
from bot.settings import load_settings
from store.errors import ConfigurationError


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ("[answer]\nmode = 'generative'\n", "answer.mode 'generative' needs llm.base_url"),
        ("[llm]\ngrading = true\nbase_url = 'http://127.0.0.1:9/v1'\n", "llm.grading needs llm.model"),
    ],
)
def test_half_a_configuration_says_what_is_missing(tmp_path, section, problem):
    (tmp_path / "gaplight.toml").write_text(section)
    app = App(load_settings(tmp_path / "gaplight.toml", tmp_path / "data"))
    with pytest.raises(ConfigurationError, match=problem):
        _ = app.llm


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("base_url = '127.0.0.1:11434'", "llm.base_url"),
        ("base_url = 'ftp://x.example/v1'", "an address such as"),
        ("base_url = 'https://user:key@x.example/v1'", "put it into LLM_API_KEY"),
        ("api_key = 'sk-1'", "no setting 'llm.api_key'"),
        ("context_tokens = 1024\nanswer_tokens = 900", "leave less than 512"),
        ("breaker_failures = 0", "llm.breaker_failures is 0"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path, line, problem):
    (tmp_path / "gaplight.toml").write_text(f"[llm]\n{line}\n")
    with pytest.raises(ConfigurationError, match=problem):
        load_settings(tmp_path / "gaplight.toml")
