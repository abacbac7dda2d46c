"""Folders as places where documents are found."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from discovery.finders.folder import FolderFinder
from discovery.finders.folder_index import REFRESH_SECONDS, FolderIndex
from store.errors import NotFoundError
from store.records import Topic
from tests.discovery.test_licences import MIT

KEYS = "# Rotating keys\n\nRun `billing keys rotate` to rotate the signing key of the billing service.\n"
QUESTION = "How do I rotate the signing key of the billing service?"
TOPIC = Topic("t1", "rotate key", QUESTION, ("g1",), terms=("rotate", "signing key"))


class Watch:
    """Seconds that are moved by hand."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds

    def later(self):
        self.seconds += REFRESH_SECONDS


@pytest.fixture
def watch():
    return Watch()


@pytest.fixture
def wiki(tmp_path):
    folder = tmp_path / "wiki"
    write(folder, {"ops/keys.md": KEYS, "garden.md": "# Garden\n\nWater the tomatoes.\n"})
    return folder


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        data = text if isinstance(text, bytes) else text.encode()
        (folder / name).write_bytes(data)


@pytest.fixture
def made(tmp_path, watch):
    """A finder over folders, with its cache in the same place every time."""
    opened = []

    def make(*folders, **options):
        for index in opened:
            index.close()
        limits = {name: options[name] for name in ("size_limit",) if name in options}
        index = FolderIndex(tmp_path / "cache", folders, clock=watch, **limits)
        opened.append(index)
        return FolderFinder(index, folders, **options)

    yield make
    for index in opened:
        index.close()


def places(found):
    return [source.location for source in found.sources]


def test_a_source_says_everything_that_a_decision_needs(made, wiki):
    (source,) = made(wiki).find(TOPIC, 5).sources
    assert (source.finder, source.location, source.owner) == ("folder", "wiki/ops/keys.md", "wiki")
    assert source.key == f"folder:{wiki}/ops/keys.md"
    assert (source.title, source.licence, source.size) == ("Rotating keys", "internal", len(KEYS))
    assert source.revision.startswith("sha256:")
    assert source.updated_at is not None
    assert source.reasons == ("Found in the folder wiki.", "Its title or path names rotate, key.")


def test_the_right_file_is_found_among_hundreds(made, wiki):
    names = ("apple", "river", "stone", "cloud", "violin")
    write(
        wiki,
        {
            f"many/{number}.md": f"# Page {number}\n\nThe {names[number % 5]} service has a key {number}.\n"
            for number in range(300)
        },
    )
    assert places(made(wiki).find(TOPIC, 5))[0] == "wiki/ops/keys.md"


def test_files_that_share_no_word_are_not_suggested(made, wiki):
    assert made(wiki).find(Topic("t", "", "Which elephants sing?", ("g",)), 5).sources == ()


def test_a_topic_that_may_not_be_told_finds_nothing_and_says_so(made, wiki):
    found = made(wiki).find(Topic("t", "", "", ("g",), private_gaps=1), 5)
    assert found.sources == ()
    assert "no words" in found.notes[0]


def test_a_file_is_fetched_as_it_was_suggested(made, wiki):
    finder = made(wiki)
    (source,) = finder.find(TOPIC, 5).sources
    fetched = finder.fetch(source)
    assert (fetched.name, fetched.content) == ("keys.md", KEYS.encode())


def test_a_file_that_has_changed_since_is_not_fetched(made, wiki):
    finder = made(wiki)
    (source,) = finder.find(TOPIC, 5).sources
    write(wiki, {"ops/keys.md": KEYS + "More.\n"})
    with pytest.raises(NotFoundError, match="has changed since"):
        finder.fetch(source)
    (wiki / "ops/keys.md").unlink()
    with pytest.raises(NotFoundError, match="not there any more"):
        finder.fetch(source)


def test_line_ends_and_byte_order_marks_make_no_new_revision(made, wiki, watch):
    finder = made(wiki)
    (before,) = finder.find(TOPIC, 5).sources
    write(wiki, {"ops/keys.md": b"\xef\xbb\xbf" + KEYS.replace("\n", "\r\n").encode()})
    watch.later()
    (after,) = finder.find(TOPIC, 5).sources
    assert after.revision == before.revision
    assert finder.fetch(before).name == "keys.md"


@pytest.mark.parametrize("outside", ["/etc/passwd", "{wiki}/../secret.md", "{wiki}/out.md"])
def test_nothing_outside_of_the_folders_is_fetched(made, wiki, outside):
    write(wiki.parent, {"secret.md": KEYS})
    (wiki / "out.md").symlink_to(wiki.parent / "secret.md")
    finder = made(wiki)
    (source,) = finder.find(TOPIC, 5).sources
    with pytest.raises(NotFoundError, match="outside"):
        finder.fetch(replace(source, key=f"folder:{outside.format(wiki=wiki)}", revision=""))


def test_a_file_that_is_too_large_is_left_out_with_its_reason(made, wiki):
    finder = made(wiki, size_limit=40)
    found = finder.find(TOPIC, 5)
    assert found.sources == ()
    assert any("ops/keys.md" in note and "larger" in note for note in found.notes)


def test_a_file_that_cannot_be_read_is_left_out_with_its_reason(made, wiki):
    write(wiki, {"scan.pdf": "no pdf"})
    found = made(wiki).find(TOPIC, 5)
    assert places(found) == ["wiki/ops/keys.md"]
    assert any("scan.pdf" in note for note in found.notes)


def test_the_licence_is_that_of_the_nearest_licence_text(made, wiki):
    write(wiki, {"LICENSE": MIT, "ops/LICENSE.txt": "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n"})
    (source,) = made(wiki).find(TOPIC, 5).sources
    assert source.licence == "GPL-3.0"
    (wiki / "ops/LICENSE.txt").unlink()
    (source,) = made(wiki).find(TOPIC, 5).sources
    assert source.licence == "MIT"


def test_a_licence_text_that_nobody_knows_is_unknown_and_not_ones_own(made, wiki):
    write(wiki, {"COPYING": "Ask our lawyers before you copy this.\n"})
    (source,) = made(wiki).find(TOPIC, 5).sources
    assert source.licence == ""


def test_the_licence_of_a_checkout_does_not_come_from_above_it(made, wiki):
    write(wiki, {"LICENSE": MIT})
    (wiki / "ops" / ".git").mkdir()
    (source,) = made(wiki, licence="").find(TOPIC, 5).sources
    assert source.licence == ""


# Keeping up


def test_new_changed_and_deleted_files_are_noticed(made, wiki, watch):
    finder = made(wiki)
    finder.find(TOPIC, 5)
    write(wiki, {"new.md": KEYS.replace("Rotating", "Turning")})
    (wiki / "ops/keys.md").unlink()
    assert places(finder.find(TOPIC, 5)) == ["wiki/ops/keys.md"]  # all topics of a round share one look
    watch.later()
    assert places(finder.find(TOPIC, 5)) == ["wiki/new.md"]
    write(wiki, {"new.md": "# Garden\n\nWater the tomatoes.\n"})
    watch.later()
    assert places(finder.find(TOPIC, 5)) == []


def test_a_second_run_reads_no_file_again(made, wiki, monkeypatch):
    made(wiki).find(TOPIC, 5)
    monkeypatch.setattr("discovery.finders.folder_index.load", forbidden)
    assert places(made(wiki).find(TOPIC, 5)) == ["wiki/ops/keys.md"]


def test_a_new_time_stamp_alone_changes_nothing(made, wiki, monkeypatch):
    made(wiki).find(TOPIC, 5)
    os.utime(wiki / "ops/keys.md", (1, 1))
    monkeypatch.setattr("discovery.finders.folder_index.load", forbidden)
    assert places(made(wiki).find(TOPIC, 5)) == ["wiki/ops/keys.md"]


def forbidden(*_args, **_options):
    raise AssertionError("a file was read that has not changed")


def test_a_share_that_is_away_keeps_what_is_known_of_it(made, wiki, watch):
    finder = made(wiki)
    finder.find(TOPIC, 5)
    wiki.rename(wiki.parent / "away")
    watch.later()
    found = finder.find(TOPIC, 5)
    assert any("is not there" in note for note in found.notes)
    wiki.mkdir()
    watch.later()
    finder.find(TOPIC, 5)
    wiki.rmdir()
    (wiki.parent / "away").rename(wiki)
    watch.later()
    assert places(finder.find(TOPIC, 5)) == ["wiki/ops/keys.md"]


def test_an_interrupted_look_is_done_again(made, wiki, watch, monkeypatch):
    finder = made(wiki)
    finder.find(TOPIC, 5)
    write(wiki, {"new.md": KEYS})
    watch.later()
    with monkeypatch.context() as patched:
        patched.setattr(FolderIndex, "_keep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            finder.find(TOPIC, 5)
    finder._index.close()
    assert sorted(places(made(wiki).find(TOPIC, 5))) == ["wiki/new.md", "wiki/ops/keys.md"]


def interrupted(_self):
    raise KeyboardInterrupt


@pytest.mark.parametrize("damage", ["", "{", '{"version": "0", "files": []}', '{"version": 1}'])
def test_a_damaged_cache_is_built_anew(made, wiki, tmp_path, damage):
    first = made(wiki)
    first.find(TOPIC, 5)
    first._index.close()
    (tmp_path / "cache" / "files.json").write_text(damage)
    assert places(made(wiki).find(TOPIC, 5)) == ["wiki/ops/keys.md"]


def test_where_a_source_stands_now_is_known(made, wiki, watch):
    finder = made(wiki)
    (source,) = finder.find(TOPIC, 5).sources
    assert finder.current(source).revision == source.revision
    write(wiki, {"ops/keys.md": KEYS + "More.\n"})
    watch.later()
    assert finder.current(source).revision != source.revision
    (wiki / "ops/keys.md").unlink()
    watch.later()
    assert finder.current(source) is None
