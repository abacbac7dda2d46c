"""Opening SQLite files, and addresses of databases."""

import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from sqlalchemy import text

from store.database import Database, _normalised, open_database
from store.errors import ConfigurationError, UnavailableError


def pragma(database, name):
    with database.connect() as connection:
        return connection.exec_driver_sql(f"PRAGMA {name}").scalar()


def test_every_connection_has_the_settings_for_sharing(sqlite_database):
    """B099: WAL, a busy timeout, foreign keys and safe-enough syncing, on the second connection as on the first."""
    with sqlite_database.connect():
        found = {name: pragma(sqlite_database, name) for name in ("busy_timeout", "foreign_keys", "synchronous")}
        assert found == {"busy_timeout": 10_000, "foreign_keys": 1, "synchronous": 1}
        assert pragma(sqlite_database, "journal_mode") == "wal"


def test_missing_folders_are_made_and_the_home_folder_is_known(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    open_database("sqlite:///~/a/b/gaplight.db").close()
    assert (tmp_path / "a" / "b" / "gaplight.db").is_file()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    """B099: the message says which folder and what to do."""
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(UnavailableError, match=r"file/data.*cannot be made.*--data"):
        open_database(f"sqlite:///{tmp_path / 'file' / 'data' / 'gaplight.db'}")


@pytest.fixture
def read_only_folder():
    """A folder with a database that this process may not write; also when the tests run as root."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        open_database(f"sqlite:///{folder / 'gaplight.db'}").close()
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        yield folder
        os.seteuid(user)
        folder.chmod(0o755)


def test_a_read_only_folder_is_refused_with_advice(read_only_folder):
    """B099: writing to a database in a read-only folder says what to check."""

    def write():
        database = open_database(f"sqlite:///{read_only_folder / 'gaplight.db'}")
        with database.begin() as connection:
            connection.execute(text("INSERT INTO counters VALUES ('x', 1)"))

    with pytest.raises(UnavailableError, match=r"does not work: .*Check that the folder exists, may be written"):
        write()


def test_a_server_that_is_away_is_told_of_in_one_line():
    with pytest.raises(UnavailableError, match=r"does not work: [^\n]*[a-z]\.$") as refused:
        open_database("postgresql://bot@127.0.0.1:1/gaplight")
    assert "DATABASE_URL" in refused.value.next_step


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "gaplight.db").write_bytes(b"this is a text file, longer than the header of a database" * 100)
    with pytest.raises(UnavailableError, match="not a database"):
        open_database(f"sqlite:///{tmp_path / 'gaplight.db'}")


def test_a_lock_of_another_program_is_reported_after_the_wait(tmp_path, monkeypatch):
    """B099: a lock that never goes away ends in an error with a next step, not in a hang."""
    monkeypatch.setattr("store.database.SQLITE_BUSY_SECONDS", 0.2)
    database = open_database(f"sqlite:///{tmp_path / 'gaplight.db'}")
    other = sqlite3.connect(tmp_path / "gaplight.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(UnavailableError, match="database is locked"), database.begin():
        pass
    other.execute("ROLLBACK")
    other.close()
    with database.begin() as connection:
        connection.execute(text("INSERT INTO counters VALUES ('x', 1)"))
    database.close()


@pytest.mark.parametrize(
    ("given", "driver"),
    [
        ("postgres://u@h/d", "postgresql+psycopg"),
        ("postgresql://u@h/d", "postgresql+psycopg"),
        ("postgresql+psycopg2://u@h/d", "postgresql+psycopg"),
        ("postgresql+psycopg://u@h/d", "postgresql+psycopg"),
    ],
)
def test_every_postgresql_address_is_spoken_to_through_psycopg(given, driver):
    assert _normalised(given).drivername == driver


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("mysql://u@h/d", "'mysql' is not supported"),
        ("postgresql+asyncpg://u@h/d", "'postgresql.asyncpg' is not supported"),
        ("sqlite://", "in memory"),
        ("sqlite:///:memory:", "in memory"),
        ("", "cannot be read"),
        ("gaplight.db", "cannot be read"),
        ("postgresql://u:hidden-word@h:port/d", "cannot be read"),
    ],
)
def test_other_addresses_are_refused_without_being_quoted(address, problem):
    with pytest.raises(ConfigurationError, match=problem) as failure:
        open_database(address)
    assert "hidden-word" not in str(failure.value)
    assert "sqlite:///folder/gaplight.db" in failure.value.next_step


def test_passwords_in_the_query_are_hidden_too():
    database = Database(_normalised("postgresql://u@h/d?password=hidden-word"))
    assert "hidden-word" not in database.url_without_password
    database.close()


def test_two_processes_can_start_on_a_new_file(tmp_path):
    """Both get the tables; neither sees the other half way."""
    program = (
        "import sys; from store.database import open_database; from sqlalchemy import text\n"
        "database = open_database(sys.argv[1])\n"
        'with database.begin() as c: c.execute(text("INSERT INTO claims (kind, key, claimed_at) "\n'
        "\"VALUES ('k', :key, '2026-01-01')\"), "
        "{'key': sys.argv[2]})\n"
    )
    address = f"sqlite:///{tmp_path / 'gaplight.db'}"
    running = [subprocess.Popen([sys.executable, "-c", program, address, str(number)]) for number in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    database = open_database(address)
    with database.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM claims")) == 3
    database.close()


@pytest.mark.parametrize(
    "address", ["postgresql://bot:ab@hunter2@db/gaps", "postgresql://bot:ab@hun/ter2@db:5432/gaps"]
)
def test_the_rest_of_a_password_with_an_at_sign_is_not_shown_as_the_host(address):
    with pytest.raises(ConfigurationError, match="more than one @") as refused:
        open_database(address)
    assert "%40" in refused.value.next_step
    assert "ter2" not in str(refused.value)
