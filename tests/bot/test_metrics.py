"""What a running bot counts: real questions, and nothing of their words in a label."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.answering.llm_client import LlmClient
from bot.answering.llm_http import Endpoint
from bot.chat.api_counts import ApiCounts
from bot.metrics import Metrics
from bot.metrics_readings import LlmCollector, Readings, StoreCollector, WorkCollector
from store.breaker import BreakerPolicy
from store.errors import LlmError, UnavailableError
from store.records import Question, Visibility
from tests.fakes.installation import Installation

ANSWERABLE = "How do I reset the VPN client?"
UNANSWERABLE = "Where is the zanzibar ledger of Bartholomew?"


def values(metrics):
    """Every sample of the page: (name, label values by label name) → number."""
    families = text_string_to_metric_families(metrics.page().decode())
    return {
        (s.name, *(value for _, value in sorted(s.labels.items()))): s.value
        for family in families
        for s in family.samples
    }


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("data"))
    installation.write({"vpn.md": "# VPN\n\nTo reset the VPN client, press the blue button.\n"})
    installation.write(
        {"pay.md": "# Pay\n\nBand seven earns a secret amount.\n"},
        collection="salaries-of-the-board",
        visibility=Visibility.PRIVATE,
    )
    yield installation
    installation.close()


@pytest.fixture
def metrics():
    return Metrics(("digest",))


def test_questions_refusals_and_gaps_are_counted(here, metrics):
    engine = here.engine(observer=metrics)
    engine.ask(Question(ANSWERABLE, platform="slack"))
    engine.ask(Question(UNANSWERABLE, platform="discord"))
    here.clock.forward(minutes=30)
    engine.ask(Question(UNANSWERABLE, platform="discord", asker="discord:2"))
    engine.ask(Question(ANSWERABLE, platform="slack"), log=False)
    found = values(metrics)
    assert found["gaplight_questions_total", "slack", "answered"] == 1
    assert found["gaplight_questions_total", "discord", "abstained"] == 2
    assert found["gaplight_abstentions_total", "no_relevant_passages"] == 2
    assert found["gaplight_gap_questions_total", "no_coverage"] == 2
    assert found["gaplight_gaps_opened_total",] == 1
    for stage in ("embed", "dense", "lexical", "search", "gate", "total"):
        assert found["gaplight_stage_seconds_count", stage] == 3
    assert found["gaplight_stage_seconds_count", "answer"] == 1


def test_a_question_that_cannot_be_logged_is_answered_and_counted(here, metrics):
    class Full:
        def record(self, record):
            raise UnavailableError("The disk is full.")

    reply = here.engine(questions=Full(), observer=metrics).ask(Question(ANSWERABLE))
    assert "blue button" in reply.answer
    assert values(metrics)["gaplight_unlogged_questions_total",] == 1


def test_no_label_holds_anything_of_a_question_a_person_a_channel_or_a_collection(here, metrics):
    question = Question(
        "Which amount does band seven of Bartholomew earn?",
        asker="slack:U0SECRET",
        platform="Bartholomew",
        channel="C0SECRET",
        visibility=Visibility.PRIVATE,
        collections=("salaries-of-the-board",),
    )
    here.engine(observer=metrics).ask(question)
    metrics.job_ended("Bartholomew", succeeded=True)
    page = metrics.page().decode()
    for word in ("Bartholomew", "U0SECRET", "C0SECRET", "salaries", "amount", "seven", "pay.md"):
        assert word not in page
    found = values(metrics)
    assert sum(value for key, value in found.items() if key[:2] == ("gaplight_questions_total", "other")) == 1
    assert found["gaplight_jobs_total", "other", "succeeded"] == 1


def test_series_are_there_before_their_first_event(metrics):
    found = values(metrics)
    for key in (
        ("gaplight_abstentions_total", "unsupported_citation"),
        ("gaplight_unlogged_questions_total",),
        ("gaplight_votes_total", "unhelpful"),
        ("gaplight_jobs_total", "digest", "failed"),
        ("gaplight_stage_seconds_count", "total"),
    ):
        assert found[key] == 0


def test_the_build_tells_the_policy_in_force_now():
    metrics = Metrics()
    for policy in ("before", "after"):
        metrics.policy = policy
        assert [key[1] for key in values(metrics) if key[0] == "gaplight_build_info"] == [policy]


def test_two_processes_in_one_interpreter_do_not_share_counters(here):
    one, other = Metrics(), Metrics()
    one.voted(helpful=False)
    assert (values(one)["gaplight_votes_total", "unhelpful"], values(other)["gaplight_votes_total", "unhelpful"]) == (
        1,
        0,
    )


class Core:
    in_flight, waiting, undelivered = 3, 2, 1


def test_work_connections_and_calls_are_read_when_the_page_is_made(metrics):
    calls = ApiCounts(limited=4, retried=3, refused=2, given_up=1)
    connected = {"slack": True}
    metrics.read_at_scrape(WorkCollector(Core(), {"slack": lambda: connected["slack"]}, {"slack": calls}))
    assert values(metrics)["gaplight_platform_up", "slack"] == 1
    connected["slack"] = False
    found = values(metrics)
    assert found["gaplight_platform_up", "slack"] == 0
    assert (found["gaplight_in_flight",], found["gaplight_waiting",], found["gaplight_undelivered_total",]) == (3, 2, 1)
    assert found["gaplight_api_retries_total", "slack", "rate_limited"] == 4
    assert found["gaplight_api_failures_total", "given_up", "slack"] == 1


def test_a_database_that_does_not_answer_leaves_no_stale_figures(metrics, tmp_path, here):
    latest = [Readings(2, 7, {"open": 5}, {"digest": here.clock()})]
    metrics.read_at_scrape(StoreCollector(tmp_path, lambda: latest[0]))
    found = values(metrics)
    assert (found["gaplight_database_up",], found["gaplight_documents",], found["gaplight_gaps", "open"]) == (1, 2, 5)
    assert found["gaplight_job_last_success_timestamp_seconds", "digest"] == here.clock().timestamp()
    latest[0] = None
    found = values(metrics)
    assert found["gaplight_database_up",] == 0
    assert ("gaplight_documents",) not in found
    assert found["gaplight_data_free_bytes",] > 0


def test_a_language_model_that_is_out_of_reach_shows_by_kind_and_opens_its_breaker(metrics):
    client = LlmClient(Endpoint("http://127.0.0.1:9/v1", "m", retries=0), BreakerPolicy(failures=1))
    metrics.read_at_scrape(LlmCollector(client))
    for _ in range(2):
        with pytest.raises(LlmError):
            client.complete((), answer_tokens=10)
    client.close()
    found = values(metrics)
    assert found["gaplight_llm_calls_total",] == 2
    assert found["gaplight_llm_failures_total", "unreachable"] == 1
    assert found["gaplight_llm_failures_total", "circuit_open"] == 1
    assert found["gaplight_llm_breaker_open",] == 1


def test_gaps_are_counted_by_state_without_being_read(here):
    here.engine().ask(Question("Where is the northern lighthouse keeper?"))
    assert sum(here.gaps.counts().values()) == len(here.gaps.list())
    assert here.gaps.counts()["closed"] == 0
