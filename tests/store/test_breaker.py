"""The breaker opens after failures in a row, and lets one call through to see whether things work again."""

from __future__ import annotations

import threading

import pytest

from store.breaker import (
    BreakerPolicy,
    BreakerState,
    CircuitBreaker,
    admitted,
    after_failure,
    after_success,
)

POLICY = BreakerPolicy(failures=3, rest=60.0)


@pytest.fixture
def breaker(clock):
    return CircuitBreaker(POLICY, clock)


def fail(breaker, times):
    for _ in range(times):
        assert breaker.admit()
        breaker.failed()


def test_a_fresh_breaker_lets_calls_through():
    assert admitted(BreakerState(), 0.0) == BreakerState()


def test_one_failure_less_than_the_limit_changes_nothing(breaker):
    fail(breaker, 2)
    assert breaker.admit()
    assert breaker.remaining == 0.0


def test_failures_in_a_row_open_it_for_its_rest(breaker, clock):
    fail(breaker, 3)
    assert not breaker.admit()
    assert breaker.remaining == 60.0
    clock.now += 59.9
    assert not breaker.admit()


def test_a_success_in_between_starts_the_count_again(breaker):
    fail(breaker, 2)
    assert breaker.admit()
    breaker.succeeded()
    fail(breaker, 2)
    assert breaker.admit()


def test_after_its_rest_exactly_one_call_tries(breaker, clock):
    fail(breaker, 3)
    clock.now += 60
    assert [breaker.admit() for _ in range(3)] == [True, False, False]


def test_a_trial_that_works_closes_it(breaker, clock):
    fail(breaker, 3)
    clock.now += 60
    breaker.admit()
    breaker.succeeded()
    assert [breaker.admit() for _ in range(3)] == [True, True, True]
    assert breaker.remaining == 0.0


def test_a_trial_that_fails_opens_it_for_another_rest(breaker, clock):
    fail(breaker, 3)
    clock.now += 60
    breaker.admit()
    breaker.failed()
    assert not breaker.admit()
    assert breaker.remaining == 60.0


def test_an_abandoned_trial_leaves_the_next_call_to_try(breaker, clock):
    fail(breaker, 3)
    clock.now += 60
    breaker.admit()
    breaker.abandoned()
    assert [breaker.admit(), breaker.admit()] == [True, False]


def test_states_are_values():
    state = after_failure(BreakerState(), BreakerPolicy(failures=1, rest=5.0), 10.0)
    assert state == BreakerState(failures=1, open_until=15.0)
    assert admitted(state, 14.9) is None
    assert admitted(state, 15.0).trying
    assert after_success() == BreakerState()


def test_of_many_threads_one_tries(breaker, clock):
    fail(breaker, 3)
    clock.now += 60
    barrier = threading.Barrier(8)
    admitted_calls = []

    def call():
        barrier.wait()
        admitted_calls.append(breaker.admit())

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(admitted_calls) == 1
