"""What people asked is nobody's business on a machine that others use as well."""

from __future__ import annotations

import os
import stat

import pytest

from store.database import open_database
from store.lock import hold
from store.private_folder import is_open_to_others, make_private


@pytest.fixture(autouse=True)
def generous():
    """The default of most systems: everybody may read what one makes."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode_of(folder):
    return stat.S_IMODE(folder.stat().st_mode)


def test_a_data_folder_belongs_to_its_owner_alone_whoever_makes_it_first(tmp_path):
    with hold(tmp_path / "held"):
        pass
    open_database(f"sqlite:///{tmp_path}/opened/gaplight.db").close()
    make_private(tmp_path / "indexed" / "words" / "index")
    made = ("held", "opened", "indexed", "indexed/words", "indexed/words/index")
    assert {mode_of(tmp_path / name) for name in made} == {0o700}


def test_a_folder_that_is_there_keeps_the_rights_that_somebody_gave_it(tmp_path):
    (tmp_path / "shared").mkdir(mode=0o750)
    make_private(tmp_path / "shared")
    assert mode_of(tmp_path / "shared") == 0o750


@pytest.mark.parametrize(("mode", "told"), [(0o700, False), (0o770, False), (0o701, True), (0o755, True)])
def test_a_folder_that_every_account_may_look_into_is_told_from_others(tmp_path, mode, told):
    tmp_path.chmod(mode)
    assert is_open_to_others(tmp_path) is told
