"""The real embedding model, exported once and kept between runs."""

import hashlib
from pathlib import Path

import pytest

import store
from store.models import load


@pytest.fixture(scope="session")
def model_cache(pytestconfig):
    """A folder with the prepared default model; another one as soon as the code that prepares it changes."""
    code = sorted([*Path(store.__file__).parent.glob("model*.py"), *Path(store.__file__).parent.glob("embedding*.py")])
    key = hashlib.sha256(b"".join(path.read_bytes() for path in code)).hexdigest()[:12]
    return pytestconfig.cache.mkdir(f"models-{key}")


@pytest.fixture(scope="session")
def minilm(model_cache):
    """The default model, ready to embed."""
    return load(cache=model_cache)
