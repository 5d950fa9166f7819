"""Explains why a statement has no rows: counts its patterns and filters, one after another.

Only the clauses before the first ``WITH`` or ``RETURN`` are counted. Each count is a statement of
its own, made of the tokens of the first one, and passes the gate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gate.reading import ReadLimits, read_statement
from pgs_neo4j.database.gate.tokens import Token, read_tokens, write_tokens
from pgs_neo4j.errors import DatabaseError, GateError
from pgs_neo4j.text.shown import counted, one_line

LIMITS = ReadLimits(seconds=2.0, rows=1)
MOST_COUNTS = 10
LONGEST = 200
"""Maximum characters of a pattern or filter in a sentence."""
_MATCH, _WHERE, _AND = (Token("word", text, spaced=True) for text in ("MATCH", "WHERE", "AND"))
_COMMA = Token("symbol", ",")
_OPENING, _CLOSING = "([{", ")]}"
_CLAUSES = ("MATCH", "OPTIONAL", "WITH", "RETURN", "UNWIND", "CALL", "UNION", "ORDER", "LIMIT")
Tokens = tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A pattern or a filter of a statement.

    ``tokens`` are those of the filter, or of the whole pattern. ``bare`` is a pattern without the
    property maps of its nodes and relationships; it is empty for a filter.
    """

    tokens: Tokens
    bare: Tokens = ()


async def explain_empty(db: Database, statement: str) -> tuple[str, ...]:
    """Return sentences on which part of a statement without rows matches nothing.

    The result is empty if the counts take too long, or if the statement has no part to count.
    """
    try:
        return await _count_parts(db, divide_statement(read_tokens(statement)))
    except (GateError, DatabaseError):
        return ()


async def _count_parts(db: Database, parts: Sequence[Part]) -> tuple[str, ...]:
    patterns: list[Tokens] = []
    filters: list[Tokens] = []
    said: list[str] = []
    for part in parts[:MOST_COUNTS]:
        if not part.bare:
            if not await _count(db, patterns, [*filters, part.tokens]):
                alone = await _count(db, patterns, [part.tokens])
                return (*said, _describe_filter(part, alone if filters else 0))
            filters.append(part.tokens)
            continue
        count = await _count(db, [*patterns, part.bare], filters)
        said.append(f"{_show(part.bare)} matches {_times(count)}")
        if not count:
            return tuple(said)
        if part.bare != part.tokens and not await _count(db, [*patterns, part.tokens], filters):
            return (*said, f"{_show(part.tokens)} matches nothing")
        patterns.append(part.tokens)
    if not patterns:
        return ()
    return (*said, "what follows the patterns and filters leaves no row")


def _describe_filter(part: Part, alone: int) -> str:
    if not alone:
        return f"nothing of it has {_show(part.tokens)}"
    return (
        f"{_show(part.tokens)} holds {_times(alone)}, but never together with the filters before it"
    )


def _times(count: int) -> str:
    return counted(count, "time") if count else "nothing"


def _show(tokens: Tokens) -> str:
    return one_line(write_tokens(tokens), LONGEST)


async def _count(db: Database, patterns: Sequence[Tokens], filters: Sequence[Tokens]) -> int:
    """Return how often some patterns match together under some filters."""
    template = read_tokens(queries.get("pgs/querying/statements/count_matches").text)
    closed = next(at for at, token in enumerate(template) if token.is_symbol(")"))
    where = [_WHERE, *_join(filters, _AND)] if filters else []
    tokens = [_MATCH, *_join(patterns, _COMMA), *where, *template[closed + 1 :]]
    read = await read_statement(db, write_tokens(tokens), limits=LIMITS)
    return int(str(read.rows[0][0]))


def _join(parts: Sequence[Tokens], between: Token) -> Iterator[Token]:
    for number, part in enumerate(parts):
        if number:
            yield between
        yield replace(part[0], spaced=True)
        yield from part[1:]


def divide_statement(tokens: Sequence[Token]) -> tuple[Part, ...]:
    """Return the patterns and filters of the first clauses of a statement, in order.

    Patterns of an ``OPTIONAL MATCH`` are left out, because they take no rows away.
    """
    parts: list[Part] = []
    for clause in _read_matches(tokens):
        pattern, *where = _split(clause, lambda one: one.is_word("WHERE"))
        paths = _split(pattern, lambda one: one.is_symbol(","))
        parts += [Part(path, _strip_maps(path)) for path in paths]
        parts += [Part(one) for condition in where for one in _split_conjunction(condition)]
    return tuple(parts)


def _read_matches(tokens: Sequence[Token]) -> Iterator[Tokens]:
    """Yield what stands behind each MATCH that begins a statement, until another clause begins."""
    clause: list[Token] = []
    counts = optional = False  # whether the open clause counts, and whether OPTIONAL came before
    for depth, token in _with_depth((*tokens, _MATCH)):
        if depth or not token.is_word(*_CLAUSES):
            clause.append(token)
            continue
        if counts:
            yield tuple(clause)
        if not token.is_word("MATCH", "OPTIONAL"):
            return
        clause, counts = [], token.is_word("MATCH") and not optional
        optional = token.is_word("OPTIONAL")


def _split_conjunction(condition: Tokens) -> list[Tokens]:
    """Return the conditions that a condition joins by AND; OR and XOR are not divided."""
    divided = {"OR", "XOR", "CASE"}
    if any(depth == 0 and one.is_word(*divided) for depth, one in _with_depth(condition)):
        return [condition]
    return _split(condition, lambda one: one.is_word("AND"))


def _split(tokens: Sequence[Token], divides: Callable[[Token], bool]) -> list[Tokens]:
    """Return the parts of some tokens between those that divide them, outside of brackets."""
    parts: list[list[Token]] = [[]]
    for depth, token in _with_depth(tokens):
        if depth == 0 and divides(token):
            parts.append([])
        else:
            parts[-1].append(token)
    return [tuple(part) for part in parts if part]


def _strip_maps(pattern: Tokens) -> Tokens:
    """Return a pattern without the property maps of its nodes and relationships."""
    if any(token.is_word("WHERE") for token in pattern):
        return pattern
    kept: list[Token] = []
    inside = 0
    for depth, token in _with_depth(pattern):
        if inside or (depth and token.is_symbol("{")):
            inside += token.is_symbol("{") - token.is_symbol("}")
        else:
            kept.append(token)
    return tuple(kept)


def _with_depth(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """Yield each token with the number of brackets that are open around it."""
    depth = 0
    for token in tokens:
        if token.is_symbol(*_CLOSING):
            depth -= 1
        yield depth, token
        if token.is_symbol(*_OPENING):
            depth += 1
