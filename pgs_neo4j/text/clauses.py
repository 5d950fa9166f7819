"""Lays out a Cypher statement for people: one clause on each line."""

from __future__ import annotations

import re

_PART = re.compile(
    r"""
    (?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`)
  | (?P<opens>[(\[{])
  | (?P<closes>[)\]}])
  | (?<!OPTIONAL)(?<!STARTS)(?<!ENDS)\s+
    (?=(?:OPTIONAL|MATCH|WHERE|WITH|RETURN|ORDER|SKIP|LIMIT|UNWIND|CALL|UNION)\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)


def break_clauses(statement: str) -> str:
    """Return a statement whose clauses begin on lines of their own. Only white space changes."""
    depth = 0

    def lay_out(part: re.Match[str]) -> str:
        nonlocal depth
        if part["quoted"]:
            return part[0]
        if part["opens"] or part["closes"]:
            depth += 1 if part["opens"] else -1
            return part[0]
        return part[0] if depth else "\n"

    return _PART.sub(lay_out, statement)
