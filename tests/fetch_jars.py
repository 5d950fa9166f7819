"""Fetches the jars of some releases of the local server, so that no test has to wait for them.

``python -m tests.fetch_jars 5.26 2026`` exits with 1 if a jar cannot be fetched.
"""

from __future__ import annotations

import sys

import platformdirs

from pgs_neo4j.database.local import artifacts, lockfile
from pgs_neo4j.database.local.options import APP
from pgs_neo4j.errors import ArtifactError


def main() -> int:
    """Fetch the jars that the user's cache lacks."""
    for name in sys.argv[1:]:
        try:
            artifacts.ensure(
                lockfile.load(name), platformdirs.user_cache_path(APP), on_progress=lambda *_: None
            )
        except ArtifactError as error:
            sys.stderr.write(f"Neo4j {name}: {error}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
