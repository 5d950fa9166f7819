"""Graphs with planted analogies, and models that restate their texts."""

from __future__ import annotations

import re

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping, Prompt

MECHANISMS = (
    "a shared store empties because each user gains by taking more than it renews",
    "a small push past a threshold flips the whole into another lasting state",
    "a signal that returns late makes the correction overshoot and swing",
    "rivals spend ever more on display until only the costly display counts",
    "a weak seed grows where the crowd shields it and dies in the open",
    "copies drift apart once the bridge between them is cut for long",
)
DOMAINS = ("fishery", "market", "immune", "railway")
VIEW = GraphMapping(labels=("Note",), text=("body",), title="name", key="name")

SMALL = {"min_community_size": 4, "target_partition_max": 12}
"""With these knobs each topic of the planted texts becomes a partition."""

CREATE = """
UNWIND $rows AS row
CREATE (:Note {name: row.name, body: row.body, topic: row.topic})
"""
CONNECT = """
MATCH (a:Note) WITH a ORDER BY a.topic, a.name
WITH a.topic AS topic, collect(a) AS notes
UNWIND range(0, size(notes) - 1) AS i
UNWIND [1, 2] AS step
WITH notes[i] AS a, notes[(i + step) % size(notes)] AS b
WHERE a <> b
CREATE (a)-[:NEAR]->(b)
"""


def own_words(domain: str, place: int) -> str:
    """Return words that no other text has."""
    return " ".join(f"{domain}{place}word{number}" for number in range(12))


async def planted(db: Database, fillers: int = 20) -> GraphMapping:
    """Return one text for each mechanism and domain, and texts without a mechanism."""
    rows = [
        {"name": f"{domain} {place}", "body": f"{own_words(domain, place)}.", "topic": domain}
        for place in range(len(MECHANISMS))
        for domain in DOMAINS
    ]
    rows += [
        {"name": f"list {place}", "body": f"{own_words('list', place)}.", "topic": "list"}
        for place in range(fillers)
    ]
    await db.call(CREATE, {"rows": rows}, "write")
    await db.call(CONNECT, {}, "write")
    return VIEW


def skeletons(prompt: Prompt) -> str:
    """Return the mechanism of each text by its number; texts with lists have none."""
    return "\n".join(f"{node.alias}: {skeleton_of(node.title)}" for node in prompt.nodes)


def skeleton_of(title: str) -> str:
    """The skeleton of a planted text."""
    domain, place = re.fullmatch(r"(\w+) (\d+).*", title).groups()  # type: ignore[union-attr]
    return "none" if domain == "list" else MECHANISMS[int(place)]


PAIRS = """
MATCH (a)-[r:PGS_ISOMORPHIC]->(b)
RETURN a.name AS one, b.name AS other, r.delta AS delta, r.skeleton AS skeleton, r.raw AS raw
"""


async def linked(db: Database) -> set[frozenset[str]]:
    """Return the titles of the linked pairs, after a check that each pair has one link."""
    _, rows = await db.call(PAIRS, {}, "read")
    pairs = {frozenset((row["one"], row["other"])) for row in rows}
    assert len(pairs) == len(rows)
    return pairs


def true_pairs() -> set[frozenset[str]]:
    """Return the pairs that were planted."""
    return {
        frozenset((f"{one} {place}", f"{other} {place}"))
        for place in range(len(MECHANISMS))
        for at, one in enumerate(DOMAINS)
        for other in DOMAINS[at + 1 :]
    }
