"""Generated files in the form of the shared ones, so that a clone alone can run their tests.

The same for the same version of numpy: a brain like physics2, and an archive of Neo4j's data
importer like the Stack Overflow example.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Item = dict[str, Any]

# Of each topic: what its notes speak of. The first is what the questions of the tests ask for.
TOPICS = (
    ("crossing symmetry", "scaling dimensions", "unitarity bound", "operator spectrum"),
    ("Ising island", "critical exponent", "lattice simulation", "monopole operator"),
    ("central charge", "stress tensor", "conformal collider", "energy correlator"),
    ("superconformal index", "Coulomb branch", "moduli space", "chiral ring"),
    ("numerical optimizer", "semidefinite program", "dual functional", "rigorous proof"),
    ("large spin", "Regge trajectory", "inversion formula", "double twist"),
)
SENTENCES = (
    "The {0} of case {n} agreed with the {1} within {m} percent.",
    "Without the {1}, case {n} left the {2} open.",
    "It remained unclear how precise the {2} was where the {0} was tested {m} times.",
    "A later study of the {3} repeated the {0} with {m} derivatives.",
    "However, the {3} contradicted the {2} in {m} of {n} runs.",
)
TAGS = ("research", "analyst", "critic", "curiosity", "consolidated")
TOPIC_NODES, LONE_NODES, DIMENSIONS = 60, 12, 512
LINKS, BRIDGES = 4, 25
"""Relationships that a note has to its own topic, and from each topic to the next."""


@dataclass(frozen=True, slots=True)
class Brain:
    """A file of the original engine, and how much it holds."""

    path: Path
    nodes: int
    relationships: int


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive of Neo4j's data importer: how many nodes by label, relationships by type."""

    path: Path
    labels: dict[str, int]
    types: dict[str, int]

    @property
    def nodes(self) -> int:
        """Of all labels."""
        return sum(self.labels.values())

    @property
    def relationships(self) -> int:
        """Of all types."""
        return sum(self.types.values())


def write_brain(path: Path) -> Brain:
    """Write a brain of six topics of notes and some notes without relationships, packed."""
    rng = np.random.default_rng(5)
    nodes, edges = list(_notes(rng)), list(_links(rng))
    path.write_bytes(gzip.compress(json.dumps({"nodes": nodes, "edges": edges}).encode(), mtime=0))
    return Brain(path, len(nodes), len(edges))


def _notes(rng: np.random.Generator) -> Iterator[Item]:
    centers = rng.normal(size=(len(TOPICS), DIMENSIONS))
    for place in range(len(TOPICS) * TOPIC_NODES + LONE_NODES):
        topic = place // TOPIC_NODES % len(TOPICS)
        vector = centers[topic] + rng.normal(size=DIMENSIONS)
        yield {
            "id": place + 1,
            "concept": f"[AGENT: agent_{place:04d}] " + _prose(TOPICS[topic], rng),
            "tag": TAGS[place % len(TAGS)],
            "weight": 1,
            "embedding": (vector / np.linalg.norm(vector)).round(5).tolist(),
        }


def _links(rng: np.random.Generator) -> Iterator[Item]:
    pairs = set()
    for topic in range(len(TOPICS)):
        first, onward = topic * TOPIC_NODES, (topic + 1) % len(TOPICS) * TOPIC_NODES
        for place in range(TOPIC_NODES):
            steps = rng.choice(np.arange(1, TOPIC_NODES), LINKS, replace=False)
            pairs |= {(first + place, first + (place + int(step)) % TOPIC_NODES) for step in steps}
        ends = rng.integers(TOPIC_NODES, size=(BRIDGES, 2))
        pairs |= {(first + int(a), onward + int(b)) for a, b in ends}
    for source, target in sorted(pairs):
        kind = "associative" if source // TOPIC_NODES == target // TOPIC_NODES else "bridge"
        weight = float(rng.uniform(0.1, 0.8))
        yield {"source": source + 1, "target": target + 1, "weight": weight, "type": kind}


def _prose(words: tuple[str, ...], rng: np.random.Generator) -> str:
    chosen = rng.permutation(len(SENTENCES))[:3]
    return " ".join(
        SENTENCES[i].format(*rng.permutation(words), n=rng.integers(100), m=rng.integers(2, 90))
        for i in chosen
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """A label of the archive: its columns by name and type, the first is the key."""

    label: str
    columns: dict[str, str]
    rows: list[Item]


@dataclass(frozen=True, slots=True)
class _Links:
    """A relationship type of the archive, as pairs of keys."""

    type: str
    source: str
    target: str
    pairs: list[tuple[int, int]]


QUESTIONS, ANSWERS, COMMENTS, USERS, NAMES = 300, 280, 260, 220, 70


def write_archive(path: Path) -> Archive:
    """Write questions, answers, comments, users, and tags as Neo4j's data importer does."""
    rng = np.random.default_rng(9)
    tables = _tables(rng)
    keys = {table.label: [row[_key(table)] for row in table.rows] for table in tables}
    links = _relationships(keys, rng)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        model = {"version": "1.4.0", "dataModel": _model(tables, links)}
        archive.writestr("neo4j_importer_model.json", json.dumps(model))
        for table in tables:
            archive.writestr(_file(table), _csv(list(table.columns), table.rows))
        for link in links:
            columns = [f"{link.source.lower()}_id", f"{link.target.lower()}_id"]
            rows = [dict(zip(columns, pair, strict=True)) for pair in link.pairs]
            archive.writestr(_file(link), _csv(columns, rows))
    labels = {table.label: len(table.rows) for table in tables}
    return Archive(path, labels, {link.type: len(link.pairs) for link in links})


def _tables(rng: np.random.Generator) -> list[_Table]:
    def table(label: str, count: int, first: int, **columns: tuple[str, Any]) -> _Table:
        key = f"{label.lower()}_id"
        types = {key: "integer"} | {name: kind for name, (kind, _) in columns.items()}
        rows = [
            {key: first + i} | {name: value(i) for name, (_, value) in columns.items()}
            for i in range(count)
        ]
        return _Table(label, types, rows)

    def body(i: int) -> str:
        return f'I tried this, "as told":\n\n    {_prose(TOPICS[i % len(TOPICS)], rng)}\n'

    def title(i: int) -> str:
        return f"How does case {i} use the {TOPICS[i % len(TOPICS)][i % 4]}?"

    def link(kind: str) -> tuple[str, Any]:
        return "string", lambda i: f"https://questions.example/{kind}/{i}"

    def number(most: int) -> tuple[str, Any]:
        return "integer", lambda _: int(rng.integers(most))

    def unique(first: int) -> tuple[str, Any]:
        return "integer", lambda i: first + 7 * i

    accepted = ("integer", lambda i: "" if i % 3 else 5000 + i)
    return [
        table("Question", QUESTIONS, 0, link=link("q"), accepted_answer_id=accepted,
              creation_date=number(10**9), view_count=number(5000), answer_count=number(5),
              body_markdown=("string", body), uuid=unique(60_000_000), title=("string", title)),
        table("Answer", ANSWERS, 2000, link=link("a"), title=("string", title),
              is_accepted=("boolean", lambda i: str(i % 2 == 0).lower()),
              body_markdown=("string", body), score=number(40), uuid=unique(70_000_000)),
        table("Comment", COMMENTS, 4000, score=number(9), uuid=unique(80_000_000), link=link("c")),
        table("User", USERS, 6000, uuid=unique(90_000_000),
              display_name=("string", lambda i: f"user {i} who asks and answers")),
        table("Tag", NAMES, 8000, name=("string", lambda i: f"{TOPICS[i % 6][i % 4]} {i}"),
              link=link("t")),
    ]  # fmt: skip


def _relationships(keys: dict[str, list[int]], rng: np.random.Generator) -> list[_Links]:
    """Topics have questions of their own, and with them their answers, comments, and tags."""

    def pairs(source: str, target: str, each: int = 1) -> list[tuple[int, int]]:
        found = set()
        for i, key in enumerate(keys[source]):
            alike = keys[target][i % len(TOPICS) :: len(TOPICS)]
            for choice in rng.choice(len(alike), each, replace=False):
                found.add((key, alike[int(choice)]))
        return sorted(found)

    def turned(source: str, target: str) -> list[tuple[int, int]]:
        return [(b, a) for a, b in pairs(target, source)]

    return [
        _Links("ANSWERED", "Answer", "Question", pairs("Answer", "Question")),
        _Links("TAGGED", "Question", "Tag", pairs("Question", "Tag", 3)),
        _Links("ASKED", "User", "Question", turned("User", "Question")),
        _Links("COMMENTED", "User", "Comment", turned("User", "Comment")),
        _Links("COMMENTED_ON", "Comment", "Question", pairs("Comment", "Question")),
        _Links("PROVIDED", "User", "Answer", turned("User", "Answer")),
    ]


def _model(tables: list[_Table], links: list[_Links]) -> Item:
    """What the importer writes of labels, types, keys, and the files they come from."""
    nodes = {table.label: f"n{i}" for i, table in enumerate(tables)}
    schema = {
        "nodeLabels": [
            {"$id": f"nl:{nodes[t.label]}", "token": t.label, "properties": [
                {"$id": f"p:{t.label}.{name}", "token": name, "type": {"type": kind}}
                for name, kind in t.columns.items()
            ]}
            for t in tables
        ],
        "nodeObjectTypes": [
            {"$id": f"n:{place}", "labels": [_to(f"nl:{place}")]} for place in nodes.values()
        ],
        "relationshipTypes": [
            {"$id": f"rt:{link.type}", "token": link.type, "properties": []} for link in links
        ],
        "relationshipObjectTypes": [
            {"$id": f"r:{link.type}", "type": _to(f"rt:{link.type}"),
             "from": _to(f"n:{nodes[link.source]}"), "to": _to(f"n:{nodes[link.target]}")}
            for link in links
        ],
    }  # fmt: skip
    return {
        "graphSchemaRepresentation": {"version": "1.0.0", "graphSchema": schema},
        "graphSchemaExtensionsRepresentation": {"nodeKeyProperties": [
            {"node": _to(f"n:{nodes[t.label]}"), "keyProperty": _to(f"p:{t.label}.{_key(t)}")}
            for t in tables
        ]},
        "graphMappingRepresentation": _mapping(tables, links, nodes),
    }  # fmt: skip


def _mapping(tables: list[_Table], links: list[_Links], nodes: dict[str, str]) -> Item:
    parts: list[_Table | _Links] = [*tables, *links]
    return {
        "dataSourceSchema": {"type": "local/csv", "tableSchemas": [
            {"$id": f"t:{_file(part)}", "name": _file(part)} for part in parts
        ]},
        "nodeMappings": [
            {"node": _to(f"n:{nodes[t.label]}"), "tableSchema": _to(f"t:{_file(t)}"),
             "propertyMappings": [
                 {"property": _to(f"p:{t.label}.{name}"), "fieldName": name} for name in t.columns
             ]}
            for t in tables
        ],
        "relationshipMappings": [
            {"relationship": _to(f"r:{link.type}"), "tableSchema": _to(f"t:{_file(link)}"),
             "fromMapping": {"fieldName": f"{link.source.lower()}_id"},
             "toMapping": {"fieldName": f"{link.target.lower()}_id"}, "propertyMappings": []}
            for link in links
        ],
    }  # fmt: skip


def _to(name: str) -> Item:
    return {"$ref": f"#{name}"}


def _key(table: _Table) -> str:
    return next(iter(table.columns))


def _file(part: _Table | _Links) -> str:
    kind = f"nodes.{part.label}" if isinstance(part, _Table) else f"relationships.{part.type}"
    return f"questions.{kind}.csv"


def _csv(columns: list[str], rows: list[Item]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
