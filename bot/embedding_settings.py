"""The ``[embedding]`` section: which model makes the vectors, here or elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from bot.section import Section


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
    base_url: str = ""
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

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        address = urlsplit(value)
        if value and (address.scheme not in {"http", "https"} or not address.hostname):
            raise ValueError("an address such as http://127.0.0.1:8080 is expected")
        if address.username or address.password:
            raise ValueError("a key in an address ends up in logs; put it into EMBEDDING_API_KEY")
        return value

    @model_validator(mode="after")
    def _remote_is_somewhere(self) -> Self:
        if self.engine == "remote" and not self.base_url:
            raise ValueError("engine 'remote' needs base_url")
        return self

    @property
    def is_remote(self) -> bool:
        """Whether an endpoint makes the vectors: with an address, unless an engine of this machine is asked for."""
        return bool(self.base_url) and self.engine in {"auto", "remote"}
