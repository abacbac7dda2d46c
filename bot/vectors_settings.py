"""The ``[vectors]`` section: where the vectors are kept."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bot.section import Section, with_key
from store.chroma_address import CLOUD_HEADER, DEFAULT_DATABASE, DEFAULT_TENANT


class VectorsSettings(Section):
    """``[vectors]``: a Chroma server; empty means embedded in the data folder.

    The key for a proxy in front of it, or for Chroma Cloud, comes from VECTORS_API_KEY and is sent in ``key_header``.
    """

    url: Annotated[str, with_key("VECTORS_API_KEY", "http://127.0.0.1:8000")] = ""
    tenant: str = DEFAULT_TENANT
    database: str = DEFAULT_DATABASE
    key_header: str = CLOUD_HEADER
    question_seconds: float = Field(default=3, gt=0)
    write_seconds: float = Field(default=60, gt=0)
