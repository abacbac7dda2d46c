"""Copy, backup and restore as a person calls them; afterwards the other installation answers the same."""

import json
import sqlite3

import pytest

from tests.bot.cli.test_commands import run

QUESTION = "How do I reset the VPN?"


@pytest.fixture(scope="module")
def home(tmp_path_factory, model_cache):
    """A folder with a document that was ingested, a question that was answered, and one that became a gap."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "docs").mkdir()
    (folder / "docs" / "vpn.md").write_text("# VPN\n\n## Reset\n\nTo reset the VPN, press the blue button.\n")
    (folder / "docs" / "mail.md").write_text("# Mail\n\nThe mailbox quota is 5 GB.\n")
    assert run(folder, model_cache, "ingest", "docs").returncode == 0
    assert json.loads(run(folder, model_cache, "ask", "Terraform module best practices", "--json").stdout)["gap"]
    return folder


@pytest.fixture
def gaplight(home, model_cache):
    return lambda *words, **options: run(home, model_cache, *words, **options)


def answer(gaplight, *before, **variables):
    done = gaplight(*before, "ask", QUESTION, "--json", "--no-log", **variables)
    assert done.returncode == 0, done.stderr
    reply = json.loads(done.stdout)
    return reply["status"], reply["citations"][0]["document"]


@pytest.mark.postgres
def test_an_installation_moves_to_postgresql_and_answers_there(gaplight, postgres):
    url = postgres.empty_schema()
    done = gaplight("copy", "--json", COPY_TO_URL=url)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["tables"]["documents"], told["tables"]["gaps"], told["rows"]) == (2, 1, sum(told["tables"].values()))
    assert any("DATABASE_URL" in step for step in told["next"])
    assert answer(gaplight, DATABASE_URL=url) == answer(gaplight) == ("answered", "vpn.md")
    assert gaplight("gaps", "list", "--json", DATABASE_URL=url).stdout == gaplight("gaps", "list", "--json").stdout
    again = gaplight("copy", "--to", url)
    assert (again.returncode, "is not empty (rows: " in again.stderr) == (1, True)


def test_a_copy_says_what_to_do_next(gaplight, tmp_path):
    done = gaplight("copy", "--to", f"sqlite:///{tmp_path / 'new.db'}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "rows of" in done.stdout
    assert "- Run: gaplight reindex" in done.stdout


def test_an_installation_is_not_copied_into_itself(gaplight, home):
    done = gaplight("copy", "--to", f"sqlite:///{home / '.gaplight' / 'gaplight.db'}")
    assert (done.returncode, "is the database that is to be copied" in done.stderr) == (2, True)


def test_a_backup_is_restored_into_a_new_folder_and_answers_there(gaplight, home, tmp_path):
    file = tmp_path / "monday.db"
    written = json.loads(gaplight("backup", str(file), "--json").stdout)
    assert (written["tables"]["documents"], written["bytes"]) == (2, file.stat().st_size)
    restored = json.loads(gaplight("--data", str(tmp_path / "new"), "restore", str(file), "--json").stdout)
    assert (restored["rows"], restored["made_at"]) == (written["rows"], written["made_at"])
    assert gaplight("--data", str(tmp_path / "new"), "reindex").returncode == 0
    assert answer(gaplight, "--data", str(tmp_path / "new")) == ("answered", "vpn.md")


def test_a_backup_is_made_while_the_bot_has_the_data_folder(gaplight, home, tmp_path):
    from store.lock import hold

    with hold(home / ".gaplight"):
        assert gaplight("copy", "--to", f"sqlite:///{tmp_path / 'copy.db'}").returncode == 1
        done = gaplight("backup", str(tmp_path / "running.db"))
    assert (done.returncode, "rows of" in done.stdout) == (0, True)
    over = gaplight("backup", str(tmp_path / "running.db"))
    assert (over.returncode, "exists already" in over.stderr) == (1, True)


def test_a_damaged_backup_is_refused_before_anything_is_written(gaplight, tmp_path):
    file = tmp_path / "backup.db"
    assert gaplight("backup", str(file)).returncode == 0
    connection = sqlite3.connect(file)
    connection.execute("DELETE FROM documents")
    connection.commit()
    connection.close()
    done = gaplight("--data", str(tmp_path / "new"), "restore", str(file))
    assert (done.returncode, "is damaged" in done.stderr, "Take another backup" in done.stderr) == (1, True, True)
    assert json.loads(gaplight("--data", str(tmp_path / "new"), "gaps", "list", "--json").stdout) == []
