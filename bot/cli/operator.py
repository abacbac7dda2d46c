"""Who works at the command line: the account on this machine, which can read and write the data anyway."""

from __future__ import annotations

import getpass

COMMAND_LINE = "command line"
"""The place of decisions, in the audit log."""
OPERATOR = "operator"
"""The role of whoever decides there."""


def operator() -> str:
    """The account's name, with a prefix like those of the chat platforms."""
    return f"cli:{account('unknown')}"


def account(nameless: str) -> str:
    """The account's name, or another where it has none: a container without an entry for its user id."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return nameless
