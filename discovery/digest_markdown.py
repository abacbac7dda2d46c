"""A digest in Markdown: for files and the terminal. Pure.

What people wrote is text in it: it makes no link, no image, no heading and no mention.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from discovery import digest_words as words
from discovery.digest import Digest, DigestTopic
from store.records import Candidate

_MARKS = re.compile(r"([\\`*_\[\]<>#!|~&])")
_LIST_MARK = re.compile(r"^(\d*)([-+=.)])")
_QUOTE = 300


def digest_markdown(digest: Digest) -> str:
    """The whole digest as CommonMark."""
    if digest.quiet:
        return f"{words.quiet_line(digest)}\n"
    lines = [f"# {words.title(digest)}", "", *(f"- {line}" for line in words.summary(digest)), ""]
    for shown in digest.topics:
        lines += [*_topic(shown), ""]
    if digest.more_topics:
        lines += [f"And {words.counted(digest.more_topics, 'more topic')}; `gaplight topics` lists them all.", ""]
    lines += [*_list("Closed", digest.closed), *_list("Reopened", digest.reopened)]
    lines += _list("Notes", digest.notes)
    return "\n".join(lines).rstrip() + "\n"


def plain(text: str) -> str:
    """Text as Markdown that shows it as it is, on one line."""
    line = _MARKS.sub(r"\\\1", " ".join(text.split()))
    # A word joiner behind the sign: sites that call people by name do so after Markdown has been read.
    return _LIST_MARK.sub(r"\1\\\2", line).replace("@", "@\u2060")


def topic_body(shown: DigestTopic) -> Iterator[str]:
    """What is said of a topic below its heading, a paragraph or list item each; without its suggestions."""
    yield f"{plain(shown.topic.question)}"
    yield from (f"- {plain(example)}" for example in shown.examples)
    if shown.reasons:
        yield f"Why: {'; '.join(words.reasons(shown))}."
    if shown.nearest:
        where = words.place(shown.nearest.document, shown.nearest.section)
        yield f"Nearest ({shown.nearest.score:.2f}): {plain(where)}"
        if shown.nearest.quote:
            yield f"> {plain(shown.nearest.quote[:_QUOTE])}"


def _topic(shown: DigestTopic) -> Iterator[str]:
    yield f"## {shown.number}. {plain(shown.topic.label)} ({words.trend(shown)})"
    yield ""
    bars = words.weeks(shown)
    yield f"{words.people(shown)}.{f' By week: {bars}' if bars else ''}"
    for line in topic_body(shown):
        if not line.startswith("- "):
            yield ""
        yield line
    if shown.candidates:
        yield from ("", "Suggested:", "", *(_candidate(one) for one in shown.candidates))


def _candidate(candidate: Candidate) -> str:
    found = candidate.source
    name = plain(found.title or found.location)
    return f"- {name} ({plain(words.source(candidate))}): {words.preview(candidate.preview)}. `{candidate.id}`"


def _list(heading: str, items: tuple[str, ...]) -> list[str]:
    return [f"**{heading}**", "", *(f"- {plain(item)}" for item in items), ""] if items else []
