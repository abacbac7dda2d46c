"""Settings: a file, overridden by the environment; a typing error never passes in silence; secrets stay secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings import load_settings
from store.errors import ConfigurationError


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A folder without settings and an environment without any of ours."""
    import os

    for name in list(os.environ):
        if name.startswith("GAPLIGHT_") or name in {"DATABASE_URL", "XDG_CACHE_HOME"}:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text, name="gaplight.toml"):
    Path(name).write_text(text, encoding="utf-8")
    return Path(name)


def test_without_a_file_the_defaults_hold(elsewhere):
    settings = load_settings()
    assert (settings.gate.mode, settings.answer.passages, settings.gaps.repeat_minutes) == ("enforce", 10, 10)
    assert settings.database_url == f"sqlite:///{elsewhere / '.gaplight' / 'gaplight.db'}"


def test_the_environment_wins_over_the_file_key_by_key(monkeypatch):
    write('[gate]\nmode = "shadow"\nsupport = 0.4\n\n[answer]\npassages = 5\n')
    monkeypatch.setenv("GAPLIGHT_GATE__MODE", "off")
    settings = load_settings()
    assert (settings.gate.mode, settings.gate.support, settings.answer.passages) == ("off", 0.4, 5)


def test_the_command_line_wins_over_file_and_environment_for_the_data_folder(monkeypatch):
    write('data = "from-file"\n')
    assert load_settings().data == Path("from-file")
    assert load_settings(data=Path("given")).data == Path("given")
    monkeypatch.setenv("GAPLIGHT_DATA", "from-environment")
    assert load_settings().data == Path("from-environment")
    assert load_settings(data=Path("given")).data == Path("given")


def test_channels_have_their_own_names():
    write('[channels.ops]\ncollections = ["runbooks"]\n\n[channels.ops.scope]\nversion = "2"\nos = ["linux", "mac"]\n')
    channel = load_settings().channels["ops"]
    assert (channel.collections, channel.scope) == (("runbooks",), {"version": "2", "os": ("linux", "mac")})


@pytest.mark.parametrize(
    ("content", "problem", "step"),
    [
        ("[gate]\nmodus = 'off'\n", "gate.modus", "Did you mean 'mode'?"),
        ("[gaet]\nmode = 'off'\n", "'gaet'", "Did you mean 'gate'?"),
        ("[gate]\nzzzz = 1\n", "gate.zzzz", "docs/configuration.md"),
        ("[gate]\nmode = 'loose'\n", "gate.mode is 'loose'", "gaplight.toml"),
        ("[gate]\nsupport = 1.5\n", "gate.support is 1.5", "gaplight.toml"),
        ("[gate]\nsupport = nan\n", "gate.support is nan", "gaplight.toml"),
        ("[answer]\npassages = 0\n", "answer.passages is 0", "gaplight.toml"),
        ("[channels.ops]\ncollection = 'x'\n", "channels.ops.collection", ""),
        ("gate = 5\n", "gate is 5", "gaplight.toml"),
        ("[gate\n", "not valid TOML", "line"),
        ("a = '\udcff'\n", "not valid TOML", ""),
    ],
)
def test_what_is_wrong_is_named_with_its_value_and_the_way_out(content, problem, step):
    Path("gaplight.toml").write_text(content, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ConfigurationError) as wrong:
        load_settings()
    assert problem in wrong.value.problem
    assert step in wrong.value.next_step


def test_an_unknown_variable_is_refused_like_an_unknown_key(monkeypatch):
    monkeypatch.setenv("GAPLIGHT_GATE__MODUS", "off")
    with pytest.raises(ConfigurationError, match="Did you mean 'mode'"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GAPLIGHT_ADMINS__SLACK", "U1,U2"),
        ("GAPLIGHT_DOCUMENTS__PATHS", "/srv/wiki"),
        ("GAPLIGHT_CHANNELS", "{bad"),
        ("GAPLIGHT_GATE", "off"),
    ],
)
def test_a_list_or_table_that_is_no_json_is_named_by_its_variable(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=f"The value of {name} is not JSON") as wrong:
        load_settings()
    assert '["U1", "U2"]' in wrong.value.next_step
    assert value not in wrong.value.problem


@pytest.mark.parametrize("name", ["DATABASE_URL", "SLACK_BOT_TOKEN", "LLM_API_KEY_FILE"])
def test_a_secret_with_the_prefix_of_settings_is_called_by_its_name(monkeypatch, name):
    monkeypatch.setenv(f"GAPLIGHT_{name}", "hunter2")
    with pytest.raises(ConfigurationError, match=f"it is {name}") as wrong:
        load_settings()
    assert "hunter2" not in str(wrong.value)


@pytest.mark.parametrize("content", ['[slack]\nbot_token = "hunter2"\n', 'SLACK_BOT_TOKEN = "hunter2"\n'])
def test_a_secret_in_the_file_is_sent_to_the_environment(content):
    write(content)
    with pytest.raises(ConfigurationError, match="environment as SLACK_BOT_TOKEN") as wrong:
        load_settings()
    assert "hunter2" not in str(wrong.value)


def test_a_file_that_an_editor_began_with_a_byte_order_mark_is_read():
    Path("gaplight.toml").write_bytes(b'\xef\xbb\xbf[gate]\nmode = "off"\n')
    assert load_settings().gate.mode == "off"


def test_words_of_the_library_that_checks_values_are_left_out():
    write('[vectors]\nurl = "127.0.0.1:8000"\n')
    with pytest.raises(ConfigurationError, match="such as http://127") as wrong:
        load_settings()
    assert "Value error" not in str(wrong.value)


def test_a_file_that_was_asked_for_must_exist(elsewhere):
    with pytest.raises(ConfigurationError, match=r"missing\.toml does not exist"):
        load_settings(Path("missing.toml"))
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_settings(elsewhere)


def test_the_database_secret_comes_from_the_environment_and_shows_nowhere(monkeypatch):
    """B086: own keys are never dumped."""
    write('[database]\nurl = "sqlite:///plain.db"\n')
    assert load_settings().database_url == "sqlite:///plain.db"
    monkeypatch.setenv("DATABASE_URL", "postgresql://bot:hunter2@db.example.com/gaps")
    settings = load_settings()
    assert settings.database_url == "postgresql://bot:hunter2@db.example.com/gaps"
    for shown in (repr(settings), str(settings), str(settings.model_dump()), settings.model_dump_json()):
        assert "hunter2" not in shown


def test_the_database_secret_is_refused_in_the_file():
    """B086: a file is committed and copied; and the refusal does not repeat the secret."""
    write('secret_database_url = "postgresql://bot:hunter2@db.example.com/gaps"\n')
    with pytest.raises(ConfigurationError, match="DATABASE_URL") as refused:
        load_settings()
    assert "hunter2" not in str(refused.value)


def test_models_are_kept_where_the_user_keeps_caches(monkeypatch, elsewhere):
    assert load_settings().model_cache == Path.home() / ".cache" / "gaplight" / "models"
    monkeypatch.setenv("XDG_CACHE_HOME", str(elsewhere / "cache"))
    assert load_settings().model_cache == elsewhere / "cache" / "gaplight" / "models"
    monkeypatch.setenv("GAPLIGHT_EMBEDDING__CACHE", "~/models")
    assert load_settings().model_cache == Path.home() / "models"


def test_settings_cannot_be_changed_once_read():
    settings = load_settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.gate.mode = "off"


def test_the_database_address_can_come_from_a_file(monkeypatch, tmp_path):
    (tmp_path / "url").write_text("postgresql://me:hunter2@db/gaplight\n")
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("DATABASE_URL_FILE", str(tmp_path / "url"))
    settings = load_settings()
    assert settings.database_url == "postgresql://me:hunter2@db/gaplight"
    assert "hunter2" not in repr(settings)
