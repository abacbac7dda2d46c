"""Nobody but the configured ends gets a request with our tokens: neither by a redirect nor by an address in content."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aiohttp
import numpy as np
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.answering.llm_http import ChatHttp, Endpoint
from bot.chat.slack_calls import RefusedError, SlackCalls
from bot.settings import load_settings
from discovery.finders.github import GithubFinder
from discovery.finders.github_api import GithubApi
from store import remote_embedding_http
from store.chroma_address import ChromaServer
from store.errors import ConfigurationError, GaplightError
from store.records import Source
from store.vector_server import ServerVectors
from tests.fakes.github import FakeGithub
from tests.fakes.slack_running import QUICK

TOKEN = "token-of-ours"
REDIRECTS = (301, 302, 303, 307, 308)


class Server:
    """Answers every request alike, and remembers what came."""

    def __init__(self, answer):
        self.requests = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def _any(self):
                server.requests.append((self.path, dict(self.headers)))
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, headers, body = answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = _any  # noqa: N815

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def served(*answers):
    servers = [Server(answer) for answer in answers]
    try:
        yield servers
    finally:
        for server in servers:
            server.close()


@pytest.fixture
def elsewhere():
    with served((200, {"Content-Type": "application/json"}, b'{"data": []}')) as (server,):
        yield server


@pytest.fixture(params=REDIRECTS)
def redirecting(request, elsewhere):
    with served((request.param, {"Location": f"{elsewhere.url}/stolen"}, b"")) as (server,):
        yield server


def test_github_leads_the_token_nowhere_else(redirecting, elsewhere):
    api = GithubApi(redirecting.url, TOKEN, lambda: datetime.now(UTC))
    with pytest.raises(GaplightError):
        api.get("/repositories/1")
    assert redirecting.requests
    assert elsewhere.requests == []


def test_a_language_model_leads_key_and_prompt_nowhere_else(redirecting, elsewhere):
    http = ChatHttp(Endpoint(f"{redirecting.url}/v1", "m", api_key=TOKEN))
    try:
        with pytest.raises(GaplightError):
            http.chat({"messages": []}, 5)
        with pytest.raises(GaplightError):
            http.models(5)
    finally:
        http.close()
    assert redirecting.requests
    assert elsewhere.requests == []


def test_an_embedding_endpoint_leads_key_and_texts_nowhere_else(redirecting, elsewhere):
    endpoint = remote_embedding_http.Endpoint(redirecting.url, api_key=TOKEN, retries=0)
    http = remote_embedding_http.EmbeddingHttp(endpoint)
    try:
        for body in (None, {"input": ["private"]}):
            with pytest.raises(GaplightError):
                http.call(f"{redirecting.url}/v1/embeddings", body, 5)
    finally:
        http.close()
    assert redirecting.requests
    assert elsewhere.requests == []


def test_a_chroma_server_leads_the_key_nowhere_else(redirecting, elsewhere):
    vectors = ServerVectors(ChromaServer(redirecting.url, api_key=TOKEN), "model", lambda _collection: 1)
    try:
        with pytest.raises(GaplightError):
            vectors.query("c", np.ones(3, dtype=np.float32), 5, {})
    finally:
        vectors.close()
    assert redirecting.requests
    assert elsewhere.requests == []


def slack_respond(api_url, url):
    async def respond():
        async with aiohttp.ClientSession() as session:
            client = AsyncWebClient(TOKEN, base_url=api_url, session=session, retry_handlers=[])
            await SlackCalls(client, QUICK).respond(url, {"text": "private"})

    asyncio.run(respond())


@pytest.mark.parametrize("path", ["/response", "@slack.com/x", "?.slack.com"])
def test_words_for_one_person_go_to_slack_alone(elsewhere, path):
    with pytest.raises(RefusedError, match="foreign_address"):
        slack_respond("https://slack.com/api/", f"{elsewhere.url}{path}")
    assert elsewhere.requests == []


def test_words_for_one_person_follow_no_redirect(redirecting, elsewhere):
    with pytest.raises(GaplightError):
        slack_respond(f"{redirecting.url}/api/", f"{redirecting.url}/response")
    assert redirecting.requests
    assert elsewhere.requests == []


def test_addresses_in_what_github_answers_are_not_followed(elsewhere):
    """Neither of a file nor of its repository: what is fetched is named by ids and paths, on the configured host."""
    github = FakeGithub()
    try:
        repository = github.add("acme/handbook", {"a.md": "# A\n\nText.\n"})
        finder = GithubFinder(GithubApi(github.url, "", lambda: github.now))
        api = finder._api
        real = api.get

        def hostile(path, /, **parameters):
            data = real(path, **parameters)
            if isinstance(data, dict):
                names = ("download_url", "git_url", "html_url", "url", "blobs_url", "contents_url")
                data = data | dict.fromkeys(names, f"{elsewhere.url}/stolen")
            return data

        api.get = hostile
        commit = next(iter(real("/repos/acme/handbook/commits", path="a.md", per_page=1)))["sha"]
        source = Source(f"github:{repository.id}:a.md", "github", "A", "acme/handbook:a.md", revision=commit)
        assert finder.fetch(source).content == b"# A\n\nText.\n"
        assert elsewhere.requests == []
    finally:
        github.close()


SETTINGS = ("slack.api_url", "discord.api_url", "github.api_url", "llm.base_url", "embedding.base_url", "vectors.url")


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("value", ["http://169.254.169.254/", "file:///etc/passwd", "http://me:hunter2@x.example/"])
def test_every_address_in_the_settings_is_checked_and_its_secrets_are_not_shown(setting, value, tmp_path):
    section, _, key = setting.partition(".")
    config = tmp_path / "gaplight.toml"
    config.write_text(f'[{section}]\n{key} = "{value}"\n', encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        load_settings(config)
    assert setting in str(caught.value)
    assert "hunter2" not in str(caught.value)
