"""Published schemas are recognized by all their signs, and by nothing less."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgs_neo4j.engine.survey import LabelSample, RelationshipProperty, Survey, propose
from pgs_neo4j.engine.survey.recognition import (
    FALKORDB,
    GRAPHITI,
    LIGHTRAG,
    NEO4J_GRAPHRAG,
    PGS_INGEST,
    SCHEMAS,
    Recognition,
    Schema,
    recognize,
)
from pgs_neo4j.model import GraphMapping
from tests.unit.engine.survey.samples import (
    FORUM,
    IDEAS,
    label,
    link,
    name,
    number,
    of,
    text,
    vector,
)


def words(*names: str) -> list[RelationshipProperty]:
    return [RelationshipProperty(name=one, relationships=100, types=("STRING",)) for one in names]


def vectors(called: str) -> RelationshipProperty:
    return RelationshipProperty(name=called, relationships=60, types=("LIST<FLOAT>",))


CHUNK = label("Chunk", name("id"), text("text"), number("index", 0, 9), vector("embedding", (8, 9)))
ENTITY = label("__Entity__", name("id"), name("name"), text("description"))
SURVEYS = {
    NEO4J_GRAPHRAG.system: of(
        label("__KGBuilder__"), ENTITY, CHUNK, label("Person", name("name")), link("FROM_CHUNK")
    ),
    FALKORDB.system: of(
        ENTITY, CHUNK, link("MENTIONED_IN"), link("RELATES", *words("rel_type", "fact"))
    ),
    PGS_INGEST.system: of(
        label("LoadedNode", name("id"), name("graph")),
        ENTITY,
        CHUNK,
        link("MENTIONED_IN"),
        link("RELATES", *words("rel_type", "fact")),
    ),
    GRAPHITI.system: of(
        label("Entity", name("uuid"), name("name"), text("summary"), name("group_id")),
        label("Episodic", name("uuid"), name("name"), text("content"), name("group_id")),
        link("RELATES_TO", *words("uuid", "name", "fact"), vectors("fact_embedding")),
        link("MENTIONS", *words("uuid")),
    ),
    LIGHTRAG.system: of(
        label(
            "base", name("entity_id"), name("entity_type"), text("description"), name("source_id")
        ),
        link("DIRECTED", *words("description", "keywords", "source_id")),
    ),
}


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.system)
def test_a_schema_is_recognized_by_all_its_signs_and_not_without_one(schema: Schema) -> None:
    survey = SURVEYS[schema.system]
    proposal = propose(survey)
    assert proposal.recognized == schema.system
    assert proposal.notes[0].startswith(f"recognized the schema of {schema.system}, by the labels ")
    for called in (*schema.labels, *schema.types):
        less = replace(
            survey,
            labels=tuple(s for s in survey.labels if s.label != called),
            relationship_types=tuple(s for s in survey.relationship_types if s.type != called),
        )
        assert_not_recognized(schema, called, recognize(less))
    for called, properties in schema.labels.items():
        for one in properties:
            assert_not_recognized(schema, called, recognize(without(survey, called, one)))


def assert_not_recognized(schema: Schema, lost: str, found: Recognition | None) -> None:
    """Check that a sign is needed; without its own label, an ingested graph is as the SDK's."""
    if schema is PGS_INGEST and lost == "LoadedNode":
        assert found is not None
        assert found.schema is FALKORDB
    else:
        assert found is None


def test_an_ingested_graph_is_not_taken_for_that_of_another_system() -> None:
    proposal = propose(SURVEYS[PGS_INGEST.system])
    assert proposal.mapping.labels == ("__Entity__", "Chunk")
    assert not any("FalkorDB" in note for note in proposal.notes)
    assert any("it is stored already" in note for note in proposal.notes)


def without(survey: Survey, called: str, lost: str) -> Survey:
    def strip(sample: LabelSample) -> LabelSample:
        left = tuple(item for item in sample.properties if item.name != lost)
        return replace(sample, properties=left) if sample.label == called else sample

    return replace(survey, labels=tuple(map(strip, survey.labels)))


@pytest.mark.parametrize("survey", [FORUM, IDEAS, of(CHUNK, link("NEXT_CHUNK")), of(ENTITY, CHUNK)])
def test_other_graphs_are_not_claimed(survey: Survey) -> None:
    proposal = propose(survey)
    assert proposal.recognized is None
    assert proposal.mapping.labels == proposal.mapping.chunk_labels == ()


def test_a_workspace_of_lightrag_may_have_any_label() -> None:
    survey = SURVEYS[LIGHTRAG.system]
    (sample,) = survey.labels
    person = replace(sample, label="Person", count=400)
    named = replace(survey, labels=(replace(sample, label="news"), person))
    assert propose(named).mapping.labels == ("news",)


def test_a_database_with_two_schemas_names_both() -> None:
    both = of(
        *SURVEYS[GRAPHITI.system].labels,
        *SURVEYS[GRAPHITI.system].relationship_types,
        *SURVEYS[LIGHTRAG.system].labels,
        *SURVEYS[LIGHTRAG.system].relationship_types,
    )
    proposal = propose(both)
    assert (proposal.recognized, proposal.mapping.labels) == ("Graphiti", ("Entity", "Episodic"))
    assert any("also follows the schema of LightRAG" in note for note in proposal.notes)


def test_what_the_database_lacks_is_left_out() -> None:
    survey = SURVEYS[FALKORDB.system]
    assert propose(survey).mapping == GraphMapping(
        labels=("__Entity__", "Chunk"),
        text=("name", "description", "text"),
        title="name",
        key="id",
        embedding="embedding",
        relationship_name="rel_type",
        relationship_text="fact",
        chunk_labels=("Chunk",),
        mention_types=("MENTIONED_IN",),
    )
    keyless = propose(without(survey, "Chunk", "id"))
    assert keyless.mapping.key is None
    assert any("citations use the ids of the database" in note for note in keyless.notes)
