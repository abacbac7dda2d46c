"""Where a Chroma server is, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from store.loopback import is_loopback

DEFAULT_TENANT = "default_tenant"
DEFAULT_DATABASE = "default_database"
CLOUD_HEADER = "X-Chroma-Token"
_CLOUD = ".trychroma.com"


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """Where a Chroma server is and how long it may take.

    Attributes:
        url: ``http://host:port`` or ``https://host``, also with a path.
        tenant: as the server knows it, like ``database``.
        database: within the tenant.
        api_key: sent with every request; empty sends none.
        key_header: which header carries it; in ``Authorization`` it is a bearer token.
        question_seconds: for everything that one question needs.
        write_seconds: for one write.
    """

    url: str
    tenant: str = DEFAULT_TENANT
    database: str = DEFAULT_DATABASE
    api_key: str = field(default="", repr=False)
    key_header: str = CLOUD_HEADER
    question_seconds: float = 3.0
    write_seconds: float = 60.0

    @property
    def is_local(self) -> bool:
        """Whether what is sent stays on this machine."""
        return is_loopback(self.url)

    @property
    def is_cloud(self) -> bool:
        """Whether it is Chroma Cloud."""
        return (urlsplit(self.url).hostname or "").endswith(_CLOUD)

    @property
    def headers(self) -> dict[str, str]:
        """What is sent with every request."""
        if not self.api_key:
            return {}
        bearer = self.key_header.casefold() == "authorization"
        return {self.key_header: f"Bearer {self.api_key}" if bearer else self.api_key}
