"""The loop over a small handbook, with the real model."""

import pytest

from tests.discovery.loop_texts import HANDBOOK
from tests.fakes.discovery import Loop, ShelfFinder
from tests.fakes.installation import Installation


@pytest.fixture
def here(tmp_path, minilm):
    installation = Installation(tmp_path, minilm)
    installation.write(HANDBOOK)
    yield installation
    installation.close()


@pytest.fixture
def make_loop(here):
    """A loop whose shelf holds these texts; further options as for :class:`Loop` and :class:`ShelfFinder`."""

    def made(texts, licence="MIT", **options):
        return Loop(here, ShelfFinder(texts, licence), **options)

    return made
