"""What a reader sees of a line of Markdown: comments and HTML tags out, code spans untouched. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left

_TAGS = (
    "a|abbr|b|big|blockquote|br|center|cite|code|del|details|dfn|div|em|figcaption|figure|font|hr|i|img|ins|kbd|li|mark"
    "|ol|p|picture|q|s|samp|small|source|span|strike|strong|sub|summary|sup|tt|u|ul|var|video|wbr"
)
_PIECES = re.compile(
    r"(?P<fence>^[ \t>]*(?P<mark>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t>]*(?P=mark)[`~]*[ \t]*$|\Z))"
    r"|(?P<ticks>(?<!`)`+(?!`))"
    r"|(?P<comment><!--.*?(?:-->|\Z))"
    rf"|(?P<tag></?(?:{_TAGS})(?=[\s/>])(?P<attributes>[^<>]*)>)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_ALTERNATIVE = re.compile(r"(?<![\w-])alt\s*=\s*(?:\"([^\"]+)\"|'([^']+)')", re.IGNORECASE)
_HIDDEN_TAG = re.compile(r"<(?P<name>span|div|p|small|font|b|i|em|strong)\b(?P<attributes>[^<>]*)>", re.IGNORECASE)
_LINK = re.compile(
    r"!?\[((?:[^\[\]\\]|\\.)*)\](?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\])"
)
_EMPHASIS = re.compile(r"(?<![\w\\])(\*{1,3}|_{1,3}|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_SPAN_OR_PROSE = re.compile(r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)|(?:(?!`+.+?`).)+", re.DOTALL)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ANY_TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)([^<>]*)>")
_NO_CONTAINER = frozenset(
    ("br", "col", "hr", "img", "input", "link", "meta", "source", "wbr", "p", "li", "td", "th", "tr")
)
_NEVER_SHOWN = frozenset(("template", "noscript"))
_HEADING_ID = re.compile(r"\s*\{#[\w:.-]+\}\s*$")
_LONGEST_HEADING = 2_000
"""Characters up to which marks are looked for; nobody writes longer headings, but generated files hold them."""


def visible_markdown(text: str) -> tuple[str, int]:
    """Markdown without HTML comments, tags and hidden elements.

    Tags that are not HTML (``<your-name>``) are placeholders that the author wants read, and stay.

    Returns:
        The text, and how many characters of comments and hidden elements went.
    """
    if "<" not in text:
        return text, 0
    runs = _runs_of_ticks(text)
    kept: list[str] = []
    hidden, place = 0, 0
    while match := _PIECES.search(text, place):
        kept.append(text[place : match.start()])
        place = match.end()
        if match["ticks"]:
            place = _end_of_code(runs, match)
            kept.append(text[match.start() : place])
        elif match["fence"]:
            kept.append(match["fence"])
        elif match["comment"]:
            hidden += len(match["comment"])
        else:
            after = _end_of_hidden(text, match)
            hidden += after - place
            kept.append(_in_place_of(match) if after == match.end() else "")
            place = after
    return "".join([*kept, text[place:]]), hidden


def _in_place_of(tag: re.Match[str]) -> str:
    """What a reader sees of a tag: a line break, the description of a picture, or nothing."""
    name = tag["tag"].lower()
    if name.startswith("<br"):
        # In a table a new line would end the row.
        return " " if "|" in tag.string else "\n"
    described = _ALTERNATIVE.search(tag["attributes"]) if name.startswith("<img") else None
    return " ".join((described[1] or described[2]).split()) if described else ""


def _runs_of_ticks(text: str) -> dict[int, list[int]]:
    """Where the runs of backticks begin, by their length."""
    runs: dict[int, list[int]] = {}
    for match in re.finditer("`+", text):
        runs.setdefault(len(match[0]), []).append(match.start())
    return runs


def _end_of_code(runs: dict[int, list[int]], opening: re.Match[str]) -> int:
    """Where a code span ends: after as many backticks as opened it, else right after them."""
    size = len(opening["ticks"])
    starts = runs.get(size, [])
    closing = bisect_left(starts, opening.end())
    return starts[closing] + size if closing < len(starts) else opening.end()


def _end_of_hidden(text: str, tag: re.Match[str]) -> int:
    """Where the element that ``tag`` opens ends when it is hidden, else right after the tag."""
    opening = _HIDDEN_TAG.fullmatch(tag["tag"])
    if not opening or not hides(opening["attributes"]):
        return tag.end()
    closing = re.compile(rf"</{opening['name']}\s*>", re.IGNORECASE).search(text, tag.end())
    return closing.end() if closing else len(text)


def hides(attributes: str) -> bool:
    """Whether raw attributes of an HTML tag hide its element."""
    style = re.search(r"style\s*=\s*(\"[^\"]*\"|'[^']*'|\S+)", attributes, re.IGNORECASE)
    if style and hiding_style(style[1].strip("\"'")):
        return True
    plain = re.sub(r"=\s*(\"[^\"]*\"|'[^']*')", "= ", attributes)
    return bool(re.search(r"(?<![\w-])hidden(?![\w-])", plain, re.IGNORECASE)) or bool(
        re.search(r"aria-hidden\s*=\s*[\"']?true", attributes, re.IGNORECASE)
    )


class HiddenSpan:
    """A hidden HTML element whose start and end stand in different blocks of Markdown."""

    def __init__(self) -> None:
        self._name = ""
        self._depth = 0

    def __bool__(self) -> bool:
        """Whether a hidden element is open."""
        return self._depth > 0

    def pass_over(self, markup: str) -> None:
        """Take the tags of one more block of HTML into account."""
        for closing, name, attributes in _ANY_TAG.findall(markup):
            if not self._depth:
                self._open(closing, name.lower(), attributes)
            elif name.lower() == self._name:
                self._depth += -1 if closing else 1

    def _open(self, closing: str, name: str, attributes: str) -> None:
        if not closing and name not in _NO_CONTAINER and (name in _NEVER_SHOWN or hides(attributes)):
            self._name, self._depth = name, 1


def hiding_style(style: str) -> bool:
    """Whether an inline style makes its element invisible."""
    compact = re.sub(r"/\*.*?\*/|\s", "", style, flags=re.DOTALL).lower()
    rules = dict(rule.split(":", 1) for rule in compact.split(";") if ":" in rule)
    values = {name: value.removesuffix("!important") for name, value in rules.items()}
    return (
        values.get("display") == "none"
        or values.get("visibility") in {"hidden", "collapse"}
        or bool(re.fullmatch(r"0(\.0*)?%?", values.get("opacity", "")))
        or bool(re.fullmatch(r"0(\.0*)?([a-z]+|%)?", values.get("font-size", "")))
    )


def plain_words(text: str) -> str:
    """The words of a heading: links give their text, emphasis, code marks, ids and escapes go."""
    if len(text) > _LONGEST_HEADING:
        return text.strip()
    words = _LINK.sub(r"\1", _HEADING_ID.sub("", text))
    return _SPAN_OR_PROSE.sub(_shown_part, words).strip()


def _shown_part(match: re.Match[str]) -> str:
    if match["code"] is not None:
        return match["code"]
    return _ESCAPE.sub(r"\1", _EMPHASIS.sub(r"\2", match[0]))
