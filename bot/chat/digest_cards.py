"""A digest as cards, for chat: what is new, then each topic followed by the sources that wait for it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from bot.chat.candidate_cards import candidate_card
from bot.chat.messages import Card
from discovery import digest_words as words
from discovery.digest import Digest, DigestTopic
from discovery.digest_markdown import plain, topic_body

_TITLE = 140
_LISTED = 5


def digest_cards(digest: Digest) -> tuple[Card, ...]:
    """The parts of a digest in order; a single line in a quiet week."""
    if digest.quiet:
        return (Card("digest", _subject(digest), 0, words.quiet_line(digest)),)
    cards = [Card("digest", _subject(digest), 0, words.title(digest), "\n".join(_summary(digest)))]
    for shown in digest.topics:
        cards.append(_topic_card(shown))
        cards += [candidate_card(candidate) for candidate in shown.candidates]
    return tuple(cards)


def _subject(digest: Digest) -> str:
    return f"round-{digest.number}"


def _summary(digest: Digest) -> Iterator[str]:
    yield from (f"- {line}" for line in words.summary(digest))
    for heading, items in (("Closed", digest.closed), ("Reopened", digest.reopened), ("Notes", digest.notes)):
        if items:
            yield f"\n**{heading}**\n"
            yield from (f"- {plain(item)}" for item in items[:_LISTED])
            if len(items) > _LISTED:
                yield f"- and {len(items) - _LISTED} more"
    if digest.more_topics:
        yield f"\n{words.counted(digest.more_topics, 'more topic')} not shown."


def _topic_card(shown: DigestTopic) -> Card:
    topic = shown.topic
    facts = {
        "Asked by": words.counted(topic.askers, "person", "people"),
        "Questions": f"{topic.count}" + (f" ({shown.new_questions} new)" if shown.new_questions else ""),
        "Trend": words.trend(shown),
        "By week": words.weeks(shown),
        "Private": words.counted(topic.private_gaps, "private gap") if topic.private_gaps else "",
    }
    return Card(
        kind="topic",
        subject=topic.id,
        version=0,
        title=f"{shown.number}. {topic.label}"[:_TITLE],
        body="\n".join(_spaced(shown)),
        facts={label: value for label, value in facts.items() if value},
    )


def _spaced(shown: DigestTopic) -> Iterator[str]:
    """Paragraphs with an empty line between, list items without."""
    for number, line in enumerate(topic_body(shown)):
        if number and not line.startswith("- "):
            yield ""
        yield line
