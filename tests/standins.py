"""Generates stand-ins for the shared files, so that a mere clone can run their tests.

They are the same for the same version of numpy: a brain like physics2, and the tables of a database
like the Stack Overflow example.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.stackoverflow import Archive, NodeTable, RelationshipTable

Item = dict[str, Any]

# What the notes of each topic are about. The questions of the tests ask about the first.
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


def write_brain(path: Path) -> Brain:
    """Write a compressed brain of six topics of notes, and some notes without relationships."""
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


QUESTIONS, ANSWERS, COMMENTS, USERS, NAMES = 300, 280, 260, 220, 70


def make_questions() -> Archive:
    """Return questions, answers, comments, users, and tags."""
    rng = np.random.default_rng(9)
    tables = {table.label: table for table in _tables(rng)}
    return [*tables.values()], _relationships(tables, rng)


def _tables(rng: np.random.Generator) -> list[NodeTable]:
    def table(label: str, count: int, first: int, **values: Callable[[int], Any]) -> NodeTable:
        key = f"{label.lower()}_id"
        rows = [
            {key: first + i} | {name: value(i) for name, value in values.items()}
            for i in range(count)
        ]
        return NodeTable(label, key, {}, rows)

    def body(i: int) -> str:
        return f'I tried this, "as told":\n\n    {_prose(TOPICS[i % len(TOPICS)], rng)}\n'

    def title(i: int) -> str:
        return f"How does case {i} use the {TOPICS[i % len(TOPICS)][i % 4]}?"

    def link(kind: str) -> Callable[[int], str]:
        return lambda i: f"https://questions.example/{kind}/{i}"

    def number(most: int) -> Callable[[int], int]:
        return lambda _: int(rng.integers(most))

    def unique(first: int) -> Callable[[int], int]:
        return lambda i: first + 7 * i

    return [
        table("Question", QUESTIONS, 0, link=link("q"),
              accepted_answer_id=lambda i: None if i % 3 else 5000 + i,
              creation_date=number(10**9), view_count=number(5000), answer_count=number(5),
              body_markdown=body, uuid=unique(60_000_000), title=title),
        table("Answer", ANSWERS, 2000, link=link("a"), title=title,
              is_accepted=lambda i: i % 2 == 0,
              body_markdown=body, score=number(40), uuid=unique(70_000_000)),
        table("Comment", COMMENTS, 4000, score=number(9), uuid=unique(80_000_000), link=link("c")),
        table("User", USERS, 6000, uuid=unique(90_000_000),
              display_name=lambda i: f"user {i} who asks and answers"),
        table("Tag", NAMES, 8000, name=lambda i: f"{TOPICS[i % 6][i % 4]} {i}", link=link("t")),
    ]  # fmt: skip


def _relationships(
    tables: dict[str, NodeTable], rng: np.random.Generator
) -> list[RelationshipTable]:
    """Topics have questions of their own, and with them their answers, comments, and tags."""
    keys = {label: [row[table.key] for row in table.rows] for label, table in tables.items()}

    def related(
        kind: str, source: str, target: str, each: int = 1, *, turned: bool = False
    ) -> RelationshipTable:
        found = set()
        for i, key in enumerate(keys[source]):
            alike = keys[target][i % len(TOPICS) :: len(TOPICS)]
            for choice in rng.choice(len(alike), each, replace=False):
                found.add((key, alike[int(choice)]))
        ends = ("target", "source") if turned else ("source", "target")
        rows = [dict(zip(ends, pair, strict=True)) for pair in sorted(found)]
        first, second = (target, source) if turned else (source, target)
        return RelationshipTable(kind, tables[first], tables[second], rows)

    return [
        related("ANSWERED", "Answer", "Question"),
        related("TAGGED", "Question", "Tag", 3),
        related("ASKED", "Question", "User", turned=True),
        related("COMMENTED", "Comment", "User", turned=True),
        related("COMMENTED_ON", "Comment", "Question"),
        related("PROVIDED", "Answer", "User", turned=True),
    ]
