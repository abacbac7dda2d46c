"""The commands as a person calls them: what they print, what they exit with, what they leave behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def home(tmp_path_factory, model_cache):
    """A folder with documents that were ingested once."""
    folder = tmp_path_factory.mktemp("home")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "vpn.md").write_text(
        "# VPN\n\n## Reset\n\nTo reset the VPN:\n\n1. Open the client.\n2. Press the blue button.\n3. Sign in again.\n"
    )
    (docs / "mail.md").write_text("# Mail\n\nThe mailbox quota is 5 GB. Larger files go to the file share.\n")
    (docs / "backup.md").write_text("# Backup\n\nThe database is backed up every night at two.\n")
    done = run(folder, model_cache, "ingest", "docs", "--json")
    assert json.loads(done.stdout)["added"] == 3
    return folder


@pytest.fixture
def gaplight(home, model_cache):
    return lambda *words, **options: run(home, model_cache, *words, **options)


def run(folder, model_cache, *words, text="", **variables):
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GAPLIGHT_", "DATABASE_URL"))},
        "GAPLIGHT_EMBEDDING__CACHE": str(model_cache),
        **variables,
    }
    command = [sys.executable, "-m", "bot", *words]
    environment["PYTHONPATH"] = str(Path.cwd())
    return subprocess.run(
        command,
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        encoding=variables.get("PYTHONIOENCODING", "utf-8"),
        env=environment,
        check=False,
        timeout=120,
    )


def test_an_answer_quotes_its_document_and_cites_it(gaplight):
    done = gaplight("ask", "How do I reset the VPN?")
    assert done.returncode == 0
    assert "2. Press the blue button." in done.stdout
    assert "[1] vpn.md › Reset" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_reply_as_json_has_every_field_of_the_contract(gaplight):
    reply = json.loads(gaplight("ask", "How do I reset the VPN?", "--json", "--no-log").stdout)
    assert set(reply) >= {
        "question", "status", "reason", "answer", "citations", "passages", "max_score", "support", "rules", "gap",
        "policy", "timings_ms",
    }  # fmt: skip
    assert (reply["status"], reply["reason"], reply["gap"]) == ("answered", None, None)
    assert set(reply["citations"][0]) == {"number", "document", "title", "section", "url", "score", "quote"}
    assert set(reply["passages"][0]) == {"document", "section", "score", "rank"}
    assert set(reply["timings_ms"]) == {"embed", "search", "gate", "answer", "total"}
    assert 0 <= reply["support"] <= 1


def test_what_the_documents_do_not_cover_is_refused_logged_and_listed(gaplight):
    """The worked example of the rules, from the command line to the gap log."""
    reply = json.loads(gaplight("ask", "Terraform module best practices", "--json").stdout)
    assert (reply["status"], reply["reason"]) == ("abstained", "no_relevant_passages")
    assert reply["rules"] == ["no_relevant_chunks", "few_distinct_lessons", "missing_platform", "weak_answer_language"]
    assert reply["gap"]["type"] == "missing_platform"
    gaps = json.loads(gaplight("gaps", "list", "--json").stdout)
    assert reply["gap"]["id"] in {gap["id"] for gap in gaps}
    shown = gaplight("gaps", "show", reply["gap"]["id"][:8]).stdout
    assert "Terraform module best practices" in shown


def test_no_log_leaves_no_trace(gaplight):
    before = gaplight("gaps", "list", "--json").stdout
    reply = json.loads(gaplight("ask", "Which Ansible playbook do we use?", "--no-log", "--json").stdout)
    assert (reply["status"], reply["gap"]) == ("abstained", None)
    assert gaplight("gaps", "list", "--json").stdout == before


def test_a_gap_is_closed_reopened_by_a_new_question_and_exported(gaplight):
    question = "How many vacation days do I get?"
    gap = json.loads(gaplight("ask", question, "--json").stdout)["gap"]["id"]
    assert "closed" in gaplight("gaps", "close", gap[:10], "--note", "in the handbook").stdout
    assert json.loads(gaplight("gaps", "show", gap, "--json").stdout)["state"] == "closed"
    gaplight("ask", question)
    assert json.loads(gaplight("gaps", "show", gap, "--json").stdout)["state"] == "reopened"
    exported = gaplight("gaps", "export", "--format", "jsonl").stdout
    assert gap in {json.loads(line)["id"] for line in exported.splitlines()}
    assert gaplight("gaps", "export", "--format", "csv").stdout.startswith("id,state,type,question")
    assert "| Gap |" in gaplight("gaps", "export", "--format", "md").stdout


def test_a_batch_answers_in_order_with_its_ids(gaplight, home):
    lines = [
        {"id": "a", "question": "How do I reset the VPN?"},
        {"id": "b", "question": "thanks!"},
        {"id": "c", "question": "when is it backed up?", "history": [{"role": "user", "text": "tell me of the database"}]},
    ]  # fmt: skip
    (home / "batch.jsonl").write_text("\n".join(json.dumps(line) for line in lines) + "\n\n")
    done = gaplight("ask", "--batch", "batch.jsonl", "--no-log", "--json")
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [reply["id"] for reply in replies] == ["a", "b", "c"]
    assert [reply["status"] for reply in replies] == ["answered", "smalltalk", "answered"]
    assert replies[2]["citations"][0]["document"] == "backup.md"


def test_a_wrong_line_of_a_batch_is_an_error_of_its_own_and_stops_no_other(gaplight, home):
    """Exit code 3: done with some items failed. Ids come back in the type they were given in."""
    good = b'{"id": 7, "question": "How do I reset the VPN? \xe2\x80\xa8"}'
    wrong = [
        b"not json",
        b'{"id": "a"}',
        b'{"id": "b", "question": 5}',
        b'{"id": "c", "question": "x", "history": [{"role": "king", "text": "y"}]}',
        b'{"id": "d", "question": "x", "collections": ["none"]}',
        b'{"id": "e", "question": "\xff"}',
    ]
    (home / "wrong.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\n".join([*wrong, b"", good]))
    done = gaplight("ask", "--batch", "wrong.jsonl", "--no-log", "--json")
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 3
    assert [reply["id"] for reply in replies] == [1, "a", "b", "c", "d", 6, 7]
    assert [reply["status"] for reply in replies] == ["error"] * 6 + ["answered"]
    assert all(reply["answer"] for reply in replies)


def test_a_conversation_over_a_pipe_understands_a_follow_up(gaplight):
    done = gaplight("chat", text="How do I reset the VPN?\n\nand the mailbox quota?\n/nonsense\n/quit\nnever read\n")
    assert done.returncode == 0
    assert "blue button" in done.stdout
    assert "5 GB" in done.stdout
    assert "There is no command '/nonsense'" in done.stdout
    assert "never read" not in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("ask",), 2, "Give either a question"),
        (("ask", "x", "--scope", "version"), 2, "key=value"),
        (("ask", "quota", "--collection", "none"), 2, "There is no collection 'none'"),
        (("ingest", "nowhere"), 2, "nowhere does not exist"),
        (("ingest",), 2, "No path was given"),
        (("gaps", "show", "zzzz"), 1, "zzzz"),
        (("--config", "missing.toml", "stats"), 2, "missing.toml does not exist"),
        (("frobnicate",), 2, "frobnicate"),
    ],
)
def test_wrong_use_names_what_was_wrong(gaplight, words, code, says):
    done = gaplight(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_an_empty_variable_counts_as_not_set_and_an_unknown_one_is_named(gaplight):
    assert gaplight("stats", GAPLIGHT_DATA="", GAPLIGHT_GATE__SUPPORT="").returncode == 0
    done = gaplight("stats", GAPLIGHT_DATAA="x")
    assert (done.returncode, "GAPLIGHT_DATAA" in done.stderr) == (2, True)


def test_the_version_is_that_of_the_package(gaplight):
    assert gaplight("--version").stdout.startswith("gaplight 0.")


def test_a_wrong_setting_is_named_with_the_closest_known_one(gaplight):
    done = gaplight("stats", GAPLIGHT_GATE__MODE="loose")
    assert (done.returncode, "gate.mode" in done.stderr) == (2, True)
    done = gaplight("stats", GAPLIGHT_GATE__MODUS="off")
    assert "Did you mean 'mode'?" in done.stderr


def test_output_survives_a_terminal_that_knows_no_unicode(gaplight):
    """B104: what cannot be shown is replaced, the exit code is that of the command."""
    done = gaplight("ask", "How do I reset the VPN? 東京", PYTHONIOENCODING="cp1252", LANG="C")
    assert done.returncode == 0
    assert "[1] vpn.md" in done.stdout


def test_an_empty_index_says_so_and_logs_no_gap(tmp_path, model_cache):
    """B045: day one."""
    done = run(tmp_path, model_cache, "ask", "How do I reset the VPN?", "--json")
    reply = json.loads(done.stdout)
    assert (reply["status"], reply["reason"], reply["gap"]) == ("abstained", "empty_index", None)


def test_doctor_passes_and_init_writes_settings_that_load(gaplight, home):
    done = gaplight("doctor")
    assert done.returncode == 0
    assert "covers en" in done.stdout
    assert gaplight("--config", "new.toml", "init", "--docs", "docs").returncode == 0
    again = gaplight("--config", "new.toml", "ingest", "--json")
    assert json.loads(again.stdout)["unchanged"] == 3
    assert gaplight("--config", "new.toml", "init").returncode == 1


def test_doctor_says_that_the_model_does_not_cover_chinese(tmp_path, model_cache):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# 年度报告\n\n创新科技有限公司在2020年完成了对该公司的股权收购。\n")
    run(tmp_path, model_cache, "ingest", "docs")
    done = run(tmp_path, model_cache, "doctor")
    assert done.returncode == 0
    assert "does not cover the language 'zh'" in done.stdout
    reply = json.loads(run(tmp_path, model_cache, "ask", "创新科技有限公司收购了什么？", "--json").stdout)
    assert reply["passages"][0]["document"] == "a.md"


def test_stats_count_what_happened(gaplight):
    gaplight("ask", "How do I reset the VPN?")
    stats = json.loads(gaplight("stats", "--json").stdout)
    assert stats["documents"] == 3
    assert stats["statuses"]["answered"] >= 1
    assert stats["latencies"]["total"]["p50"] > 0


def test_reindex_makes_an_index_that_was_deleted_answer_again(gaplight, home):
    import shutil

    shutil.rmtree(home / ".gaplight" / "vectors")
    done = gaplight("ask", "How do I reset the VPN?")
    assert (done.returncode, "gaplight reindex" in done.stderr) == (1, True)
    assert gaplight("reindex", "--json").stdout.strip() == '{"chunks": 3}'
    assert "blue button" in gaplight("ask", "How do I reset the VPN?").stdout


def test_a_damaged_vector_store_is_survived_by_words_and_mended_by_reindex(gaplight, home):
    """The command that the message names is the one that helps."""
    for file in (home / ".gaplight" / "vectors").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:100])
    done = gaplight("ask", "How do I reset the VPN?", "--json", "--no-log")
    reply = json.loads(done.stdout)
    assert (done.returncode, reply["passages"][0]["document"], reply["gap"]) == (0, "vpn.md", None)
    assert "vector store failed" in " ".join(reply["notes"])
    assert gaplight("doctor").returncode == 1
    assert gaplight("reindex").returncode == 0
    assert gaplight("doctor").returncode == 0
    assert "blue button" in gaplight("ask", "How do I reset the VPN?").stdout


def test_a_vector_server_that_is_down_leaves_the_search_by_words(gaplight):
    done = gaplight("ask", "How do I reset the VPN?", "--json", "--no-log", GAPLIGHT_VECTORS__URL="http://127.0.0.1:9")
    reply = json.loads(done.stdout)
    assert (done.returncode, reply["passages"][0]["document"], reply["gap"]) == (0, "vpn.md", None)


def test_a_second_process_is_told_who_holds_the_folder_and_what_to_do(gaplight, home, model_cache):
    """B041: two processes on one embedded vector store would lose data."""
    holder = subprocess.Popen(
        [sys.executable, "-m", "bot", "chat"],
        cwd=home,
        env={**os.environ, "GAPLIGHT_EMBEDDING__CACHE": str(model_cache), "PYTHONPATH": str(Path.cwd())},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        holder.stdin.write("/help\n")
        holder.stdin.flush()
        assert "Ask a question" in holder.stdout.readline()
        done = gaplight("ask", "How do I reset the VPN?")
        assert done.returncode == 1
        assert f"process {holder.pid}" in done.stderr
        assert "vectors.url" in done.stderr
        assert gaplight("gaps", "list").returncode == 0
    finally:
        holder.communicate("/quit\n", timeout=60)
    assert gaplight("ask", "How do I reset the VPN?").returncode == 0


_ON_A_FULL_DISK = """
import resource, sys
from bot.__main__ import main
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
sys.argv = ["gaplight", "--config", sys.argv[1], "init"]
main()
"""


def test_settings_that_did_not_fit_on_the_disk_leave_no_half_file(tmp_path):
    """It would be in the way of the next attempt."""
    target = tmp_path / "gaplight.toml"
    command = [sys.executable, "-c", _ON_A_FULL_DISK, str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert not target.exists()


@pytest.mark.parametrize("asker", ["", " ", "U012AB3CD", "slack:"])
def test_nobody_is_forgotten_by_an_id_without_platform_or_name(gaplight, asker):
    gaplight("ask", "How do I reset the VPN?")
    done = gaplight("forget", asker)
    assert done.returncode == 2
    assert "slack:U012AB3CD" in done.stderr
    assert "deleted" in gaplight("forget", "slack:U012AB3CD").stdout
    assert json.loads(gaplight("stats", "--json").stdout)["questions"] > 0
