"""A running bot takes over a changed gate and a new calibration; each question keeps one policy."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from bot.policy_watch import PolicyWatch
from bot.settings import Settings, load_settings
from bot.settings_file import SettingsFile
from store.errors import UnavailableError
from tests.fakes.clock import Seconds
from tests.fakes.installation import POLICY


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "gaplight.toml"
    path.write_text('[gate]\nmode = "enforce"\n')
    return path


def write(file, text, seen=[0]):  # noqa: B006 - counts over all calls
    file.write_text(text)
    seen[0] += 1
    os.utime(file, (seen[0], seen[0]))


def built(settings: Settings):
    support = settings.gate.support or 0.55
    return replace(POLICY, version=f"{settings.gate.mode}-{support}", mode=settings.gate.mode, threshold=support)


def test_a_changed_file_is_read_once_and_an_unusable_one_is_told_and_ignored(file, caplog):
    watched = SettingsFile(file, None)
    assert watched.changed() is None
    write(file, '[gate]\nmode = "shadow"\n')
    assert watched.changed().gate.mode == "shadow"
    assert watched.changed() is None
    write(file, '[gate]\nmode = "loud"\n')
    assert watched.changed() is None
    assert "gate.mode" in caplog.text


def test_the_gate_switches_within_seconds_and_other_sections_wait_for_a_restart(file):
    clock = Seconds(0)
    watch = PolicyWatch(load_settings(file), built, SettingsFile(file, None).changed, clock)
    assert watch.current().mode == "enforce"
    write(file, '[gate]\nmode = "shadow"\n[answer]\npassages = 3\n')
    clock.now = 1.9
    assert watch.current().mode == "enforce"
    clock.now = 2.1
    assert (watch.current().mode, watch.current().version) == ("shadow", "shadow-0.55")


def test_a_new_calibration_counts_without_a_restart():
    clock, calibrated = Seconds(0), [0.55]
    watch = PolicyWatch(
        Settings(),
        lambda _settings: replace(POLICY, version=f"{calibrated[0]}", threshold=calibrated[0]),
        clock=clock,
    )
    calibrated[0] = 0.6
    clock.now = 3
    assert watch.current().threshold == 0.6


def test_while_the_database_is_down_the_policy_stays(caplog):
    clock, up = Seconds(0), [True]

    def build(settings):
        if not up[0]:
            raise UnavailableError("The database does not answer.")
        return built(settings)

    watch = PolicyWatch(Settings(), build, clock=clock)
    up[0], clock.now = False, 3
    assert watch.current().mode == "enforce"
    assert "stays as it was" in caplog.text
