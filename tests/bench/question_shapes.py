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
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pgs_neo4j.model.graph import GraphMapping
from pgs_neo4j.pgs.querying.shapes.names import Found, Place, list_sought
from pgs_neo4j.pgs.querying.shapes.parts import Shape
from pgs_neo4j.pgs.querying.shapes.question_words import ENGLISH
from pgs_neo4j.pgs.querying.shapes.read_by_shape import choose_shape, recognize
from pgs_neo4j.pgs.querying.shapes.schema_words import SchemaWords, find_titles
from pgs_neo4j.pgs.querying.shapes.statements import write_statement
from tests.published_statements import ARCHIVE, Pair, read_published

ARCHIVE_PATH = Path(__file__).resolve().parents[3] / "shared" / "data" / ARCHIVE
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


def find_shape(schema: SchemaWords, pair: Pair) -> Outcome:
    """Return the outcome of one published question."""
    question, published = pair.question, pair.statement
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
        return Outcome(pair.database, question, published, None, shape)
    written = write_statement(schema, shape)
    return Outcome(pair.database, question, published, shape, written)


def measure() -> list[Outcome]:
    """Return the outcomes of all published questions whose database has a schema."""
    published = read_published(ARCHIVE_PATH)
    schemas = {
        name: SchemaWords(schema, find_titles(schema, GraphMapping()), ENGLISH)
        for name, schema in published.schemas.items()
    }
    return [find_shape(schemas[pair.database], pair) for pair in published.with_schema]


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
