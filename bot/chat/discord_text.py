"""Discord's text: what arrives becomes plain words, what leaves reads literally and pings nobody. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime

from bot.chat.text_parts import ELLIPSIS, ZERO_WIDTH_SPACE, clean, lines_within, size

TITLE_LIMIT = 100
"""What Discord takes as the name of a thread."""

_TOKEN = re.compile(
    r"<(?:@!?(?P<user>\d+)|@&(?P<role>\d+)|#(?P<channel>\d+)|a?:(?P<emoji>\w+):\d+"
    r"|t:(?P<time>-?\d{1,11})(?::[A-Za-z])?|/(?P<command>[^:<>\n]{1,110}):\d+|id:(?P<page>\w+))>"
)
_LIVE = re.compile(r"(?<=@)(?=everyone|here)|(?<=<@)(?=[!&\d])", re.IGNORECASE)
_MEANING = re.compile(r"[\\*`]|(?<![^\W_])_|_(?![^\W_])|~(?=~)|(?<=~)~|\|(?=\|)|(?<=\|)\||<(?=[@#:/A-Za-z])|(?<=\])\(")
_ADDRESS = re.compile(r"(?<=http:)(?=//)|(?<=https:)(?=//)", re.IGNORECASE)
_LINE_START = re.compile(r"^([ \t]*)(?=#{1,6}(?:\s|$)|-#|>|[-+](?:\s|$))", re.MULTILINE)
_NUMBERED = re.compile(r"^([ \t]*\d+)(?=\.\s)", re.MULTILINE)
_ATOM = re.compile(
    r"\[(?:\[\d+\]|\\.|[^\[\]\\])*\]\(<[^<>\n]*>\)|<https?://[^<>\s]+>|\\[^\w\s]|\n|[^\S\n]+|[^\s<\[\\]+|[<\[\\]"
)
_ZERO_WIDTH_JOINER = "\u200d"
_LONGEST_CLUSTER = 64


def heard_text(raw: str, own: Collection[int] = (), channels: Mapping[int, str] | None = None) -> str:
    """What a person wrote, with Discord's tokens in words and without the mention of the bot.

    Args:
        raw: a message's content as Discord delivers it.
        own: ids of the bot's user and of its own role.
        channels: names of channels, by id.
    """
    text = raw
    if own:
        ids = "|".join(str(number) for number in own)
        mention = re.compile(rf"[ \t]*<@[!&]?(?:{ids})>[ \t]*")
        leading = mention.match(text.lstrip())
        text = mention.sub(" ", text).strip()
        if leading:
            text = re.sub(r"\A[,:](?=\s)", "", text)
    names = channels or {}
    return _TOKEN.sub(lambda match: _worded(match, names), text).strip()


def _worded(match: re.Match[str], channels: Mapping[int, str]) -> str:
    kind = match.lastgroup or ""
    value = match[kind]
    match kind:
        case "channel":
            return f"#{channels.get(int(value), 'channel')}"
        case "emoji":
            return f":{value}:"
        case "time":
            return _moment(int(value))
        case "command":
            return f"/{value}"
        case "page":
            return f"#{value}"
    return "@user" if kind == "user" else "@group"


def _moment(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):
        return str(seconds)


def defused(text: str) -> str:
    """The text with an invisible character in every mention; it reads as before and calls nobody."""
    return _LIVE.sub(ZERO_WIDTH_SPACE, text)


def escaped(text: str) -> str:
    """Text whose characters stand for themselves, within a line; addresses in it are no links and unfold nothing."""
    literal = _MEANING.sub(lambda match: f"\\{match.group()}", clean(text))
    return defused(_ADDRESS.sub(ZERO_WIDTH_SPACE, literal))


def lines_escaped(text: str) -> str:
    """Already escaped lines, none of which begins a heading, list or quotation by chance."""
    return _NUMBERED.sub(r"\1\\", _LINE_START.sub(r"\1\\", text))


def label_of(text: str, limit: int) -> str:
    """One line for a field, shortened between two characters where it is too long.

    Args:
        text: plain text.
        limit: how long the result may be, as :func:`bot.chat.text_parts.size` counts.
    """
    line = defused(" ".join(clean(text).split()))
    if size(line) <= limit:
        return line
    kept = ""
    room = limit - size(ELLIPSIS)
    for cluster in clusters(line):
        if size(kept) + size(cluster) > room:
            break
        kept += cluster
    return kept.rstrip() + ELLIPSIS


def thread_title(question: str) -> str:
    """The name of the thread in which a question is answered."""
    return label_of(question, TITLE_LIMIT) or "Question"


def wrapped(text: str, limit: int) -> list[str]:
    """Text in parts that are not longer than allowed, cut at lines, else at words, else between characters.

    Links and escaped characters stay whole; only white space at the cuts is lost.

    Args:
        text: escaped text, whose links are shorter than the limit.
        limit: how long each part may be, as :func:`bot.chat.text_parts.size` counts.
    """
    return lines_within(text, limit, _wrapped_line)


def _wrapped_line(line: str, limit: int) -> Iterator[str]:
    quoted = "> " if line.startswith("> ") else ""
    current, used = "", 0
    for match in _ATOM.finditer(line):
        atom = match.group()
        if used + size(atom) <= limit:
            current, used = current + atom, used + size(atom)
            continue
        if current.strip("> \t"):
            yield current.rstrip()
        rest = atom.lstrip()
        while size(quoted) + size(rest) > limit:
            head = _head(rest, limit - size(quoted))
            yield quoted + head
            rest = rest[len(head) :]
        current = quoted + rest
        used = size(current)
    if current.strip("> \t"):
        yield current.rstrip()


def cut(text: str, limit: int) -> list[str]:
    """Lines of code in parts that are not longer than allowed; every character but line ends at the cuts is kept."""
    parts: list[str] = []
    current: str | None = None
    for line in text.split("\n"):
        rest = line
        while size(rest) > limit:
            if current is not None:
                parts.append(current)
                current = None
            head = _head(rest, limit)
            parts.append(head)
            rest = rest[len(head) :]
        if current is not None and size(current) + 1 + size(rest) <= limit:
            current = f"{current}\n{rest}"
        else:
            if current is not None:
                parts.append(current)
            current = rest
    return parts if current is None else [*parts, current]


def _head(text: str, limit: int) -> str:
    """The longest beginning within a limit that tears no character apart; never empty."""
    end = used = 0
    for cluster in clusters(text):
        used += size(cluster)
        if used > limit:
            break
        end += len(cluster)
    return text[: max(end, 1)]


def clusters(text: str) -> Iterator[str]:
    """The characters as people see them: an emoji with all that is joined to it, a letter with its accents."""
    start = 0
    for place in range(1, len(text)):
        if place - start < _LONGEST_CLUSTER and _joined(text, start, place):
            continue
        yield text[start:place]
        start = place
    if text:
        yield text[start:]


def _joined(text: str, start: int, place: int) -> bool:
    before, after = text[place - 1], text[place]
    if after.isascii() and before.isascii():
        # An escaped character must not lose its backslash.
        return before == "\\" and place - start == 1 and not after.isalnum() and not after.isspace()
    if _ZERO_WIDTH_JOINER in {before, after}:
        return True
    if _is_flag_half(after):
        return _is_flag_half(before) and (place - start) % 2 == 1
    return (
        unicodedata.category(after) in {"Mn", "Me", "Mc"}
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U000e0020" <= after <= "\U000e007f"
        or ("\u1160" <= after <= "\u11ff" and "\u1100" <= before <= "\u11ff")
    )


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
