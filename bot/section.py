"""What all tables of the settings file have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from store.net_addresses import checked_address

RemoteUrl = Annotated[str, AfterValidator(checked_address)]
"""The address of a remote end; empty where there is none. See :func:`store.net_addresses.checked_address`."""


class Section(BaseModel):
    """A table of the settings file; an unknown key is an error, since a typing error must not pass in silence."""

    model_config = ConfigDict(extra="forbid", frozen=True)
