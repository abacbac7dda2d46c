"""Every command, message and metric that operators are told of is one that exists."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
import typer

from bot.answering.llm_client import LlmClient
from bot.answering.llm_http import Endpoint
from bot.chat.api_counts import ApiCounts
from bot.cli import app
from bot.jobs import JOBS
from bot.metrics import Metrics
from bot.metrics_readings import LlmCollector, Readings, StoreCollector, WorkCollector
from store.errors import LlmFailure

ROOT = Path(__file__).parents[2]
RUNBOOK, GUIDE = ROOT / "deploy" / "RUNBOOK.md", ROOT / "docs" / "operations.md"
COMMANDS = typer.main.get_command(app)
FRAGMENT = 8
"""Characters from which a piece of a message tells it from others."""


def commands():
    """Every command line in the guides and in the files beside them, once."""
    found = {}
    guides = (RUNBOOK, GUIDE, ROOT / "docs" / "security.md")
    for path in (*guides, ROOT / "deploy" / "compose.yaml", *(ROOT / "deploy" / "systemd").iterdir()):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"(?:^|`|bin/)(gaplight (?!\{)[^`\n#]+)", text, re.MULTILINE):
            found.setdefault(match[1].strip().rstrip("'"), path.name)
    return sorted(found)


@pytest.mark.parametrize("line", commands())
def test_a_command_exists_with_its_options(line):
    command, context = COMMANDS, typer.Context(COMMANDS)
    words = shlex.split(line.replace("(", "").replace(")", ""))[1:]
    while words:
        word = words.pop(0)
        if word.startswith("-"):
            option = next((one for one in command.params if word in one.opts), None)
            assert option is not None, f"{command.name} has no option {word}"
            if not option.is_flag and words:
                words.pop(0)
        elif hasattr(command, "commands"):
            found = command.get_command(context, word)
            assert found is not None, f"there is no command {word}"
            command = found
        else:
            assert any(one.param_type_name == "argument" for one in command.params), f"{command.name} takes no {word}"


def messages():
    return re.findall(r"^> (.+)$", RUNBOOK.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture(scope="module")
def said():
    """All that the program can say: the texts of its code."""
    texts = []
    for package in ("bot", "discovery", "store"):
        for path in (ROOT / package).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            texts += [
                node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
    return re.sub(r"%(?:\.\d)?[sdf]", "\n", "\n".join(texts))


@pytest.mark.parametrize("message", messages())
def test_a_message_is_one_that_the_program_says(message, said):
    pieces = [piece.strip() for piece in message.split("…")]
    telling = [piece for piece in pieces if len(piece) >= FRAGMENT] or [max(pieces, key=len)]
    for piece in telling:
        assert all(part in said for part in re.split(r"(?<=\.) ", piece)), piece


class Core:
    in_flight = waiting = undelivered = 0


def test_the_guide_names_every_metric_and_no_other(tmp_path):
    metrics = Metrics(JOBS)
    client = LlmClient(Endpoint("http://127.0.0.1:9/v1", "m"))
    metrics.read_at_scrape(LlmCollector(client))
    metrics.read_at_scrape(WorkCollector(Core(), {}, {"slack": ApiCounts()}))
    metrics.read_at_scrape(StoreCollector(tmp_path, lambda: Readings(0, 0, {"open": 0})))
    page = metrics.page().decode()
    client.close()
    served = {
        name for name in re.findall(r"^# TYPE (gaplight_\w+)", page, re.MULTILINE) if not name.endswith("_created")
    }
    table = re.findall(r"^\| (`gaplight_[^|]+) \|", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for cell in table for name in re.findall(r"`(gaplight_\w+)`", cell)} == served
    named = set(re.findall(r"\b(gaplight_[a-z_]+)\b", RUNBOOK.read_text(encoding="utf-8")))
    assert named <= served


def test_the_runbook_says_what_to_do_for_each_kind_of_failure_of_a_language_model():
    kinds = set(
        re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", RUNBOOK.read_text(encoding="utf-8"), re.MULTILINE)))
    )
    # Withheld is what was asked for, and an open breaker is what the section is about.
    assert kinds == {kind.value for kind in LlmFailure} - {"withheld", "circuit_open"}
