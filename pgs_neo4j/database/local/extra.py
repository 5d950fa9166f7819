"""The error for an installation without the extra ``local``."""

from __future__ import annotations

from pgs_neo4j.errors import LocalServerError


def missing_extra(error: ImportError) -> LocalServerError:
    """Return the error for a missing library of the extra."""
    return LocalServerError(
        f"the local server needs the package {error.name}; install pgs-neo4j with its extra: "
        "pip install 'pgs-neo4j[local]', or name a Neo4j of yours with PGS_NEO4J_URI"
    )
