"""The ``[vectors]`` section: where the vectors are kept."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import Field, field_validator

from bot.section import RemoteUrl, Section
from store.chroma_address import CLOUD_HEADER, DEFAULT_DATABASE, DEFAULT_TENANT


class VectorsSettings(Section):
    """``[vectors]``: a Chroma server; empty means embedded in the data folder.

    The key for a proxy in front of it, or for Chroma Cloud, comes from VECTORS_API_KEY and is sent in ``key_header``.
    """

    url: RemoteUrl = ""
    tenant: str = DEFAULT_TENANT
    database: str = DEFAULT_DATABASE
    key_header: str = CLOUD_HEADER
    question_seconds: float = Field(default=3, gt=0)
    write_seconds: float = Field(default=60, gt=0)

    @field_validator("url")
    @classmethod
    def _holds_no_key(cls, value: str) -> str:
        address = urlsplit(value)
        if address.username or address.password:
            raise ValueError("a key in an address ends up in logs; put it into VECTORS_API_KEY")
        return value
