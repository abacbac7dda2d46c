"""The demo's documents are those of this very machine, and follow what is installed."""

from __future__ import annotations

import importlib.metadata
import os

from bot.demo_corpus import project_docs, write_package_descriptions


def test_descriptions_are_written_in_their_format(tmp_path):
    folder = tmp_path / "new" / "folder"
    count = write_package_descriptions(folder)
    files = list(folder.iterdir())
    assert count == len(files) > 10
    assert {file.suffix for file in files} <= {".md", ".rst", ".txt"}
    assert all(len(file.read_text(encoding="utf-8")) >= 200 for file in files)
    pytest_file = next(file for file in files if file.stem == "pytest")
    assert "test" in pytest_file.read_text(encoding="utf-8")


def test_a_second_run_changes_nothing_and_removes_what_is_gone(tmp_path):
    write_package_descriptions(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    (tmp_path / "uninstalled.md").write_text("gone")
    write_package_descriptions(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_strange_names_stay_inside_the_folder_and_damaged_packages_are_left_out(tmp_path, monkeypatch):
    packages = tmp_path / "packages"
    for name, description in (("../evil", "x" * 300), ("short", "x"), ("broken", "caf\udce9 " * 100)):
        info = packages / f"{len(name)}-1.0.dist-info"
        info.mkdir(parents=True)
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n\n{description}"
        (info / "METADATA").write_bytes(os.fsencode(text))
    found = [importlib.metadata.PathDistribution(path) for path in packages.iterdir()]
    monkeypatch.setattr("bot.demo_corpus.distributions", lambda: found)
    assert write_package_descriptions(tmp_path / "out") == 1
    assert {file.name for file in (tmp_path / "out").iterdir()} == {".._evil.txt"}


def test_the_guides_of_the_checkout_are_found():
    assert all(folder.is_dir() and any(folder.glob("*.md")) for folder in project_docs())
