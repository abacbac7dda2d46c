"""What would keep the HTML parser busy for minutes, told before it is given the page. Pure.

The parser's time grows with the square of two things: elements that are open at once (HTML standard, 13.2.4.2), and
attributes of one tag, which it compares with each other. Its memory grows with the number of tags.
"""

from __future__ import annotations

import re

from store.errors import LoadError

_WORK_LIMIT = 100_000_000
"""Sum of open elements over all tags: this many steps take about two seconds, real pages stay below a hundredth."""
_TAG_LIMIT = 2_000_000
"""Tags of a page; each costs about 240 bytes while it is read."""
_ATTRIBUTE_LIMIT = 500
"""Attributes of one tag; 20,000 take the parser more than a second."""
_SHORT = 1_000
"""Characters of a tag in which too many attributes have no room."""
_STEPS = 5_000_000
"""Attributes that are counted in one page."""
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
_ATTRIBUTE = re.compile(r"[\s/]*([^\s/>=]*)(?:\s*(=)\s*([\"']?))?")
_NEVER_OPEN = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source"),
        *("track", "wbr", "p", "li", "dt", "dd", "option", "tr", "td", "th", "thead", "tbody", "tfoot"),
        *("path", "circle", "rect", "line", "polygon", "polyline", "ellipse", "use", "stop"),
    )
)


def refuse_costly_markup(markup: str) -> None:
    """Refuse pages that would keep the parser busy for minutes, or fill the memory.

    Raises:
        LoadError: elements are nested thousands deep, a tag has hundreds of attributes, or there are millions of tags.
    """
    open_by_name: dict[str, int] = {}
    depth, work = 0, 0
    tags = _Tags(markup)
    for match in _TAG.finditer(markup):
        name = match[2].lower()
        work += depth
        if work > _WORK_LIMIT:
            raise LoadError("The page nests its elements too deeply to be read.", "Save a simpler copy of it.")
        tags.look(match.end())
        if name in _NEVER_OPEN:
            continue
        if not match[1]:
            open_by_name[name] = open_by_name.get(name, 0) + 1
            depth += 1
        elif open_by_name.get(name, 0):
            open_by_name[name] -= 1
            depth -= 1


class _Tags:
    """Counts tags and their attributes. Whatever may begin a tag is taken for one: too many are counted, never too
    few, since whether it does is known to the parser alone.
    """

    def __init__(self, markup: str) -> None:
        self._markup = markup
        self._last = {quote: markup.rfind(quote) for quote in "\"'"}
        self._tags = 0
        self._steps = 0

    def look(self, place: int) -> None:
        """A tag whose name ends here.

        Raises:
            LoadError: there are too many, or it has too many attributes.
        """
        self._tags += 1
        if self._tags > _TAG_LIMIT:
            raise LoadError(f"The page has more than {_TAG_LIMIT:,} tags.", "Split it.")
        end = self._markup.find(">", place, place + _SHORT)
        if end >= 0 and self._closed(place, end):
            return
        if self._attributes(place) > _ATTRIBUTE_LIMIT or self._steps > _STEPS:
            raise LoadError("A tag of the page has too many attributes to be read.", "Save a simpler copy of it.")

    def _closed(self, place: int, end: int) -> bool:
        """Whether no quotation is open at the sign that seems to end the tag."""
        return not any(self._markup.count(quote, place, end) % 2 for quote in "\"'")

    def _attributes(self, place: int) -> int:
        count = 0
        while count <= _ATTRIBUTE_LIMIT and (match := _ATTRIBUTE.match(self._markup, place)):
            self._steps += 1
            count += 1
            if match.end() == place:
                break
            place = self._after_value(match.end(), match[3] or "") if match[2] else match.end()
            if self._markup[place : place + 1] in {">", ""}:
                break
        return count

    def _after_value(self, place: int, quote: str) -> int:
        if not quote:
            return place
        end = self._markup.find(quote, place) if place <= self._last[quote] else -1
        return end + 1 if end >= 0 else place
