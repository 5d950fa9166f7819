"""Measures how many published questions a shape fits, and lists statements to be judged.

    python -m tests.bench.question_shapes
    python -m tests.bench.question_shapes --drawn 100 --seed 3
    python -m tests.bench.question_shapes --refused 50

It needs ``shared/data/text2cypher.json.gz`` beside the project, and no database: a name is found
where the published statement compares it. So the measure is about what the words of a question
mean, and not about names that several nodes have. Whether a statement is right is for a person to
judge: ``--drawn`` prints some of them below their questions, each above the published statement.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgs_neo4j.model.graph import GraphMapping
from pgs_neo4j.model.graph_schema import GraphSchema, SchemaLabel, SchemaProperty, SchemaType
from pgs_neo4j.pgs.querying.shapes.names import Found, Place, list_sought
from pgs_neo4j.pgs.querying.shapes.parts import Shape
from pgs_neo4j.pgs.querying.shapes.question_words import ENGLISH
from pgs_neo4j.pgs.querying.shapes.read_by_shape import choose_shape, recognize
from pgs_neo4j.pgs.querying.shapes.schema_words import SchemaWords, find_titles
from pgs_neo4j.pgs.querying.shapes.statements import write_statement

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "text2cypher.json.gz"
_OWNER = re.compile(r"^- \*\*(.+)\*\*")
_PROPERTY = re.compile(r"^\s+- `([^`:]+)(?:`: |: )(\w+)")
_PATTERN = re.compile(r"\(:([^)]+)\)-\[:([^\]]+)\]->\(:([^)]+)\)")
_NODE = re.compile(r"\((\w*):`?(\w+)`?\s*(?:\{([^}]*)\})?")
_VALUE = re.compile(r"""(\w+)\s*:\s*(?:"([^"]*)"|'([^']*)')""")
_COMPARED = re.compile(r"""(\w+)\.(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A published question, and its shape with the statement, or why it has none."""

    database: str
    question: str
    published: str
    shape: Shape | None
    text: str


def read_schema(text: str) -> GraphSchema:
    """Return the schema that a published text describes."""
    properties: dict[str, dict[str, list[SchemaProperty]]] = {"nodes": {}, "types": {}}
    ends: dict[str, list[tuple[str, str]]] = {}
    part, owner = "nodes", ""
    for line in text.splitlines():
        if line.startswith("Relationship properties"):
            part = "types"
        elif match := _OWNER.match(line):
            owner = match[1]
            properties[part].setdefault(owner, [])
        elif match := _PROPERTY.match(line):
            properties[part][owner].append(SchemaProperty(name=match[1], types=(match[2],)))
        elif match := _PATTERN.match(line.strip()):
            ends.setdefault(match[2], []).append((match[1], match[3]))
    labels = dict.fromkeys(
        (*properties["nodes"], *(a for ab in ends.values() for e in ab for a in e))
    )
    return GraphSchema(
        labels=tuple(
            SchemaLabel(label=one, properties=tuple(properties["nodes"].get(one, ())))
            for one in labels
        ),
        types=tuple(
            SchemaType(
                type=one,
                properties=tuple(properties["types"].get(one, ())),
                ends=tuple(dict.fromkeys(pairs)),
            )
            for one, pairs in ends.items()
        ),
    )


def find_compared(cypher: str) -> Iterator[tuple[Place, str]]:
    """Yield each text that a statement compares with a property, with its label."""
    labels: dict[str, str] = {}
    for variable, label, inside in _NODE.findall(cypher):
        labels[variable] = label
        for name, double, single in _VALUE.findall(inside):
            yield Place(label, name), double or single
    for variable, name, double, single in _COMPARED.findall(cypher):
        if variable in labels:
            yield Place(labels[variable], name), double or single


def find_shape(schema: SchemaWords, pair: Mapping[str, Any]) -> Outcome:
    """Return the outcome of one published question."""
    question, published = pair["question"], pair["cypher"]
    recognized = recognize(schema, question)
    shape: Shape | str = recognized.reason
    if recognized.shapes:
        stored = set(find_compared(published))
        sought = list_sought(schema, recognized.shapes)
        texts = {
            (place, text.lower()): [Found(text, 1, text)]
            for place, text in stored
            if text.lower() in sought.get(place, ())
        }
        shape = choose_shape(schema, recognized.shapes, texts)
    if isinstance(shape, str):
        return Outcome(pair["database"], question, published, None, shape)
    written = write_statement(schema, shape)
    return Outcome(pair["database"], question, published, shape, written)


def measure() -> list[Outcome]:
    """Return the outcomes of all published questions."""
    data = json.loads(gzip.decompress(PUBLISHED.read_bytes()))
    schemas = {}
    for name, text in data["schemas"].items():
        schema = read_schema(text)
        schemas[name] = SchemaWords(schema, find_titles(schema, GraphMapping()), ENGLISH)
    return [
        find_shape(schemas[one["database"]], one)
        for one in data["pairs"]
        if one["database"] in schemas
    ]


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def main() -> None:
    """Print the measure, and the statements or refusals that are asked for."""
    parser = argparse.ArgumentParser(description="Measures shapes of published questions.")
    parser.add_argument("--drawn", type=int, default=0, help="statements to print")
    parser.add_argument("--refused", type=int, default=0, help="refusals to print")
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()
    outcomes = measure()
    fit = [one for one in outcomes if one.shape is not None]
    refused = [one for one in outcomes if one.shape is None]
    _write(
        f"{len(fit):,} of {len(outcomes):,} questions have a shape ({len(fit) / len(outcomes):.1%})"
    )
    for kind, number in Counter(one.shape.kind for one in fit if one.shape).most_common():
        _write(f"  {kind:<10}{number:>6,}")
    chance = random.Random(args.seed)
    for one in chance.sample(fit, min(args.drawn, len(fit))):
        _write(
            f"\n[{one.database}] {one.question}\n  {one.text}\n  {' '.join(one.published.split())}"
        )
    for one in chance.sample(refused, min(args.refused, len(refused))):
        _write(f"\n[{one.database}] {one.question}\n  {one.text}")


if __name__ == "__main__":
    main()
