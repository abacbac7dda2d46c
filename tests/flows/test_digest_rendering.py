"""Digests as Markdown, pages, images and cards: what people wrote stays text."""

import io
import re
from dataclasses import replace
from datetime import date, timedelta
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt
from PIL import Image
from selectolax.lexbor import LexborHTMLParser

from bot.chat.digest_cards import digest_cards
from bot.digest_json import digest_as_json
from discovery.chart_layout import COLOURS, GREY, HEIGHT, WIDTH, layout
from discovery.charts import chart_png, chart_svg
from discovery.digest import Chart, DigestInputs, make_digest
from discovery.digest_html import digest_html
from discovery.digest_markdown import digest_markdown, plain
from store.gap_activity import Activity
from store.records import Candidate, Nearest, Preview, Source, Topic, Trend
from store.rounds import Round
from tests.fakes.gaps import NOW, gap

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "[c](jAvAsCrIpT:alert(1))",
    "[c](javascript&#58;alert(1))",
    '![\\" onerror=alert(1) ](x)',
    "</script><script>alert(1)</script>",
    "{{ 7*7 }}{% for x in y %}",
    "`code` **bold** # heading | cell",
    "- item\n# heading\n> quote\n1. first",
    "<!channel> <@U1> @everyone @here <https://evil.example|x>",
    "+ plus", "1) one", "=== ===", "&lt;b&gt; &amp; \\",
]  # fmt: skip


def digest(text="How do I reset the VPN?", url="", **values):
    """A digest with one text in every place that people or documents fill."""
    one = gap(text, nearest=Nearest(text, text, text, 0.4))
    other = gap(text + " ?")
    topic = Topic("t1", text, text, (one.id, other.id), askers=2, count=2)
    source = Source("folder:a", "folder", text, text, url=url, licence=text, owner=text, reasons=(text,))
    candidate = Candidate("c1", "t1", text, source, NOW, preview=Preview(3, 2, 0.6, evidence=(one.nearest,)))
    made = Round(NOW, NOW + timedelta(minutes=1), (topic,), NOW - timedelta(days=7), notes=(text,), number=4)
    activity = {one.id: Activity(asked=(NOW,), publicly=(NOW,))}
    inputs = DigestInputs(made, {one.id: one, other.id: other}, activity, [candidate], closed=[one], reopened=[other])
    return replace(make_digest(inputs), **values)


QUIET = digest(quiet=True, topics=())


@pytest.mark.parametrize("text", HOSTILE)
def test_a_page_shows_what_people_wrote_and_runs_nothing(text):
    page = LexborHTMLParser(digest_html(digest(text, url="javascript:alert(1)")))
    assert page.css("script, img, iframe, a, form, object") == []
    allowed = {"class", "lang", "charset", "name", "content", "http-equiv"}
    for node in page.css("body *"):
        if node.tag in {"svg", "rect", "text"}:
            continue
        assert set(node.attributes) <= allowed, node.html
    assert page.css_first("h2").text(deep=False).strip() == f"1. {text}".strip()
    assert page.css_first("blockquote").text() == text


def test_a_page_forbids_scripts_and_everything_from_elsewhere():
    page = LexborHTMLParser(digest_html(digest()))
    policy = page.css_first("meta[http-equiv=Content-Security-Policy]").attributes["content"]
    assert "default-src 'none'" in policy
    assert "script" not in policy


@pytest.mark.parametrize("url", ["https://github.com/acme/docs/blob/1/a.md?x=1&y=\"'><b>", "http://wiki.example/a"])
def test_a_source_on_the_web_is_a_link_that_tells_nothing(url):
    (link,) = LexborHTMLParser(digest_html(digest(url=url))).css("a")
    assert (link.attributes["href"], link.attributes["rel"]) == (url, "noopener noreferrer nofollow")


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//evil", "http://[", ""]
)
def test_any_other_address_is_no_link(url):
    assert LexborHTMLParser(digest_html(digest(url=url))).css("a") == []


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_shows_what_people_wrote_as_text(text):
    tokens = MarkdownIt("commonmark").enable("table").parse(digest_markdown(digest(text, url="javascript:alert(1)")))
    kinds = {child.type for token in tokens for child in token.children or []} | {token.type for token in tokens}
    assert not kinds & {"link_open", "image", "html_inline", "html_block", "em_open", "table_open", "fence"}
    headings = [tokens[place + 1].content for place, token in enumerate(tokens) if token.type == "heading_open"]
    assert len(headings) == 2
    shown = " ".join(text.split()).replace("@", "@\u2060")
    texts = [_text(token) for token in tokens if token.type == "inline"]
    assert shown in texts


def _text(token):
    return "".join(child.content for child in token.children)


def test_nobody_is_called_by_name_where_markdown_is_posted():
    assert "@everyone" not in digest_markdown(digest("ask @everyone"))


def test_a_plain_text_stays_readable():
    assert plain("How do I reset (or change) the VPN?") == "How do I reset (or change) the VPN?"
    assert plain("  two\n lines ") == "two lines"


@pytest.mark.parametrize("render", [digest_markdown, digest_html])
def test_a_quiet_week_is_one_line(render):
    text = re.sub(r"<(head|style)>.*?</\1>|<[^>]+>", "", render(QUIET), flags=re.DOTALL)
    assert text.strip().replace("&#39;", "'").startswith("Nothing new since 12 June 2026: 1 open topic")
    assert len(text.strip().splitlines()) == 1


def test_a_quiet_week_is_one_card():
    (card,) = digest_cards(QUIET)
    assert card.title.startswith("Nothing new since")


def test_cards_are_the_news_then_each_topic_with_its_suggestions():
    cards = digest_cards(digest())
    assert [card.kind for card in cards] == ["digest", "topic", "candidate"]
    assert [card.subject for card in cards] == ["round-4", "t1", "c1"]
    assert cards[1].facts["Asked by"] == "2 people"
    assert [action.verb.value for action in cards[2].actions] == ["approve", "reject", "snooze"]
    assert cards[0].body.startswith("- ")


@pytest.mark.parametrize("text", HOSTILE)
def test_cards_hold_what_people_wrote_as_text(text):
    tokens = [token for card in digest_cards(digest(text))[:2] for token in MarkdownIt().parse(card.body)]
    kinds = {child.type for token in tokens for child in token.children or []} | {token.type for token in tokens}
    assert not kinds & {"link_open", "image", "html_inline", "html_block", "heading_open", "em_open"}


def test_json_holds_the_digest_with_ids_and_moments():
    values = digest_as_json(digest())
    assert (values["round"], values["topics"][0]["id"], values["topics"][0]["candidates"][0]["id"]) == (4, "t1", "c1")
    assert values["since"] == "2026-06-12T12:00:00+00:00"
    assert values["chart"]["series"][0]["questions"][-1] == 1
    assert values["closed"] == {"questions": ["How do I reset the VPN?"], "private": 0}


WEEKS = tuple(date(2026, 6, 1) + timedelta(weeks=week) for week in range(3))
CHART = Chart(WEEKS, (("1. vpn", (3, 0, 5)), ("2. 重置、密码", (1, 0, 1)), ("everything else", (0, 0, 2))))


def test_bars_are_as_high_as_their_numbers_and_stand_on_each_other():
    made = layout(CHART)
    by_colour = {
        colour: [box for box in made.boxes if box.colour == colour and box.width > 14.5] for colour in (*COLOURS, GREY)
    }
    first, second = by_colour[COLOURS[0]], by_colour[COLOURS[1]]
    assert [len(boxes) for boxes in (first, second, by_colour[GREY])] == [2, 2, 1]
    assert first[0].height / first[1].height == pytest.approx(3 / 5)
    assert second[0].top + second[0].height == pytest.approx(first[0].top)


def test_everything_is_within_the_picture():
    for chart in (CHART, Chart(WEEKS, ()), Chart((), ()), Chart(WEEKS, (("1. x" * 99, (10**6, 1, 0)),))):
        made = layout(chart)
        for box in made.boxes:
            assert 0 <= box.left <= box.left + box.width <= WIDTH
            assert 0 <= box.top <= box.top + box.height <= HEIGHT
        assert all(0 <= words.left <= WIDTH and 0 <= words.middle <= HEIGHT for words in made.words)


@pytest.mark.parametrize("text", HOSTILE)
def test_the_chart_on_a_page_is_well_formed_whatever_topics_are_called(text):
    root = ET.fromstring(chart_svg(Chart(WEEKS, ((f"1. {text}"[:34], (1, 2, 3)),))))
    assert {node.tag.rpartition("}")[2] for node in root.iter()} == {"svg", "rect", "text"}
    assert f"1. {text}"[:34] in [node.text for node in root.iter()]


def test_the_chart_for_chats_is_a_picture_with_the_colours_of_the_topics():
    image = Image.open(io.BytesIO(chart_png(CHART)))
    assert (image.format, image.size) == ("PNG", (2 * WIDTH, 2 * HEIGHT))
    colours = {f"#{red:02x}{green:02x}{blue:02x}" for _, (red, green, blue) in image.convert("RGB").getcolors(1 << 24)}
    assert {COLOURS[0], COLOURS[1], GREY} <= colours


def test_every_trend_and_empty_digest_can_be_shown():
    for trend in Trend:
        shown = digest()
        topic = replace(shown.topics[0], topic=replace(shown.topics[0].topic, trend=trend), reasons=(("unknown_rule", 1),), nearest=None, candidates=(), examples=())  # fmt: skip
        for render in (digest_markdown, digest_html, digest_cards):
            assert render(replace(shown, topics=(topic,)))
    empty = make_digest(DigestInputs(Round(NOW, NOW, (), number=1), {}, {}))
    assert digest_markdown(empty) == "Nothing new: 0 open topics.\n"
