"""What import-linter cannot say of modules whose names only begin alike."""

import ast
from pathlib import Path

import pytest

CHAT = Path(__file__).parents[1] / "bot" / "chat"


def imported(path):
    """Names of the modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize(("own", "other"), [("slack", "discord"), ("discord", "slack")])
def test_the_platforms_know_nothing_of_each_other(own, other):
    files = sorted(CHAT.glob(f"{own}_*.py"))
    assert files
    wrong = {f"{file.name}: {name}" for file in files for name in imported(file) if other in name}
    assert wrong == set()


def test_the_shared_core_knows_no_platform():
    shared = [file for file in CHAT.glob("*.py") if not file.name.startswith(("slack_", "discord_"))]
    wrong = {
        f"{file.name}: {name}"
        for file in shared
        for name in imported(file)
        if name.split(".")[0] in {"discord", "slack_bolt", "slack_sdk"}
        or "chat.slack_" in name
        or "chat.discord_" in name
    }
    assert wrong == set()
