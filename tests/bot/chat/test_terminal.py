"""A conversation line by line, over the handlers that every platform shares."""

from __future__ import annotations

import io

from bot.chat.handlers import Handlers
from bot.chat.terminal import converse, masked_history, typed_lines
from tests.fakes.installation import Installation

DOCS = {
    "vpn.md": "# VPN\n\n## Reset\n\nTo reset the VPN client, press the blue button.\n",
    "mail.md": "# Mail\n\n## Quota\n\nThe mailbox quota is 5 GB.\n",
}


def talk(tmp_path, *lines):
    installation = Installation(tmp_path)
    installation.write(DOCS)
    shown = []
    asked = converse(Handlers(installation.engine(mode="off")), iter(lines), shown.append)
    understood = {record.text for record in installation.questions.since(installation.clock())}
    installation.close()
    return asked, shown, understood


def test_questions_are_answered_until_quit(tmp_path):
    asked, shown, _ = talk(tmp_path, "reset the VPN client\n", "\n", "   ", "mailbox quota\n", "/quit\n", "never read")
    assert asked == 2
    assert ["blue button" in shown[0].text, "5 GB" in shown[1].text] == [True, True]
    assert len(shown) == 2


def test_a_new_conversation_forgets_the_old_one(tmp_path):
    _, shown, understood = talk(tmp_path, "mailbox quota?", "how large is it?", "/new", "how large is it?")
    assert "5 GB" in shown[1].text
    assert shown[2].text == "A new conversation."
    assert understood == {"mailbox quota?", "mailbox quota? how large is it?", "how large is it?"}


def test_commands_are_no_questions(tmp_path):
    asked, shown, _ = talk(tmp_path, "/help", "/frobnicate now", "/exit", "never read")
    assert asked == 0
    assert shown[0].text.startswith("Ask a question")
    assert shown[1].text.startswith("There is no command '/frobnicate'.")
    assert [message.reply for message in shown] == [None, None]


def test_a_pipe_gives_its_lines_and_leaves_no_history(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("one\ntwo"))
    assert list(typed_lines(tmp_path / "deep" / "history")) == ["one\n", "two"]
    assert list(tmp_path.iterdir()) == []


def test_a_secret_that_was_typed_is_masked_in_the_history(tmp_path):
    file = tmp_path / "data" / "history"
    masked_history(file).append_string("Why does the login with password: hunter2000 fail?")
    assert "hunter2000" not in file.read_text(encoding="utf-8")
    assert [*masked_history(file).load_history_strings()] == ["Why does the login with password: [secret] fail?"]
