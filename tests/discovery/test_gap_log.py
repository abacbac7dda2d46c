"""Questions that mean the same join one gap with the reason kept; what differs in its platform stays apart."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Thread

import numpy as np
import pytest

from discovery.gap_log import Exposure, GapLog
from discovery.platforms import load_platforms
from store import tables
from store.gaps import GapStore
from store.records import GapState, Passage, Rule, Visibility

THEN = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
REASONS = (Rule.NO_RELEVANT_CHUNKS, Rule.WEAK_ANSWER_LANGUAGE)


def direction(angle):
    """A unit vector; the cosine of two of them is that of the difference of their angles (radians)."""
    vector = np.zeros(8, dtype=np.float32)
    vector[:2] = np.cos(angle), np.sin(angle)
    return vector


def exposure(question, angle=0.0, asker="slack:U1", at=THEN, passages=(), reasons=REASONS):
    return Exposure(question, asker, "slack", "C1", Visibility.PUBLIC, "en", passages, reasons, direction(angle), at)


@pytest.fixture
def gaps(database):
    return GapStore(database)


@pytest.fixture
def log(gaps):
    return GapLog(gaps, load_platforms)


def test_the_same_topic_in_other_words_is_one_gap(log, gaps):
    one = log.record(exposure("How do I reset the VPN?"))
    two = log.record(exposure("VPN reset", angle=1.5, asker="slack:U2"))
    assert one.id == two.id
    assert (gaps.get(one.id).count, gaps.get(one.id).askers) == (2, 2)


def test_nearly_the_same_meaning_merges_and_keeps_the_reason(log, gaps):
    one = log.record(exposure("How do I restore my tunnel access?"))
    two = log.record(exposure("What brings the tunnel back?", angle=0.3, asker="slack:U2"))
    assert two.id == one.id
    merged = next(w for w in gaps.get(one.id).additional_questions if w.merged_because)
    assert merged.text == "What brings the tunnel back?"
    assert merged.merged_because.startswith("similarity 0.96 is at or above 0.90")


def test_what_is_less_similar_than_the_threshold_is_a_gap_of_its_own(gaps):
    strict = GapLog(gaps, load_platforms, merge_similarity=0.97)
    one = strict.record(exposure("How do I restore my tunnel access?"))
    two = strict.record(exposure("What brings the tunnel back?", angle=0.3))
    assert one.id != two.id


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Install the agent on Windows", "Install the agent on Linux"),
        ("Upgrade to 4.1.1", "Upgrade to 4.1.2"),
        ("How do I enable SSO?", "How do I disable SSO?"),
        ("Why does the VPN connect?", "Why doesn't the VPN connect?"),
    ],
)
def test_what_differs_in_platform_version_or_sense_never_merges(log, one, other):
    """However near the vectors are: embeddings hardly see these differences."""
    assert log.record(exposure(one)).id != log.record(exposure(other)).id


def test_the_nearest_gap_that_agrees_is_joined_not_just_the_nearest(log):
    log.record(exposure("Install the agent on Windows", angle=0.0))
    linux = log.record(exposure("Install the agent on Linux", angle=0.1))
    joined = log.record(exposure("Agent set-up for Linux machines", angle=0.01))
    assert joined.id == linux.id


@pytest.mark.parametrize("settle", ["close", "ignore"])
@pytest.mark.parametrize("restarted", [True, False])
def test_nothing_merges_into_a_gap_that_was_settled(log, gaps, settle, restarted):
    """Whether that happened before this process started or a moment ago."""
    old = log.record(exposure("How do I restore my tunnel access?"))
    getattr(gaps, settle)(old.id)
    later = GapLog(gaps, load_platforms) if restarted else log
    new = later.record(exposure("What brings the tunnel back?", angle=0.1))
    assert new.id != old.id
    assert gaps.get(old.id).state in {GapState.CLOSED, GapState.IGNORED}


def test_gaps_of_another_embedding_model_are_left_alone(log, gaps):
    """After a change of model, vectors of two lengths are on record; asking goes on."""
    old = log.record(exposure("How do I restore my tunnel access?"))
    longer = replace(exposure("What brings the tunnel back?"), vector=np.ones(16, dtype=np.float32) / 4)
    new = GapLog(gaps, load_platforms).record(longer)
    assert new.id != old.id
    again = GapLog(gaps, load_platforms).record(replace(longer, question="What recovers tunnels?"))
    assert again.id == new.id


def test_the_same_topic_reopens_a_closed_gap(log, gaps):
    gap = log.record(exposure("How do I reset the VPN?"))
    gaps.close(gap.id)
    assert log.record(exposure("VPN reset", asker="slack:U2")).id == gap.id
    assert gaps.get(gap.id).state is GapState.REOPENED


def test_repeats_within_the_window_count_once(gaps):
    """B085."""
    log = GapLog(gaps, load_platforms, repeat_seconds=60)
    for seconds in (0, 10, 50, 200):
        gap = log.record(exposure("How do I reset the VPN?", at=THEN + timedelta(seconds=seconds)))
    assert (gaps.get(gap.id).count, gaps.get(gap.id).askers) == (2, 1)


def test_a_gap_remembers_the_nearest_passage_and_the_reasons(log, gaps):
    far = Passage("c1", "d1", "a.md", "A", "", "", "far away", 0.1, 1)
    near = Passage("c2", "d2", "b.md", "B", "Setup", "", "word " * 200, 0.25, 2)
    reference = log.record(exposure("How do I reset the VPN?", passages=(far, near)))
    gap = gaps.get(reference.id)
    assert (gap.nearest.document, gap.nearest.section) == ("b.md", "Setup")
    assert (gap.nearest.score, gap.best_score) == (pytest.approx(0.25), pytest.approx(0.25))
    assert len(gap.nearest.quote) <= 240
    assert gap.nearest.quote.endswith("word…")
    assert (reference.type, reference.reasons) == ("no_coverage", REASONS)
    assert gap.reasons == {"no_relevant_chunks": 1, "weak_answer_language": 1}


def test_a_gap_without_any_passage_has_no_nearest(log, gaps):
    gap = gaps.get(log.record(exposure("How do I reset the VPN?")).id)
    assert (gap.nearest, gap.best_score) == (None, 0.0)


def test_a_refusal_without_a_fired_rule_is_unanswered(log):
    assert log.record(exposure("How do I reset the VPN?", reasons=())).type == "unanswered"


def test_two_wordings_at_the_same_moment_find_each_other(log, gaps):
    wordings = ["How do I restore access?", "What brings the tunnel back?", "Tunnel repair", "Network recovery steps"]
    threads = [
        Thread(target=log.record, args=(exposure(wording, angle=place / 50, asker=f"slack:U{place}"),))
        for place, wording in enumerate(wordings)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (gap,) = gaps.list()
    assert (gap.askers, gap.count) == (4, 4)


def test_gaps_that_another_process_opens_or_deletes_are_seen_within_half_a_minute(gaps, database):
    now = [0.0]
    log = GapLog(gaps, load_platforms, clock=lambda: now[0])
    log.record(exposure("Something else entirely", angle=1.5))
    other = GapLog(gaps, load_platforms).record(exposure("How do I restore my tunnel access?"))
    now[0] = 31.0
    assert log.record(exposure("What brings the tunnel back?", angle=0.1)).id == other.id
    with database.begin() as connection:
        connection.execute(tables.gaps.delete().where(tables.gaps.c.id == other.id))
    now[0] = 62.0
    new = log.record(exposure("Which step repairs tunnels?", angle=0.1))
    assert new.id != other.id
    assert log.record(exposure("Who knows how tunnels are mended?", angle=0.12)).id == new.id
