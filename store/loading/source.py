"""What every loader is given, and the few small decisions that all of them share. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from store.errors import LoadError
from store.records import Block
from store.text import clean, is_blank

TEXT_LIMIT = 20_000_000
"""Characters of text that one document may have: some 40 thick books, and about five minutes of embedding."""
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_WEB_ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """One file as bytes.

    Attributes:
        name: file name without folders.
        suffix: ending in lower case with its dot.
        data: the whole content.
    """

    name: str
    suffix: str
    data: bytes


def refuse_long(characters: int) -> None:
    """Refuse more text than one document may have.

    Raises:
        LoadError: there is more.
    """
    if characters > TEXT_LIMIT:
        raise LoadError(
            f"The file holds more than {TEXT_LIMIT / 1e6:.0f} million characters of text, the most that one document "
            "may have.",
            "Split it.",
        )


def title_from_name(name: str) -> str:
    """A readable title from a file name: ``vpn-reset_guide.md`` gives ``Vpn reset guide``."""
    stem = name.rsplit(".", 1)[0] if "." in name.lstrip(".") else name
    words = " ".join(re.split(r"[\s_-]+", clean(stem))).strip()
    return words[:1].upper() + words[1:] if words else clean(name)


def language_code(value: object) -> str:
    """ISO 639-1 code of a declared language (``en-GB`` gives ``en``); empty when it is none."""
    first = re.split(r"[-_]", str(value).strip())[0].lower() if isinstance(value, str) else ""
    return first if re.fullmatch(r"[a-z]{2}", first) else ""


def web_address(value: object) -> str:
    """An absolute http or https address, else an empty string."""
    text = clean(value).strip() if isinstance(value, str) else ""
    return text if _WEB_ADDRESS.fullmatch(text) else ""


def without_terminal_codes(text: str) -> str:
    """Text without the colour and cursor sequences that programs write for a terminal."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def one_line(text: str) -> str:
    """Text with every run of white space turned into one space."""
    return " ".join(text.split())


def has_text(blocks: Iterable[Block]) -> bool:
    """Whether any block holds something that a reader could read."""
    return any(not is_blank(block.text) for block in blocks)
