"""The report shows everything, runs nothing, and fetches nothing."""

from __future__ import annotations

import base64
import csv
import hashlib
import re
import shutil
import subprocess
from datetime import UTC, datetime
from importlib.resources import files

import numpy as np
import pytest
from selectolax.lexbor import LexborHTMLParser

from discovery.measuring.probe import Comparison, Item, Near, ProbeResult, probe_json
from discovery.measuring.report import Context, bin_of, heat_map, histogram, render, shade
from discovery.measuring.report_files import read_earlier, write_report
from store.errors import UsageError

ABOUT = Context(datetime(2026, 6, 1, 9, 0, tzinfo=UTC), 12, 80)
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "[c](jAvAsCrIpT:alert(1))",
    "[c](javascript&#58;alert(1))",
    '![\\" onerror=alert(1) ](x)',
    "</script><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "{{ 7*7 }}{% raw %}",
    '"><svg onload=alert(1)>',
    "✅ 東京 😀 \u202e",
]


def item(question, *, covered=False, support=0.3, scenario="all questions", near=True):
    nearest = Near(f"{question}.md", question, question) if near else None
    return Item(question, scenario, covered, 0.4, support, "" if covered else "insufficient_evidence", nearest)


HOSTILE_RESULT = ProbeResult(tuple(item(text, scenario=text) for text in HOSTILE), 0.55, "p1")


def page_of(result, about=ABOUT):
    return LexborHTMLParser(render(result, about))


def test_hostile_texts_are_shown_as_they_are():
    page = page_of(HOSTILE_RESULT)
    assert sorted(node.text() for node in page.css("article h4")) == sorted(HOSTILE)
    assert {node.text() for node in page.css("blockquote")} == set(HOSTILE)
    assert not page.css("script, img, iframe, object, embed, form, [onerror], [onload], [style]")


def test_nothing_is_fetched_and_the_only_style_is_the_allowed_one():
    text = render(HOSTILE_RESULT, ABOUT)
    page = LexborHTMLParser(text)
    assert [link.attributes["href"] for link in page.css("[href]")] == ["#gaps"]
    assert not page.css("[src], link, base")
    policy = page.css_first("meta[http-equiv]").attributes["content"]
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'")
    assert f"'sha256-{digest}'" in policy


def test_every_figure_has_words_beside_its_colour():
    result = ProbeResult(
        (
            item("A?", covered=True, support=0.9, scenario="vpn"),
            item("B?", scenario="vpn"),
            item("C?", scenario="mail"),
        ),
        0.55,
        "p1",
    )
    page = page_of(result)
    assert [row.css_first("th").text() for row in page.css("tbody tr")][:2] == ["mail", "vpn"]
    assert "50 %" in page.css("tbody tr")[1].text()
    assert "0.9 to 1.0: 1 covered, 0 gaps." in page.css_first("svg desc").text()
    assert page.css_first("svg").attributes["role"] == "img"
    assert page.css_first("html").attributes["lang"] == "en"
    assert all(head.attributes.get("scope") for head in page.css("th"))
    assert "can't prove" in page.css_first(".honest").text()


def test_what_changed_stands_at_the_top():
    compared = Comparison(("One?", "Two?", "Three?"), ("Four?",), 0, 0)
    page = page_of(ProbeResult((item("A?"),), 0.5, "p"), Context(ABOUT.made_at, 1, 1, compared, "2026-05-01 09:00"))
    assert "3 gaps closed, 1 new gap since 2026-05-01 09:00." in page.css_first(".changed").text()


def test_a_report_that_quotes_private_documents_says_so():
    private = Item("A?", "s", False, 0.1, 0.1, "", Near("hr.md", "", "secret", private=True))
    assert "Keep it as private" in page_of(ProbeResult((private,), 0.5, "p")).css_first("main").text()
    assert "Keep it as private" not in page_of(ProbeResult((item("A?"),), 0.5, "p")).css_first("main").text()


@pytest.mark.parametrize("items", [(), (item("A?", covered=True),), (item("A?", near=False),)])
def test_empty_covered_and_unfound_are_shown(items):
    assert page_of(ProbeResult(items, 0.5, "")).css_first("h1").text() == "What the documents cover"


@pytest.mark.parametrize(("support", "place"), [(0.0, 0), (0.099, 0), (0.1, 1), (0.999, 9), (1.0, 9)])
def test_supports_fall_into_ten_ranges(support, place):
    assert bin_of(support) == place


def test_bars_and_rows_count_every_question_once():
    items = tuple(item(f"{n}?", support=n / 20, covered=n > 10, scenario=f"s{n % 3}") for n in range(21))
    result = ProbeResult(items, 0.5, "")
    assert sum(bar.covered + bar.gaps for bar in histogram(items)) == 21
    assert sum(sum(row.cells) for row in heat_map(result)) == 21
    assert (shade(0, 5), shade(1, 100), shade(5, 5)) == (0, 1, 5)


def test_files_are_utf8_and_no_spreadsheet_runs_them(tmp_path):
    result = ProbeResult((item("=HYPERLINK(1)"), item(" @cmd"), item("✅ 東京"), item("-1 degrees")), 0.5, "p")
    write_report(tmp_path / "new" / "report", render(result, ABOUT), result, probe_json(result))
    table = (tmp_path / "new" / "report" / "items.csv").read_bytes()
    assert table.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(table.decode("utf-8-sig").splitlines()))
    assert [row["question"] for row in rows] == ["'=HYPERLINK(1)", "' @cmd", "✅ 東京", "'-1 degrees"]
    assert read_earlier(tmp_path / "new" / "report")["questions"] == 4
    assert not list((tmp_path / "new" / "report").glob(".*"))


def test_an_earlier_report_that_is_none_is_told(tmp_path):
    assert read_earlier(tmp_path) is None
    (tmp_path / "probe.json").write_text("[]")
    with pytest.raises(UsageError, match="not the JSON of a probe"):
        read_earlier(tmp_path)
    (tmp_path / "probe.json").write_text("{")
    with pytest.raises(UsageError, match="not the JSON of a probe"):
        read_earlier(tmp_path)


STYLE = files("discovery.measuring").joinpath("templates/report.css").read_text(encoding="utf-8")


def luminance(colour):
    """Relative luminance of ``#rrggbb``, as WCAG 2.2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("colours", re.findall(r"--s1:.*", STYLE), ids=["light", "dark"])
@pytest.mark.parametrize("level", range(1, 6))
def test_the_number_in_a_cell_can_be_read_on_its_colour(colours, level):
    """4.5 to 1 is what WCAG 2.2 wants of text this small."""
    named = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", colours))
    pair = [luminance(named[f"s{level}"]), luminance(named["s-text" if level < 4 else "s-dark"])]
    assert (max(pair) + 0.05) / (min(pair) + 0.05) >= 4.5


BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), "")


def opened_in_browser(folder, markup):
    """The page as it stands after loading, and what the browser's console says; blocked requests are said there."""
    (folder / "index.html").write_text(markup, encoding="utf-8")
    done = subprocess.run(
        [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}",
            "--enable-logging=stderr", "--v=0", "--dump-dom", (folder / "index.html").as_uri(),
        ],
        capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    return LexborHTMLParser(done.stdout), [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.skipif(not BROWSER, reason="No Chromium is installed (apt-get install chromium).")
def test_a_real_browser_runs_nothing_and_asks_nobody(tmp_path):
    page, console = opened_in_browser(tmp_path, render(HOSTILE_RESULT, ABOUT))
    assert {node.text() for node in page.css("blockquote")} == set(HOSTILE)
    assert not page.css("script, img, [onerror], [onload]")
    assert console == []


@pytest.mark.skipif(not BROWSER, reason="No Chromium is installed (apt-get install chromium).")
def test_the_policy_of_the_page_would_stop_scripts_and_requests(tmp_path):
    """The proof that the test above would see them: the same page with an image, a script and a style smuggled in."""
    smuggled = '<img src="http://127.0.0.1:9/x.png"><script>document.title = "run"</script><p style="color:red">x</p>'
    markup = render(HOSTILE_RESULT, ABOUT).replace("</main>", f"{smuggled}</main>")
    page, console = opened_in_browser(tmp_path, markup)
    assert len(console) == 3
    assert page.css_first("title").text() != "run"
