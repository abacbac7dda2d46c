"""Real parts for tests: the embedding model, exported once and kept between runs; SQLite files; PostgreSQL schemas."""

import getpass
import hashlib
import logging
import os
import shutil
import sys
import threading
import uuid
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import OperationalError

import store
from bot.logs import OURS
from store.database import open_database
from store.models import load
from store.tables import metadata
from tests.fakes.chroma_server import ChromaProcess
from tests.fakes.clock import Seconds

SERVER_VARIABLE = "GAPLIGHT_TEST_DATABASE_URL"


class Postgres:
    """Hands out empty schemas of one server and drops them in the end."""

    def __init__(self, url):
        self._url = url
        self._engine = create_engine(url, isolation_level="AUTOCOMMIT", connect_args={"connect_timeout": 3})
        self._schemas = []
        self._run("SELECT 1")

    def empty_schema(self):
        """The URL of a new, empty schema."""
        name = f"gaplight_test_{uuid.uuid4().hex[:12]}"
        self._run(f"CREATE SCHEMA {name}")
        self._schemas.append(name)
        url = self._url.update_query_dict({"options": f"-csearch_path={name}"})
        return url.render_as_string(hide_password=False)

    def close(self):
        for name in self._schemas:
            self._run(f"DROP SCHEMA {name} CASCADE")
        self._engine.dispose()

    def _run(self, statement):
        with self._engine.connect() as connection:
            connection.execute(text(statement))


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server; tests that need one are skipped where none answers and none was asked for."""
    given = os.environ.get(SERVER_VARIABLE)
    url = make_url(given or f"postgresql+psycopg://{getpass.getuser()}@127.0.0.1:5432/test")
    try:
        server = Postgres(url.set(drivername="postgresql+psycopg"))
    except OperationalError:
        if given:
            raise
        pytest.skip(
            f"No PostgreSQL at {url.render_as_string()}. Start one there, or set {SERVER_VARIABLE} to a "
            "database in which the tests may create schemas."
        )
    yield server
    server.close()


@pytest.fixture(scope="session")
def postgres_database(postgres):
    database = open_database(postgres.empty_schema())
    yield database
    database.close()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory):
    """A migrated SQLite file to copy: running the migrations for every test takes longer than most tests."""
    path = tmp_path_factory.mktemp("template") / "gaplight.db"
    open_database(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def sqlite_database(sqlite_template, tmp_path):
    path = tmp_path / "gaplight.db"
    shutil.copy(sqlite_template, path)
    database = open_database(f"sqlite:///{path}")
    yield database
    database.close()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request):
    """An empty, migrated database of each kind."""
    if request.param == "sqlite":
        return request.getfixturevalue("sqlite_database")
    database = request.getfixturevalue("postgres_database")
    names = ", ".join(metadata.tables)
    with database.begin() as connection:
        connection.execute(text(f"TRUNCATE {names} CASCADE"))
    return database


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def empty_url(request, tmp_path):
    """The URL of a database of each kind that has no tables yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'empty' / 'gaplight.db'}"
    return request.getfixturevalue("postgres").empty_schema()


@pytest.fixture
def clock():
    """Seconds that pass when a test says so."""
    return Seconds()


@pytest.fixture(scope="module")
def chroma(tmp_path_factory):
    """A Chroma server for the tests of one file, which may kill it as long as they start it again."""
    server = ChromaProcess(tmp_path_factory.mktemp("chroma")).start()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def _logging_as_before():
    """Every command sets up the logging of its process; in a test that process is ours, and others read its log."""
    hooks = sys.excepthook, threading.excepthook
    loggers = [logging.root, *(logging.getLogger(name) for name in OURS)]
    levels = [logger.level for logger in loggers]
    yield
    sys.excepthook, threading.excepthook = hooks
    logging.captureWarnings(capture=False)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
    for handler in [one for one in logging.root.handlers if type(one) is logging.StreamHandler]:
        logging.root.removeHandler(handler)


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
