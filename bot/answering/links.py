"""Addresses in a generated answer: only those that its sources hold are left. Pure.

A document can tell a model to add a link or an image whose address carries what other sources say; a chat program may
fetch it without a click. So an address must stand in a source exactly as it is, not only begin like one.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

_ADDRESS = r"(?:[a-zA-Z][a-zA-Z0-9+.-]{0,20}://|www\.)[^\s<>\"'`|\\^{}]+"
_BARE = re.compile(_ADDRESS)
_HOST = re.compile(r"(?<![\w./@:-])(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}(?::\d{1,5})?(?:/|\?)[^\s<>\"'`|\\^{}]*")
"""A host with a path or a query, without ``https://``: some programs make a link of it."""
_TARGET = r"<?(?P<target>(?:[^\s()<>]|\([^\s()<>]*\))*)>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*"
_LINK = re.compile(rf"(?P<image>!?)\[(?P<text>(?:[^\[\]\n]|\[[^\[\]\n]*\]){{0,500}})\]\({_TARGET}\)")
_REFERENCE = re.compile(r"(?m)^[ ]{0,3}\[[^\]\n]{1,200}\]:[ \t]*<?(?P<target>[^\s>]+)>?[^\n]*\n?")
_AUTOLINK = re.compile(r"<(?P<target>[a-zA-Z][a-zA-Z0-9+.-]{1,20}:[^\s<>|]+)(?:\|(?P<text>[^<>\n]*))?>")
_TAG = re.compile(
    r"</?(?:a|img|iframe|video|audio|source|script|style|link|form|object|embed|svg|base|meta)\b[^<>]*>", re.IGNORECASE
)
_CODE = re.compile(r"(?ms)^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)|`[^`\n]+`")
_END = ".,;:!?*_…。，；：！？）」』】》"
_EMPTY_BRACKETS = re.compile(r"[ \t]*\([ \t]*\)")


@dataclass(frozen=True, slots=True)
class LinkCheck:
    """The text without foreign addresses, and these addresses in order, each once."""

    text: str
    removed: tuple[str, ...]


def addresses(text: str) -> frozenset[str]:
    """All addresses that a source holds, with or without a scheme, in the form in which they are compared."""
    bare = {match.group() for pattern in (_BARE, _HOST) for match in pattern.finditer(text)}
    linked = {match["target"] for pattern in (_LINK, _REFERENCE, _AUTOLINK) for match in pattern.finditer(text)}
    return frozenset(map(_normal, bare | linked)) - {""}


def without_foreign_links(text: str, known: Iterable[str]) -> LinkCheck:
    """Take out every address that no source holds; the words of a link stay, and an image becomes its words.

    Args:
        text: Markdown, or what chat programs read as links; already cleaned of invisible characters.
        known: see :func:`addresses`.
    """
    sieve = _Sieve(frozenset(known))
    pieces: list[str] = []
    place = 0
    for block in _CODE.finditer(text):
        pieces += [sieve.prose(text[place : block.start()]), sieve.code(block.group())]
        place = block.end()
    shown = "".join([*pieces, sieve.prose(text[place:])])
    return LinkCheck(_EMPTY_BRACKETS.sub("", shown) if sieve.removed else shown, tuple(sieve.removed))


def host_of(address: str) -> str:
    """Where an address leads, without what it carries."""
    return re.split(r"[/?#]", address.partition("://")[2] or address)[0].rpartition("@")[2]


class _Sieve:
    """Lets known addresses through and remembers the others."""

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known
        self.removed: dict[str, None] = {}

    def prose(self, text: str) -> str:
        text = _REFERENCE.sub(lambda match: self._kept(match, ""), text)
        text = _LINK.sub(lambda match: self._kept(match, match["text"], image=bool(match["image"])), text)
        text = _AUTOLINK.sub(lambda match: self._kept(match, match["text"] or ""), text)
        return self.code(_TAG.sub("", text))

    def code(self, text: str) -> str:
        return _HOST.sub(self._bare, _BARE.sub(self._bare, text))

    def _kept(self, match: re.Match[str], otherwise: str, *, image: bool = False) -> str:
        foreign = self._foreign(match["target"])
        return otherwise if foreign or image else match.group()

    def _bare(self, match: re.Match[str]) -> str:
        address = _trimmed(match.group())
        return match.group()[len(address) :] if self._foreign(address) else match.group()

    def _foreign(self, address: str) -> bool:
        normal = _normal(address)
        if normal in self._known:
            return False
        self.removed[normal or address] = None
        return True


def _trimmed(address: str) -> str:
    """Without the punctuation of the sentence around it."""
    while address and (address[-1] in _END or _closes_nothing(address)):
        address = address[:-1]
    return address


def _closes_nothing(address: str) -> bool:
    opening = {")": "(", "]": "["}.get(address[-1], "")
    return bool(opening) and address.count(address[-1]) > address.count(opening)


def _normal(address: str) -> str:
    """Scheme and host in lower case, no slash at the end; everything else counts as it is."""
    address = html.unescape(_trimmed(address.strip().strip("<>")))
    scheme, separator, rest = address.partition("://")
    host, slash, path = rest.partition("/") if separator else address.partition("/")
    written = f"{scheme.lower()}{separator}{host.lower()}" if separator else host
    return f"{written}{slash}{path}".rstrip("/")
