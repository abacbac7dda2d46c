"""Links for Discord: only addresses that may be followed, none of which unfolds a preview. Pure."""

from __future__ import annotations

import re

from bot.chat.discord_text import escaped
from bot.chat.text_parts import clean, size

LONGEST_LINK = 1500
_WEB = re.compile(r"https?://[^\s/?#\\]", re.IGNORECASE)
BARE_URL = re.compile(r"https?://[^\s<>]+", re.IGNORECASE)


def link(url: str, label: str) -> str:
    """A link that shows no preview; the label alone where the address is none that may be followed.

    Args:
        url: the address, as it is.
        label: plain text; the address itself when empty.
    """
    words = " ".join(clean(label).split())
    if not followable(url):
        return escaped(words or url)
    token = f"<{address(url)}>"
    if words and words != url:
        # Discord shows a label that looks like an address as raw text, for fear of deceit.
        token = f"{escaped(words)} ({token})" if "://" in words else f"[{_in_label(words)}]({token})"
    if size(token) <= LONGEST_LINK:
        return token
    return escaped(f"{words} ({url})" if words and words != url else url)


def with_links(text: str) -> str:
    """Text whose characters stand for themselves, with links for the addresses in it."""
    shown = ""
    place = 0
    for match in BARE_URL.finditer(text):
        url = trimmed(match.group())
        if followable(url):
            shown += escaped(text[place : match.start()]) + link(url, "")
            place = match.start() + len(url)
    return shown + escaped(text[place:])


def followable(url: str) -> bool:
    """Whether an address may become a link: http and https with a host."""
    return bool(_WEB.match(clean(url).strip()))


def address(url: str) -> str:
    """An address that ends nowhere before its end, and in which no mention hides."""
    encoded = re.sub(r"\s", "%20", clean(url).strip())
    for character in "<>\\`":
        encoded = encoded.replace(character, f"%{ord(character):02X}")
    return re.sub(r"@(?=everyone|here)", "%40", encoded, flags=re.IGNORECASE)


def _in_label(words: str) -> str:
    return re.sub(r"(?<!\\)[\[\]]", lambda match: f"\\{match.group()}", escaped(words))


def trimmed(url: str) -> str:
    """A bare address without the punctuation of the sentence around it."""
    while url and (url[-1] in ".,;:!?'\"*_~]}|`" or (url[-1] == ")" and url.count(")") > url.count("("))):
        url = url[:-1]
    return url
