"""Builds the parts that use a language model from the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.credentials import credential
from bot.settings import Settings
from store.embedding import Embedder
from store.errors import ConfigurationError

if TYPE_CHECKING:
    from bot.answering.generative import GenerativeAnswerer
    from bot.answering.grading import Grader
    from bot.answering.llm_client import LlmClient

_TREATS_QUESTIONS = ("base_url", "model", "grading", "allow_private", "context_tokens", "answer_tokens", "options")


def uses_llm(settings: Settings) -> bool:
    """Whether answers or grades come from a language model."""
    return settings.answer.mode == "generative" or settings.llm.grading


def llm_version(settings: Settings) -> list[Any]:
    """What of the language model belongs to the policy's version; empty when none is used."""
    if not uses_llm(settings):
        return []
    from bot.answering.prompts import PROMPT_VERSION

    values = settings.llm.model_dump(mode="json")
    return [PROMPT_VERSION, *(values[name] for name in _TREATS_QUESTIONS)]


def llm_client(settings: Settings) -> LlmClient:
    """The client of the configured endpoint.

    Raises:
        ConfigurationError: no endpoint, or no model, is configured.
    """
    from bot.answering.llm_client import LlmClient
    from bot.answering.llm_http import Endpoint
    from store.breaker import BreakerPolicy

    chosen = settings.llm
    for name in ("base_url", "model"):
        if not getattr(chosen, name):
            wanted = "llm.grading" if settings.answer.mode == "extractive" else "answer.mode 'generative'"
            raise ConfigurationError(f"{wanted} needs llm.{name}, which is empty.", "See docs/llm.md.")
    endpoint = Endpoint(
        base_url=chosen.base_url,
        model=chosen.model,
        api_key=credential("LLM_API_KEY"),
        connect_seconds=chosen.connect_seconds,
        idle_seconds=chosen.idle_seconds,
        total_seconds=chosen.total_seconds,
        retries=chosen.retries,
        stream=chosen.stream,
        options=chosen.options,
    )
    return LlmClient(endpoint, BreakerPolicy(chosen.breaker_failures, chosen.breaker_seconds))


def answering_parts(
    settings: Settings, client: LlmClient, embedder: Embedder
) -> tuple[GenerativeAnswerer | None, Grader | None]:
    """What writes answers and what grades passages; None for what is not asked for."""
    from bot.answering.generative import GenerativeAnswerer, GenerativeOptions
    from bot.answering.grading import Grader
    from bot.answering.llm_budget import Window
    from bot.answering.sources import Rules

    chosen = settings.llm
    window = Window(chosen.context_tokens, chosen.answer_tokens)
    private = chosen.allow_private or client.endpoint.is_local
    rules = Rules(private=private, mask=settings.privacy.redact, mask_sources=not client.endpoint.is_local)
    generative = settings.answer.mode == "generative"
    writer = GenerativeAnswerer(client, embedder, GenerativeOptions(window, rules)) if generative else None
    return writer, Grader(client, window, rules) if chosen.grading else None
