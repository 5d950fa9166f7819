"""Published graph schemas: what other systems write to a database. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pgs_neo4j.model import GraphMapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The schema of one system, and the mapping that suits it.

    ``labels`` and ``types`` are its signs: all must exist, with these properties on most of their
    nodes or relationships. ``renames`` means that users may choose another label. ``open_texts``
    means that a model or user chooses the properties of entities, so texts and the title are chosen
    as in other graphs. A label or property of ``mapping`` that the database lacks is left out.
    """

    system: str
    labels: Mapping[str, tuple[str, ...]]
    types: Mapping[str, tuple[str, ...]]
    mapping: GraphMapping
    renames: bool = False
    open_texts: bool = False


NEO4J_GRAPHRAG = Schema(
    system="neo4j-graphrag",
    labels={"__KGBuilder__": (), "__Entity__": (), "Chunk": ("text", "index")},
    types={"FROM_CHUNK": ()},
    open_texts=True,
    mapping=GraphMapping(
        labels=("__Entity__", "Chunk", "Document"),
        text=("text",),
        embedding="embedding",
        chunk_labels=("Chunk",),
        mention_types=("FROM_CHUNK",),
    ),
)

# The label is the workspace, "base" unless users name one. Passages are stored elsewhere.
LIGHTRAG = Schema(
    system="LightRAG",
    labels={"base": ("entity_id", "entity_type", "description", "source_id")},
    types={"DIRECTED": ("description", "keywords", "source_id")},
    renames=True,
    mapping=GraphMapping(
        labels=("base",),
        text=("entity_id", "description"),
        title="entity_id",
        key="entity_id",
        relationship_name="keywords",
        relationship_text="description",
    ),
)

GRAPHITI = Schema(
    system="Graphiti",
    labels={
        "Entity": ("uuid", "name", "group_id"),
        "Episodic": ("uuid", "content", "group_id"),
    },
    types={"RELATES_TO": ("uuid", "name", "fact"), "MENTIONS": ("uuid",)},
    mapping=GraphMapping(
        labels=("Entity", "Episodic", "Community"),
        text=("name", "summary", "content"),
        title="name",
        key="uuid",
        embedding="name_embedding",
        relationship_name="name",
        relationship_text="fact",
        relationship_embedding="fact_embedding",
        chunk_labels=("Episodic",),
        mention_types=("MENTIONS",),
    ),
)

FALKORDB = Schema(
    system="FalkorDB GraphRAG-SDK",
    labels={"__Entity__": ("name",), "Chunk": ("text", "index")},
    types={"MENTIONED_IN": (), "RELATES": ("rel_type", "fact")},
    mapping=GraphMapping(
        labels=("__Entity__", "Chunk", "Document"),
        text=("name", "description", "text"),
        title="name",
        key="id",
        embedding="embedding",
        relationship_name="rel_type",
        relationship_text="fact",
        relationship_embedding="embedding",
        chunk_labels=("Chunk",),
        mention_types=("MENTIONED_IN",),
    ),
)

PGS_INGEST = replace(
    FALKORDB,
    system="'pgs ingest'",
    # Its nodes of documents are nearly those of the SDK, and this label is its own.
    labels={**FALKORDB.labels, "LoadedNode": ("id", "graph")},
)

SCHEMAS = (PGS_INGEST, NEO4J_GRAPHRAG, FALKORDB, GRAPHITI, LIGHTRAG)
