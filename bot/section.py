"""What all tables of the settings file have in common."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from store.net_addresses import checked_address


def with_key(secret: str, example: str) -> AfterValidator:
    """Checks an address for which there is one key; see :func:`store.net_addresses.checked_address`."""
    return AfterValidator(partial(checked_address, secret=secret, example=example))


RemoteUrl = Annotated[str, AfterValidator(checked_address)]
"""The address of a remote end; empty where there is none. See :func:`store.net_addresses.checked_address`."""


class Section(BaseModel):
    """A table of the settings file; an unknown key is an error, since a typing error must not pass in silence."""

    model_config = ConfigDict(extra="forbid", frozen=True)
