"""Three tenants in one database, each with a word that no other tenant has."""

from __future__ import annotations

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping

TENANTS = {"large": 270, "middle": 27, "small": 3}
"""The tenants, with their numbers of notes: 90, 9, and 1 % of all."""
CANARIES = {"large": "zorblattium", "middle": "quixandrite", "small": "vemulorite"}
"""The word that only a tenant's own notes and facts contain."""
MAPPING = GraphMapping(
    labels=("Note",),
    relationship_types=("CITES",),
    text=("text",),
    title="title",
    key="key",
    embedding="embedding",
    relationship_text="fact",
    scope=("tenant",),
)

CREATE = """
UNWIND $tenants AS tenant
UNWIND range(0, tenant.size - 1) AS i
CREATE (n:Note {
  tenant: tenant.name, place: i, key: 'note ' + i, title: tenant.canary + ' note ' + i,
  text: 'Note ' + i + ' reports on ' + $topics[i % size($topics)] + ' and names ' + tenant.canary
        + '. Its token is fact' + i + '.',
  embedding: [1.0, (i * 7 % 11) / 11.0, (i * 5 % 13) / 13.0, (i % 17) / 17.0]
})
SET n:$(tenant.name + 'Label')
"""
CONNECT = """
MATCH (a:Note)
MATCH (b:Note {tenant: a.tenant})
WHERE b.place = a.place + 1 OR b.place = a.place + 4
CREATE (a)-[:CITES {fact: a.tenant + ' states that ' + a.title + ' builds on ' + b.title}]->(b)
"""
CROSS = """
MATCH (a:Note), (b:Note)
WHERE a.tenant <> b.tenant AND a.place % 10 = 0 AND b.place % 10 = 1 AND b.place < 30
CREATE (a)-[:CITES {fact: a.title + ' contradicts ' + b.title}]->(b)
"""
TOPICS = ("catalysis of ammonia", "sleep and memory", "orbital debris", "medieval trade")


async def create_tenants(db: Database) -> None:
    """Create the notes of all tenants, connected within and across the tenants."""
    tenants = [
        {"name": name, "size": size, "canary": CANARIES[name]} for name, size in TENANTS.items()
    ]
    await db.call(CREATE, {"tenants": tenants, "topics": list(TOPICS)}, "write")
    await db.call(CONNECT, {}, "write")
    await db.call(CROSS, {}, "write")


async def delete_others(db: Database, tenant: str) -> None:
    """Delete the notes of all other tenants."""
    await db.call(
        "MATCH (n:Note) WHERE n.tenant <> $tenant DETACH DELETE n", {"tenant": tenant}, "write"
    )
