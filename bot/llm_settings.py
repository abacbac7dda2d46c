"""The ``[llm]`` section: an optional language model, and how much is entrusted to it."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from bot.section import Section, with_key

_SMALLEST_PROMPT = 512


class LlmSettings(Section):
    """``[llm]``: an OpenAI-compatible endpoint; its key comes from LLM_API_KEY.

    ``context_tokens`` is the window that the endpoint really has, for prompt and answer together. ``allow_private``
    lets passages of private collections go to an endpoint on another machine. ``options`` are further fields of each
    request, such as ``{ max_completion_tokens = 800, temperature = 1 }``.
    """

    base_url: Annotated[str, with_key("LLM_API_KEY", "http://127.0.0.1:11434/v1")] = ""
    model: str = ""
    grading: bool = False
    allow_private: bool = False
    context_tokens: int = Field(default=4096, ge=1024)
    answer_tokens: int = Field(default=500, ge=50)
    connect_seconds: float = Field(default=3, gt=0)
    idle_seconds: float = Field(default=15, gt=0)
    total_seconds: float = Field(default=30, gt=0)
    retries: int = Field(default=2, ge=0, le=5)
    breaker_failures: int = Field(default=3, ge=1)
    breaker_seconds: float = Field(default=60, ge=0)
    stream: bool = True
    options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _leaves_room(self) -> Self:
        if self.context_tokens - self.answer_tokens < _SMALLEST_PROMPT:
            raise ValueError(
                f"answer_tokens ({self.answer_tokens}) leave less than {_SMALLEST_PROMPT} of context_tokens "
                f"({self.context_tokens}) for the prompt"
            )
        return self
