"""Creates records as the driver returns them, for libraries that accept nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from neo4j import Record


def create_record(values: Mapping[str, object]) -> Record:
    """Return a record with these values by name."""
    return Record(values)  # type: ignore[no-untyped-call]
