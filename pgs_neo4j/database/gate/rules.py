"""Refuses statements by their tokens: what a plan does not show, or shows too late to explain.

A plan has no trace of ``USE``, and shows ``gds.graph.project(...)`` as a plain aggregation. All
other rules are checked by the plan as well. They stand here because a token can be named, so that
the writer of the statement learns what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from pgs_neo4j.database.gate.tokens import Token
from pgs_neo4j.errors import GateError
from pgs_neo4j.text.node_text import shortened

STARTS = ("MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL")
PREFIXES = ("EXPLAIN", "PROFILE", "CYPHER")
WRITERS = (
    "CREATE", "MERGE", "SET", "DELETE", "DETACH", "NODETACH", "REMOVE", "FOREACH", "INSERT", "DROP",
)  # fmt: skip
OTHER_CLAUSES = {
    "LOAD": "a statement reads no files and addresses; read the nodes that are in the database",
    "USE": "USE names another graph; leave it out, because the statement reads the graph at hand",
    "USING": "USING forces an index or a join; leave it out",
}
FUNCTIONS = frozenset((
    "date.realtime", "date.statement", "date.transaction", "date.truncate",
    "datetime.fromepoch", "datetime.fromepochmillis", "datetime.realtime", "datetime.statement",
    "datetime.transaction", "datetime.truncate", "duration.between", "duration.indays",
    "duration.inmonths", "duration.inseconds", "localdatetime.realtime",
    "localdatetime.statement", "localdatetime.transaction", "localdatetime.truncate",
    "localtime.realtime", "localtime.statement", "localtime.transaction", "localtime.truncate",
    "point.distance", "point.withinbbox", "time.realtime", "time.statement", "time.transaction",
    "time.truncate", "vector.similarity.cosine", "vector.similarity.euclidean",
))  # fmt: skip
"""The functions of Cypher 5 with a namespace, in lower case.

Cypher 5, as which all statements are sent, gets no new ones. The list lacks ``graph.byName`` and
similar functions, which are about databases and not about the data in them.
"""

LENGTH = 40  # characters of a word or name in a message
_short = partial(shortened, length=LENGTH)
_OURS = re.compile(r"Pgs[A-Z]\w*|PGS_\w*")


def check_tokens(tokens: Sequence[Token]) -> None:
    """Refuse a statement that is more than one plain read.

    Raises GateError, which says what would pass.
    """
    _check_start(tokens)
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else None
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        if token.is_symbol(";") and after is not None:
            raise GateError("a statement ends at its semicolon; send one statement at a time")
        if token.kind == "word" and not _is_named_by(before):
            _check_clause(tokens, at)
        if token.is_named and _OURS.fullmatch(token.text):
            raise GateError(
                f"{token.text} is a name of pgs, whose nodes no statement reads; "
                "read the labels and relationship types of the graph"
            )
        if _is_dynamic(token, before, after):
            raise GateError(
                "a label or relationship type is computed here; write its name, as in (n:Name)"
            )
        if after is not None and after.is_symbol("(") and token.is_named:
            _check_call(tokens, at)


def _check_start(tokens: Sequence[Token]) -> None:
    first = tokens[0]
    if first.is_word(*PREFIXES):
        raise GateError(f"leave out {first.text.upper()}, and begin with MATCH")
    if not first.is_word(*STARTS, *WRITERS, *OTHER_CLAUSES):
        raise GateError(
            f"the statement begins with {_short(first.text)!r}; begin with MATCH, and end with "
            "RETURN"
        )


def _check_clause(tokens: Sequence[Token], at: int) -> None:
    """Refuse the clause that begins with a word, if it does more than to read the graph."""
    token = tokens[at]
    word = token.text.upper()
    if _is_key(tokens, at):
        return
    if word in WRITERS:
        raise GateError(
            f"{word} writes, and a statement can only read; leave it out, or quote it as "
            f"`{token.text}` if it is a name"
        )
    if word in OTHER_CLAUSES:
        raise GateError(f"{OTHER_CLAUSES[word]}, or quote it as `{token.text}` if it is a name")
    if word == "IN" and at and tokens[at - 1].is_symbol("}") and _commits(tokens[at + 1 : at + 4]):
        raise GateError("a subquery IN TRANSACTIONS commits; leave out IN TRANSACTIONS")
    if word == "CALL" and at + 1 < len(tokens) and tokens[at + 1].is_named:
        raise GateError(
            "a procedure may do more than to read the graph; call a plain read in braces instead, "
            "or ask the text and vector indexes with 'pgs search'"
        )


def _commits(tokens: Sequence[Token]) -> bool:
    return any(token.is_word("TRANSACTIONS", "TRANSACTION", "CONCURRENT") for token in tokens)


def _check_call(tokens: Sequence[Token], at: int) -> None:
    """Refuse a function with a namespace that is not one of Neo4j's own, such as one of GDS."""
    parts = [tokens[at].text]
    while at >= 2 and tokens[at - 1].is_symbol(".") and tokens[at - 2].is_named:
        at -= 2
        parts.insert(0, tokens[at].text)
    name = ".".join(parts)
    # A function without a namespace is Neo4j's own, because no plugin can add one.
    if len(parts) == 1 or (at and tokens[at - 1].is_word("CALL")):
        return
    if name.lower() not in FUNCTIONS:
        raise GateError(
            f"the function {_short(name)} may do more than to read the graph; use functions that "
            "belong to Cypher, such as date.truncate or size"
        )


def _is_named_by(before: Token | None) -> bool:
    """Return whether the token before makes this one a property, a label, or a type."""
    return before is not None and before.is_symbol(".", ":", "|", "&", "!")


def _is_key(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a word is a key of a map, as in ``{set: 1}``."""
    return (
        0 < at < len(tokens) - 1
        and tokens[at - 1].is_symbol("{", ",")
        and tokens[at + 1].is_symbol(":")
    )


def _is_dynamic(token: Token, before: Token | None, after: Token | None) -> bool:
    """Return whether an expression names a label or type, as in ``n:$(x)`` or ``n:$any(x)``."""
    if token.is_symbol("$"):
        return True
    is_called = token.kind == "parameter" and after is not None and after.is_symbol("(")
    return is_called and before is not None
