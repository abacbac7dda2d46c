"""Slack's text encoding: what arrives becomes plain words, what leaves can ping nobody. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from bot.chat.text_parts import ELLIPSIS, clean, lines_within, size

_ZERO_WIDTH_JOINER = "\u200d"
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">"}
_ENTITY = re.compile("|".join(_ENTITIES))
_ENCODED = re.compile(r"<(?P<token>[^<>]*)>|&(?:amp|lt|gt);")
_MENTION = re.compile(r"<@(?P<id>[A-Z0-9]+)(?:\|[^<>]*)?>")
_ATOM = re.compile(r"<[^<>\n]+>|&(?:amp|lt|gt);|\n|[^\S\n]+|[^\s<&]+|[<&]")
_GRAPHEME_LOOKBACK = 32


def mentioned(raw: str) -> frozenset[str]:
    """Ids of the people whom a message as Slack delivers it mentions."""
    return frozenset(match["id"] for match in _MENTION.finditer(raw))


def decode(raw: str, bot: str = "") -> str:
    """What a person wrote, without Slack's encoding and without the mention of the bot.

    Entities are decoded in one pass, so that a typed ``&lt;`` stays what it is.

    Args:
        raw: a message's text as Slack delivers it.
        bot: the bot's user id.
    """
    text = raw
    if bot:
        own = re.compile(rf"[ \t]*<@{re.escape(bot)}(?:\|[^<>]*)?>[ \t]*")
        leading = own.match(text.lstrip())
        text = own.sub(" ", text).strip()
        if leading:
            text = re.sub(r"\A[,:](?=\s)", "", text)
    return _ENCODED.sub(_decoded, text).strip()


def _decoded(match: re.Match[str]) -> str:
    if match["token"] is None:
        return _ENTITIES[match.group()]
    target, _, label = _ENTITY.sub(lambda entity: _ENTITIES[entity.group()], match["token"]).partition("|")
    if target.startswith("@"):
        return "@user"
    if target.startswith("#"):
        return f"#{label or 'channel'}"
    if target.startswith("!"):
        return _special(target, label)
    address = target.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in {target, address} or target.endswith(f"//{label}"):
        return label or address
    return f"{label} ({address})"


def _special(target: str, label: str) -> str:
    name = target[1:].partition("^")[0]
    if name == "date":
        return label
    if name == "subteam":
        return label if label.startswith("@") else f"@{label or 'group'}"
    return label or f"@{name}"


def escape(text: str) -> str:
    """The text with the three characters that Slack gives a meaning encoded; it reads as before and is inert."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def label_of(text: str, limit: int) -> str:
    """One escaped line for a field without formatting, shortened between two characters where it is too long.

    Args:
        text: plain text.
        limit: how long the result may be after escaping, as :func:`bot.chat.text_parts.size` counts.
    """
    line = " ".join(clean(text).split())
    escaped = escape(line)
    if size(escaped) <= limit:
        return escaped
    kept = 0
    used = size(ELLIPSIS)
    for character in line:
        used += size(escape(character))
        if used > limit:
            break
        kept += 1
    return escape(line[: _boundary(line, kept)].rstrip()) + ELLIPSIS


def wrapped(text: str, limit: int) -> list[str]:
    """Escaped text in parts that are not longer than allowed, cut at lines, else at words, else between characters.

    Links and entities stay whole; of the text only white space at the cuts is lost.

    Args:
        text: escaped text with Slack links, none of them longer than the limit.
        limit: how long each part may be, as :func:`bot.chat.text_parts.size` counts.
    """
    return lines_within(text, limit, _wrapped_line)


def _wrapped_line(line: str, limit: int) -> Iterator[str]:
    quoted = "> " if line.startswith("> ") else ""
    current = ""
    for atom in _ATOM.findall(line):
        if size(current) + size(atom) <= limit:
            current += atom
            continue
        if current.strip():
            yield current.rstrip()
        current = quoted + atom.lstrip()
        while size(current) > limit:
            at = _boundary(current, _characters_within(current, limit))
            yield current[:at]
            current = quoted + current[at:]
    if current.strip():
        yield current.rstrip()


def _characters_within(text: str, limit: int) -> int:
    used = 0
    for count, character in enumerate(text):
        used += size(character)
        if used > limit:
            return max(count, 1)
    return len(text)


def _boundary(text: str, at: int) -> int:
    """The nearest place not after ``at`` that does not tear a character apart from what is written onto it."""
    place = at
    while at - _GRAPHEME_LOOKBACK < place < len(text) and place > 0 and _joined(text[place - 1], text[place]):
        place -= 1
    return place if place > 0 and at - _GRAPHEME_LOOKBACK < place else at


def _joined(before: str, after: str) -> bool:
    return (
        _ZERO_WIDTH_JOINER in {before, after}
        or unicodedata.combining(after) != 0
        or unicodedata.category(after) in {"Mn", "Me", "Mc"}
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or ("\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff")
    )
