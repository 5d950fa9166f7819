"""Options of the managed local server, the paths of its files, and the claim to its folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from pgs_neo4j.database.local.lockfile import DEFAULT, RELEASES, Release, find_release
from pgs_neo4j.errors import ConfigError, LocalServerError

APP = "pgs-neo4j"
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
MARKER = ".pgs-neo4j-data"
MARKER_TEXT = (
    "This folder belongs to the local server of pgs_neo4j; `pgs local reset` empties it.\n"
)


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """Options of the local server. None means a default that suits the machine.

    ``release`` is ``5.26`` or ``2026``. None means the release of the data directory, or 5.26 for a
    new data directory. ``heap_mb`` and ``page_cache_mb`` are MiB. If ``java_home`` is set, no other
    Java is tried. ``bolt_port`` pins the port; without it, any free port is used. ``mirrors`` are
    addresses of Maven repositories that replace the default one. A server that already runs keeps
    its own options.
    """

    data_dir: Path | None = None
    cache_dir: Path | None = None
    heap_mb: int | None = None
    page_cache_mb: int | None = None
    java_home: Path | None = None
    bolt_port: int | None = None
    start_timeout_s: float = 120.0
    mirrors: tuple[str, ...] = ()
    release: str | None = None


@dataclass(frozen=True, slots=True)
class LocalPaths:
    """The absolute paths of all files and folders of one data directory."""

    data_dir: Path
    cache_dir: Path

    @property
    def marker(self) -> Path:
        """The file that marks a data directory of this package."""
        return self.data_dir / MARKER

    @property
    def release(self) -> Path:
        """The file with the name of the release to which the store belongs."""
        return self.data_dir / "release"

    @property
    def lock(self) -> Path:
        """The lock for starting, stopping, resetting, and importing."""
        return self.data_dir / ".lock"

    @property
    def state(self) -> Path:
        """The JSON file that describes the server's process."""
        return self.data_dir / "server.json"

    @property
    def password(self) -> Path:
        """The file with the password of user neo4j, readable by its owner only."""
        return self.data_dir / "password"

    @property
    def next_password(self) -> Path:
        """The file with the password that a renewal is about to set."""
        return self.data_dir / "password.next"

    @property
    def conf(self) -> Path:
        """The folder of neo4j.conf, which each start rewrites."""
        return self.data_dir / "conf"

    @property
    def data(self) -> Path:
        """Neo4j's own data folder: stores, transaction logs, credentials."""
        return self.data_dir / "data"

    @property
    def plugins(self) -> Path:
        """The folder of GDS. It is a link to the cache, which each start replaces."""
        return self.data_dir / "plugins"

    @property
    def logs(self) -> Path:
        """The folder of Neo4j's logs and of the process's console output."""
        return self.data_dir / "logs"

    @property
    def console(self) -> Path:
        """The file with the console output of the current or last process."""
        return self.logs / "console.log"

    @property
    def server_log(self) -> Path:
        """Neo4j's short log, which is intended for users."""
        return self.logs / "neo4j.log"

    @property
    def debug_log(self) -> Path:
        """Neo4j's long log, which says why a database does not start."""
        return self.logs / "debug.log"

    @property
    def run(self) -> Path:
        """Neo4j's folder for files that exist only while its process runs."""
        return self.data_dir / "run"

    @property
    def staging(self) -> Path:
        """The folder in which an import builds the new store."""
        return self.data_dir / "staging"


def paths_of(options: LocalOptions) -> LocalPaths:
    """Return the absolute paths for ``options`` without creating anything.

    Without ``data_dir``, each release has a separate data directory.
    """
    other = options.release if options.release not in (None, DEFAULT) else None
    folder = f"local-{find_release(other).name}" if other else "local"
    data = options.data_dir or platformdirs.user_data_path(APP) / folder
    cache = options.cache_dir or platformdirs.user_cache_path(APP)
    return LocalPaths(data.expanduser().resolve(), cache.expanduser().resolve())


def claim(paths: LocalPaths) -> None:
    """Create the data directory, or check that the folder is a data directory.

    Raises LocalServerError if the folder has other content or cannot be written.
    """
    with translate_disk_errors(paths):
        paths.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        secure(paths)
        if paths.marker.exists():
            return
        # Another process that claims the folder now may already have created a lock or marker.
        if {entry.name for entry in paths.data_dir.iterdir()} - {MARKER, paths.lock.name}:
            raise foreign_error(paths)
        paths.marker.write_text(MARKER_TEXT, encoding="utf-8")


def secure(paths: LocalPaths) -> None:
    """Remove other users' right to write to the data directory.

    Raises LocalServerError if the directory, or a file in it, belongs to another user.
    """
    if os.name == "nt" or not paths.data_dir.is_dir():
        return
    me = os.geteuid()
    details = paths.data_dir.stat()
    if me not in (0, details.st_uid):
        raise LocalServerError(
            f"the data directory {paths.data_dir} belongs to another user; "
            "set PGS_LOCAL_DATA_DIR to a folder of your own"
        )
    if not details.st_mode & OTHERS_WRITE:
        return
    entries = paths.data_dir.iterdir()
    strange = [entry.name for entry in entries if entry.lstat().st_uid not in (me, details.st_uid)]
    if strange:
        raise LocalServerError(
            f"other users can write to the data directory {paths.data_dir}, and {strange[0]} in it "
            "belongs to one; set PGS_LOCAL_DATA_DIR to a folder of your own"
        )
    paths.data_dir.chmod(stat.S_IMODE(details.st_mode) & ~OTHERS_WRITE)


def read_release(paths: LocalPaths) -> str | None:
    """Return the release to which the directory's store belongs; None for a new directory."""
    try:
        return paths.release.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        # Older versions of this package ran only this release and wrote no such file.
        return DEFAULT if paths.data.exists() else None


def choose_release(paths: LocalPaths, options: LocalOptions) -> Release:
    """Return the release to run on a data directory.

    Raises LocalServerError if ``options`` name another release than the store's release. A newer
    Neo4j would upgrade the store for good, and an older one could not open it.
    """
    asked, stored = options.release, read_release(paths)
    chosen = find_release(asked or DEFAULT)
    if stored is None:
        return chosen
    if stored not in RELEASES:
        raise LocalServerError(
            f"{paths.data_dir} holds a database of Neo4j {stored}, which this version of "
            "pgs-neo4j does not run; upgrade pgs-neo4j, or set PGS_LOCAL_DATA_DIR to another folder"
        )
    if asked is not None and asked != stored:
        raise LocalServerError(
            f"{paths.data_dir} holds a database of Neo4j {stored}, and Neo4j {asked} will not "
            f"open it; choose release {stored}, or set PGS_LOCAL_DATA_DIR to another folder"
        )
    return RELEASES[stored]


@contextmanager
def translate_disk_errors(paths: LocalPaths) -> Iterator[None]:
    """Turn an OSError of the data directory into a LocalServerError."""
    try:
        yield
    except OSError as error:
        raise LocalServerError(
            f"the data directory {paths.data_dir} cannot be used ({error.strerror or error}); "
            "free some space, or set PGS_LOCAL_DATA_DIR to another one"
        ) from error


def foreign_error(paths: LocalPaths) -> LocalServerError:
    """Return the error for a folder that is not empty and not a data directory of this package."""
    return LocalServerError(
        f"{paths.data_dir} is not a data directory of pgs_neo4j and is not empty; "
        "set PGS_LOCAL_DATA_DIR to another folder"
    )


def options_from_environment(
    environment: Mapping[str, str] | None = None, *, release: str | None = None
) -> LocalOptions:
    """Return options from environment variables that begin with PGS_LOCAL_.

    These are DATA_DIR, CACHE_DIR, HEAP_MB, PAGE_CACHE_MB, BOLT_PORT, MIRRORS (separated by commas),
    and RELEASE. An empty value counts as unset. The argument ``release`` takes precedence over the
    variable. Raises ConfigError.
    """
    variables = os.environ if environment is None else environment

    def path(name: str) -> Path | None:
        return Path(variables[name]) if variables.get(name) else None

    chosen = release or variables.get("PGS_LOCAL_RELEASE", "").strip() or None
    return LocalOptions(
        release=find_release(chosen).name if chosen else None,
        data_dir=path("PGS_LOCAL_DATA_DIR"),
        cache_dir=path("PGS_LOCAL_CACHE_DIR"),
        heap_mb=_read_number(variables, "PGS_LOCAL_HEAP_MB", 256, 1_048_576),
        page_cache_mb=_read_number(variables, "PGS_LOCAL_PAGE_CACHE_MB", 16, 1_048_576),
        bolt_port=_read_number(variables, "PGS_LOCAL_BOLT_PORT", 1, 65_535),
        mirrors=tuple(
            mirror.strip() for mirror in variables.get("PGS_LOCAL_MIRRORS", "").split(",") if mirror
        ),
    )


def _read_number(variables: Mapping[str, str], name: str, low: int, high: int) -> int | None:
    text = variables.get(name, "").strip()
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        raise ConfigError(f"{name} is {text!r}; set it to a whole number from {low} to {high}")
    return int(text)


def missing_extra(error: ImportError) -> LocalServerError:
    """Return the error for a library that is missing because the extra is not installed."""
    return LocalServerError(
        f"the local server needs the package {error.name}; install pgs-neo4j with its extra: "
        "pip install 'pgs-neo4j[local]', or name a Neo4j of yours with PGS_NEO4J_URI"
    )
