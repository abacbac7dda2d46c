"""A document is brought in by one run at a time; what a dead run had claimed is free again."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select

from store.document_claims import LEASE, DocumentClaims
from store.statements import batches
from store.tables import document_claims
from tests.fakes.installation import Clock

NAMES = [f"/docs/{number}.md" for number in range(40)]


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def claims(database, clock):
    """Of a process whose runs renew nothing by themselves while the test runs."""
    return DocumentClaims(database, clock=lambda _connection: clock())


def rows(database):
    with database.connect() as connection:
        return connection.scalar(select(func.count()).select_from(document_claims))


def test_what_one_run_has_claimed_is_left_to_it(claims):
    with claims.run("docs") as first, claims.run("docs") as second:
        assert first.claim(NAMES[:3]) == set(NAMES[:3])
        assert second.claim(NAMES[:5]) == set(NAMES[3:5])
        assert first.claim(NAMES[:5]) == set(NAMES[:3])
        assert first.free(NAMES[:6]) == {*NAMES[:3], NAMES[5]}
        assert second.kept(NAMES) == set(NAMES[3:5])


def test_collections_have_claims_of_their_own(claims):
    with claims.run("docs") as first, claims.run("wiki") as second:
        assert first.claim(NAMES) == second.claim(NAMES) == set(NAMES)
        second.release(NAMES)
        assert first.kept(NAMES) == set(NAMES)


def test_released_claims_and_those_of_a_run_that_ended_are_free(claims, database):
    with claims.run("docs") as first, claims.run("docs") as second:
        first.claim(NAMES[:4])
        first.release(NAMES[:1])
        second.release(NAMES[1:2])  # not its own
        assert second.claim(NAMES[:4]) == {NAMES[0]}
        assert rows(database) == 4
    assert rows(database) == 0
    with claims.run("docs") as third:
        assert third.claim(NAMES) == set(NAMES)


def test_a_run_that_fails_gives_its_claims_back(claims, database):
    def fails():
        with claims.run("docs") as run:
            run.claim(NAMES)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert rows(database) == 0


def test_a_claim_that_was_not_renewed_can_be_taken_over_and_its_run_notices(claims, clock):
    with claims.run("docs") as slept, claims.run("docs") as other:
        slept.claim(NAMES[:2])
        clock.forward(seconds=LEASE.total_seconds() - 1)
        assert other.claim(NAMES[:1]) == set()
        clock.forward(seconds=2)
        assert other.free(NAMES[:2]) == set(NAMES[:2])
        assert other.claim(NAMES[:1]) == {NAMES[0]}
        assert slept.kept(NAMES[:2]) == {NAMES[1]}
        slept.release(NAMES[:2])
        assert other.kept(NAMES[:2]) == {NAMES[0]}


def test_a_run_that_ends_takes_away_what_dead_runs_left_and_nothing_else(claims, clock, database):
    with claims.run("wiki") as dead:
        dead.claim(NAMES[:3])
        clock.forward(seconds=LEASE.total_seconds() + 1)
        with claims.run("docs") as living:
            living.claim(NAMES[:2])
            with claims.run("docs") as ends:
                ends.claim(NAMES[2:])
            assert living.kept(NAMES) == set(NAMES[:2])
            assert (dead.kept(NAMES), rows(database)) == (set(), 2)


def test_a_renewed_claim_holds_for_another_lease(claims, clock):
    with claims.run("docs") as first, claims.run("docs") as second:
        first.claim(NAMES[:1])
        for _ in range(3):
            clock.forward(seconds=LEASE.total_seconds() - 1)
            first.renew()
        assert second.claim(NAMES[:1]) == set()


def test_a_run_renews_its_claims_for_as_long_as_it_lives(database):
    short = DocumentClaims(database, timedelta(seconds=0.6))
    with short.run("docs") as first, short.run("docs") as second:
        first.claim(NAMES[:1])
        time.sleep(1.5)
        assert second.claim(NAMES[:1]) == set()


def test_runs_that_claim_at_once_share_everything_between_them(claims):
    def work(_number):
        with claims.run("docs") as run:
            return [name for group in batches(NAMES, 3) for name in run.claim(group)], run.kept(NAMES)

    with ThreadPoolExecutor(8) as pool, claims.run("docs") as before:
        assert before.claim(NAMES[:3]) == set(NAMES[:3])
        results = list(pool.map(work, range(8)))
    for claimed, kept in results:
        assert set(claimed) == kept
    assert {name for claimed, _ in results for name in claimed} == set(NAMES[3:])


def test_what_a_dead_process_claimed_is_free_at_once_in_sqlite(sqlite_database):
    """The lock on the data folder says that it is dead; a laptop's owner need not wait for the lease."""
    with DocumentClaims(sqlite_database).run("docs") as dead, DocumentClaims(sqlite_database).run("docs") as next_one:
        assert dead.claim(NAMES) == next_one.claim(NAMES) == set(NAMES)


@pytest.mark.postgres
def test_the_clock_is_that_of_the_server_where_there_is_one(postgres_database):
    with DocumentClaims(postgres_database).run("docs") as run, postgres_database.connect() as connection:
        run.claim(NAMES[:1])
        expires, present = connection.execute(select(document_claims.c.expires_at, func.clock_timestamp())).one()
    assert timedelta(0) < LEASE - (expires - present) < timedelta(seconds=10)
    assert expires > datetime(2026, 1, 1, tzinfo=UTC)
