"""Measures whether nodes count as read that no model was given, over wires and through histories.

    python -m tests.bench.reading
    python -m tests.bench.reading --histories 1000 --json
    python -m tests.bench.reading --uri bolt://localhost:7687 --histories 0

No real model takes part. One graph is swept as a whole over the fake of every vendor's wire, in
contexts of 4,096, 8,192, 32,768, and 131,072 tokens, and once more in 8,192 tokens while the server
does not say what its model can take. Then a graph with shorter texts is swept over endpoints whose
calls are cut, end oddly, fail, and miscount, each by its own seed. Each cell and history in which a
node counts as read that was not given, or in which the figures or the bill differ, is named, and
the exit code is then 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from time import perf_counter
from typing import Any

import stamina

from pgs_neo4j.database.connection import Database
from tests.bench import place, program
from tests.conftest import Endpoint
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.wires import VENDORS
from tests.reading import (
    CONTEXTS,
    HIDDEN_CONTEXT,
    HISTORY_CLAUSES,
    MOST_REFUSED,
    SIZE,
    WIRE_CLAUSES,
    Cell,
    Lived,
    add_papers,
    try_history,
    try_wire,
)

HISTORIES = 200
TRIES = 50  # of a call, without waits between them


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    return program.told(lambda: program.run(lambda: measure(options)), table, options.json)


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Sweep over all wires, and through as many histories as the command line says."""
    began = perf_counter()
    stamina.set_testing(True, attempts=TRIES)
    try:
        async with place.opened(options.uri) as (server, database):
            endpoint = Endpoint(server.uri, server.user, server.password)
            wires = await _measure_wires(endpoint, database)
            await place.emptied(database)
            histories = await _measure_histories(endpoint, database, options.histories)
    finally:
        stamina.set_testing(False)
    figures = {"wires": wires, "histories": histories, "seconds": perf_counter() - began}
    return figures | {"false": find_false_claims(figures)}


def find_false_claims(document: dict[str, Any]) -> list[str]:
    """Return what the figures belie, in sentences."""
    found = [
        f"{vendor}, context {context}: {cell}"
        for vendor, cells in document["wires"].items()
        for context, cell in cells.items()
        if not cell["right"]
    ]
    lived = document["histories"]
    found += [f"history {one['seed']}: {one}" for one in lived if not one["right"]]
    refused, true = sum(one["refused"] for one in lived), sum(one["true"] for one in lived)
    if refused > MOST_REFUSED * true:
        found.append(f"{refused} of {true} true prompts were refused")
    return found


async def _measure_wires(endpoint: Endpoint, database: Database) -> dict[str, dict[str, Any]]:
    await add_papers(endpoint, database, WIRE_CLAUSES)
    found: dict[str, dict[str, Any]] = {}
    for vendor in VENDORS:
        program.say(f"sweep over {vendor}")
        cells = {f"{c:,}": await try_wire(endpoint, database, vendor, c) for c in CONTEXTS}
        cells["hidden"] = await try_wire(endpoint, database, vendor, HIDDEN_CONTEXT, hidden=True)
        found[vendor] = {name: _figures(cell) for name, cell in cells.items()}
    return found


def _figures(cell: Cell) -> dict[str, Any]:
    return {
        "wrong": cell.wrong,
        "read": cell.read / SIZE,
        "whole": cell.whole,
        "calls": cell.bill.calls,
        "books": cell.books,
        "right": cell.right,
    }


async def _measure_histories(
    endpoint: Endpoint, database: Database, count: int
) -> list[dict[str, Any]]:
    lived: list[Lived] = []
    if count:
        program.say(f"live through {count} histories")
        await add_papers(endpoint, database, HISTORY_CLAUSES)
        with FakeOpenAI() as fake:
            lived = [await try_history(endpoint, database, fake, seed) for seed in range(count)]
    return [asdict(one) | {"right": one.right} for one in lived]


def table(document: dict[str, Any]) -> str:
    """The figures as text: a row for each wire, and the sums of the histories."""
    rows = [["wire", *next(iter(document["wires"].values()))]]
    for vendor, cells in document["wires"].items():
        rows.append([vendor, *(_describe(cell) for cell in cells.values())])
    text = f"nodes read (calls), by context; ! nodes that were not given\n{program.aligned(rows)}"
    if lived := document["histories"]:
        text += f"\n{_sum_up(lived)}"
    return f"{text}\n{document['seconds']:.0f} s\n"


def _describe(cell: dict[str, Any]) -> str:
    wrong = f" !{cell['wrong']}" if cell["wrong"] else ""
    part = "" if cell["whole"] else " partial"
    return f"{cell['read']:.0%} ({cell['calls']}){wrong}{part}"


def _sum_up(lived: Sequence[dict[str, Any]]) -> str:
    groups = {
        "all": lived,
        "repeat codes": [one for one in lived if not one["mute"]],
        "repeat none": [one for one in lived if one["mute"]],
    }
    rows = [["histories", "", "not given", "told otherwise", "true prompts", "refused", "share"]]
    for name, group in groups.items():
        true, refused = sum(one["true"] for one in group), sum(one["refused"] for one in group)
        told = sum(one["told"] not in (None, one["read"]) for one in group)
        wrong = sum(one["wrong"] for one in group)
        share = f"{refused / true:.2%}" if true else "-"
        figures = (len(group), wrong, told, true, refused)
        rows.append([name, *(f"{figure:,}" for figure in figures), share])
    return program.aligned(rows)


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("reading", __doc__)
    parser.add_argument("--uri", help=place.HELP)
    parser.add_argument(
        "--histories", type=program.number(0), default=HISTORIES, help="of seeds from 0 up"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
