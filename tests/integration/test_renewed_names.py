"""The index of names is made again after a purge, by another resolver, and after a fault."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.documents.fold.resolution import Resolution, Resolver, VariantResolver
from pgs_neo4j.documents.names import renewal
from pgs_neo4j.documents.publish.publication import NewDocument, Publication, prepare, publish
from pgs_neo4j.documents.publish.writer import Writer
from pgs_neo4j.engine.purge import purge
from pgs_neo4j.errors import QueryError
from tests.database import alter, fetch
from tests.documents import (
    ApartResolver,
    name_rows,
    new_document,
    random_extraction,
    standing,
    stored_names,
    write_documents,
)

VARIANTS = VariantResolver()
DOCUMENTS = [
    new_document(
        name, {f"{name} {at}": random_extraction(Random(f"{name} {at}")) for at in range(4)}
    )
    for name in ("a", "b", "c", "d", "e", "f")
]


async def write(
    db: Database, *documents: NewDocument, gone: str = "", resolver: Resolver = VARIANTS
) -> None:
    """Write documents, and delete one, as an ingestion does."""
    await ensure_schema(db)
    await prepare(db)
    await write_documents(db, *documents, gone=gone, resolver=resolver)


@pytest.fixture
async def written(db: Database) -> Mapping[str, Any]:
    """What documents with variants among their names make."""
    await write(db, *DOCUMENTS)
    return await standing(db)


@pytest.mark.thorough
async def test_the_index_has_all_names_with_their_entities_and_leaves_them_alone(
    db: Database, written: Mapping[str, Any]
) -> None:
    assert written["names"] == name_rows(DOCUMENTS, "docs")
    joined = [row for row in written["names"] if row["key"] != row["entity_key"]]
    assert {row["entity_type"] for row in joined} >= {"Person", "Location"}
    await alter(db, "MATCH (n:PgsName {key: 'RADIUM'}) SET n.mark = 1")
    await write(db)
    marked = [row for row in await stored_names(db, "docs") if "mark" in row]
    assert len(marked) == len([row for row in written["names"] if row["key"] == "RADIUM"]) > 0


@pytest.mark.schema
@pytest.mark.thorough
async def test_a_purge_takes_the_index_and_the_next_ingestion_makes_it_again(
    db: Database, written: Mapping[str, Any]
) -> None:
    assert (await purge(db)).nodes > len(written["names"])
    assert await standing(db) == {**written, "names": []}
    assert await pgs_indexes(db) == []
    await write(db)
    assert await standing(db) == written
    assert len(await pgs_indexes(db)) > 5


@pytest.mark.schema
@pytest.mark.thorough
async def test_a_deletion_after_a_purge_leaves_what_the_others_make(db: Database) -> None:
    one, *others = DOCUMENTS
    await write(db, *others)
    wanted = await standing(db)
    await write(db, one)
    await purge(db)
    await write(db, gone=one.id)
    assert await standing(db) == wanted


@pytest.mark.thorough
async def test_names_are_resolved_again_by_another_resolver(
    db: Database, written: Mapping[str, Any]
) -> None:
    await write(db, resolver=ApartResolver())
    apart = await standing(db)
    assert {row["entity_key"] == row["key"] for row in apart["names"]} == {True}
    assert apart["names"] == name_rows(DOCUMENTS, "docs", Resolution(ApartResolver()))
    assert len(apart["nodes"]) > len(written["nodes"])
    await write(db)
    assert await standing(db) == written


@pytest.mark.thorough
@pytest.mark.parametrize("faults", [(0,), (1,), (2, 0)])
async def test_a_renewal_that_breaks_off_is_taken_up_where_it_stands(
    db: Database,
    written: Mapping[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    faults: tuple[int, ...],
) -> None:
    await write(db, resolver=ApartResolver())
    monkeypatch.setattr(renewal, "SUSPECTS", 1)
    for first in faults:
        with monkeypatch.context() as patch:
            patch.setattr(renewal, "publish", Breaking(first))
            with pytest.raises(QueryError, match="broken off"):
                await write(db)
    await write(db)
    assert await standing(db) == written


class Breaking:
    """Publishes some times, and then breaks off."""

    def __init__(self, times: int) -> None:
        self.left = times

    async def __call__(self, db: Database, writer: Writer, what: Publication) -> None:
        if not self.left:
            raise QueryError("broken off")
        self.left -= 1
        await publish(db, writer, what)


async def pgs_indexes(db: Database) -> list[str]:
    """The names of the package's indexes, but for those of constraints."""
    text = "SHOW INDEXES YIELD name, owningConstraint WHERE owningConstraint IS NULL RETURN name"
    rows = await fetch(db, text)
    return [row["name"] for row in rows if row["name"].startswith("pgs_name")]
