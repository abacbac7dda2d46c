"""One thread of one process at a time brings documents in, over all that share a database."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from store.database import open_database
from store.errors import BusyError, UnavailableError
from store.turn import Turn


def test_whoever_has_the_turn_may_take_it_again(database):
    turn = Turn(database, wait_seconds=0)
    with turn, turn, turn.if_free() as free:
        assert free
        turn.confirm()
    with turn:
        pass


def test_threads_of_one_process_take_turns(database):
    turn, inside, most = Turn(database), [], []

    def work(number):
        with turn:
            inside.append(number)
            most.append(len(inside))
            inside.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(40)))
    assert (len(most), max(most)) == (40, 1)


def test_another_thread_is_told_that_the_turn_is_taken(database):
    turn, found = Turn(database), []

    def look():
        with turn.if_free() as free:
            found.append(free)

    with turn, ThreadPoolExecutor(1) as pool:
        pool.submit(look).result()
    look()
    assert found == [False, True]


@pytest.fixture
def processes(postgres):
    """Two processes on one schema, and one on another of the same server."""
    here, elsewhere = postgres.empty_schema(), postgres.empty_schema()
    opened = [open_database(here), open_database(here), open_database(elsewhere)]
    yield opened
    for database in opened:
        database.close()


@pytest.mark.postgres
def test_another_process_is_waited_for_and_then_named(processes):
    first, second, elsewhere = processes
    told = []
    with Turn(first), Turn(elsewhere, wait_seconds=0):
        with pytest.raises(BusyError, match=r"another process \(.+ since \d\d:\d\d UTC, pid \d+ on .+\)\. Wait"):
            Turn(second, 0.0, told.append).__enter__()
        with Turn(second).if_free() as free:
            assert not free
    assert [sentence.startswith("Waiting for another process") for sentence in told] == [True]
    with Turn(second, wait_seconds=0) as _:
        pass


@pytest.mark.postgres
def test_a_waiting_process_goes_on_as_soon_as_the_other_is_done(processes):
    first, second, _ = processes
    order, taken, waiting = [], threading.Event(), threading.Event()

    def bring_in():
        with Turn(first):
            taken.set()
            waiting.wait(20)
            order.append("first")

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(bring_in)
        assert taken.wait(20)
        with Turn(second, 20.0, lambda _: waiting.set()):
            order.append("second")
        running.result()
    assert order == ["first", "second"]


@pytest.mark.postgres
def test_whoever_would_lose_something_waits_for_longer_until_it_is_broken_off(processes):
    first, second, _ = processes
    broken_off, told = threading.Event(), threading.Event()
    turn = Turn(second, 0.0, lambda _: told.set())

    def wait():
        with turn.awaited(broken_off):
            return "taken"

    with ThreadPoolExecutor(1) as pool:
        with Turn(first):
            waiting = pool.submit(wait)
            assert told.wait(20)
        assert waiting.result(20) == "taken"
        with Turn(first):
            waiting = pool.submit(wait)
            broken_off.set()
            with pytest.raises(BusyError):
                waiting.result(20)
    with turn:
        pass


@pytest.mark.postgres
def test_a_turn_whose_connection_is_lost_writes_nothing_more_and_another_process_may_begin(processes):
    first, second, _ = processes
    turn = Turn(first)
    with turn:
        with second.begin() as connection:
            holder = turn._connection.scalar(text("SELECT pg_backend_pid()"))
            connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": holder})
        for _ in range(2):
            with pytest.raises(UnavailableError, match=r"was lost\. Run the command again; what was finished is kept"):
                turn.confirm()
        with Turn(second, wait_seconds=5):
            pass
    with turn:
        turn.confirm()
