"""What a managed local server can be told, and where it keeps its files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from pgs_neo4j.errors import ConfigError, LocalServerError

APP = "pgs-neo4j"
MARKER = ".pgs-neo4j-data"
MARKER_TEXT = (
    "This folder belongs to the local server of pgs_neo4j; `pgs local reset` empties it.\n"
)


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """How to run the local server; whatever is None is chosen for this machine.

    ``heap_mb`` and ``page_cache_mb`` are MiB; ``java_home`` is used alone when given;
    ``bolt_port`` pins the port, otherwise a free one is taken; ``mirrors`` are addresses of
    artifact repositories to use instead of the default one. Attaching to a running server
    does not change how it was started.
    """

    data_dir: Path | None = None
    cache_dir: Path | None = None
    heap_mb: int | None = None
    page_cache_mb: int | None = None
    java_home: Path | None = None
    bolt_port: int | None = None
    start_timeout_s: float = 120.0
    mirrors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LocalPaths:
    """Every file and folder of one data directory, absolute."""

    data_dir: Path
    cache_dir: Path

    @property
    def marker(self) -> Path:
        """The file that says this folder is ours."""
        return self.data_dir / MARKER

    @property
    def lock(self) -> Path:
        """Held while the server is started, stopped, reset, or imported into."""
        return self.data_dir / ".lock"

    @property
    def state(self) -> Path:
        """Which process serves this directory, as JSON."""
        return self.data_dir / "server.json"

    @property
    def password(self) -> Path:
        """The password of user neo4j, readable by the owner only."""
        return self.data_dir / "password"

    @property
    def conf(self) -> Path:
        """The folder of neo4j.conf, written anew at each start."""
        return self.data_dir / "conf"

    @property
    def data(self) -> Path:
        """Neo4j's own data folder: stores, transaction logs, credentials."""
        return self.data_dir / "data"

    @property
    def plugins(self) -> Path:
        """Where Neo4j looks for GDS: a link into the cache, renewed at each start."""
        return self.data_dir / "plugins"

    @property
    def logs(self) -> Path:
        """Neo4j's logs and the process's console."""
        return self.data_dir / "logs"

    @property
    def console(self) -> Path:
        """What the current or last process printed."""
        return self.logs / "console.log"

    @property
    def server_log(self) -> Path:
        """Neo4j's log for people."""
        return self.logs / "neo4j.log"

    @property
    def run(self) -> Path:
        """Neo4j's folder for what lasts as long as its process."""
        return self.data_dir / "run"

    @property
    def staging(self) -> Path:
        """Where a bulk import is built before it takes the place of the database."""
        return self.data_dir / "staging"


def paths_of(options: LocalOptions) -> LocalPaths:
    """The absolute locations of ``options``; nothing is created."""
    data = options.data_dir or platformdirs.user_data_path(APP) / "local"
    cache = options.cache_dir or platformdirs.user_cache_path(APP)
    return LocalPaths(data.expanduser().resolve(), cache.expanduser().resolve())


def claim(paths: LocalPaths) -> None:
    """Create the data directory, or check that it is ours.

    Raises LocalServerError when the folder holds something else or cannot be written.
    """
    with writing(paths):
        paths.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        if paths.marker.exists():
            return
        # Another process that is claiming it right now may have left its lock or marker.
        if {entry.name for entry in paths.data_dir.iterdir()} - {MARKER, paths.lock.name}:
            raise foreign(paths)
        paths.marker.write_text(MARKER_TEXT, encoding="utf-8")


@contextmanager
def writing(paths: LocalPaths) -> Iterator[None]:
    """Turn a full disk, missing rights and the like into a sentence about the data directory."""
    try:
        yield
    except OSError as error:
        raise LocalServerError(
            f"the data directory {paths.data_dir} cannot be used ({error.strerror or error}); "
            "free some space, or name another with PGS_LOCAL_DATA_DIR"
        ) from error


def foreign(paths: LocalPaths) -> LocalServerError:
    """The error for a folder that holds something else."""
    return LocalServerError(
        f"{paths.data_dir} is not a data directory of pgs_neo4j and is not empty; "
        "name another with PGS_LOCAL_DATA_DIR"
    )


def options_from_environment(environment: Mapping[str, str] | None = None) -> LocalOptions:
    """Options from PGS_LOCAL_DATA_DIR, _CACHE_DIR, _HEAP_MB, _PAGE_CACHE_MB, _BOLT_PORT, _MIRRORS.

    Empty values count as unset; mirrors are separated by commas. Raises ConfigError.
    """
    given = os.environ if environment is None else environment

    def path(name: str) -> Path | None:
        return Path(given[name]) if given.get(name) else None

    return LocalOptions(
        data_dir=path("PGS_LOCAL_DATA_DIR"),
        cache_dir=path("PGS_LOCAL_CACHE_DIR"),
        heap_mb=_number(given, "PGS_LOCAL_HEAP_MB", 256, 1_048_576),
        page_cache_mb=_number(given, "PGS_LOCAL_PAGE_CACHE_MB", 16, 1_048_576),
        bolt_port=_number(given, "PGS_LOCAL_BOLT_PORT", 1, 65_535),
        mirrors=tuple(
            mirror.strip() for mirror in given.get("PGS_LOCAL_MIRRORS", "").split(",") if mirror
        ),
    )


def _number(given: Mapping[str, str], name: str, low: int, high: int) -> int | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        raise ConfigError(f"{name} is {text!r}; give a whole number from {low} to {high}")
    return int(text)
