"""Answers and cards as Discord messages within every limit: nothing lost, the order kept. Pure.

All lengths are those after escaping, as :func:`bot.chat.text_parts.size` counts them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from bot.answering.citations import label
from bot.chat.discord_links import link, with_links
from bot.chat.discord_markdown import Piece, split, to_pieces
from bot.chat.discord_text import escaped, label_of
from bot.chat.messages import Action, Card, Outgoing
from bot.chat.text_parts import size
from store.records import Citation

CONTENT_LIMIT = 1990
"""Discord takes 2,000; the rest is a margin."""
TITLE_LIMIT = 256
BODY_LIMIT = 4000
FIELD_NAME_LIMIT = 250
FIELD_LIMIT = 1024
FIELDS_PER_BOX = 25
BOXES_PER_MESSAGE = 10
BOX_CHARACTERS = 5900
"""All texts of a message's embeds together; Discord takes 6,000."""
BUTTONS_PER_MESSAGE = 25
BUTTON_ID_LIMIT = 95
"""Discord takes 100; the form that a button opens has a longer name."""
BUTTON_LABEL_LIMIT = 80
BUTTON_PREFIX = "gaplight"

_Item = TypeVar("_Item")
_QUESTION_SHOWN = 500
_EMPTY = "(no text)"
_MORE = "More to choose from:"


@dataclass(frozen=True, slots=True)
class Box:
    """A framed text (an embed): title, Markdown, and label and value pairs side by side."""

    title: str = ""
    text: str = ""
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """One message.

    Attributes:
        content: Discord's Markdown.
        boxes: framed texts below it.
        actions: buttons below those.
    """

    content: str = ""
    boxes: tuple[Box, ...] = ()
    actions: tuple[Action, ...] = ()


def answer_pages(outgoing: Outgoing, question: str = "", asked_at: str = "") -> tuple[Page, ...]:
    """An answer, its sources and its buttons, which stand below the last message; at least one message.

    Args:
        outgoing: the answer.
        question: is quoted above it, for where it cannot be seen otherwise; empty for none.
        asked_at: address of the question, for answers that stand elsewhere; ends the last message.
    """
    citations = outgoing.reply.citations if outgoing.reply else ()
    addresses = {citation.number: citation.url for citation in citations if citation.url}
    pieces = [*_quotation(question), *to_pieces(outgoing.text, addresses), *_sources(citations)]
    if asked_at:
        text = f"-# Asked {link(asked_at, 'here')}"
        pieces.append(Piece(text, text))
    return _with_buttons([Page(text) for text in split(pieces, CONTENT_LIMIT) or [_EMPTY]], outgoing.actions)


def text_pages(markdown: str, calling: str = "") -> tuple[Page, ...]:
    """Words without buttons.

    Args:
        markdown: what is said.
        calling: mentions that call people, put in front; made by the caller from ids, never from text.
    """
    texts = split(to_pieces(markdown), CONTENT_LIMIT - size(calling) - 1) or [_EMPTY]
    first = f"{calling} {texts[0]}" if calling else texts[0]
    return tuple(Page(text) for text in (first, *texts[1:]))


def card_pages(card: Card) -> tuple[Page, ...]:
    """A card: the first message is the one with the buttons, which is redrawn; what does not fit there follows it."""
    buttons = _distinct(card.actions)
    first, *rest = _packed(_boxes(card))
    pages = [replace(first, actions=tuple(buttons[:BUTTONS_PER_MESSAGE])), *rest]
    further = [Page(_MORE, actions=tuple(part)) for part in _parts(buttons[BUTTONS_PER_MESSAGE:], BUTTONS_PER_MESSAGE)]
    return (*pages, *further)


def card_as_text(card: Card) -> tuple[Page, ...]:
    """A card without frames, for channels where the bot may not show them."""
    facts = "\n".join(f"- **{escaped(name) or '—'}**: {with_links(value) or '—'}" for name, value in card.facts.items())
    title = escaped(" ".join(card.title.split())) or _EMPTY
    pieces = [Piece(f"**{title}**", title), *([Piece(facts, facts)] if facts else []), *to_pieces(card.body)]
    return _with_buttons([Page(text) for text in split(pieces, CONTENT_LIMIT)], card.actions)


def button_id(action: Action) -> str:
    """What a button carries; works after a restart, since nothing else is needed."""
    return f"{BUTTON_PREFIX}:{action.verb}:{action.subject}"


def button_label(action: Action) -> str:
    """What stands on a button."""
    return label_of(action.label, BUTTON_LABEL_LIMIT) or str(action.verb)


def _quotation(question: str) -> list[Piece]:
    if not question.strip():
        return []
    text = f"> {with_links(label_of(question, _QUESTION_SHOWN))}"
    return [Piece(text, text)]


def _sources(citations: Sequence[Citation]) -> list[Piece]:
    if not citations:
        return []
    ordered = sorted(citations, key=lambda one: one.number)
    text = "\n".join(f"-# [{one.number}] {link(one.url, label(one))}" for one in ordered)
    return [Piece(text, text)]


def _with_buttons(pages: list[Page], actions: Sequence[Action]) -> tuple[Page, ...]:
    parts = _parts(_distinct(actions), BUTTONS_PER_MESSAGE)
    if not parts:
        return tuple(pages)
    *before, last = pages
    return (*before, replace(last, actions=tuple(parts[0])), *(Page(_MORE, actions=tuple(part)) for part in parts[1:]))


def _distinct(actions: Sequence[Action]) -> list[Action]:
    """Discord refuses two buttons that carry the same in one message, and ids that are too long."""
    by_id: dict[str, Action] = {}
    for action in actions:
        by_id.setdefault(button_id(action), action)
    return [action for name, action in by_id.items() if size(name) <= BUTTON_ID_LIMIT]


def _parts(items: Sequence[_Item], length: int) -> list[Sequence[_Item]]:
    return [items[start : start + length] for start in range(0, len(items), length)]


def _boxes(card: Card) -> list[Box]:
    fields, long_facts = _fields(card.facts)
    title = escaped(" ".join(card.title.split()))
    pieces = to_pieces(card.body)
    if size(title) > TITLE_LIMIT:
        pieces = [Piece(f"**{title}**", title), *pieces]
        title = ""
    texts = split([*pieces, *long_facts], BODY_LIMIT)
    field_parts = _parts(fields, FIELDS_PER_BOX)
    boxes = [Box(title, texts[0] if texts else "", tuple(field_parts[0]) if field_parts else ())]
    boxes += [Box(text=text) for text in texts[1:]]
    boxes += [Box(fields=tuple(part)) for part in field_parts[1:]]
    return [part for box in boxes for part in _halved(box)]


def _fields(facts: Mapping[str, str]) -> tuple[list[tuple[str, str]], list[Piece]]:
    """Facts that fit beside each other, and those that have to stand in the text."""
    fields: list[tuple[str, str]] = []
    long_facts: list[Piece] = []
    for name, value in facts.items():
        shown = with_links(value.strip()) or "—"
        heading = label_of(name, FIELD_NAME_LIMIT) or "—"
        if size(shown) <= FIELD_LIMIT:
            fields.append((heading, shown))
        else:
            plain = f"{escaped(heading)}: {shown}"
            long_facts.append(Piece(f"**{escaped(heading)}**: {shown}", plain))
    return fields, long_facts


def _halved(box: Box) -> list[Box]:
    """A box whose fields alone are too much for a message, in pieces."""
    if _weight(box) <= BOX_CHARACTERS:
        return [box]
    if box.text and box.fields:
        return [replace(box, fields=()), *_halved(Box(fields=box.fields))]
    middle = len(box.fields) // 2
    return [*_halved(replace(box, fields=box.fields[:middle])), *_halved(Box(fields=box.fields[middle:]))]


def _packed(boxes: Sequence[Box]) -> list[Page]:
    pages: list[Page] = []
    for box in boxes:
        fits = (
            pages
            and len(pages[-1].boxes) < BOXES_PER_MESSAGE
            and sum(map(_weight, pages[-1].boxes)) + _weight(box) <= BOX_CHARACTERS
        )
        if fits:
            pages[-1] = replace(pages[-1], boxes=(*pages[-1].boxes, box))
        else:
            pages.append(Page(boxes=(box,)))
    return [page if any(map(_weight, page.boxes)) else Page(_EMPTY) for page in pages]


def _weight(box: Box) -> int:
    return size(box.title) + size(box.text) + sum(size(name) + size(value) for name, value in box.fields)
