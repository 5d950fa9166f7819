"""Checks the requirements on a server: its address, TLS, version, and free disk space."""

from __future__ import annotations

import re
import shutil
import ssl
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import neo4j

from pgs_neo4j.database import queries
from pgs_neo4j.errors import ConfigError, DatabaseFullError, DatabaseVersionError

if TYPE_CHECKING:
    from pgs_neo4j.database.connection import Database

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
VERIFIED = ("bolt+s", "neo4j+s")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*", re.IGNORECASE)
_CREDENTIAL = re.compile(r"(?i)pass|pwd|user|token|secret|auth|key")

MINIMUM_VERSION = (5, 26)

RECORD_MB, BULK_MB = 64, 256
"""Megabytes of free disk required for a statement that writes this package's records, and for any
other statement."""

RequireRoom = Callable[[int], None]


def check_address(uri: str) -> None:
    """Raise ConfigError for an address that is malformed or contains credentials."""
    scheme, separator, rest = uri.partition("://")
    if not separator or scheme not in SCHEMES or not rest:
        # The text before ``://`` may be a password, so it is quoted only if it looks like a scheme.
        quoted = scheme if separator and _SCHEME.fullmatch(scheme) else "(none)"
        raise ConfigError(
            f"the Neo4j address has the scheme {quoted}; "
            f"write it as one of {', '.join(SCHEMES)} followed by ://host:port"
        )
    if "@" in rest:
        raise ConfigError(
            "the Neo4j address contains credentials; set PGS_NEO4J_USER and "
            "PGS_NEO4J_PASSWORD instead"
        )
    _check_query(scheme, rest)
    try:
        urlsplit(uri).port  # noqa: B018 - reading the port checks it
    except ValueError:  # Dropped: it quotes the text after the colon, maybe a password.
        raise ConfigError(
            f"the Neo4j address has an invalid host or port; write it as {scheme}://host:7687"
        ) from None


def _check_query(scheme: str, rest: str) -> None:
    query = rest.partition("?")[2]
    if "#" in rest or (scheme.startswith("bolt") and "?" in rest):
        raise ConfigError(
            f"the Neo4j address has a query or fragment, which {scheme}:// does not take; end it "
            "after host and port, and set PGS_NEO4J_PASSWORD for a password"
        )
    names = [part.partition("=")[0] for part in query.split("&") if part]
    if any(map(_CREDENTIAL.search, names)):
        raise ConfigError(
            "the query of the Neo4j address looks like credentials; set PGS_NEO4J_USER and "
            "PGS_NEO4J_PASSWORD instead"
        )


def shown_address(uri: str) -> str:
    """Return an address without its query and fragment, for messages."""
    return re.split(r"[?#]", uri, maxsplit=1)[0]


def secured(uri: str, ca: Path | None) -> tuple[str, Mapping[str, Any]]:
    """Return the address and the driver options with which the driver trusts only ``ca``.

    Raises ConfigError if the scheme of the address checks no certificate, or the file contains no
    certificate.
    """
    if ca is None:
        return uri, {}
    scheme, _, rest = uri.partition("://")
    if scheme not in VERIFIED:
        raise ConfigError(
            f"neo4j_ca has no effect with {scheme}://, which checks no certificate; write the "
            f"address with {scheme.partition('+')[0]}+s://, or unset neo4j_ca"
        )
    try:
        # Load the file now, because the driver reports a broken file only when it first connects.
        ssl.create_default_context(cafile=str(ca))
    except OSError as error:  # Includes ssl.SSLError.
        reason = "holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise ConfigError(
            f"neo4j_ca names {ca}, which cannot be used ({reason}); name a file of certificates "
            "in PEM form"
        ) from error
    # The driver accepts certificates only with a plain scheme, so encryption becomes an option.
    options = {"encrypted": True, "trusted_certificates": neo4j.TrustCustomCAs(str(ca))}
    return f"{scheme.removesuffix('+s')}://{rest}", options


async def read_server(db: Database) -> tuple[str, str, tuple[str, ...]]:
    """Return the server's version, edition, and languages. Raises DatabaseVersionError."""
    row = (await db.read(queries.get("database/read_components")))[0]
    version, languages = str(row["version"]), tuple(row["languages"]) or db.languages
    check_version(db.uri, version, languages)
    return version, str(row["edition"]), languages


def check_version(uri: str, version: str, languages: Container[str]) -> None:
    """Raise DatabaseVersionError if a server is too old, or lacks our Cypher version."""
    if parse_version(version) < MINIMUM_VERSION:
        minimum = ".".join(map(str, MINIMUM_VERSION))
        raise DatabaseVersionError(f"Neo4j at {uri} is {version}; upgrade it to {minimum} or newer")
    if queries.PREFERRED not in languages:
        raise DatabaseVersionError(
            f"Neo4j at {uri} is {version}, which no longer speaks Cypher {queries.PREFERRED}; "
            "upgrade pgs-neo4j, or use an earlier release of Neo4j"
        )


def parse_version(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: ``5.26.30`` gives (5, 26, 30)."""
    return tuple(int(number) for number in re.findall(r"\d+", text.split("-")[0])[:3])


def allow(megabytes: int) -> None:
    """Allow every write, because the server's disk is not accessible."""


def room_guard(data_dir: Path) -> RequireRoom:
    """Return a check that raises DatabaseFullError if a data directory has too little free disk.

    If the disk fills up during a write, the transaction log is cut off, and Neo4j 5.26 cannot read
    the log at the next start. So the check runs before the write.
    """

    def require(megabytes: int) -> None:
        try:
            free = shutil.disk_usage(data_dir).free
        except OSError:
            return  # The folder is gone, and Neo4j reports this better.
        if free < megabytes * 1_000_000:
            raise DatabaseFullError(
                f"the disk of the local server has {free / 1e6:.0f} MB left, and Neo4j needs "
                f"{megabytes} MB to write safely; free space on the disk of {data_dir} and repeat "
                "the command"
            )

    return require
