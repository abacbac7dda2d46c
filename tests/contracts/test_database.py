"""Both databases keep the same values, take the same writers and are upgraded the same way."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Integer, MetaData, Table, func, insert, inspect, select, text

from store.columns import CleanJson, CleanText, UtcDateTime, index_key
from store.database import open_database
from store.errors import ConfigurationError, UnavailableError, UsageError
from store.schema import HEAD, current_revision
from store.tables import claims, counters, metadata


@pytest.fixture
def values(database):
    """A table with one column of each of our types."""
    table = Table(
        f"values_{id(database)}",
        MetaData(),
        Column("id", Integer, primary_key=True),
        Column("words", CleanText),
        Column("data", CleanJson),
        Column("moment", UtcDateTime),
    )
    with database.begin() as connection:
        table.create(connection)
    yield table
    with database.begin() as connection:
        table.drop(connection)


def kept(database, table, **row):
    with database.begin() as connection:
        connection.execute(insert(table), {"id": 1, **row})
    with database.connect() as connection:
        return connection.execute(select(table)).one()


@pytest.mark.parametrize(
    ("given", "stored"),
    [("abc\x00def", "abcdef"), ("\ud800x", "x"), ("a\u200bb\r\nc", "ab\nc"), ("e\u0301", "é"), ("中文 🙂", "中文 🙂")],
)
def test_text_is_stored_clean_and_alike(database, values, given, stored):
    """B100: NUL bytes and lone surrogates never reach the database; the rest comes back as it was."""
    assert kept(database, values, words=given).words == stored


def test_json_is_stored_clean_at_every_depth(database, values):
    """B100: metadata with NUL in keys, values and lists, and numbers that are no JSON."""
    given = {"producer\x00": "Scan\x00", "deep": [{"a": "\ud800b"}], "nan": float("nan"), "none": None, "n": 1.5}
    assert kept(database, values, data=given).data == {
        "producer": "Scan",
        "deep": [{"a": "b"}],
        "nan": "nan",
        "none": None,
        "n": 1.5,
    }


def test_a_missing_json_value_is_an_sql_null(database, values):
    kept(database, values, data=None)
    with database.connect() as connection:
        assert connection.scalar(select(func.count()).where(values.c.data.is_(None))) == 1


def test_an_instant_comes_back_aware_and_in_utc(database, values):
    """B101: the zone of the writer is converted, not dropped."""
    given = datetime(2026, 6, 19, 13, 26, 43, 123456, tzinfo=timezone(timedelta(hours=-8)))
    found = kept(database, values, moment=given).moment
    assert found == given
    assert found.isoformat() == "2026-06-19T21:26:43.123456+00:00"


def test_instants_are_compared_by_time_not_by_wall_clock(database, values):
    """B101: Sunday 23:30 in New York is after Sunday midnight UTC, on both databases."""
    asked = datetime(2026, 6, 21, 23, 30, tzinfo=timezone(timedelta(hours=-4)))
    kept(database, values, moment=asked)
    monday = datetime(2026, 6, 22, tzinfo=UTC)
    with database.connect() as connection:
        assert connection.scalar(select(func.count()).where(values.c.moment >= monday)) == 1


def test_a_naive_time_is_refused(database, values):
    """B101: there is no right reading of a time without a zone."""
    with pytest.raises(UsageError, match="2026-06-19T13:26:43 has no time zone"):
        kept(database, values, moment=datetime(2026, 6, 19, 13, 26, 43))  # noqa: DTZ001


def test_a_failing_block_leaves_nothing(database):
    def write_and_fail():
        with database.begin() as connection:
            connection.execute(insert(counters), {"name": "x", "value": 1})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    with database.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(counters)) == 0


def test_fifty_threads_write_at_once_and_lose_nothing(database):
    """B099: no "database is locked" with many writers."""

    def write(number):
        with database.begin() as connection:
            connection.execute(
                insert(claims), {"kind": "k", "key": index_key(str(number)), "claimed_at": datetime.now(UTC)}
            )

    with ThreadPoolExecutor(50) as pool:
        list(pool.map(write, range(200)))
    with database.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(claims)) == 200


def test_a_writer_waits_for_a_slow_one(database):
    """B099: a transaction that holds the lock for a while delays the others and fails none."""
    holding, done = threading.Event(), []

    def slow():
        with database.begin("some lock") as connection:
            connection.execute(insert(counters), {"name": "slow", "value": 1})
            holding.set()
            threading.Event().wait(0.5)
            done.append("slow")

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(slow)
        assert holding.wait(10)
        with database.begin("some lock") as connection:
            connection.execute(insert(counters), {"name": "quick", "value": 1})
            done.append("quick")
        running.result()
    assert done == ["slow", "quick"]


def test_readers_are_not_blocked_by_a_writer(database):
    with database.begin() as writer:
        writer.execute(insert(counters), {"name": "x", "value": 1})
        with database.connect() as reader:
            assert reader.scalar(select(func.count()).select_from(counters)) == 0


def test_the_first_migration_makes_the_tables_of_the_code(empty_url):
    """The schema after all steps is the one that store.tables describes, and opening again changes nothing."""
    open_database(empty_url).close()
    database = open_database(empty_url)
    with database.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert current_revision(connection) == HEAD
        foreign = inspect(connection).get_foreign_keys("chunks")
    assert [key["options"].get("ondelete") for key in foreign] == ["CASCADE"]
    database.close()


def test_the_known_head_is_the_last_migration():
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "store:migrations")
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def test_a_database_of_a_newer_program_is_refused(empty_url):
    database = open_database(empty_url)
    with database.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    with pytest.raises(ConfigurationError, match=r"revision 9999, which .* Install the newer version"):
        open_database(empty_url)


def test_a_database_without_tables_is_refused_when_it_may_not_be_migrated(empty_url):
    with pytest.raises(ConfigurationError, match=f"revision none; this program needs {HEAD}.*gaplight doctor"):
        open_database(empty_url, migrate=False)


def test_several_starters_make_one_schema(empty_url):
    """Everybody who opens a new database at the same time gets a working one."""
    with ThreadPoolExecutor(4) as pool:
        for database in pool.map(open_database, [empty_url] * 4):
            with database.connect() as connection:
                assert current_revision(connection) == HEAD
            database.close()


@pytest.mark.postgres
def test_a_server_that_does_not_answer_is_named_without_its_password():
    """Connection errors become UnavailableError once, and never show the password."""
    with pytest.raises(UnavailableError) as failure:
        open_database("postgres://somebody:hidden-word@127.0.0.1:1/none")
    assert "somebody:***@127.0.0.1:1/none" in str(failure.value)
    assert "Check that the server runs" in failure.value.next_step
    assert "hidden-word" not in str(failure.value)


@pytest.mark.postgres
def test_connections_lost_in_a_server_restart_are_replaced(postgres):
    database = open_database(postgres.empty_schema())
    with database.connect() as connection:
        lost = connection.scalar(text("SELECT pg_backend_pid()"))
    other = open_database(postgres.empty_schema())
    with other.begin() as connection:
        connection.execute(text(f"SELECT pg_terminate_backend({lost})"))
    with database.connect() as connection:
        assert connection.scalar(text("SELECT 1")) == 1
    database.close()
    other.close()
