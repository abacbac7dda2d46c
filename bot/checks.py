"""What ``gaplight doctor`` looks at: each check says what it found and the step that mends it."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from itertools import islice

from bot.app import App
from bot.chat_settings import admins, review_channels
from bot.credentials import credential
from bot.finding import Finding, Verdict
from bot.llm_wiring import uses_llm
from bot.remote_checks import embedding_endpoint, vector_server
from bot.running import TOKENS, discord_options, slack_options
from bot.settings import Settings
from discovery.schedule import time_of, weekday_of, zone_of
from store.errors import ConfigurationError, GaplightError
from store.language import detect_language
from store.model_probe import covers
from store.private_folder import is_open_to_others, make_private

_OLDEST_SQLITE = (3, 35, 0)
"""What chromadb needs to import."""
_SAMPLE_CHUNKS = 200
_FOREIGN_SHARE = 0.1
_LOW_DISK = 500_000_000


def examine(app: App) -> Iterator[Finding]:
    """All checks in the order in which things can be wrong; one that fails does not stop the others."""
    checks: tuple[tuple[str, Callable[[App], Iterator[Finding]]], ...] = (
        ("python", _python),
        ("disk", _disk),
        ("database", _database),
        ("model", _model),
        ("index", _index),
        ("vectors", _vectors),
        ("languages", _languages),
        ("gate", _gate),
        ("llm", _llm),
        ("connections", _connections),
        ("slack", _slack),
        ("discord", _discord),
        ("admins", _admins),
        ("sources", _sources),
        ("digest", _digest),
    )
    for name, check in checks:
        try:
            yield from check(app)
        except GaplightError as error:
            yield Finding(name, Verdict.FAILED, error.problem, error.next_step)


def _python(_app: App) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", Verdict.OK, f"Python {version}")
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        yield Finding(
            "python",
            Verdict.FAILED,
            f"SQLite {sqlite3.sqlite_version} is older than 3.35, which the vector store needs.",
            "Use a newer Python build or a newer operating system release.",
        )


def _disk(app: App) -> Iterator[Finding]:
    folder = app.settings.data
    make_private(folder)
    free = shutil.disk_usage(folder).free
    text = f"{free / 1e9:.1f} GB free at {folder}"
    if free < _LOW_DISK:
        yield Finding("disk", Verdict.WARNING, text, "Free some space: indexing needs room for a second copy.")
    else:
        yield Finding("disk", Verdict.OK, text)
    if is_open_to_others(folder):
        yield Finding(
            "disk",
            Verdict.WARNING,
            f"Every account on this machine may look into {folder}, which holds what people asked.",
            f"Run: chmod o= {shlex.quote(str(folder))}",
        )


def _database(app: App) -> Iterator[Finding]:
    counts = app.documents.counts()
    yield Finding("database", Verdict.OK, f"{app.database.url_without_password}, {counts.documents} documents")
    if app.database.dialect == "postgresql" and not app.settings.vectors.url:
        yield Finding(
            "database",
            Verdict.WARNING,
            "The vectors are in the data folder: no second process would find those of this one in the same database.",
            "Run one process only, or set vectors.url to a Chroma server; docs/scaling.md says how.",
        )


def _model(app: App) -> Iterator[Finding]:
    identity = app.index.embedder.identity
    languages = "many languages" if "*" in identity.languages else ", ".join(identity.languages) or "unknown languages"
    text = f"{identity.name}: {identity.dimension} dimensions, {identity.max_tokens} tokens, "
    if app.settings.embedding.is_remote:
        yield from embedding_endpoint(app.settings, f"{text}covers {languages}")
        return
    yield Finding("model", Verdict.OK, f"{text}{identity.precision}, run by {identity.engine}, covers {languages}")


def _index(app: App) -> Iterator[Finding]:
    counts = app.documents.counts()
    if not counts.chunks:
        yield Finding("index", Verdict.WARNING, "No documents are indexed yet.", "Run: gaplight ingest docs/")
        return
    app.index.check()
    yield Finding("index", Verdict.OK, f"{counts.chunks} chunks in vectors and words, made by this model")


def _vectors(app: App) -> Iterator[Finding]:
    yield from vector_server(app.settings)


def _languages(app: App) -> Iterator[Finding]:
    """Languages of the documents that the model does not read."""
    covered = app.index.embedder.identity.languages
    counts: dict[str, int] = {}
    total = 0
    for batch in islice(app.documents.iterate_chunks(batch=_SAMPLE_CHUNKS), 5):
        for chunk in batch:
            language = detect_language(chunk.embedded_text)
            counts[language] = counts.get(language, 0) + 1
            total += 1
    foreign = [name for name, count in counts.items() if count / total >= _FOREIGN_SHARE and not covers(covered, name)]
    for language in sorted(foreign):
        yield Finding(
            "languages",
            Verdict.WARNING,
            f"The model does not cover the language {language!r}, in which {counts[language] / total:.0%} of the "
            "sampled documents are written; there, only the search by words works.",
            "Set embedding.model to a multilingual sentence-transformers model, then run: gaplight reindex",
        )
    if total and not foreign:
        yield Finding("languages", Verdict.OK, f"The model covers the documents' languages ({', '.join(counts)})")


def _gate(app: App) -> Iterator[Finding]:
    policy = app.policy
    text = f"mode {policy.mode}, answers from support {policy.threshold:.2f} on, policy {policy.version}"
    advice = "" if policy.mode == "enforce" else "Set gate.mode to 'enforce' when you trust it."
    yield Finding("gate", Verdict.OK if policy.mode == "enforce" else Verdict.WARNING, text, advice)


def _llm(app: App) -> Iterator[Finding]:
    """Whether the language model answers; without one there is nothing to say."""
    if not uses_llm(app.settings):
        return
    endpoint, chosen = app.llm.endpoint, app.settings.llm
    offered = app.llm.models()
    if offered and chosen.model not in offered:
        some = ", ".join(offered[:5])
        yield Finding(
            "llm", Verdict.WARNING, f"{chosen.base_url} offers {some}, not {chosen.model!r}.", "Correct llm.model."
        )
        return
    if not endpoint.is_local and not chosen.base_url.startswith("https:"):
        carried = "LLM_API_KEY, questions and passages go" if endpoint.api_key else "Questions and passages go"
        advice = "Use an https address, or an endpoint on this machine."
        yield Finding("llm", Verdict.WARNING, f"{carried} to {chosen.base_url} without encryption.", advice)
        return
    role = {"generative": "writes answers"}.get(app.settings.answer.mode, "only grades passages")
    yield Finding("llm", Verdict.OK, f"{chosen.model} at {chosen.base_url} {role}, {chosen.context_tokens} tokens")


def _connections(app: App) -> Iterator[Finding]:
    """Which remote ends are configured; none of them is needed."""
    settings: Settings = app.settings
    present = [name for name in ("SLACK_BOT_TOKEN", "DISCORD_TOKEN", "GITHUB_TOKEN", "LLM_API_KEY") if credential(name)]
    remote = [f"vectors at {settings.vectors.url}"] if settings.vectors.url else []
    text = ", ".join([*remote, *(f"{name} is set" for name in present)]) or "none configured, none needed"
    yield Finding("connections", Verdict.OK, text)


def _slack(app: App) -> Iterator[Finding]:
    if not credential(TOKENS["slack"]):
        return
    from bot.chat.slack_check import check

    found = asyncio.run(check(slack_options(app.settings), _channels_on("slack", app.settings)))
    for one in found:
        verdict = Verdict.OK if one.good else Verdict.FAILED
        yield Finding("slack", verdict, f"{one.subject}: {one.text}", one.next_step)


def _discord(app: App) -> Iterator[Finding]:
    if not credential(TOKENS["discord"]):
        return
    from bot.chat.discord_check import check

    for one in asyncio.run(check(discord_options(app.settings), _channels_on("discord", app.settings))):
        yield Finding("discord", Verdict(one.level.value), one.text, one.advice)


def _admins(app: App) -> Iterator[Finding]:
    """Only where there is a chat: the command line needs no admins."""
    if not any(credential(token) for token in TOKENS.values()):
        return
    count = len(admins(app.settings))
    if count:
        yield Finding("admins", Verdict.OK, f"{count} people, groups or roles decide on sources")
    else:
        advice = 'Add ids of people or groups to the settings: [admins] slack = ["U..."], discord = ["..."]'
        yield Finding("admins", Verdict.WARNING, "Nobody can approve a source in chat.", advice)


def _sources(app: App) -> Iterator[Finding]:
    """Where documents for gaps are looked for."""
    chosen = app.settings.discovery
    if "folder" in chosen.finders:
        missing = [str(folder) for folder in chosen.folders if not folder.expanduser().is_dir()]
        for folder in missing:
            yield Finding("sources", Verdict.WARNING, f"The folder {folder} is not there.", "Mount it, or correct it.")
        if chosen.folders and not missing:
            yield Finding("sources", Verdict.OK, f"{len(chosen.folders)} folders are searched for documents.")
    if "github" in chosen.finders:
        yield _github(app)


def _digest(app: App) -> Iterator[Finding]:
    """What ``gaplight run`` would end with at its start; nothing is said where all can be used."""
    chosen = app.settings.digest
    read: tuple[tuple[str, Callable[[], object]], ...] = (
        ("time", lambda: time_of(chosen.time)),
        ("nightly", lambda: time_of(chosen.nightly)),
        ("weekday", lambda: weekday_of(chosen.weekday)),
        ("timezone", lambda: zone_of(chosen.timezone)),
        ("channel", lambda: review_channels(app.settings)),
    )
    for key, reading in read:
        try:
            reading()
        except ConfigurationError as error:
            yield Finding("digest", Verdict.FAILED, f"digest.{key}: {error.problem}", error.next_step)


def _github(app: App) -> Finding:
    """Whether GitHub answers, and lets code be searched."""
    limits = app.discovery.github_api.get("/rate_limit")
    left = limits.get("resources", {}).get("core", {}).get("remaining", "unknown")
    if not credential("GITHUB_TOKEN"):
        text = "GitHub answers, but GITHUB_TOKEN is not set: only repositories are searched, with a small quota."
        return Finding("sources", Verdict.WARNING, text, "docs/admins.md says which token is needed.")
    return Finding("sources", Verdict.OK, f"GitHub answers; {left} requests are left this hour.")


def _channels_on(platform: str, settings: Settings) -> list[str]:
    """Ids of the channels in which the bot posts on its own account."""
    chosen = review_channels(settings).get(platform)
    return [chosen] if chosen else []
