"""`pgs cypher`: read the database by one Cypher statement, which can only read."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption
from pgs_neo4j.cli.run import run
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import one_line

STDIN = "-"
MOST_BYTES = 1_000_000  # read from stdin; far more than the longest statement allowed

StatementArgument = Annotated[
    str, typer.Argument(metavar="STATEMENT", help="A Cypher statement; - reads it from stdin.")
]
ParameterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        metavar="NAME=VALUE",
        help="A parameter of the statement, as JSON or as text. Repeatable.",
    ),
]


def cypher(
    statement: StatementArgument,
    parameter: ParameterOption = None,
    max_rows: Annotated[
        int, typer.Option("--rows", min=1, max=10_000, help="Return at most this many rows.")
    ] = 200,
    timeout_s: Annotated[
        float, typer.Option("--timeout", min=0.1, max=600, help="Seconds that it may take.")
    ] = 10.0,
    check: Annotated[
        bool, typer.Option("--check", help="Say whether it would pass, and do not run it.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read the database by a statement that can only read.

    A Cypher statement passes if it is one plain read: it writes nothing, calls no procedure, reads
    no file or address, names no other database, and gives each node a label and each relationship
    a type. What pgs wrote is not read. A refusal says why, and what would pass.

    \b
      pgs cypher "MATCH (p:Paper) RETURN p.year, count(p) ORDER BY p.year"
      pgs cypher 'MATCH (p:Paper {id: $id}) RETURN p.title' --param id=7
      pgs cypher - --json < statement.cypher
    """
    text = sys.stdin.read(MOST_BYTES) if statement == STDIN else statement
    given = parameter or ()
    if check:
        run(_check(text, given))
    else:
        run(_read(text, given, max_rows, timeout_s, as_json=as_json))


def read_parameters(given: Sequence[str]) -> dict[str, object]:
    """Return the parameters of ``NAME=VALUE`` arguments. Raises UsageError without an equals sign.

    A value that is not JSON is a text.
    """
    parameters: dict[str, object] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not (name and equals):
            raise UsageError(f"--param {one_line(one, 60)} is not NAME=VALUE")
        try:
            parameters[name] = json.loads(value)
        except ValueError:
            parameters[name] = value
    return parameters


async def _check(statement: str, given: Sequence[str]) -> None:
    from pgs_neo4j.cli.connection import database

    parameters = read_parameters(given)
    async with database() as pgs:
        output.write_lines([await pgs.gate.check(statement, parameters)])


async def _read(
    statement: str,
    given: Sequence[str],
    max_rows: int,
    timeout_s: float,
    *,
    as_json: bool,
) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import tables
    from pgs_neo4j.export.statement import count_rows

    parameters = read_parameters(given)
    async with database() as pgs:
        read = await pgs.gate(statement, parameters, max_rows=max_rows, timeout_s=timeout_s)
    if as_json:
        output.write_json(plain_data(read))
        return
    if read.rows:
        output.write_table(tables.rows(read))
    output.note(count_rows(read))
