"""Facts about where sentences end."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answering.sentences import spans, split

CASES = [
    ("One. Two.", ["One.", "Two."]),
    ("Only one sentence without a stop", ["Only one sentence without a stop"]),
    ("", []),
    ("   \n\t ", []),
    ("...", ["..."]),
    ("Use a tool, e.g. Terraform. Then apply.", ["Use a tool, e.g. Terraform.", "Then apply."]),
    ("The primary, i.e. The leader, writes. It wins.", ["The primary, i.e. The leader, writes.", "It wins."]),
    ("Compare rolling vs. Recreate strategies. Choose.", ["Compare rolling vs. Recreate strategies.", "Choose."]),
    ("Ask Dr. Example first. He knows.", ["Ask Dr. Example first.", "He knows."]),
    ("See No. 5 for details. Done.", ["See No. 5 for details.", "Done."]),
    ("Is it safe? No. It is not.", ["Is it safe?", "No.", "It is not."]),
    ("Pods, nodes, etc. are listed. Next.", ["Pods, nodes, etc. are listed.", "Next."]),
    ("It lists pods, nodes, etc. Services follow.", ["It lists pods, nodes, etc.", "Services follow."]),
    ("Fixed in v1.2. Upgrade now.", ["Fixed in v1.2.", "Upgrade now."]),
    ("Version 1.2.3 is old. Use 2.0.", ["Version 1.2.3 is old.", "Use 2.0."]),
    ("Wait 3.5 seconds. Retry.", ["Wait 3.5 seconds.", "Retry."]),
    ("Edit config.yaml and restart.", ["Edit config.yaml and restart."]),
    ("Edit config.yaml. Restart the pod.", ["Edit config.yaml.", "Restart the pod."]),
    ("Copy the .env file. Keep it secret.", ["Copy the .env file.", "Keep it secret."]),
    ("Node.js is needed. Install it.", ["Node.js is needed.", "Install it."]),
    (
        "See https://example.com/a.b?c=d.e for more. Then go.",
        ["See https://example.com/a.b?c=d.e for more.", "Then go."],
    ),
    ("Read https://example.com/guide. Then go.", ["Read https://example.com/guide.", "Then go."]),
    ("Open <https://example.com/x.y>. Log in.", ["Open <https://example.com/x.y>.", "Log in."]),
    ("Run `a. B` twice. Stop.", ["Run `a. B` twice.", "Stop."]),
    ("Run ``x `. Y`` now. Stop.", ["Run ``x `. Y`` now.", "Stop."]),
    ("It prints `Done.` Then it stops.", ["It prints `Done.` Then it stops."]),
    ("See [Setup. First steps](a.md) now. Go.", ["See [Setup. First steps](a.md) now.", "Go."]),
    ("See [wiki](https://example.com/A_(b).c). Go.", ["See [wiki](https://example.com/A_(b).c).", "Go."]),
    ("Really?! Yes.", ["Really?!", "Yes."]),
    ("Stop!!! Now.", ["Stop!!!", "Now."]),
    ("why? because it failed.", ["why?", "because it failed."]),
    ("Wait... what happened? Nothing.", ["Wait... what happened?", "Nothing."]),
    ("It hangs... Restart it.", ["It hangs...", "Restart it."]),
    ("It hangs… Restart it.", ["It hangs…", "Restart it."]),
    ('He said "It works." Then it failed.', ['He said "It works."', "Then it failed."]),
    ('"Is it up?" she asked. Yes.', ['"Is it up?" she asked.', "Yes."]),
    ("It works (see below.) Then stop.", ["It works (see below.)", "Then stop."]),
    ("It works (see A. B too). Then stop.", ["It works (see A. B too).", "Then stop."]),
    ("**Never do this.** Ask first.", ["**Never do this.**", "Ask first."]),
    ("Log in. `kubectl` connects.", ["Log in.", "`kubectl` connects."]),
    ("restart the agent. then wait.", ["restart the agent.", "then wait."]),
    ("Wait 5 sec. then retry. Done.", ["Wait 5 sec. then retry.", "Done."]),
    ("The U.S. Army uses it. Good.", ["The U.S. Army uses it.", "Good."]),
    ("We sell in the U.S. The price is low.", ["We sell in the U.S.", "The price is low."]),
    ("Call at 9 a.m. and ask. Bye.", ["Call at 9 a.m. and ask.", "Bye."]),
    ("Open at 5 p.m. The door is locked.", ["Open at 5 p.m.", "The door is locked."]),
    ("1. Install it. Then run.", ["1. Install it.", "Then run."]),
    ("It costs $3.50. 2 users pay.", ["It costs $3.50.", "2 users pay."]),
    ("First line\nsame sentence. Next\none.", ["First line\nsame sentence.", "Next\none."]),
    ("A title\n\nA text. More", ["A title", "A text.", "More"]),
    ("重启服务。然后检查日志！好了吗？好了；继续", ["重启服务。", "然后检查日志！", "好了吗？", "好了；", "继续"]),
    ("他说“可以。”然后离开。", ["他说“可以。”", "然后离开。"]),
    ("怎么做?运行命令!完成。", ["怎么做?", "运行命令!", "完成。"]),
    ("编辑 config.yaml 文件。重启 v1.2.3 版本。", ["编辑 config.yaml 文件。", "重启 v1.2.3 版本。"]),
    ("使用 `a。b` 命令。完成", ["使用 `a。b` 命令。", "完成"]),
    ("Run make . --all Now. Done.", ["Run make . --all Now.", "Done."]),
    ("No space.Then this stays. Yes.", ["No space.Then this stays.", "Yes."]),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_sentences_end_where_a_reader_ends_them(text, expected):
    assert split(text) == expected


@given(st.text(alphabet=st.sampled_from("aB1. !?…。；\n`()[]\"'”*中"), max_size=80) | st.text(max_size=80))
def test_sentences_hold_every_visible_character_in_order(text):
    found = spans(text)
    assert "".join("".join(split(text)).split()) == "".join(text.split())
    assert all(start < end for start, end in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))


def test_a_text_of_one_megabyte_is_split_in_no_time():
    """Nested brackets and open code spans make no pattern run away."""
    assert len(split("(" * 5000 + "`" * 5000 + "[" * 5000)) == 1
    assert len(split("A word. " * 20_000)) == 20_000
