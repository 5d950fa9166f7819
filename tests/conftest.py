"""One real Neo4j with GDS per worker, emptied before each test that needs it.

``PGS_TEST_NEO4J_URI`` names a disposable database, in which everything is deleted. Without it, the
tests use a container if a Docker engine answers, or else the managed local server in a temporary
folder. ``PGS_TEST_RELEASE=2026`` starts that release instead of the default one.
``PGS_TEST_CYPHER=25`` makes that language the default of the database and of all statements that
exist in it.

The constraints of pgs stay in place between tests: whenever an index or a constraint is dropped,
Neo4j forgets the plans of all statements, and planning them again takes longer than the tests do.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import stamina
from hypothesis import settings

from pgs_neo4j.database import connection as db_module
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import GDS, open_gds
from pgs_neo4j.database.local.lockfile import DEFAULT
from pgs_neo4j.errors import ArtifactError
from pgs_neo4j.search.indexes import drop_indexes
from tests import reaper, servers, thorough
from tests.database import empty, speak, strip
from tests.fakes.openai_server import FakeOpenAI
from tests.stackoverflow import ARCHIVE, Archive, read_archive
from tests.standins import Brain, make_questions, write_brain
from tests.timeless import Clock
from tests.typed_rows import install

SHARED = Path(__file__).resolve().parents[2] / "shared"
IMAGES = {"5.26": "neo4j:5.26-community", "2026": "neo4j:2026.08-community"}
CYPHER = os.environ.get("PGS_TEST_CYPHER")
STRIPPING = {"bare_db", "no_search_indexes"}  # fixtures that drop indexes
START_S = 500.0  # for a server that .ci/run starts at the lowest priority beside everything else

# Hypothesis leaves no files behind, and sets no deadline that a busy machine could miss. CI tries
# the same examples each time, so that a lucky find does not fail unrelated work. Elsewhere, the
# examples are new each time.
settings.register_profile("pgs", database=None, deadline=None)
settings.register_profile("same", settings.get_profile("pgs"), derandomize=True)
settings.load_profile(os.environ.get("PGS_TEST_EXAMPLES", "pgs"))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address and the credentials of the test database."""

    uri: str
    user: str
    password: str | None = field(repr=False)

    def environment(self) -> dict[str, str]:
        """The variables with which a ``pgs`` process connects to the database."""
        given = {"PGS_NEO4J_URI": self.uri, "PGS_NEO4J_USER": self.user}
        return given | ({"PGS_NEO4J_PASSWORD": self.password} if self.password else {})


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--thorough`` and ``--histories``."""
    parser.addoption("--thorough", action="store_true", help="also run the tests that take long")
    parser.addoption(
        "--histories",
        type=thorough.check_seeds,
        help="how many random histories each test has (500), or from which seed to which (41:60)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Prepare ``--thorough``, and declare that there is no event loop yet.

    Otherwise, pytest-asyncio would create one and never close it.
    """
    thorough.enable(config)
    config.addinivalue_line("markers", "schema: makes or drops indexes or constraints")
    asyncio.set_event_loop(None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the thorough tests unless they were requested, and order the others."""
    thorough.deselect(config, items)
    put_schema_last(items)


def put_schema_last(items: list[pytest.Item]) -> None:
    """Move the tests that change the schema to the end of their files.

    Tests pass in any order. But a changed schema makes Neo4j forget its plans, so in this order the
    statements that the other tests of a file share are planned only once.
    """
    places: dict[Path, int] = {}
    for item in items:
        places.setdefault(item.path, len(places))

    def changes_schema(item: pytest.Item) -> bool:
        fixtures = getattr(item, "fixturenames", ())
        return item.get_closest_marker("schema") is not None or not STRIPPING.isdisjoint(fixtures)

    items.sort(key=lambda item: (places[item.path], changes_schema(item)))


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the settings of the machine's user, so that none affects a test."""
    for name in os.environ:
        if name.startswith("OPENAI_") or (
            name.startswith("PGS_") and not name.startswith("PGS_TEST_")
        ):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session", autouse=True)
def reaped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """End all processes that this process starts, even if it is killed."""
    with reaper.reaping(tmp_path_factory.getbasetemp()):
        yield


@pytest.fixture(scope="session", autouse=True)
def patched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Check the types of rows, let no search be cut short, and keep links in a temporary folder."""
    with pytest.MonkeyPatch.context() as patch:
        install(patch)
        home = tmp_path_factory.mktemp("links")
        patch.setattr("pgs_neo4j.web.access.new_links.user_data_path", lambda app: home / app)
        patch.setattr("pgs_neo4j.search.paths.walk.PATH_S", 300.0)
        patch.setattr("pgs_neo4j.pgs.answering.search.RERANK_S", 300.0)
        yield


@pytest.fixture
def no_waits() -> Iterator[None]:
    """Repeat failed calls without a pause, up to fifty times."""
    stamina.set_testing(True, attempts=50)
    yield
    stamina.set_testing(False)


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    """An OpenAI-compatible endpoint on loopback."""
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The event loop's clock, which a test may set forward."""
    return Clock(monkeypatch)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data; skips the test if the folder is missing."""
    if not (SHARED / "data").is_dir():
        pytest.skip("the shared data folder is not beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Brain:
    """A generated stand-in for the shared file."""
    return write_brain(tmp_path_factory.mktemp("generated") / "brain.json.gz")


@pytest.fixture(params=["generated", pytest.param("physics2", marks=pytest.mark.thorough)])
def brain(request: pytest.FixtureRequest, generated: Brain) -> Brain:
    """A generated file of the original engine; with ``--thorough``, also the engine's own demo."""
    if request.param == "generated":
        return generated
    return Brain(request.getfixturevalue("shared") / "data" / "physics2.json.gz", 586, 1931)


@pytest.fixture(params=["generated", pytest.param("Stack Overflow", marks=pytest.mark.thorough)])
def archive(request: pytest.FixtureRequest) -> Archive:
    """A generated database of questions; with ``--thorough``, also Neo4j's example."""
    if request.param == "generated":
        return make_questions()
    return read_archive(request.getfixturevalue("shared") / "data" / ARCHIVE)


@pytest.fixture(scope="session")
async def endpoint(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Endpoint]:
    """The test database, started when the first test needs it and stopped at the end."""
    async with _endpoint(tmp_path_factory) as found:
        if CYPHER:
            async with db_module.connect(found.uri, found.user, found.password) as opened:
                await speak(opened, CYPHER)
        yield found


@pytest.fixture
async def db(endpoint: Endpoint) -> AsyncIterator[Database]:
    """A connection to the test database, without data and with the constraints of pgs."""
    async with db_module.connect(endpoint.uri, endpoint.user, endpoint.password) as opened:
        await empty(opened)
        yield opened


@pytest.fixture
async def no_search_indexes(db: Database) -> None:
    """Drop the search indexes that most tests of ingestion share."""
    await drop_indexes(db)


@pytest.fixture
async def bare_db(endpoint: Endpoint) -> AsyncIterator[Database]:
    """A connection to the test database in the state before pgs first connects to it."""
    async with db_module.connect(endpoint.uri, endpoint.user, endpoint.password) as opened:
        await strip(opened)
        yield opened


@pytest.fixture
async def gds(db: Database) -> GDS:
    """Graph Data Science on the emptied test database."""
    return await open_gds(db)


@asynccontextmanager
async def _endpoint(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Endpoint]:
    uri = os.environ.get("PGS_TEST_NEO4J_URI")
    if uri and os.environ.get("PYTEST_XDIST_WORKER"):
        pytest.exit("one database cannot serve several workers: leave out -n, or unset its URI", 2)
    if uri:
        user = os.environ.get("PGS_TEST_NEO4J_USER", "neo4j")
        yield Endpoint(uri, user, os.environ.get("PGS_TEST_NEO4J_PASSWORD"))
    elif _docker_answers():
        with _container() as found:
            yield found
    else:
        async with _local(tmp_path_factory.mktemp("neo4j")) as found:
            yield found


def _docker_answers() -> bool:
    import docker
    from docker.errors import DockerException

    # Check for an engine first, because a client that finds none never closes its socket.
    if not os.environ.get("DOCKER_HOST") and not Path("/var/run/docker.sock").exists():
        return False
    try:
        client = docker.from_env(timeout=5)  # type: ignore[attr-defined]
        try:
            return bool(client.ping())
        finally:
            client.close()
    except (DockerException, OSError):
        return False


@contextmanager
def _container() -> Iterator[Endpoint]:
    from testcontainers.neo4j import Neo4jContainer

    starting = (
        Neo4jContainer(IMAGES[servers.RELEASE], password="test-only-password")
        .with_env("NEO4J_PLUGINS", '["graph-data-science"]')
        .with_env("NEO4J_dbms_security_procedures_unrestricted", "gds.*")
    )
    for name, value in servers.container_environment().items():
        starting = starting.with_env(name, value)
    with starting as container:
        yield Endpoint(container.get_connection_url(), container.username, container.password)


@asynccontextmanager
async def _local(folder: Path) -> AsyncIterator[Endpoint]:
    from pgs_neo4j.database.local import server
    from pgs_neo4j.database.local.options import LocalOptions

    options = LocalOptions(
        data_dir=folder,
        heap_mb=1536,
        page_cache_mb=256,
        release=servers.RELEASE,
        start_timeout_s=START_S,
    )
    with pytest.MonkeyPatch.context() as patch:
        servers.tune(patch, lasting=True)
        try:
            running = await server.ensure_running(options)
        except ArtifactError as error:
            if servers.RELEASE == DEFAULT:
                raise
            pytest.skip(f"Neo4j {servers.RELEASE} cannot be fetched: {error}")
    try:
        yield Endpoint(running.uri, running.user, running.password)
    finally:
        await server.stop(options)
