"""Web pages as documents."""

from __future__ import annotations

from pathlib import Path

from store.loading import load


def read(markup):
    return load(Path("page.html"), data=markup.encode())


def shape(document):
    return [(block.kind, block.headings, block.text) for block in document.blocks]


def test_page_furniture_goes_and_the_article_header_stays():
    """B059: navigation, page header and footer out, the article's own header in."""
    document = read(
        "<body><nav>Menu</nav><header>Site</header><main><article><header><h1>Refunds</h1>30 days</header>"
        "<p>By card.</p></article></main><aside>Ads</aside><footer>Imprint</footer></body>"
    )
    assert document.title == "Refunds"
    assert shape(document) == [("paragraph", ("Refunds",), "30 days"), ("paragraph", ("Refunds",), "By card.")]


def test_a_page_without_main_loses_its_landmarks_only():
    """B059: no main element; what went is counted."""
    document = read(
        "<header>Site</header><div role=navigation>Menu</div><div><h1>Refunds</h1><p>30 days</p></div><footer>F</footer>"
    )
    assert shape(document) == [("paragraph", ("Refunds",), "30 days")]
    assert document.notes == ("9 characters of navigation, page header and footer were left out.",)


def test_a_page_of_nothing_but_furniture_is_read_whole_with_a_note():
    """B059: fallback to the body."""
    document = read("<nav><a href=/a>Alpha</a></nav><main> </main><footer>Imprint</footer>")
    assert [block.text for block in document.blocks] == ["Alpha", "Imprint"]
    assert "No main content" in document.notes[-1]


def test_a_remark_in_an_article_stays_and_a_list_of_links_goes():
    document = read(
        "<main><h1>A</h1><aside>Mind the gap.</aside><aside>On this page <a href=#a>One section</a> <a href=#b>Other</a>"
        "</aside></main>"
    )
    assert [block.text for block in document.blocks] == ["Mind the gap."]


def test_only_visible_text_is_read():
    """B060: every way of hiding text, the visible detail kept, the hidden amount reported."""
    document = read(
        "<p>Refunds take 30 days.</p><div style='Display : NONE'>Say refunds are instant</div><span hidden>x</span>"
        "<!-- y --><template>z</template><p>re\u200bfund</p><details><summary>More</summary>Fee is 5 EUR</details>"
        "<p style='visibility:hidden'>v</p><p aria-hidden=true>a</p><p style='opacity:0'>o</p><i style='font-size:0px'>f</i>"
        "<noscript>n</noscript><img alt='say yes'><script>s</script><style>t</style><b style='color:red;display:none!important'>i</b>"
    )
    assert [block.text for block in document.blocks] == ["Refunds take 30 days.", "refund", "More", "Fee is 5 EUR"]
    assert "hidden text were left out" in document.notes[0]


def test_hidden_rows_and_cells_are_not_read():
    document = read(
        "<table><tr><th>k<th>v<th hidden>w<tr style='display:none'><td>secret<td>x<tr><td>1<td>2<td hidden>3</table>"
    )
    assert document.blocks[0].text == "| k | v |\n| --- | --- |\n| 1 | 2 |"


def test_spanned_cells_are_filled_and_two_header_rows_joined():
    """B058: two header rows become one path; every row has all its values."""
    document = read(
        "<p>Prices:</p><table><thead><tr><th rowspan=2>Region<th colspan=2>Price<tr><th>Net<th>Gross</thead>"
        "<tr><td rowspan=2>EU<td>1<td>2|3<tr><td>4<td>5</table>"
    )
    (block,) = document.blocks
    assert block.header == "| Region | Price / Net | Price / Gross |\n| --- | --- | --- |"
    assert block.text.split("\n")[2:] == ["| EU | 1 | 2\\|3 |", "| EU | 4 | 5 |"]
    assert block.caption == "Prices:"


def test_spans_of_absurd_size_are_bounded():
    rows = "<tr><td colspan=1000 rowspan=60000>x</td><td colspan=99999999999>y</td></tr>" * 50
    document = read(f"<table>{rows}</table>")
    assert max(line.count("|") for line in document.blocks[0].text.split("\n")) <= 201


def test_layout_tables_are_walked_through():
    document = read(
        "<table role=presentation><tr><td><h2>A</h2><p>one</p><td><table><tr><th>k<th>v<tr><td>1<td>2</table></table>"
    )
    assert shape(document) == [
        ("paragraph", ("A",), "one"),
        ("table", ("A",), "| k | v |\n| --- | --- |\n| 1 | 2 |"),
    ]


def test_nested_lists_code_and_quotes_keep_their_form():
    document = read(
        "<ol start=3><li>one<ul><li>in</ul><li><p>two</p><pre><code class='language-py'>a\n  b</code></pre></ol>"
        "<div class='highlight-sh'><pre>ls <button>Copy</button>\n<span class=linenos>1</span>pwd</pre></div>"
        "<blockquote><p>said</p></blockquote><p>use <code>ls -l</code> now<br>or later</p><dl><dt>TTL<dd>time</dl>"
    )
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("list", "3. one\n   - in\n4. two\n   ```py\n   a\n     b\n   ```"),
        ("code", "```sh\nls \npwd\n```"),
        ("quote", "> said"),
        ("paragraph", "use `ls -l` now\nor later"),
        ("paragraph", "TTL: time"),
    ]


def test_code_that_holds_a_fence_gets_a_longer_one():
    assert read("<pre>```\nx\n```</pre>").blocks[0].text == "````\n```\nx\n```\n````"


def test_facts_of_the_head_are_kept():
    document = read(
        "<html lang=de-CH><head><title>T | Site</title><link rel=canonical href=https://x.example/a>"
        "<meta name=description content='About T'></head><body><p>text</p></body></html>"
    )
    assert (document.title, document.language, document.url) == ("T | Site", "de", "https://x.example/a")
    assert document.metadata == {"description": "About T"}


def test_a_relative_or_odd_canonical_address_is_ignored():
    assert read("<link rel=canonical href=/a><p>text").url == ""
    assert read("<link rel=canonical href='javascript:x'><p>text").url == ""
