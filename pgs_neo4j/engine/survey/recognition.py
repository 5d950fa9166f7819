"""Recognizes published schemas in a survey, and maps them. Pure.

Other systems write data with these schemas to a database. A schema is recognized only if all its
signs exist, because a single label proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pgs_neo4j.engine.survey import candidates
from pgs_neo4j.engine.survey.values import LabelSample, Survey, TypeSample, quote_name
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
    # Its graphs nearly follow the schema of the SDK, but only 'pgs ingest' adds this label.
    labels={**FALKORDB.labels, "LoadedNode": ("id", "graph")},
)
SCHEMAS = (PGS_INGEST, NEO4J_GRAPHRAG, FALKORDB, GRAPHITI, LIGHTRAG)
MIN_SIGN_SHARE = 0.5  # of the sampled nodes or relationships must have each property of a sign


@dataclass(frozen=True, slots=True)
class Recognition:
    """A schema that a database follows, and the part of the survey that covers its labels.

    ``also`` names other systems whose schemas the database follows.
    """

    schema: Schema
    survey: Survey
    also: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the schema that exist."""
        return tuple(sample.label for sample in self.survey.labels)


def recognize(survey: Survey) -> Recognition | None:
    """Return the schema that a database follows; the first if it follows several."""
    matches = [match for schema in SCHEMAS if (match := _match_schema(survey, schema)) is not None]
    if any(match.schema is PGS_INGEST for match in matches):
        matches = [match for match in matches if match.schema is not FALKORDB]
    if not matches:
        return None
    return replace(matches[0], also=tuple(match.schema.system for match in matches[1:]))


def map_schema(recognition: Recognition, usual: GraphMapping) -> GraphMapping:
    """Return the mapping of a schema, without the properties that the database lacks.

    ``usual`` is the proposal for the same nodes without a schema.
    """
    schema, part = recognition.schema, recognition.survey
    wanted = schema.mapping
    readable = {item.name for sample in part.labels for item in sample.properties if item.texts}
    texts = tuple(name for name in wanted.text if name in readable)
    if schema.open_texts:
        texts = tuple(dict.fromkeys((*usual.text, *texts)))
    return replace(
        wanted,
        labels=recognition.labels,
        text=texts,
        title=usual.title if schema.open_texts else _keep_known(wanted.title, readable),
        key=_find_key(wanted.key, part) if wanted.key else usual.key,
        titles=usual.titles if schema.open_texts else (),
        keys=() if wanted.key else usual.keys,
        weight=usual.weight,
        relationship_weight=usual.relationship_weight,
        embedding=_keep_known(wanted.embedding, _list_vectors(part)),
        relationship_name=_keep_known(wanted.relationship_name, _list_strings(part)),
        relationship_text=_keep_known(wanted.relationship_text, _list_strings(part)),
        relationship_embedding=_keep_known(
            wanted.relationship_embedding, _list_relationship_vectors(part)
        ),
    )


def note_schema(recognition: Recognition, mapping: GraphMapping) -> Iterator[str]:
    """Yield one sentence per decision about a recognized schema."""
    schema = recognition.schema
    labels = schema.labels if not schema.renames else recognition.labels
    yield (
        f"recognized the schema of {schema.system}, by the labels {_join_names(labels)} and the "
        f"relationship types {_join_names(schema.types)}"
    )
    if schema is PGS_INGEST:
        yield "it is stored already: 'pgs graph list' shows its name, and it needs no other mapping"
    for other in recognition.also:
        yield f"the database also follows the schema of {other}; store that as another graph"
    yield f"labels: {_join_names(mapping.labels)}; nodes with none of them do not take part"
    yield f"text: {_join_names(mapping.text)}, in this order" if mapping.text else "no text"
    titles = [*mapping.titles, *filter(None, (mapping.title,))]
    yield f"title: {_join_names(titles)}" if titles else "no title in common"
    if keys := [*mapping.keys, *filter(None, (mapping.key,))]:
        yield f"key: {_join_names(keys)}"
    else:
        yield "no property identifies every node; citations use the ids of the database"
    if mapping.embedding:
        yield f"embedding: {quote_name(mapping.embedding)}"
    yield from _note_relationships(mapping)
    if mapping.chunk_labels:
        mentions = f"their mentions: {_join_names(mapping.mention_types)}"
        yield f"passages: {_join_names(mapping.chunk_labels)}; {mentions}"


def _note_relationships(mapping: GraphMapping) -> Iterator[str]:
    parts = (
        ("relationship name", mapping.relationship_name),
        ("relationship text", mapping.relationship_text),
        ("relationship embedding", mapping.relationship_embedding),
    )
    for what, name in parts:
        if name:
            yield f"{what}: {quote_name(name)}"


def _match_schema(survey: Survey, schema: Schema) -> Recognition | None:
    """Restrict a survey to the labels of a schema; None if a sign of the schema is missing."""
    types = {sample.type: sample for sample in survey.relationship_types}
    for name, properties in schema.types.items():
        if name not in types or not _has_relationship_properties(types[name], properties):
            return None
    signs = []
    for name, properties in schema.labels.items():
        named = [
            sample
            for sample in survey.labels
            if (schema.renames or sample.label == name) and _has_properties(sample, properties)
        ]
        if not named:
            return None
        signs.append(max(named, key=lambda sample: (sample.count, sample.label == name)))
    part = signs
    if not schema.renames:
        by_name = {sample.label: sample for sample in survey.labels}
        part = [by_name[name] for name in schema.mapping.labels if name in by_name]
    return Recognition(schema, replace(survey, labels=tuple(part)))


def _has_properties(sample: LabelSample, properties: tuple[str, ...]) -> bool:
    shares = {item.name: sample.share(item) for item in sample.properties}
    return all(shares.get(name, 0.0) >= MIN_SIGN_SHARE for name in properties)


def _has_relationship_properties(sample: TypeSample, properties: tuple[str, ...]) -> bool:
    counts = {item.name: item.relationships for item in sample.properties}
    return all(counts.get(name, 0) >= MIN_SIGN_SHARE * sample.sampled for name in properties)


def _find_key(name: str, part: Survey) -> str | None:
    """Return the name of a key if it identifies the nodes of all labels."""
    for sample in part.labels:
        named = [item for item in sample.properties if item.name == name]
        if sample.sampled and not any(candidates.is_key(sample, item) for item in named):
            return None
    return name


def _keep_known(name: str | None, names: set[str]) -> str | None:
    return name if name in names else None


def _list_vectors(part: Survey) -> set[str]:
    return {
        item.name
        for sample in part.labels
        for item in sample.properties
        if any(size for size, _ in item.sizes)
    }


def _list_strings(part: Survey) -> set[str]:
    return {
        item.name
        for sample in part.relationship_types
        for item in sample.properties
        if "STRING" in item.types
    }


def _list_relationship_vectors(part: Survey) -> set[str]:
    return {
        item.name
        for sample in part.relationship_types
        for item in sample.properties
        if candidates.may_be_vector(item)
    }


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(map(quote_name, names))
