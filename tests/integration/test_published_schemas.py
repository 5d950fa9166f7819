"""Graphs in the shape that other systems write are recognized and can be stored as proposed."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.survey import propose, survey, validate
from pgs_neo4j.model import GraphMapping
from tests.database import alter

NEO4J_GRAPHRAG = """
CREATE (d:__KGBuilder__:Document {path: 'news.txt', createdAt: '2026-01-01'})
WITH d UNWIND range(0, 5) AS i
CREATE (d)<-[:FROM_DOCUMENT]-(c:__KGBuilder__:Chunk {index: i,
  text: 'The harbor of town ' + i + ' ships wool to the north.', embedding: [0.1, 0.2, i * 0.1]})
CREATE (c)<-[:FROM_CHUNK]-(p:__KGBuilder__:__Entity__:Town {name: 'Town ' + i})
CREATE (c)<-[:FROM_CHUNK]-(:__KGBuilder__:__Entity__:Good {name: 'Wool ' + i})<-[:SELLS]-(p)
"""

LIGHTRAG = """
UNWIND range(0, 5) AS i
CREATE (a:base {entity_id: 'Town ' + i, entity_type: 'town', source_id: 'chunk-1', file_path: 'n',
  description: 'A town with a harbor that ships wool.', created_at: 1, truncate: ''})
CREATE (b:base {entity_id: 'Wool ' + i, entity_type: 'good', source_id: 'chunk-1', file_path: 'n',
  description: 'A fiber that sheep give each spring.', created_at: 1, truncate: ''})
CREATE (a)-[:DIRECTED {weight: 1.0 + i, keywords: 'trade, shipping', source_id: 'chunk-1',
  description: 'The town ships wool to the north.', file_path: 'n', created_at: 1}]->(b)
"""

GRAPHITI = """
UNWIND range(0, 5) AS i
CREATE (e:Episodic {uuid: 'e' + i, name: 'Letter ' + i, group_id: 'g', source: 'text',
  source_description: 'letters', content: 'Town ' + i + ' ships wool to the north.'})
CREATE (a:Entity:Town {uuid: 'a' + i, name: 'Town ' + i, group_id: 'g',
  summary: 'A town with a harbor that ships wool.', name_embedding: [0.1, 0.2, i * 0.1]})
CREATE (b:Entity {uuid: 'b' + i, name: 'Wool ' + i, group_id: 'g', summary: '',
  name_embedding: [0.2, 0.2, i * 0.1]})
CREATE (e)-[:MENTIONS {uuid: 'm' + i, group_id: 'g'}]->(a)
CREATE (e)-[:MENTIONS {uuid: 'n' + i, group_id: 'g'}]->(b)
CREATE (a)-[:RELATES_TO {uuid: 'r' + i, group_id: 'g', name: 'SHIPS', episodes: ['e' + i],
  fact: 'The town ships wool.', fact_embedding: [0.3, 0.1, i * 0.1]}]->(b)
CREATE (:Community {uuid: 'c' + i, name: 'Trade ' + i, group_id: 'g',
  summary: 'Towns that trade by sea.'})-[:HAS_MEMBER {uuid: 'h' + i, group_id: 'g'}]->(a)
"""

FALKORDB = """
CREATE (d:Document {id: 'd', path: 'news.txt'})
WITH d UNWIND range(0, 5) AS i
CREATE (d)-[:PART_OF {index: i}]->(c:Chunk {id: 'c' + i, index: i, embedding: [0.1, i * 0.1],
  text: 'The harbor of town ' + i + ' ships wool to the north.'})
CREATE (a:Town:__Entity__ {id: 'town' + i, name: 'Town ' + i, embedding: [0.2, i * 0.1],
  description: 'A town with a harbor that ships wool.'})
CREATE (b:Good:__Entity__ {id: 'wool' + i, name: 'Wool ' + i, embedding: [0.3, i * 0.1],
  description: 'A fiber that sheep give each spring.'})
CREATE (a)-[:MENTIONED_IN]->(c)<-[:MENTIONED_IN]-(b)
CREATE (a)-[:RELATES {rel_type: 'SHIPS', fact: '(Town, SHIPS, Wool): it ships wool.',
  weight: 0.5, embedding: [0.4, i * 0.1]}]->(b)
"""


@pytest.mark.parametrize(
    ("system", "statement", "mapping"),
    [
        (
            "neo4j-graphrag",
            NEO4J_GRAPHRAG,
            GraphMapping(
                labels=("__Entity__", "Chunk", "Document"),
                text=("name", "text"),
                title="name",
                embedding="embedding",
                chunk_labels=("Chunk",),
                mention_types=("FROM_CHUNK",),
            ),
        ),
        (
            "LightRAG",
            LIGHTRAG,
            GraphMapping(
                labels=("base",),
                text=("entity_id", "description"),
                title="entity_id",
                key="entity_id",
                relationship_weight="weight",
                relationship_name="keywords",
                relationship_text="description",
            ),
        ),
        (
            "Graphiti",
            GRAPHITI,
            GraphMapping(
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
        ),
        (
            "FalkorDB GraphRAG-SDK",
            FALKORDB,
            GraphMapping(
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
        ),
    ],
)
async def test_a_published_schema_is_recognized_and_stored_as_proposed(
    db: Database, system: str, statement: str, mapping: GraphMapping
) -> None:
    await alter(db, statement)
    proposal = propose(await survey(db))
    assert (proposal.recognized, proposal.mapping) == (system, mapping)
    assert await validate(db, proposal.mapping) == []
    assert await catalog.add(db, "proposed", proposal.mapping)
    assert (await catalog.get(db, "proposed")).mapping == mapping
