"""Everything moves between databases of either kind, or nothing does; a backup holds the same and knows if it doesn't."""

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import insert, select

from store.audit import AuditLog
from store.database import Database, _normalised, open_database
from store.errors import ConflictError, LoadError, NotFoundError, UnavailableError, UsageError
from store.records import AuditEntry
from store.tables import DERIVED, PASSING, audit, lexical_builds, questions, votes
from store.transfer import TRUTH, transfer
from store.transfer_archive import back_up, restore, verify
from tests.fakes.rows import ROWS, content, fill, reflected


@pytest.fixture
def source(database):
    """A database of each kind with rows in every table."""
    with database.begin() as connection:
        fill(connection, TRUTH)
    return database


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def target(request, tmp_path):
    """An empty database of each kind."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'target' / 'gaplight.db'}"
    else:
        url = request.getfixturevalue("postgres").empty_schema()
    database = open_database(url)
    yield database
    database.close()


def held(database, tables=TRUTH):
    with database.connect() as connection:
        return content(connection, tables)


class Watch:
    def __init__(self):
        self.total, self.seen = 0, 0

    def started(self, rows):
        self.total = rows

    def done(self, rows):
        self.seen += rows


def test_every_row_arrives_as_it_was(source, target):
    watch = Watch()
    before = held(source)
    moved = transfer(source, target, watch)
    assert moved == {table.name: ROWS for table in TRUTH}
    assert held(target) == held(source) == before
    assert (watch.total, watch.seen) == (2 * ROWS * len(TRUTH),) * 2


def test_everything_but_the_derived_and_the_passing_tables_is_moved():
    """A new table is moved without anybody thinking of it."""
    assert {table.name for table in PASSING} == {"document_claims"}
    names = {table.name for table in (*TRUTH, *DERIVED)}
    assert names >= {"documents", "chunks", "chunk_vectors", "questions", "votes", "gaps", "candidates", "audit"}
    assert {table.name for table in DERIVED} == {name for name in names if name.startswith("lexical_")}


def test_numbers_go_on_after_those_that_were_copied(source, target):
    transfer(source, target)
    AuditLog(target).record(AuditEntry(datetime(2026, 6, 1, tzinfo=UTC), "cli:me", "approve", "x"))
    numbers = [row["id"] for row in held(target, [audit])["audit"]]
    assert len(set(numbers)) == ROWS + 1
    assert max(numbers) == ROWS + 7


def test_an_index_of_words_that_was_built_of_something_else_asks_for_a_rebuild(source, target):
    with target.begin() as connection:
        connection.execute(insert(lexical_builds), {"format": "1-2", "built_at": datetime.now(UTC)})
    transfer(source, target)
    assert held(target, [lexical_builds]) == {"lexical_builds": []}


def test_a_target_that_is_not_empty_is_refused_and_left_as_it_is(source, target):
    transfer(source, target)
    with target.begin() as connection:
        connection.execute(votes.delete())
        connection.execute(questions.delete())
    before = held(target)
    with pytest.raises(ConflictError, match=r"is not empty \(rows: .*audit 3.*left as it is"):
        transfer(source, target)
    assert held(target) == before


def test_a_database_is_not_copied_into_itself(source):
    with pytest.raises(UsageError, match="is the database that is to be copied"):
        transfer(source, source)


class Failing(Watch):
    """Somebody pulls the plug when the last row is written."""

    def done(self, rows):
        super().done(rows)
        if self.seen >= self.total // 2:
            raise KeyboardInterrupt


def test_an_interrupted_transfer_leaves_nothing(source, target):
    with pytest.raises(KeyboardInterrupt):
        transfer(source, target, Failing())
    assert {len(rows) for rows in held(target).values()} == {0}
    assert transfer(source, target)["questions"] == ROWS


class Damaging(Watch):
    """Changes a row behind the transfer's back, as a broken disk would."""

    def __init__(self, monkeypatch):
        super().__init__()
        self._monkeypatch = monkeypatch

    def done(self, rows):
        super().done(rows)
        if self.seen == self.total // 2:
            import store.transfer

            real = store.transfer._parts

            def other(connection, table):
                for part in real(connection, table):
                    yield [(*row[:-1], None) for row in part] if table is questions else part

            self._monkeypatch.setattr(store.transfer, "_parts", other)


def test_a_row_that_does_not_arrive_as_it_was_undoes_everything(source, target, monkeypatch):
    with (
        monkeypatch.context() as patched,
        pytest.raises(UnavailableError, match=r"table questions .* Nothing was kept"),
    ):
        transfer(source, target, Damaging(patched))
    assert {len(rows) for rows in held(target).values()} == {0}


def test_what_is_written_meanwhile_is_not_half_in_the_copy(source, target):
    """The state of one moment: a vote of a question that came later is not there without its question."""

    class Busy(Watch):
        def started(self, rows):
            super().started(rows)
            with source.begin() as connection:
                known = connection.execute(select(questions)).first()._mapping
                connection.execute(insert(questions), {**known, "id": "late"})
                connection.execute(
                    insert(votes),
                    {"question_id": "late", "asker": "a", "helpful": True, "reason": "", "voted_at": datetime.now(UTC)},
                )

    assert transfer(source, target, Busy())["questions"] == ROWS
    assert len(held(source)["questions"]) == ROWS + 1
    assert len(held(target)["votes"]) == ROWS


# Backups


def test_a_backup_brings_everything_back(source, target, tmp_path):
    file = tmp_path / "monday.db"
    made = back_up(source, file)
    assert made.tables == {table.name: ROWS for table in TRUTH}
    assert verify(file) == made
    assert [path.name for path in tmp_path.glob("*monday*")] == ["monday.db"]
    assert file.stat().st_mode & 0o077 == 0
    before = file.read_bytes()
    restore(file, target)
    assert held(target) == held(source)
    assert file.read_bytes() == before


@pytest.fixture
def file(sqlite_database, tmp_path):
    """A backup of a filled database."""
    with sqlite_database.begin() as connection:
        fill(connection, TRUTH)
    path = tmp_path / "backup.db"
    back_up(sqlite_database, path)
    return path


@pytest.fixture
def empty(sqlite_template, tmp_path):
    shutil.copy(sqlite_template, tmp_path / "empty.db")
    database = open_database(f"sqlite:///{tmp_path / 'empty.db'}")
    yield database
    database.close()


def change(path, *statements):
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def refused(path, database, reason):
    with pytest.raises(LoadError, match=reason):
        restore(path, database)
    assert {len(rows) for rows in held(database).values()} == {0}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE questions SET answer = answer || '.' WHERE rowid = 2",
        "DELETE FROM votes WHERE rowid = 1",
        "INSERT INTO counters VALUES ('more', 1)",
        "UPDATE chunk_vectors SET vector = x'00' WHERE rowid = 1",
        "DROP TABLE audit",
        "UPDATE gaplight_backup SET manifest = '{'",
        "DELETE FROM alembic_version",
    ],
)
def test_a_backup_that_does_not_hold_what_was_written_is_refused(file, empty, statement):
    change(file, statement)
    refused(file, empty, r"backup\.db is damaged.* Take another backup")


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_file_that_was_cut_or_overwritten_is_refused(file, empty, damage):
    data = bytearray(file.read_bytes())
    if damage == "cut":
        data = data[: len(data) // 2]
    else:
        data[len(data) // 2 : len(data) // 2 + 4096] = b"\xff" * 4096
    file.write_bytes(data)
    refused(file, empty, "is damaged")


def test_what_is_no_backup_is_refused_with_the_way_out(empty, tmp_path, sqlite_template):
    (tmp_path / "notes.txt").write_text("no database " * 100)
    refused(tmp_path / "notes.txt", empty, "damaged or no backup")
    refused(sqlite_template, empty, "no backup.*gaplight copy")
    with pytest.raises(NotFoundError, match=r"none\.db.*gaplight backup"):
        restore(tmp_path / "none.db", empty)


def test_a_backup_of_a_newer_version_is_refused(file, empty, tmp_path):
    newer = tmp_path / "newer.db"
    shutil.copy(file, newer)
    change(file, "UPDATE gaplight_backup SET manifest = json_set(manifest, '$.format', 2)")
    refused(file, empty, "format 2; this version reads 1.*or a newer one")
    change(
        newer,
        "UPDATE alembic_version SET version_num = '9999'",
        "UPDATE gaplight_backup SET manifest = json_set(manifest, '$.revision', '9999')",
    )
    refused(newer, empty, "made by another version: .*9999.*or a newer one")


def test_a_backup_of_an_older_version_is_brought_up_to_date(empty, tmp_path, monkeypatch):
    """Made at the first revision, with the tables there were then."""
    import store.transfer_archive as archive

    path = tmp_path / "old.db"
    database = Database(_normalised(f"sqlite:///{path}"))
    config = Config()
    with database.begin() as connection:
        config.attributes["connection"] = connection
        config.set_main_option("script_location", "store:migrations")
        command.upgrade(config, "0001")
        tables = reflected(connection)
        fill(connection, tables)
    database.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        digests = {table.name: archive._digest(connection, table.name).hex for table in tables}
    manifest = archive.Manifest(1, "0001", "2026-01-01T00:00:00+00:00", {table.name: ROWS for table in tables}, digests)
    rows = archive.json.dumps(archive.asdict(manifest)).replace("'", "''")
    change(path, "CREATE TABLE gaplight_backup (manifest TEXT)", f"INSERT INTO gaplight_backup VALUES ('{rows}')")
    restore(path, empty)
    assert {name: len(found) for name, found in held(empty).items() if found} == {table.name: ROWS for table in tables}


def test_a_backup_never_overwrites_and_leaves_nothing_when_it_fails(source, tmp_path):
    file = tmp_path / "kept.db"
    file.write_text("mine")
    with pytest.raises(ConflictError, match=r"kept\.db exists already"):
        back_up(source, file)
    assert file.read_text() == "mine"
    with pytest.raises(UnavailableError, match="Name a file in a folder that exists"):
        back_up(source, tmp_path / "none" / "b.db")
    with pytest.raises(KeyboardInterrupt):
        back_up(source, tmp_path / "broken.db", Failing())
    assert list(tmp_path.glob("*broken*")) == []


def test_a_backup_is_not_restored_over_something(file, sqlite_database):
    with pytest.raises(ConflictError, match="is not empty"):
        restore(file, sqlite_database)
