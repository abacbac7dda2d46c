"""The policy's version is the same for the same settings in every process, and another one for other settings."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bot.app import App
from bot.settings import Settings
from tests.fakes.embedder import HashEmbedder

_PRINT_VERSION = """
from bot.app import App
from bot.settings import Settings
from tests.fakes.embedder import HashEmbedder

app = App(Settings(rules={"disabled": ["few_distinct_lessons", "missing_platform"]}))
app.index.embedder = HashEmbedder()
print(app.policy.version)
"""


def version(embedder=None, **settings):
    app = App(Settings(**settings))
    app.index.embedder = embedder or HashEmbedder()
    return app.policy.version


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("GAPLIGHT_DATA", str(tmp_path))


def test_the_version_is_the_same_in_every_process(pytestconfig, tmp_path):
    def printed(seed):
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": str(pytestconfig.rootpath), "GAPLIGHT_DATA": str(tmp_path)}
        command = [sys.executable, "-c", _PRINT_VERSION]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    here = version(rules={"disabled": ["few_distinct_lessons", "missing_platform"]})
    assert printed("1") == printed("2") == here
    assert len(here) == 10


@pytest.mark.parametrize(
    "settings",
    [
        {"gate": {"support": 0.51}},
        {"gate": {"mode": "shadow"}},
        {"rules": {"relevant_score": 0.31}},
        {"rules": {"disabled": ["missing_platform"]}},
        {"gaps": {"merge_similarity": 0.91}},
        {"answer": {"passages": 9}},
        {"privacy": {"redact": False}},
        {"embedder": HashEmbedder(revision="2")},
    ],
)
def test_whatever_treats_a_question_differently_has_another_version(settings):
    assert version(**settings) != version()


@pytest.mark.parametrize("settings", [{"vectors": {"url": "http://x.example"}}, {"documents": {"collection": "hr"}}])
def test_what_does_not_touch_a_question_keeps_the_version(settings):
    assert version(**settings) == version()


def test_the_thresholds_of_the_settings_reach_the_policy():
    app = App(
        Settings(gate={"support": 0.7, "mode": "off"}, rules={"relevant_score": 0.2, "disabled": ["missing_platform"]})
    )
    app.index.embedder = HashEmbedder()
    policy = app.policy
    assert (policy.threshold, policy.mode, policy.rules.relevant_score) == (0.7, "off", 0.2)
    assert policy.disabled == {"missing_platform"}
