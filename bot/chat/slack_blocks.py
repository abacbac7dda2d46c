"""Answers and cards as Slack messages within every limit: nothing lost, the order kept. Pure.

All lengths are those after escaping, as :func:`bot.chat.text_parts.size` counts them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.answering.citations import label
from bot.chat.messages import Action, Card, Outgoing
from bot.chat.slack_mrkdwn import link, split, to_pieces
from bot.chat.slack_text import escape, label_of, wrapped
from bot.chat.text_parts import size
from store.records import Citation

Block = dict[str, Any]

SECTION_LIMIT = 2900
"""Slack takes 3,000 in a text; the rest is a margin for characters that it counts differently."""
PLAIN_LIMIT = 3900
"""Slack cuts or splits a text without blocks somewhere above 4,000."""
FALLBACK_LIMIT = 2900
HEADER_LIMIT = 150
FIELD_LIMIT = 300
"""Slack takes 2,000, but ten of those are too much for a message, and nobody reads them side by side."""
FIELDS_PER_SECTION = 10
BLOCKS_PER_MESSAGE = 48
BUTTONS_PER_BLOCK = 25
BUTTON_LABEL_LIMIT = 75
CHARACTERS_PER_MESSAGE = 8000
"""All texts of a message: Slack refuses blocks of somewhat more than 10,000 as too long, without saying how many."""

ACTION_PREFIX = "gaplight_"
_ROWS_ON_CARD = 20
_EMPTY = "(no text)"
_STYLES = frozenset({"primary", "danger"})


@dataclass(frozen=True, slots=True)
class Post:
    """One message.

    Attributes:
        text: what notifications show, and what is read where blocks are not.
        blocks: what is shown.
        plain: the same as texts alone, for when Slack refuses the blocks.
    """

    text: str
    blocks: tuple[Block, ...]
    plain: tuple[str, ...]


def answer_posts(outgoing: Outgoing) -> tuple[Post, ...]:
    """An answer, its sources and its buttons; at least one message."""
    citations = outgoing.reply.citations if outgoing.reply else ()
    addresses = {citation.number: citation.url for citation in citations if citation.url}
    blocks = [*_sections(outgoing.text, addresses), *_sources(citations), *_buttons(outgoing.actions)]
    return _packed(blocks)


def card_posts(card: Card) -> tuple[Post, ...]:
    """A card: the first message is the one with the buttons, which is redrawn; what does not fit there follows it."""
    head = _header(card.title)
    content = [*_facts(card.facts), *_body(card)]
    rows = _buttons(card.actions)
    buttons, more_buttons = rows[:_ROWS_ON_CARD], rows[_ROWS_ON_CARD:]
    room = CHARACTERS_PER_MESSAGE - sum(map(_weight, [*head, *buttons]))
    fitting = _count_within(content, room, BLOCKS_PER_MESSAGE - len(head) - len(buttons))
    first = _post([*head, *content[:fitting], *buttons])
    return (first, *_packed([*content[fitting:], *more_buttons]))


def text_posts(markdown: str, calling: str = "") -> tuple[Post, ...]:
    """Words without buttons.

    Args:
        markdown: what is said.
        calling: Slack tokens that call people, put in front; made by the caller from ids, never from text.
    """
    blocks = _sections(markdown, {})
    if calling:
        blocks = [_section(calling), *blocks]
    return _packed(blocks)


def blocks_of_card(card: Card) -> list[Block]:
    """A card as part of a page that shows several."""
    return [*_header(card.title), *_facts(card.facts), *_body(card), *_buttons(card.actions)]


def _body(card: Card) -> list[Block]:
    return _sections(card.body, {}) if card.body.strip() else []


def _section(text: str) -> Block:
    # verbatim: Slack must not look for channels, people and addresses in the text by itself.
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}


def _sections(markdown: str, addresses: Mapping[int, str]) -> list[Block]:
    texts = split(to_pieces(markdown, addresses), SECTION_LIMIT)
    return [_section(text) for text in texts or [_EMPTY]]


def _sources(citations: Sequence[Citation]) -> list[Block]:
    lines = [f"[{one.number}] {link(one.url, label(one))}" for one in sorted(citations, key=lambda one: one.number)]
    return [
        {"type": "context", "elements": [{"type": "mrkdwn", "text": text, "verbatim": True}]}
        for text in wrapped("\n".join(lines), SECTION_LIMIT)
    ]


def _header(title: str) -> list[Block]:
    shown = escape(" ".join(title.split())) or _EMPTY
    if size(shown) <= HEADER_LIMIT:
        return [{"type": "header", "text": {"type": "plain_text", "text": shown, "emoji": False}}]
    return [_section(text) for text in wrapped(shown, SECTION_LIMIT)]


def _facts(facts: Mapping[str, str]) -> list[Block]:
    blocks: list[Block] = []
    fields: list[dict[str, Any]] = []
    for name, value in facts.items():
        text = f"*{label_of(name, BUTTON_LABEL_LIMIT) or '—'}*\n{escape(value).strip() or '—'}"
        if size(text) <= FIELD_LIMIT:
            fields.append({"type": "mrkdwn", "text": text, "verbatim": True})
        else:
            blocks += [_section(part) for part in wrapped(text, SECTION_LIMIT)]
    for start in range(0, len(fields), FIELDS_PER_SECTION):
        blocks.append({"type": "section", "fields": fields[start : start + FIELDS_PER_SECTION]})
    return blocks


def _buttons(actions: Iterable[Action]) -> list[Block]:
    """Rows of buttons; a verb stands only once in a row, since ids must differ there."""
    rows: list[list[Block]] = []
    for action in actions:
        button = _button(action)
        taken = {other["action_id"] for other in rows[-1]} if rows else set()
        if not rows or button["action_id"] in taken or len(rows[-1]) == BUTTONS_PER_BLOCK:
            rows.append([])
        rows[-1].append(button)
    return [{"type": "actions", "elements": row} for row in rows]


def _button(action: Action) -> Block:
    button: Block = {
        "type": "button",
        "action_id": f"{ACTION_PREFIX}{action.verb}",
        "value": action.subject,
        "text": {
            "type": "plain_text",
            "text": label_of(action.label, BUTTON_LABEL_LIMIT) or str(action.verb),
            "emoji": False,
        },
    }
    if action.style in _STYLES:
        button["style"] = action.style
    return button


def _packed(blocks: Sequence[Block]) -> tuple[Post, ...]:
    posts: list[Post] = []
    rest = list(blocks)
    while rest:
        count = max(1, _count_within(rest, CHARACTERS_PER_MESSAGE, BLOCKS_PER_MESSAGE))
        posts.append(_post(rest[:count]))
        rest = rest[count:]
    return tuple(posts)


def _count_within(blocks: Sequence[Block], characters: int, count: int) -> int:
    """How many blocks from the first on are within both limits."""
    used = 0
    for place, block in enumerate(blocks):
        used += _weight(block)
        if used > characters or place >= count:
            return place
    return len(blocks)


def _post(blocks: Sequence[Block]) -> Post:
    texts = [text for block in blocks for text in _texts(block)] or [_EMPTY]
    return Post(_joined(texts, FALLBACK_LIMIT)[0], tuple(blocks), tuple(_joined(texts, PLAIN_LIMIT)))


def _joined(texts: Sequence[str], limit: int) -> list[str]:
    """Texts that are shorter than the limit put together as far as they fit; each stays whole."""
    parts: list[str] = []
    for text in texts:
        if parts and size(parts[-1]) + size(text) + 2 <= limit:
            parts[-1] = f"{parts[-1]}\n\n{text}"
        else:
            parts.append(text)
    return parts


def _weight(block: Block) -> int:
    if block["type"] == "actions":
        return sum(size(button["text"]["text"]) + size(button["value"]) for button in block["elements"])
    return sum(map(size, _texts(block)))


def _texts(block: Block) -> list[str]:
    """What a block says, without its buttons."""
    if block["type"] == "actions":
        return []
    if block["type"] == "context":
        return [element["text"] for element in block["elements"]]
    fields = [one["text"] for one in block.get("fields", ())]
    return [block["text"]["text"], *fields] if "text" in block else fields
