"""What all tables of the settings file have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A table of the settings file; an unknown key is an error, since a typing error must not pass in silence."""

    model_config = ConfigDict(extra="forbid", frozen=True)
