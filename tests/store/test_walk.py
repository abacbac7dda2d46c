"""Every real file below a folder once, nothing outside of it, whatever the links do."""

from __future__ import annotations

import os

from store.walk import FoundFile, walk

SUFFIXES = frozenset({".md", ".txt"})


def write(root, *paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


def found(root, **options):
    return [item.path for item in walk(root, SUFFIXES, **options) if isinstance(item, FoundFile)]


def refused(root):
    return {item.path: item.reason for item in walk(root, SUFFIXES) if not isinstance(item, FoundFile)}


def test_files_come_in_a_stable_order_with_slashes_and_any_case_of_suffix(tmp_path):
    write(tmp_path, "b.md", "a/z.MD", "a/b/c.txt", "a.py", "README")
    assert found(tmp_path) == ["b.md", "a/z.MD", "a/b/c.txt"]
    source = next(iter(walk(tmp_path, SUFFIXES))).source
    assert source == tmp_path.resolve() / "b.md"


def test_hidden_dependency_and_skipped_folders_are_left_out(tmp_path):
    write(tmp_path, ".git/a.md", "node_modules/a.md", "x/__pycache__/a.md", ".hidden.md", "data/a.md", "x/data/a.md")
    assert found(tmp_path, skip=frozenset({tmp_path.resolve() / "data"})) == ["x/data/a.md"]


def test_links_to_what_is_inside_count_once_and_need_no_word(tmp_path):
    write(tmp_path, "real/a.md")
    (tmp_path / "again.md").symlink_to(tmp_path / "real" / "a.md")
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    assert (found(tmp_path), refused(tmp_path)) == (["real/a.md"], {})


def test_links_that_leave_the_root_are_refused(tmp_path):
    write(tmp_path, "outside/secret.md", "root/a.md")
    (tmp_path / "root" / "file.md").symlink_to(tmp_path / "outside" / "secret.md")
    (tmp_path / "root" / "folder").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "ignored.py").symlink_to(tmp_path / "outside" / "secret.md")
    assert found(tmp_path / "root") == ["a.md"]
    reasons = refused(tmp_path / "root")
    assert set(reasons) == {"file.md", "folder"}
    assert set(reasons.values()) == {"it is a link that leads out of root"}


def test_circles_and_dead_links_end_with_a_word(tmp_path):
    write(tmp_path, "a/b/c.md")
    (tmp_path / "a" / "b" / "up").symlink_to(tmp_path / "a")
    (tmp_path / "self.md").symlink_to(tmp_path / "self.md")
    (tmp_path / "dead.md").symlink_to(tmp_path / "nowhere.md")
    assert found(tmp_path) == ["a/b/c.md"]
    assert set(refused(tmp_path)) == {"self.md", "dead.md"}


def test_a_root_given_by_a_link_is_its_target(tmp_path):
    write(tmp_path, "real/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert next(iter(walk(tmp_path / "link", SUFFIXES))).source == tmp_path.resolve() / "real" / "a.md"


def test_a_pipe_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.md")
    assert "not a regular file" in refused(tmp_path)["pipe.md"]


def test_an_unlistable_folder_is_reported_as_a_folder(tmp_path, monkeypatch):
    """So that what it held before is not taken for deleted."""
    write(tmp_path, "closed/a.md", "open.md")
    scandir = os.scandir

    def denied(path):
        if os.fspath(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", denied)
    items = list(walk(tmp_path, SUFFIXES))
    assert [item.path for item in items] == ["open.md", "closed"]
    assert items[1].folder == tmp_path.resolve() / "closed"
