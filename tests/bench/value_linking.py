"""Measures whether misspelled values lead to the values of a real graph, and others to none.

    python -m tests.bench.value_linking
    python -m tests.bench.value_linking --list

The graph is Neo4j's Stack Overflow example. Its names of users, names of tags, and titles of
questions are misspelled: one letter replaced, dropped, added, or swapped with the next, or the case
changed. Each is compared with its property in a statement, and should be read as the value that it
was made from. A misspelling that is itself a value of the graph is drawn again.

Unrelated values are strings of published statements about other databases. None should be read as
anything else, unless it has the same letters. Values that are held out are values of the graph that
the matching is not given: nothing should be chosen for them, but some have true neighbors, such as
a title that was asked twice. No model takes part.
"""

from __future__ import annotations

import argparse
import random
import string
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gate.tokens import read_tokens
from pgs_neo4j.errors import GateError
from pgs_neo4j.model.graph_schema import GraphSchema, SchemaLabel, SchemaProperty
from pgs_neo4j.pgs.querying.statements.linking import link_values
from pgs_neo4j.pgs.querying.statements.names import find_names, write_string
from pgs_neo4j.text.near_values import LONGEST_VALUE, find_nearest
from tests.bench import place, program
from tests.bench.graphs import DATA
from tests.published_statements import ARCHIVE as PUBLISHED
from tests.published_statements import read_published
from tests.stackoverflow import ARCHIVE, Archive, load_tables, read_archive

DRAWN, SEED = 200, 7
LEAST_LETTERS = 4  # shorter values are read in another case only, never with other letters
LEAST_LINKED = 0.95
PROPERTIES = (("User", "display_name"), ("Tag", "name"), ("Question", "title"))
FAULTS = ("replaced", "dropped", "added", "swapped", "case")
Values = dict[tuple[str, str], list[str]]
"""The distinct values of each label and property, sorted."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write the figures, and return the exit code."""
    parser = program.parser("value_linking", __doc__)
    parser.add_argument("--uri", help=place.HELP)
    parser.add_argument("--list", action="store_true", help="print each case that is not right")
    options = parser.parse_args(arguments)
    return program.told(lambda: program.run(lambda: _measure(options)), _table, options.json)


async def _measure(options: argparse.Namespace) -> dict[str, Any]:
    archive = read_archive(Path(DATA) / ARCHIVE)
    values, unrelated = read_values(archive), read_unrelated(Path(DATA), read_values(archive))
    async with place.opened(options.uri) as (_, database):
        program.say("load the graph")
        await load_tables(database, archive)
        figures = await measure(database, values, unrelated)
    figures["false"] = [
        f"{LEAST_LINKED:.0%} of the misspelled values are linked to the right ones"
    ] * (figures["misspelled"]["right"] < LEAST_LINKED * DRAWN)
    if not options.list:
        figures["cases"] = []
    return figures


async def measure(database: Database, values: Values, unrelated: Sequence[str]) -> dict[str, Any]:
    """Return the counts of right, wrong, and missing links, and the cases that are not right."""
    program.say("misspelled values")
    misspelled: Counter[str] = Counter()
    cases: list[str] = []
    for fault, owner, value, written in misspell_values(values, DRAWN):
        linked = await _link(database, owner, written)
        outcome = "right" if linked == value else "wrong" if linked else "none"
        misspelled[outcome] += 1
        misspelled[f"{outcome}, {fault}"] += 1
        misspelled[f"{outcome}, {'.'.join(owner)}"] += 1
        if outcome != "right":
            cases.append(f"{outcome}: {written!r} of {value!r} was read as {linked!r}")
    program.say("unrelated values")
    others: Counter[str] = Counter()
    generator = random.Random(SEED)
    for written in unrelated[:DRAWN]:
        owner = generator.choice(PROPERTIES)
        linked = await _link(database, owner, written)
        others["linked" if linked else "none"] += 1
        if linked:
            cases.append(f"unrelated: {written!r} was read as {linked!r}")
    held = Counter[str]()
    for owner, value in draw(values, DRAWN, generator):
        rest = [one for one in values[owner] if one.lower() != value.lower()]
        linked = find_nearest(value, rest)
        held["linked" if linked else "none"] += 1
        if linked:
            cases.append(f"held out: {value!r} was read as {linked!r}")
    return {
        "misspelled": dict(sorted(misspelled.items())), "unrelated": dict(others),
        "held out": dict(held), "cases": cases,
    }  # fmt: skip


def read_values(archive: Archive) -> Values:
    """Return the values of the graph that are drawn from."""
    found: Values = {}
    for table in archive[0]:
        for label, name in PROPERTIES:
            if table.label == label:
                texts = {row[name] for row in table.rows if isinstance(row.get(name), str)}
                found[label, name] = sorted(text for text in texts if len(text) <= LONGEST_VALUE)
    return found


def read_unrelated(data: Path, values: Values) -> list[str]:
    """Return strings of published statements that are no values of the graph, in random order."""
    present = {value.lower() for texts in values.values() for value in texts}
    found: set[str] = set()
    if not (data / PUBLISHED).is_file():
        return []
    for pair in read_published(data / PUBLISHED).with_schema:
        # These databases hold the same kind of values as the graph.
        if pair.database in ("stackoverflow2", "buzzoverflow"):
            continue
        try:
            literals = find_names(read_tokens(pair.statement)).literals
        except GateError:
            continue
        found |= {one.value for one in literals if one.value.lower() not in present}
    ordered = sorted(value for value in found if len(value) >= LEAST_LETTERS)
    random.Random(SEED).shuffle(ordered)
    return ordered


def misspell_values(values: Values, count: int) -> list[tuple[str, tuple[str, str], str, str]]:
    """Return misspelled values: the fault, the property, the value, and what is written."""
    generator = random.Random(SEED)
    present = {owner: set(texts) for owner, texts in values.items()}
    made: list[tuple[str, tuple[str, str], str, str]] = []
    while len(made) < count:
        ((owner, value),) = draw(values, 1, generator)
        fault = FAULTS[len(made) % len(FAULTS)]
        written = misspell(value, fault, generator)
        if written not in present[owner]:
            made.append((fault, owner, value, written))
    return made


def draw(values: Values, count: int, generator: random.Random) -> list[tuple[tuple[str, str], str]]:
    """Return values with at least four letters, as often of each property."""
    drawn: list[tuple[tuple[str, str], str]] = []
    while len(drawn) < count:
        owner = generator.choice(PROPERTIES)
        value = generator.choice(values[owner])
        if sum(letter.isalpha() for letter in value) >= LEAST_LETTERS:
            drawn.append((owner, value))
    return drawn


def misspell(value: str, fault: str, generator: random.Random) -> str:
    """Return a value with one fault in one of its letters, or in another case."""
    places = [at for at, letter in enumerate(value) if letter.isalpha()]
    at = generator.choice(places)
    letter = generator.choice(string.ascii_lowercase)
    match fault:
        case "replaced":
            return value[:at] + letter + value[at + 1 :]
        case "dropped":
            return value[:at] + value[at + 1 :]
        case "added":
            return value[:at] + letter + value[at:]
        case "swapped":
            return value[:at] + value[at + 1 : at + 2] + value[at] + value[at + 2 :]
    return generator.choice((value.upper(), value.lower(), value.swapcase()))


async def _link(database: Database, owner: tuple[str, str], written: str) -> str | None:
    """Return the value that a string is read as, or None if it stays."""
    label, name = owner
    tokens = read_tokens(f"MATCH (n:{label} {{{name}: {write_string(written)}}}) RETURN n")
    schema = GraphSchema(
        labels=(SchemaLabel(label=label, properties=(SchemaProperty(name=name),)),)
    )
    linked = await link_values(database, tokens, find_names(tokens), schema)
    return linked.changes[0].linked if linked.changes else None


def _table(figures: dict[str, Any]) -> str:
    rows = [
        [f"{group}: {name}", f"{count:,}"]
        for group in ("misspelled", "unrelated", "held out")
        for name, count in figures[group].items()
    ]
    return program.aligned(rows) + "".join(f"{case}\n" for case in figures["cases"])


if __name__ == "__main__":
    sys.exit(main())
