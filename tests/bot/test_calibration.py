"""The corpus calibrates the gate by itself, within bounds, and only where that is due."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.answering.gate import DEFAULT_SUPPORT
from bot.app import App
from bot.calibration import UNLABELLED_RANGE, asking_of, keep_calibrated, record_of, unlabelled
from bot.settings import Settings
from store.sources import IngestRequest

NOW = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
THINGS = (  # noqa: SIM905
    "printer scanner gateway invoice voucher calendar keyboard warehouse elevator projector thermostat turbine "
    "antenna bicycle compressor dispenser escalator forklift generator hydrant incinerator jukebox kiosk lantern "
    "microscope nebuliser oscilloscope pipette quadcopter radiator sprinkler telescope ultracentrifuge ventilator "
    "workbench xylophone yardstick zeppelin anemometer barometer centrifuge dynamometer"
).split()


def write(folder, things):
    folder.mkdir(exist_ok=True)
    for number, thing in enumerate(things):
        (folder / f"{thing}.md").write_text(
            f"# The {thing} manual\n\n## Restart\n\nTo restart the {thing} of hall {number}, hold the "
            f"{THINGS[number % 40]}-side lever for {number + 3} seconds. Colleagues from the {thing} desk can help.\n"
        )


@pytest.fixture
def app(tmp_path, model_cache, monkeypatch):
    monkeypatch.setenv("GAPLIGHT_EMBEDDING__CACHE", str(model_cache))
    write(tmp_path / "docs", THINGS)
    made = App(Settings(data=tmp_path / "data"))
    made.ingestor.run(IngestRequest(paths=(tmp_path / "docs",)))
    yield made
    made.close()


def again(app):
    """The same data folder as another process would see it."""
    fresh = App(app.settings)
    fresh.__dict__.update(index=app.index, database=app.database)
    return fresh


def test_questions_of_the_corpus_are_told_from_those_whose_document_is_hidden(app):
    found = unlabelled(asking_of(app))
    assert found.method == "unlabelled"
    assert found.covered.n == found.gaps.n >= 20
    assert found.auroc > 0.9
    assert UNLABELLED_RANGE[0] <= found.threshold <= UNLABELLED_RANGE[1]
    assert found == unlabelled(asking_of(app))


def test_it_happens_once_and_the_gate_uses_it(app):
    assert app.threshold == DEFAULT_SUPPORT
    before = app.policy.version
    kept = keep_calibrated(app, NOW)
    assert kept.applied
    fresh = again(app)
    assert fresh.policy.threshold == kept.threshold
    assert (fresh.policy.version == before) is (kept.threshold == DEFAULT_SUPPORT)
    assert keep_calibrated(fresh, NOW) is None


def test_a_setting_wins_and_stops_it(app):
    fixed = App(Settings(data=app.settings.data, gate={"support": 0.3}))
    fixed.__dict__.update(index=app.index, database=app.database)
    assert keep_calibrated(fixed, NOW) is None
    assert fixed.threshold == 0.3


def test_labels_are_not_overruled_by_the_corpus(app):
    found = unlabelled(asking_of(app))
    record = record_of(app, found, NOW, applied=True)
    app.calibrations.add(type(record)(NOW, 0.4, "labelled", record.space, record.chunks, {}, applied=True))
    assert keep_calibrated(again(app), NOW) is None
    assert again(app).threshold == 0.4


def test_it_happens_again_when_the_corpus_has_changed_much(app, tmp_path):
    keep_calibrated(app, NOW)
    write(tmp_path / "more", [f"{thing}-{place}" for place in "ab" for thing in THINGS[:30]])
    app.ingestor.run(IngestRequest(paths=(tmp_path / "more",)))
    assert keep_calibrated(again(app), NOW) is not None
    assert len(app.calibrations.all()) == 2


def test_sampling_stops_when_the_time_is_up(app):
    asking = asking_of(app)
    ticks = iter(range(1000))
    hasty = type(asking)(asking.index, asking.corpus, asking.options, clock=lambda: float(next(ticks)))
    assert unlabelled(hasty, seconds=5).covered.n < 10


def test_a_handful_of_pages_is_left_to_the_built_in_threshold(tmp_path, model_cache, monkeypatch):
    monkeypatch.setenv("GAPLIGHT_EMBEDDING__CACHE", str(model_cache))
    write(tmp_path / "docs", THINGS[:5])
    small = App(Settings(data=tmp_path / "data"))
    small.ingestor.run(IngestRequest(paths=(tmp_path / "docs",)))
    assert keep_calibrated(small, NOW) is None
    assert small.threshold == DEFAULT_SUPPORT
    small.close()
