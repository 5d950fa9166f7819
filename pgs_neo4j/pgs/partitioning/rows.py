"""Converts generations, partitions, and units to rows of the database and back."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Literal, NotRequired, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, TypeAdapter
from typing_extensions import TypedDict  # on Python 3.11, pydantic needs this TypedDict

from pgs_neo4j.config import Algorithm
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.stored_data import MOST_COUNT, Count, check_stored, parse_stored
from pgs_neo4j.model import Adjacent, Generation, GraphMapping, Origin, Partition, Unit
from pgs_neo4j.text.commands import shell_word

Figure = Annotated[float, Field(allow_inf_nan=False)]

Nodes = Annotated[int, Field(ge=1, le=MOST_COUNT)]
MostNodes = Annotated[int, Field(ge=2, le=MOST_COUNT)]
Tokens = Annotated[int, Field(ge=1000, le=MOST_COUNT)]
Centroid = Literal["mean", "weighted"]


class StoredSettings(TypedDict, total=False):
    """Stored settings of partitioning, with the same bounds as the settings themselves."""

    min_community_size: Nodes
    target_partition_max: MostNodes
    max_partition_tokens: Tokens
    algorithm: Algorithm
    random_seed: Count
    centroid: Centroid


class StoredValues(TypedDict, total=False):
    """Configured values of partitioning settings, the latest last."""

    min_community_size: list[Nodes]
    target_partition_max: list[MostNodes]
    max_partition_tokens: list[Tokens]
    algorithm: list[Algorithm]
    random_seed: list[Count]
    centroid: list[Centroid]


class StoredGeneration(TypedDict):
    """Properties of a ``:PgsGeneration``.

    ``issues``, ``seconds``, ``knobs``, and ``standing`` are JSON objects. A generation of an
    earlier release has neither ``knobs`` nor ``standing``, so it keeps no settings. A generation
    without embeddings has no ``dimensions`` and no ``embedder``. It has no ``token`` if other
    transactions kept committing.
    """

    algorithm: str
    common: list[str]
    conductance: Figure
    created_at: str
    dimensions: NotRequired[Count | None]
    documents_together: NotRequired[Figure | None]
    embedder: NotRequired[str | None]
    fingerprint: str
    grown: Figure
    id: str
    issues: str
    knobs: NotRequired[str]
    levels: list[Count]
    merged: Count
    modularity: Figure
    node_count: Count
    origin: Origin
    partition_count: Count
    pooled_nodes: Count
    pools: Count
    raw_modularity: Figure
    relationship_count: Count
    seconds: str
    settings: str
    sizes: list[Count]
    split: Count
    standing: NotRequired[str]
    token: NotRequired[str | None]


class StoredPartition(TypedDict):
    """Properties of a ``:PgsPartition`` of level 0."""

    id: Count
    uid: str
    lineage: str
    size: Count
    tokens: Count
    keywords: list[str]
    summary: str
    pool: bool
    centroid: NotRequired[list[float] | None]
    label: str
    terms: list[str]
    titles: list[str]
    abstract: str
    texts: Count


class StoredUnit(TypedDict):
    """Properties of a ``:PgsPartition`` at a level above 0."""

    id: Count
    level: Count
    size: Count
    partitions: Count
    keywords: list[str]
    centroid: NotRequired[list[float] | None]
    label: str
    terms: list[str]
    titles: list[str]


def _as_tuple(value: object) -> object:
    """Turn a list into a tuple, because the database has no tuples."""
    return tuple(value) if isinstance(value, list) else value


Link = Annotated[tuple[Count, Count, Figure], BeforeValidator(_as_tuple)]


class PartitionRow(TypedDict):
    """A partition of ``read_partitions``. Each link in ``adjacent`` has id, edges, and weight."""

    partition: StoredPartition
    adjacent: list[Link]
    parent: Count | None


class UnitRow(TypedDict):
    """A row of ``read_units``."""

    unit: StoredUnit
    parent: Count | None


_GENERATION = TypeAdapter(StoredGeneration)
_PARTITION, _UNIT = TypeAdapter(PartitionRow), TypeAdapter(UnitRow)
_REMAKE = "make the partitions of its graph again with 'pgs partition --force'"
_SETTINGS, _VALUES = TypeAdapter(StoredSettings), TypeAdapter(StoredValues)
_COUNTS, _SECONDS = TypeAdapter(dict[str, Count]), TypeAdapter(dict[str, Figure])


def definition_of(mapping: GraphMapping) -> str:
    """Return a mapping as the JSON text that graphs and generations store."""
    written = asdict(mapping)
    for name in ("titles", "keys"):
        if not written[name]:
            # Omitted if unset, so mappings from before these fields keep the same text.
            del written[name]
    return json.dumps(written, sort_keys=True)


def uid(generation_id: str, number: int, level: int = 0) -> str:
    """Return the unique key of a partition, or a unit at ``level``."""
    return f"{generation_id}:{level}:{number}" if level else f"{generation_id}:{number}"


def generation_properties(generation: Generation, **more: object) -> Row:
    """Return the properties of a generation's node: its figures and ``more``."""
    return {
        "algorithm": generation.algorithm,
        "fingerprint": generation.fingerprint,
        "node_count": generation.node_count,
        "relationship_count": generation.relationship_count,
        "partition_count": generation.partition_count,
        "modularity": generation.modularity,
        "sizes": list(generation.sizes),
        "pooled_nodes": generation.pooled_nodes,
        "embedder": generation.embedder,
        "dimensions": generation.dimensions,
        "documents_together": generation.documents_together,
        "issues": json.dumps(generation.issues, sort_keys=True),
        "origin": generation.origin,
        "raw_modularity": generation.raw_modularity,
        "conductance": generation.conductance,
        "split": generation.split,
        "merged": generation.merged,
        "pools": generation.pools,
        "levels": list(generation.levels),
        "seconds": json.dumps({step: round(s, 3) for step, s in generation.seconds.items()}),
        "token": generation.token,
        "settings": generation.settings,
        "common": list(generation.common),
        "grown": generation.grown,
        "knobs": json.dumps(generation.knobs, sort_keys=True),
        "standing": json.dumps(generation.standing, sort_keys=True),
        **more,
    }


def generation_of(graph: str, stored: StoredGeneration) -> Generation:
    """Return a generation from its stored properties. Raises StoredDataError."""
    what, fix = f"the generation of graph {graph}", remake(graph)
    stored = check_stored(_GENERATION, stored, what, fix)
    knobs, standing = stored.get("knobs", "{}"), stored.get("standing", "{}")
    return Generation(
        id=stored["id"],
        graph=graph,
        created_at=stored["created_at"],
        algorithm=stored["algorithm"],
        fingerprint=stored["fingerprint"],
        node_count=stored["node_count"],
        relationship_count=stored["relationship_count"],
        partition_count=stored["partition_count"],
        modularity=stored["modularity"],
        sizes=tuple(stored["sizes"]),
        pooled_nodes=stored["pooled_nodes"],
        embedder=stored.get("embedder"),
        dimensions=stored.get("dimensions"),
        issues=parse_stored(_COUNTS, stored["issues"], f"{what}, issues", fix),
        origin=stored["origin"],
        raw_modularity=stored["raw_modularity"],
        conductance=stored["conductance"],
        split=stored["split"],
        merged=stored["merged"],
        pools=stored["pools"],
        levels=tuple(stored["levels"]),
        seconds=parse_stored(_SECONDS, stored["seconds"], f"{what}, seconds", fix),
        token=stored.get("token"),
        settings=stored["settings"],
        common=tuple(stored["common"]),
        grown=stored["grown"],
        knobs=cast("dict[str, object]", parse_stored(_SETTINGS, knobs, f"{what}, knobs", fix)),
        standing=cast(
            "dict[str, list[object]]", parse_stored(_VALUES, standing, f"{what}, standing", fix)
        ),
        documents_together=stored.get("documents_together"),
    )


def remake(graph: str) -> str:
    """Return the advice for partitions of a graph that cannot be read."""
    return f"make the partitions again with 'pgs partition --graph {shell_word(graph)} --force'"


def damaged_generation(graph: str, id_: str, why: str) -> Generation:
    """Return a stand-in for a damaged generation, with its id and the reason."""
    return Generation(
        id=id_,
        graph=graph,
        created_at="",
        algorithm="",
        fingerprint="",
        node_count=0,
        relationship_count=0,
        partition_count=0,
        modularity=0.0,
        sizes=(),
        pooled_nodes=0,
        embedder=None,
        dimensions=None,
        damaged=why,
    )


def partition_row(partition: Partition) -> Row:
    """Return the properties of a partition's node."""
    return {
        "uid": partition.uid,
        "id": partition.id,
        "level": 0,
        "lineage": partition.lineage,
        "size": partition.size,
        "tokens": partition.tokens,
        "keywords": list(partition.keywords),
        "summary": partition.summary,
        "pool": partition.pool,
        "centroid": _list_numbers(partition.centroid),
        "label": partition.label,
        "terms": list(partition.terms),
        "titles": list(partition.titles),
        "abstract": partition.abstract,
        "texts": partition.texts,
    }


def partition_of(row: PartitionRow) -> Partition:
    """Return a partition from its row, with the nearest adjacent partitions first.

    Raises StoredDataError.
    """
    row = check_stored(_PARTITION, row, "a partition", _REMAKE)
    stored = row["partition"]
    links = (Adjacent(number, edges, weight) for number, edges, weight in row["adjacent"])
    return Partition(
        id=stored["id"],
        size=stored["size"],
        tokens=stored["tokens"],
        keywords=tuple(stored["keywords"]),
        summary=stored["summary"],
        adjacent=tuple(sorted(links, key=_rank_nearness)),
        centroid=centroid_of(stored.get("centroid")),
        pool=stored["pool"],
        uid=stored["uid"],
        lineage=stored["lineage"],
        parent=row["parent"],
        label=stored["label"],
        terms=tuple(stored["terms"]),
        titles=tuple(stored["titles"]),
        abstract=stored["abstract"],
        texts=stored["texts"],
    )


def unit_row(generation_id: str, unit: Unit) -> Row:
    """Return the properties of a unit's node."""
    return {
        "uid": uid(generation_id, unit.id, unit.level),
        "id": unit.id,
        "level": unit.level,
        "size": unit.size,
        "partitions": unit.partitions,
        "keywords": list(unit.keywords),
        "centroid": _list_numbers(unit.centroid),
        "label": unit.label,
        "terms": list(unit.terms),
        "titles": list(unit.titles),
    }


def unit_of(row: UnitRow) -> Unit:
    """Return a unit from its row. Raises StoredDataError."""
    row = check_stored(_UNIT, row, "a group of partitions", _REMAKE)
    stored = row["unit"]
    return Unit(
        id=stored["id"],
        level=stored["level"],
        size=stored["size"],
        partitions=stored["partitions"],
        keywords=tuple(stored["keywords"]),
        centroid=centroid_of(stored.get("centroid")),
        parent=row["parent"],
        label=stored["label"],
        terms=tuple(stored["terms"]),
        titles=tuple(stored["titles"]),
    )


def _list_numbers(centroid: NDArray[np.float32] | None) -> list[float] | None:
    return None if centroid is None else centroid.tolist()


def centroid_of(stored: list[float] | None) -> NDArray[np.float32] | None:
    """Return a centroid ``(d,)`` from its stored numbers; None if there are no numbers."""
    return None if stored is None else np.asarray(stored, dtype=np.float32)


def _rank_nearness(adjacent: Adjacent) -> tuple[int, float, int]:
    """Return the sort key of neighbors: most relationships, then largest weight, then id."""
    return -adjacent.edges, -adjacent.weight, adjacent.id
