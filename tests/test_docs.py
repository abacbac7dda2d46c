"""What README and guides say is there: files, commands and settings."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from bot.cli import app
from bot.settings import Settings

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_guides_named_in_the_code_exist():
    named = {
        name
        for package in ("bot", "discovery", "store")
        for file in (ROOT / package).rglob("*.py")
        for name in re.findall(r"docs/[\w-]+\.md", file.read_text(encoding="utf-8"))
    }
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_the_readme_names_exactly_the_commands_there_are():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `gaplight (\w+)", text, re.MULTILINE))
    present = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert named == present | {group.name for group in app.registered_groups}


def _keys(model, prefix=""):
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _keys(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_the_configuration_guide_names_only_settings_that_exist_and_all_of_them():
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = [row.split("|")[1] for row in text.splitlines() if row.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([\w.]+)`", row) if not name.startswith("channels.")}
    unchecked = {"topics", "channels"}
    assert named == {key for key in _keys(Settings) if key not in unchecked | {"secret_database_url"}}
