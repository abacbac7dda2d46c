"""What a digest says of a round."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from discovery import digest_words as words
from discovery.digest import DigestInputs, DigestOptions, first_moment, make_digest
from store.gap_activity import Activity
from store.records import Candidate, Nearest, Preview, Source, Topic, Trend, Visibility
from store.rounds import Round
from tests.fakes.gaps import NOW, gap, wording

PRIVATE = Visibility.PRIVATE
WEEK_AGO = NOW - timedelta(days=7)
RESET = gap("How do I reset the VPN?", additional_questions=(wording("VPN reset"), wording("my secret VPN", PRIVATE)))
TOKEN = gap("Where do I get a VPN token?", reasons={"few_distinct_lessons": 2}, nearest=Nearest("vpn.md", "Token", "Ask IT.", 0.4))  # fmt: skip
MAIL = gap("Which mailbox quota do we have?", first_seen=NOW - timedelta(days=30))
SECRET = gap("Who gets fired in May?", visibility=PRIVATE, nearest=Nearest("board.md", "", "Layoffs in May", 0.9))


def topic(name, *gaps, **values):
    public = [one for one in gaps if one.visibility is Visibility.PUBLIC]
    defaults = {
        "label": f"{name} label",
        "question": public[0].question if public else "",
        "gap_ids": tuple(one.id for one in gaps),
        "askers": len(gaps),
        "count": sum(one.count for one in gaps),
        "private_gaps": len(gaps) - len(public),
    }
    return Topic(name, **defaults | values)


VPN_TOPIC, MAIL_TOPIC = topic("vpn", RESET, TOKEN, SECRET), topic("mail", MAIL, trend=Trend.STEADY)


def inputs(*topics, gaps=(RESET, TOKEN, MAIL, SECRET), since=WEEK_AGO, **values):
    made = Round(NOW, NOW + timedelta(minutes=5), topics or (VPN_TOPIC, MAIL_TOPIC), since, number=3)
    return DigestInputs(made, {one.id: one for one in gaps}, values.pop("activity", {}), **values)


def candidate(name, topic_id="vpn", minutes=1, **values):
    source = Source(f"folder:{name}", "folder", f"{name} guide", f"wiki/{name}.md", licence="MIT")
    return Candidate(
        name, topic_id, "", source, NOW + timedelta(minutes=minutes), preview=Preview(3, 2, 0.61), **values
    )


def everything(digest):
    return repr(digest)


def test_a_topic_is_shown_with_examples_reasons_and_the_nearest_passage():
    shown = make_digest(inputs()).topics[0]
    assert (shown.number, shown.topic) == (1, replace(VPN_TOPIC, gap_ids=(RESET.id, TOKEN.id)))
    assert shown.examples == ("Where do I get a VPN token?", "VPN reset")
    assert shown.reasons == (("few_distinct_lessons", 2), ("no_relevant_chunks", 1))
    assert shown.nearest.quote == "Ask IT."
    assert words.reasons(shown)[0] == "hardly any document touches on it (2 questions)"


def test_a_private_question_is_a_number_and_nothing_else():
    """Gap A was asked in private only, gap B in private and in public, gap C in public."""
    digest = make_digest(inputs(closed=[SECRET], candidates=[candidate("board", visibility=PRIVATE)]))
    text = everything(digest).casefold()
    assert not any(word in text for word in ("fired", "layoffs", "board", "secret", SECRET.id))
    assert (digest.private_gaps, digest.closed, digest.closed_private) == (1, (), 1)
    assert "1 private gap included" in words.people(digest.topics[0])
    assert "1 private gap" in " ".join(words.summary(digest))


def test_a_topic_of_private_questions_only_is_not_shown_at_all():
    digest = make_digest(inputs(topic("secret", SECRET, label="asked in private"), MAIL_TOPIC))
    assert [shown.topic.id for shown in digest.topics] == ["mail"]
    assert (digest.open_topics, digest.private_gaps) == (1, 1)


def test_what_is_new_is_counted_within_the_window_of_the_round():
    asked = {
        MAIL.id: Activity(
            asked=(NOW - timedelta(days=20), NOW - timedelta(days=3), WEEK_AGO, NOW + timedelta(minutes=1))
        )
    }
    digest = make_digest(inputs(activity=asked))
    assert digest.new_gaps == 3
    assert next(shown for shown in digest.topics if shown.topic.id == "mail").new_questions == 1
    assert make_digest(inputs(since=None)).new_gaps == 4


def test_waiting_suggestions_stand_with_their_topic_and_new_ones_are_counted():
    found = [candidate("a"), candidate("b"), candidate("c"), candidate("old", "mail", -19999), candidate("x", "other")]
    digest = make_digest(inputs(candidates=found))
    assert [one.id for one in digest.topics[0].candidates] == ["a", "b"]
    assert [one.id for one in digest.topics[1].candidates] == ["old"]
    assert (digest.waiting, digest.new_candidates) == (5, 4)


def test_topics_beyond_the_first_few_are_counted():
    many = [topic(f"t{number}", RESET) for number in range(12)]
    digest = make_digest(inputs(*many), DigestOptions(topics=5))
    assert (len(digest.topics), digest.more_topics, digest.open_topics) == (5, 7, 12)


def test_a_week_without_news_is_one_line():
    old = replace(MAIL, last_seen=NOW - timedelta(days=9))
    digest = make_digest(inputs(MAIL_TOPIC, gaps=[old]))
    assert digest.quiet
    assert words.quiet_line(digest) == "Nothing new since 12 June 2026: 1 open topic."


@pytest.mark.parametrize(
    "news",
    [
        {"closed": [RESET]},
        {"reopened": [SECRET]},
        {"candidates": [candidate("a")]},
        {"activity": {MAIL.id: Activity(asked=(NOW - timedelta(days=1),))}},
    ],
)
def test_anything_that_happened_makes_a_week_that_is_not_quiet(news):
    assert not make_digest(inputs(MAIL_TOPIC, gaps=[MAIL], **news)).quiet


def test_a_new_growing_or_returning_topic_is_news():
    for trend in Trend:
        digest = make_digest(inputs(replace(MAIL_TOPIC, trend=trend), gaps=[MAIL]))
        assert digest.quiet == (trend in {Trend.STEADY, Trend.SHRINKING})


def test_weeks_begin_on_monday_where_the_reader_is():
    """Sunday 23:30 in New York is Monday in UTC; the change to summer time moves no question to another week."""
    new_york = ZoneInfo("America/New_York")
    sunday = datetime(2026, 3, 8, 23, 30, tzinfo=new_york)  # the night of the change
    made = replace(inputs(MAIL_TOPIC).round, started_at=datetime(2026, 3, 10, 12, tzinfo=UTC))
    given = replace(inputs(MAIL_TOPIC, activity={MAIL.id: Activity(asked=(sunday,), publicly=(sunday,))}), round=made)
    local = make_digest(given, DigestOptions(zone=new_york, weeks=2))
    assert local.chart.weeks == (date(2026, 3, 2), date(2026, 3, 9))
    assert local.topics[0].weeks == (1, 0)
    assert make_digest(given, DigestOptions(weeks=2)).topics[0].weeks == (0, 1)
    assert first_moment(made.started_at, DigestOptions(zone=new_york, weeks=2)) == datetime(2026, 3, 2, 5, tzinfo=UTC)


def test_the_chart_adds_up_to_everything_that_was_asked():
    moments = tuple(NOW - timedelta(days=days) for days in (0, 1, 8, 9, 30))
    activity = {
        RESET.id: Activity(asked=moments, publicly=moments[:3]),
        SECRET.id: Activity(asked=moments),
        MAIL.id: Activity(asked=moments, publicly=moments),
    }
    chart = make_digest(inputs(activity=activity)).chart
    assert [name for name, _ in chart.series] == ["1. vpn label", "2. mail label", "everything else"]
    assert sum(sum(counts) for _, counts in chart.series) == 15
    assert sum(chart.series[2][1]) == 7


def test_bars_show_the_weeks_of_a_topic():
    shown = make_digest(inputs()).topics[0]
    assert words.weeks(replace(shown, weeks=(0, 4, 8))) == "▁▅█"
    assert words.weeks(replace(shown, weeks=(0, 0))) == ""
    assert words.weeks(replace(shown, weeks=())) == ""


def test_the_summary_says_what_is_new_in_whole_sentences():
    digest = make_digest(inputs(candidates=[candidate("a")], closed=[MAIL, SECRET]))
    assert words.title(digest) == "What the documents don't answer, 12 June 2026 to 19 June 2026"
    assert words.summary(digest) == [
        "3 questions asked in vain, 3 new gaps.",
        "2 open topics (1 new) and 1 private gap.",
        "1 suggested source waiting for a decision, 1 of them new.",
        "2 gaps closed.",
    ]
    assert words.preview(digest.topics[0].candidates[0].preview) == "would answer 2 of 3 questions (best 0.61)"
