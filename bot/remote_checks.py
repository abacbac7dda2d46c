"""What ``gaplight doctor`` says of vectors that are made or kept on other machines."""

from __future__ import annotations

from collections.abc import Iterator

from bot.credentials import credential
from bot.finding import Finding, Verdict
from bot.remote_wiring import EMBEDDING_KEY, VECTORS_KEY, chroma_server
from bot.settings import Settings
from store.loopback import is_loopback


def embedding_endpoint(settings: Settings, text: str) -> Iterator[Finding]:
    """How the endpoint is reached; that it answers with the right model was found out by loading it.

    Args:
        settings: which endpoint.
        text: what is known of its model.
    """
    where = settings.embedding.base_url
    yield Finding("model", Verdict.OK, f"{text}, run by {where}")
    if where.startswith("http:") and not is_loopback(where):
        carried = f"{EMBEDDING_KEY} and texts" if credential(EMBEDDING_KEY) else "Texts"
        advice = "Use an https address, or a private network."
        yield Finding("model", Verdict.WARNING, f"{carried} go to {where} without encryption.", advice)


def vector_server(settings: Settings) -> Iterator[Finding]:
    """Whether the Chroma server answers, and whether others can read what is in it."""
    if not settings.vectors.url:
        return
    from store.vector_server import server_version

    server = chroma_server(settings)
    yield Finding("vectors", Verdict.OK, f"Chroma {server_version(server)} answers at {server.url}")
    if server.is_local or server.is_cloud:
        return
    if server.url.startswith("http:"):
        key = f" {VECTORS_KEY} goes along in the clear." if server.api_key else ""
        yield Finding(
            "vectors",
            Verdict.WARNING,
            f"{server.url} is neither on this machine nor encrypted.{key} A Chroma server lets in whoever reaches "
            "it: its own token settings do nothing.",
            "Put a proxy with TLS and a key before it, and allow only the proxy to reach it; see docs/scaling.md.",
        )
    elif not server.api_key:
        yield Finding(
            "vectors",
            Verdict.WARNING,
            f"{server.url} is used without a key, so that whoever reaches it can read and change the vectors.",
            f"Let the proxy before it ask for a key, and put it into {VECTORS_KEY}; see docs/scaling.md.",
        )
