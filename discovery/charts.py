"""The digest's chart as an image: SVG for pages, PNG for chats, which show no SVG."""

from __future__ import annotations

import io
from html import escape

from discovery.chart_layout import HEIGHT, INK, PAPER, TEXT_SIZE, WIDTH, Layout, Words, layout
from discovery.digest import Chart

_ANCHORS = {"start": "lm", "middle": "mm", "end": "rm"}
_ATTRIBUTES = f'role="img" aria-label="Questions by week and topic" font-family="sans-serif" font-size="{TEXT_SIZE}"'
_LATIN = 0x250
_SCALE = 2


def chart_svg(chart: Chart) -> str:
    """The chart as an SVG element. Names of topics are text in it, never markup."""
    made = layout(chart)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {_ATTRIBUTES}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>',
        *(
            f'<rect x="{box.left:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
            f'fill="{box.colour}"/>'
            for box in made.boxes
        ),
        *(
            f'<text x="{words.left:.1f}" y="{words.middle:.1f}" fill="{INK}" text-anchor="{words.anchor}" '
            f'dominant-baseline="central">{escape(words.text)}</text>'
            for words in made.words
        ),
        "</svg>",
    ]
    return "".join(parts)


def chart_png(chart: Chart) -> bytes:
    """The chart as a PNG of 1,800 by 840 pixels.

    The font has Latin letters only: of a name in another script the number is shown, under which the digest has it.
    """
    from PIL import Image, ImageDraw, ImageFont

    made: Layout = layout(chart)
    image = Image.new("RGB", (WIDTH * _SCALE, HEIGHT * _SCALE), PAPER)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=TEXT_SIZE * _SCALE)
    for box in made.boxes:
        right, bottom = box.left + box.width, box.top + max(box.height, 1)
        corners = (box.left * _SCALE, box.top * _SCALE, right * _SCALE - 1, bottom * _SCALE - 1)
        draw.rectangle(corners, fill=box.colour)
    for words in made.words:
        where = (words.left * _SCALE, words.middle * _SCALE)
        draw.text(where, _writable(words), fill=INK, font=font, anchor=_ANCHORS[words.anchor])
    target = io.BytesIO()
    image.save(target, "PNG", optimize=True)
    return target.getvalue()


def _writable(words: Words) -> str:
    if all(ord(character) < _LATIN or character == "…" for character in words.text):
        return words.text
    number, dot, _ = words.text.partition(".")
    return f"Topic {number}" if dot and number.isdigit() else words.text.encode("ascii", "replace").decode()
