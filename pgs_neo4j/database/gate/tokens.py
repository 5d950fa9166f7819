r"""Divides a Cypher statement into tokens, and writes tokens as a statement.

Neo4j decodes each ``\uXXXX`` before it parses a statement, even in a keyword or in a quoted name:
``\u0053ET n.x = 1`` writes, and ``\u0060`` ends a quoted name. So a statement is decoded first.
What is written has no comments, no escapes but ``\u005C`` for a backslash, and a space wherever two
words meet. So the server reads exactly the tokens that were checked, whatever it would have made of
the original.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from pgs_neo4j.database.queries import quote, quote_odd
from pgs_neo4j.errors import GateError

Kind = Literal["name", "string", "parameter", "number", "word", "symbol"]
"""``word`` is a keyword or an unquoted name, and ``name`` a name in back-ticks."""

LONGEST_STATEMENT = 20_000
"""Characters. The longest of 9,752 published statements has fewer than 1,200."""

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|u|[^u]|\Z)", re.DOTALL)
_BACKSLASH = "\\u005C"
_TOKEN = re.compile(
    r"""
    (?P<space>(?:\s|//[^\n\r]*|/\*.*?\*/)+)
  | (?P<name>`(?:[^`]|``)*`)
  | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<parameter>\$(?:\w+|`(?:[^`]|``)*`))
  | (?P<number>0[xX][0-9a-fA-F_]+|0[oO][0-7_]+
      |(?:[0-9][0-9_]*(?:\.[0-9][0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9][0-9_]*)?\w*)
  | (?P<word>[^\W\d]\w*)
  | (?P<symbol><>|<=|>=|=~|\+=|\.\.|\|\||::|!=|(?!/\*)[-+*/%^=<>!.,:;|&(){}\[\]$])
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a statement, decoded.

    ``text`` of a name or parameter has no quotes. ``text`` of a string has its quotes and its
    escapes, such as ``\\n``. ``spaced`` says whether white space or a comment stands before it.
    """

    kind: Kind
    text: str
    spaced: bool = False

    def is_symbol(self, *symbols: str) -> bool:
        """Return whether this token is one of these symbols."""
        return self.kind == "symbol" and self.text in symbols

    def is_word(self, *keywords: str) -> bool:
        """Return whether this token is an unquoted word that spells one of these keywords."""
        return self.kind == "word" and self.text.upper() in keywords

    @property
    def is_named(self) -> bool:
        """Whether this token can name a variable, label, type, property, or function."""
        return self.kind in ("word", "name")


def read_tokens(statement: str) -> tuple[Token, ...]:
    """Return the tokens of a statement, without white space and comments.

    Raises GateError if the statement is too long or empty, or has a character, quotation, comment,
    or escape that does not belong into a statement.
    """
    if len(statement) > LONGEST_STATEMENT:
        raise GateError(
            f"the statement has {len(statement):,} characters, and at most {LONGEST_STATEMENT:,} "
            "are read; ask for less in one statement"
        )
    text = _decode(statement)
    tokens: list[Token] = []
    at, spaced = 0, False
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise GateError(_explain_character(text, at))
        at = match.end()
        if match.lastgroup == "space":
            spaced = True
            continue
        kind = cast("Kind", match.lastgroup)
        tokens.append(Token(kind, _unquoted(kind, match[0]), spaced))
        spaced = False
    if not tokens:
        raise GateError("the statement is empty; write one that reads, such as MATCH … RETURN …")
    return tuple(tokens)


def write_tokens(tokens: Sequence[Token]) -> str:
    """Return the tokens as a statement on one line, which the server reads as these tokens."""
    parts: list[str] = []
    for before, token in zip((None, *tokens), tokens, strict=False):
        written = _write(token)
        joined = before is not None and _is_wordlike(before) and _is_wordlike(token)
        if before is not None and (token.spaced or joined):
            parts.append(" ")
        parts.append(written)
    return "".join(parts)


def _decode(statement: str) -> str:
    r"""Return a statement without ``\uXXXX``; the server decodes in the same way.

    A backslash that follows a backslash begins no escape.
    """

    def decode(match: re.Match[str]) -> str:
        if match[1] is not None:
            return chr(int(match[1], 16))
        if match[0] == "\\u":
            raise GateError(
                r"\u must have four hexadecimal digits after it; write the character itself"
            )
        return match[0]

    decoded = _ESCAPE.sub(decode, statement)
    try:
        # Two escapes may be the halves of one character.
        return decoded.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise GateError(
            "the statement has half of a character; write the whole character"
        ) from None


def _unquoted(kind: Kind, text: str) -> str:
    if kind == "parameter":
        text = text[1:]
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


def _write(token: Token) -> str:
    match token.kind:
        case "string":
            return token.text.replace("\\", _BACKSLASH)
        case "name":
            return quote(token.text)
        case "parameter":
            numbered = token.text.isascii() and token.text.isdigit()
            return "$" + (token.text if numbered else quote_odd(token.text))
        case "word":  # the server may take letters for a keyword's that look like them
            return quote_odd(token.text)
    return token.text


def _is_wordlike(token: Token) -> bool:
    return token.kind in ("word", "name", "parameter", "number") or token.text == "$"


def _explain_character(text: str, at: int) -> str:
    character = text[at]
    if character in "'\"`":
        return f"the quotation that begins with {character} does not end; close it with {character}"
    if text.startswith("/*", at):
        return "the comment that begins with /* does not end; close it with */ or leave it out"
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    return f"the character {shown} can stand in quotes only; leave it out or quote it"
