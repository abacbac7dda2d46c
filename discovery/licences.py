"""Which licence a text is, and whether documents under a licence may be ingested. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum

INTERNAL = "internal"
"""The licence of documents under one's own roof: no licence text, and nobody else's property."""

DEFAULT_ALLOWED: tuple[str, ...] = (
    INTERNAL,
    *("MIT", "MIT-0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "ISC", "Zlib", "BSL-1.0", "Unlicense"),
    *("PSF-2.0", "Python-2.0", "PostgreSQL", "OFL-1.1"),
    *("CC0-1.0", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0"),
)
"""Licences that let a team quote a document with its source named. Others are a decision for those who know the law."""

_UNKNOWN = frozenset({"", "other", "noassertion", "none", "unknown"})
_TAG = re.compile(r"SPDX-License-Identifier:\s*\(?([A-Za-z0-9.+-]+(?:\s+(?:OR|AND|WITH)\s+[A-Za-z0-9.+-]+)*)\)?")
_HEAD = 6_000
"""Characters in which every licence has said what it is; what follows may quote others."""


class Standing(StrEnum):
    """How the policy stands to a licence."""

    ALLOWED = "allowed"
    UNKNOWN = "unknown"
    REFUSED = "refused"


def standing(licence: str, allowed: Collection[str] = DEFAULT_ALLOWED) -> Standing:
    """Whether a document under a licence may be ingested.

    Args:
        licence: an SPDX identifier, or several joined by ``OR`` (one must be allowed) or ``AND`` (all must be).
        allowed: identifiers, in any case.
    """
    if licence.strip().casefold() in _UNKNOWN:
        return Standing.UNKNOWN
    names = {name.casefold() for name in allowed}
    choices = re.split(r"\s+OR\s+", licence.strip().strip("()"))
    if any(all(_one(part) in names for part in re.split(r"\s+AND\s+", choice)) for choice in choices):
        return Standing.ALLOWED
    return Standing.REFUSED


def _one(part: str) -> str:
    return part.strip().strip("()").partition(" WITH ")[0].casefold()


def recognise(text: str) -> str:
    """The SPDX identifier of a licence text; empty when it is none that is known here.

    Goes by the sentences that every copy has, so that names, years and line breaks do not matter.
    """
    if tag := _TAG.search(text[:_HEAD]):
        return " ".join(tag.group(1).split())
    words = " ".join(re.sub(r"[^a-z0-9.]+", " ", text[:_HEAD].casefold()).split())
    return next((name for name, needed in _SENTENCES if all(one in words for one in needed)), "")


_SENTENCES: tuple[tuple[str, tuple[str, ...]], ...] = (
    # The narrower text stands before the one that it contains.
    ("AGPL-3.0", ("gnu affero general public license", "version 3")),
    ("LGPL-3.0", ("gnu lesser general public license", "version 3")),
    ("LGPL-2.1", ("gnu lesser general public license", "version 2.1")),
    ("GPL-3.0", ("gnu general public license", "version 3")),
    ("GPL-2.0", ("gnu general public license", "version 2")),
    ("MPL-2.0", ("mozilla public license", "2.0")),
    ("EPL-2.0", ("eclipse public license", "2.0")),
    ("Apache-2.0", ("apache license", "version 2.0")),
    ("CC-BY-NC-SA-4.0", ("attribution noncommercial sharealike 4.0",)),
    ("CC-BY-NC-ND-4.0", ("attribution noncommercial noderivatives 4.0",)),
    ("CC-BY-NC-4.0", ("attribution noncommercial 4.0",)),
    ("CC-BY-ND-4.0", ("attribution noderivatives 4.0",)),
    ("CC-BY-SA-4.0", ("attribution sharealike 4.0",)),
    ("CC-BY-SA-3.0", ("attribution sharealike 3.0",)),
    ("CC-BY-4.0", ("attribution 4.0 international",)),
    ("CC-BY-3.0", ("attribution 3.0",)),
    ("CC0-1.0", ("cc0 1.0 universal",)),
    ("Unlicense", ("this is free and unencumbered software released into the public domain",)),
    ("BSL-1.0", ("boost software license version 1.0",)),
    ("Zlib", ("this software is provided as is without any express or implied warranty", "altered source versions")),
    (
        "BSD-3-Clause",
        ("redistribution and use in source and binary forms", "neither the name", "endorse or promote products"),
    ),
    ("BSD-2-Clause", ("redistribution and use in source and binary forms", "binary form must reproduce")),
    (
        "ISC",
        ("permission to use copy modify and or distribute this software for any purpose", "above copyright notice"),
    ),
    ("0BSD", ("permission to use copy modify and or distribute this software for any purpose",)),
    (
        "MIT",
        ("permission is hereby granted free of charge", "the above copyright notice and this permission notice"),
    ),
    ("MIT-0", ("permission is hereby granted free of charge", "to deal in the software without restriction")),
)
