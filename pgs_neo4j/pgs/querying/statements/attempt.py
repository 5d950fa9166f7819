"""Tries a statement that a model wrote: checks its names, links its values, and reads its rows."""

from __future__ import annotations

from dataclasses import replace

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gate.reading import UNREADABLE, ReadLimits, check_statement, read_statement
from pgs_neo4j.database.gate.tokens import read_tokens, write_tokens
from pgs_neo4j.model import GraphSchema, StatementRows, StatementTry
from pgs_neo4j.pgs.querying.statements.empty import explain_empty
from pgs_neo4j.pgs.querying.statements.known_names import leave_unknown
from pgs_neo4j.pgs.querying.statements.linking import link_values
from pgs_neo4j.pgs.querying.statements.names import find_names
from pgs_neo4j.pgs.querying.statements.unknown_names import find_unknown_names

LIMITS = ReadLimits(seconds=10.0, rows=200, size_bytes=200_000)
TOO_LARGE = "its first row has more than 200,000 bytes; return single properties, and fewer of them"


async def try_statement(
    db: Database, schema: GraphSchema, statement: str
) -> StatementRows | StatementTry:
    """Return the rows of a statement, or the statement with the problem that prevents its use.

    The problem is a sentence that helps a model to write a better statement. Raises DatabaseError
    if the database cannot be read at all.
    """
    try:
        text = await check_statement(db, statement, {}, LIMITS.seconds)
        tokens = read_tokens(text)
        names = find_names(tokens)
        if unknown := await leave_unknown(db, find_unknown_names(names, schema)):
            return StatementTry(statement=statement, problem="; ".join(map(str, unknown)))
        linked = await link_values(db, tokens, names, schema)
        read = await read_statement(db, write_tokens(linked.tokens), limits=LIMITS)
    except UNREADABLE as error:
        return StatementTry(statement=statement, problem=str(error))
    if not read.rows and read.truncated:
        return StatementTry(statement=statement, problem=TOO_LARGE)
    empty = () if read.rows else await explain_empty(db, read.statement)
    return replace(read, linked=linked.changes, empty=empty)
