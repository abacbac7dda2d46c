"""What README and guides say is there: files, commands, settings and limits."""

import re
from importlib import import_module
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


SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
LIMITS = re.findall(r"^\| [^|]+ \| ([\d,]+)( MiB)? \| `([\w/]+)\.py` `(\w+)` \|$", SECURITY, re.MULTILINE)


def test_the_limits_of_the_security_guide_are_found():
    assert len(LIMITS) == SECURITY.count(".py` `") > 20


@pytest.mark.parametrize(("figure", "unit", "file", "name"), LIMITS, ids=lambda value: value.strip())
def test_a_limit_in_the_security_guide_is_that_of_the_code(figure, unit, file, name):
    module = import_module(file.replace("/", ".").removesuffix(".__init__"))
    assert getattr(module, name) == int(figure.replace(",", "")) * (2**20 if unit else 1)


def test_the_security_guide_names_only_settings_that_exist():
    sections = {key.partition(".")[0] for key in _keys(Settings)}
    named = {name for name in re.findall(r"`([a-z_]+\.[a-z_.]+)`", SECURITY) if name.partition(".")[0] in sections}
    assert len(named) > 10
    assert named <= set(_keys(Settings))
