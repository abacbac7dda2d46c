"""The ``[embedding]`` section: which model makes the vectors, here or elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from bot.section import Section, with_key


class EmbeddingSettings(Section):
    """``[embedding]``: which model makes the vectors.

    With ``base_url`` an OpenAI-compatible endpoint or Text Embeddings Inference does, whose key comes from
    EMBEDDING_API_KEY; everything from ``tokenizer`` on is for that. Prefixes that are not given are those that the
    model's authors ask for. ``options`` are further fields of each OpenAI-compatible request.
    """

    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    precision: Literal["auto", "fp32", "int8"] = "auto"
    engine: Literal["auto", "onnx", "sentence-transformers", "remote"] = "auto"
    cache: Path | None = None
    threads: int | None = Field(default=None, ge=1)
    base_url: Annotated[str, with_key("EMBEDDING_API_KEY", "http://127.0.0.1:8080/v1")] = ""
    tokenizer: Path | None = None
    max_tokens: int | None = Field(default=None, ge=16)
    query_prefix: str | None = None
    document_prefix: str | None = None
    languages: tuple[str, ...] = ()
    batch_size: int = Field(default=32, ge=1)
    connect_seconds: float = Field(default=3, gt=0)
    question_seconds: float = Field(default=5, gt=0)
    batch_seconds: float = Field(default=120, gt=0)
    retries: int = Field(default=5, ge=0)
    options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _remote_is_somewhere(self) -> Self:
        if self.engine == "remote" and not self.base_url:
            raise ValueError("engine 'remote' needs base_url")
        return self

    @property
    def is_remote(self) -> bool:
        """Whether an endpoint makes the vectors: with an address, unless an engine of this machine is asked for."""
        return bool(self.base_url) and self.engine in {"auto", "remote"}
