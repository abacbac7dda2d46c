"""One process at a time holds a data folder, and a dead one holds nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from store.errors import BusyError, UnavailableError
from store.lock import command_of, hold

_HOLDER = """
import sys, time
from pathlib import Path
from store.lock import command_of, hold
with hold(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the folder."""
    process = subprocess.Popen([sys.executable, "-c", _HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_holder_is_refused_and_told_who_holds_it_and_what_to_do(holder, tmp_path):
    """B041: two processes on one embedded vector store lose vectors without a word."""
    with pytest.raises(BusyError) as refused, hold(tmp_path):
        pass
    assert f"process {holder.pid}" in refused.value.problem
    assert "vectors.url" in refused.value.next_step
    assert "--data" in refused.value.next_step


def test_a_killed_holder_holds_nothing(holder, tmp_path):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with hold(tmp_path):
        assert (tmp_path / "lock.json").exists()


def test_the_folder_is_free_after_the_block_and_after_an_error(tmp_path):
    with pytest.raises(ValueError, match="inside"), hold(tmp_path / "new"):
        raise ValueError("inside")
    with hold(tmp_path / "new"), pytest.raises(BusyError), hold(tmp_path / "new"):
        pass
    with hold(tmp_path / "new"):
        pass


@pytest.mark.parametrize("signature", ["", "no json", "[]", '{"pid": 1}', "\udcff"])
def test_a_broken_signature_changes_nothing_but_the_words(holder, tmp_path, signature):
    (tmp_path / "lock.json").write_text(signature, errors="surrogateescape")
    with pytest.raises(BusyError, match="in use by another process"), hold(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnavailableError, match="file"), hold(tmp_path / "file" / "data"):
        pass


def test_a_folder_in_which_the_holder_cannot_sign_is_held_all_the_same(tmp_path):
    """As on a full disk: the signature is a help for readers and nothing more."""
    (tmp_path / "lock.json").mkdir()
    with hold(tmp_path), pytest.raises(BusyError, match="in use"), hold(tmp_path):
        pass


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("/opt/bin/gaplight ingest docs --json", "gaplight ingest"),
        ("/opt/bin/gaplight --data /srv/bot --config=x.toml -v ingest docs", "gaplight ingest"),
        ("/opt/lib/bot/__main__.py --config x.toml run", "gaplight run"),
        ("/opt/bin/gaplight --help", "gaplight"),
        ("pytest", "pytest"),
    ],
)
def test_a_process_is_named_by_its_command_whatever_options_stand_before(arguments, named):
    assert command_of(arguments.split()) == named
