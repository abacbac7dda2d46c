"""Whatever revision a database is at, and whatever is in it: bringing it up to date loses nothing."""

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from store.database import Database, _normalised, open_database
from store.schema import HEAD, current_revision
from tests.fakes.rows import ROWS, content, fill, reflected


def _config(**attributes):
    config = Config(attributes=attributes)
    config.set_main_option("script_location", "store:migrations")
    return config


REVISIONS = sorted(script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions())


@pytest.fixture
def former(empty_url):
    """Makes the database of a former revision, with rows in every table; gives what is in it."""

    def made(revision):
        database = Database(_normalised(empty_url))
        with database.begin() as connection:
            command.upgrade(_config(connection=connection), revision)
            tables = reflected(connection)
            fill(connection, tables)
            found = content(connection, tables)
        database.close()
        return found

    return made


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_row_of_a_former_revision_is_there_after_the_upgrade(empty_url, former, revision):
    before = former(revision)
    database = open_database(empty_url)
    with database.connect() as connection:
        assert current_revision(connection) == HEAD
        after = content(connection, reflected(connection))
    database.close()
    assert {name for name, rows in before.items() if len(rows) != ROWS} == set()
    for name, rows in before.items():
        kept = [{column: row[column] for column in rows[0]} for row in after[name]]
        assert sorted(kept, key=repr) == rows, name


def test_what_a_former_revision_did_not_know_is_filled_in(empty_url, former):
    """Questions from before conversations were kept belong to none, and claims carried nothing."""
    former("0001")
    database = open_database(empty_url)
    with database.connect() as connection:
        found = content(connection, [table for table in reflected(connection) if table.name in {"questions", "claims"}])
    database.close()
    assert {row["conversation"] for row in found["questions"]} == {""}
    assert {row["payload"] for row in found["claims"]} == {None}


def test_an_upgrade_that_breaks_off_leaves_the_former_revision_whole(empty_url, former, monkeypatch):
    before = former("0001")

    def full(*_arguments):
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr("alembic.op.create_index", full)
        with pytest.raises(OSError, match="full"):
            open_database(empty_url)
    database = Database(_normalised(empty_url))
    with database.connect() as connection:
        assert current_revision(connection) == "0001"
        assert content(connection, reflected(connection)) == before
    database.close()
