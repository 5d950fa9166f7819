"""Completion of graphs, sessions, and runs, from a file in the user's cache folder.

Looking up names in the database would take seconds. So each command that connects writes the names
to a file for its database. The file contains no address, question, or secret.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import platformdirs

from pgs_neo4j.errors import PGSError

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS

MOST_NAMES = 200  # of each kind
MOST_BYTES = 100_000  # of a file
MOST_FILES = 20  # databases
PATIENCE_S = 2.0
# The shell interprets a completed word as code, so only words without special characters are
# offered.
_SAFE = re.compile(r"[\w@%+=:,./][\w@%+=:,./-]{0,99}", re.ASCII)


def complete_graphs(incomplete: str) -> list[str]:
    """Return the names of graphs that begin with the typed text."""
    return _matching("graphs", incomplete)


def complete_sessions(incomplete: str) -> list[str]:
    """Return the names of sessions that begin with the typed text."""
    return _matching("sessions", incomplete)


def complete_runs(incomplete: str) -> list[str]:
    """Return the ids of runs that begin with the typed text."""
    return _matching("runs", incomplete)


async def refresh(pgs: PGS, *, local: bool) -> None:
    """Store the names of a database for completion; failures are ignored.

    With ``local``, the database is on the managed local server, whatever the settings say.
    """
    from pgs_neo4j.engine import read_names

    with suppress(PGSError, TimeoutError, OSError):
        async with asyncio.timeout(PATIENCE_S):
            names = await read_names(pgs, MOST_NAMES)
        safe = {kind: [*filter(_SAFE.fullmatch, words)] for kind, words in asdict(names).items()}
        _write(_file(local=local), json.dumps(safe))


def _matching(kind: str, incomplete: str) -> list[str]:
    with suppress(PGSError, OSError, ValueError):
        path = _file(local=False)
        if path.stat().st_size > MOST_BYTES:
            return []
        names = json.loads(path.read_bytes())
        words = names.get(kind) if isinstance(names, dict) else None
        listed = words[:MOST_NAMES] if isinstance(words, list) else []
        safe = [word for word in listed if isinstance(word, str) and _SAFE.fullmatch(word)]
        return [word for word in safe if word.startswith(incomplete)]
    return []


def _file(*, local: bool) -> Path:
    """Return the file of the database that the settings name."""
    from pgs_neo4j import config

    settings = config.load().settings
    if local or settings.neo4j_uri is None:
        address = f"local {os.environ.get('PGS_LOCAL_DATA_DIR', '')}"
    else:
        parts = urlsplit(settings.neo4j_uri)
        address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]} {settings.neo4j_database}"
    folder = platformdirs.user_cache_path("pgs-neo4j") / "names"
    return folder / f"{sha256(address.encode()).hexdigest()[:32]}.json"


def _write(path: Path, text: str) -> None:
    """Replace a file atomically, readable by its owner only; delete old files."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = path.with_name(f".{secrets.token_hex(6)}.tmp")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    files = sorted(path.parent.glob("*.json"), key=lambda one: one.stat().st_mtime, reverse=True)
    for old in files[MOST_FILES:]:
        old.unlink(missing_ok=True)
