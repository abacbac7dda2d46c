"""Links for Discord: only addresses that may be followed, none of which unfolds a preview. Pure."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from bot.chat.discord_text import ZERO_WIDTH_SPACE, clean, escaped, size

LONGEST_LINK = 1500
BARE_URL = re.compile(r"https?://[^\s<>]+", re.IGNORECASE)


def link(url: str, label: str) -> str:
    """A link that shows no preview; the label alone where the address is none that may be followed.

    Args:
        url: the address, as it is.
        label: plain text; the address itself when empty.
    """
    words = " ".join(clean(label).split())
    shown = _in_label(words)
    if not followable(url):
        return shown or escaped(url)
    token = f"<{address(url)}>"
    if words and words != url and not words.endswith(f"//{url.partition('//')[2]}"):
        # Discord shows a label that looks like an address as raw text, for fear of deceit.
        token = f"{shown} ({token})" if "://" in words else f"[{shown}]({token})"
    if size(token) <= LONGEST_LINK:
        return token
    # Too long for a link, and as bare text Discord would unfold it.
    inert = escaped(url).replace("://", f":{ZERO_WIDTH_SPACE}//")
    return f"{shown} ({inert})" if words and words != url else inert


def followable(url: str) -> bool:
    """Whether an address may become a link: http and https with a host."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return False
    return parts.scheme.lower() in {"http", "https"} and bool(parts.netloc)


def address(url: str) -> str:
    """An address that ends nowhere before its end, and in which no mention hides."""
    encoded = re.sub(r"\s", "%20", clean(url).strip())
    for character in "<>\\":
        encoded = encoded.replace(character, f"%{ord(character):02X}")
    return re.sub(r"@(?=everyone|here)", "%40", encoded, flags=re.IGNORECASE)


def _in_label(words: str) -> str:
    return re.sub(r"(?<!\\)[\[\]]", lambda match: f"\\{match.group()}", escaped(words))


def trimmed(url: str) -> str:
    """A bare address without the punctuation of the sentence around it."""
    while url and (url[-1] in ".,;:!?'\"*_~]}|`" or (url[-1] == ")" and url.count(")") > url.count("("))):
        url = url[:-1]
    return url
