"""Refuses statements that take more work than the server can end.

Neo4j ends a statement that takes too long, but only between rows. It does not stop while it plans,
and not within an expression: ``reduce(s = 'a', i IN range(1, 60) | s + s)`` fills the memory until
the server dies, and ``'aaaa…' =~ '(a+)+b'`` keeps a thread busy for years. So the gate estimates
from the tokens how large a value can become that a statement makes from nothing. It does not know
how much data a list holds that is collected from the graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2

from pgs_neo4j.database.gate.tokens import Token
from pgs_neo4j.errors import GateError
from pgs_neo4j.text.shown import counted

# Of 9,473 published statements, none has more than 139 tokens that are no literals, 6
# relationships, and 4 nested brackets. Neo4j needs seconds to plan twice as many as these limits
# allow, and a thousand nested brackets overflow its stack.
MOST_TOKENS = 600
MOST_RELATIONSHIPS = 12
MOST_NESTED = 40
MOST_WORDS = {"NOT": 50, "XOR": 8}

MOST_BITS = 24
"""A value that a statement makes has at most 2 to the power of this many items or characters."""
COLLECTED_BITS = 20  # a list of a million values, which the server collects within seconds
MOST_LOOPS = 2  # expressions that run through a list inside each other

LOOPS = ("ANY", "ALL", "NONE", "SINGLE", "REDUCE")
_NUMBER = re.compile(r"\d{1,18}")
_CLASS = re.compile(r"\[(?:\\.|[^\]\\])*\]")
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_REPEAT = re.compile(r"[*+]|\{\d*,?\d*\}")
MOST_REPEATS, MOST_OPTIONS = 3, 10  # in a regular expression: of * + {n}, and of ?
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_AGGREGATE = "aggregate instead, as in UNWIND … RETURN sum(…)"


@dataclass(slots=True)
class _Bracket:
    """An open bracket: its place, and the place of the ``|`` in it that ends what it runs through.

    ``loop`` is the keyword of an expression that runs through a list: ``[`` of a list
    comprehension, or one of ``LOOPS``. It is empty for all other brackets.
    """

    at: int
    loop: str = ""
    body: int = 0


def check_effort(tokens: Sequence[Token], params: Mapping[str, object]) -> None:
    """Refuse a statement that the server might be unable to end.

    Raises GateError, which says what would pass.
    """
    _check_counts(tokens)
    closings, loops = _check_brackets(tokens)
    for at, token in enumerate(tokens):
        if token.is_symbol("=~"):
            _check_expression(tokens, at, params)
    _check_growth(tokens, closings, loops)


def _check_counts(tokens: Sequence[Token]) -> None:
    count = sum(one.kind not in ("string", "number") and one.text != "," for one in tokens)
    if count > MOST_TOKENS:
        raise GateError(
            f"the statement has {count:,} words and symbols, and at most {MOST_TOKENS} are read; "
            "ask for less in one statement"
        )
    count = sum(one.is_symbol("-") and after.is_symbol("[", "-") for one, after in pairwise(tokens))
    if count > MOST_RELATIONSHIPS:
        raise GateError(
            f"the statement has {counted(count, 'relationship')}, and at most "
            f"{MOST_RELATIONSHIPS} are planned in good time; ask for less in one statement"
        )
    for word, most in MOST_WORDS.items():
        if sum(one.is_word(word) for one in tokens) > most:
            raise GateError(f"the statement has more than {most} times {word}; leave some out")


def _check_brackets(tokens: Sequence[Token]) -> tuple[dict[int, int], int]:
    """Return the place of the closing bracket of each opening one, and how deep loops nest."""
    closings: dict[int, int] = {}
    opened: list[_Bracket] = []
    deepest = 0
    for at, token in enumerate(tokens):
        if token.is_symbol(*_OPENING):
            opened.append(_Bracket(at, _loop(tokens, at)))
            loops = [one for one in opened if one.loop]
            if len(opened) > MOST_NESTED or len(loops) > MOST_LOOPS:
                what = "lists" if len(loops) > MOST_LOOPS else "brackets"
                raise GateError(f"too many {what} inside each other; use WITH and UNWIND instead")
            deepest = max(deepest, len(loops))
            lists = [one for one in loops[:-1] if one.body and one.loop in ("[", "REDUCE")]
            if loops and loops[-1].at == at and loops[-1].loop == "[" and lists:
                raise GateError(
                    "a list of lists may become too large; use UNWIND and collect() instead"
                )
        elif token.is_symbol(*_CLOSING) and opened:
            bracket = opened.pop()
            closings[bracket.at] = at
            if bracket.loop == "REDUCE":
                _check_reduce(tokens[bracket.at + 1 : at], bracket.body - bracket.at - 1)
        elif token.is_symbol("|") and opened:
            opened[-1].body = opened[-1].body or at
    return closings, deepest


def _loop(tokens: Sequence[Token], at: int) -> str:
    """Return the keyword of the expression that a bracket opens, if it runs through a list."""
    if tokens[at].text == "(" and at and tokens[at - 1].is_word(*LOOPS):
        return tokens[at - 1].text.upper()
    names = at + 2 < len(tokens) and tokens[at + 1].is_named and tokens[at + 2].is_word("IN")
    return "[" if tokens[at].text == "[" and names else ""


def _check_reduce(tokens: Sequence[Token], bar: int) -> None:
    """Refuse ``reduce`` unless its value grows by no more than a part of the list in each step.

    ``tokens`` are those in its brackets, and ``bar`` is the place of the ``|`` among them.
    """
    body = tokens[bar + 1 :]
    if not tokens or bar <= 0 or not tokens[0].is_named:
        return  # the server refuses it
    total, parts = tokens[0].text, [body]
    if body and body[0].is_word("CASE") and body[-1].is_word("END"):
        parts = list(_split_case(body))
    for part in parts:
        if sum(one.is_named and one.text == total for one in part) > 1:
            raise GateError(f"reduce(…) uses {total} more than once in a step; {_AGGREGATE}")
    depth = 0
    for before, one in zip((None, *body), body, strict=False):
        listed = one.is_symbol("[", "{") or (
            one.is_symbol("(") and before is not None and before.is_word("REPLACE")
        )
        if listed or (depth and one.is_symbol(*_OPENING)):
            depth += 1
        elif depth and one.is_symbol(*_CLOSING):
            depth -= 1
        elif depth and one.is_named and one.text == total:
            raise GateError(f"reduce(…) puts {total} into a list or a longer text; {_AGGREGATE}")


def _split_case(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield what stands between the keywords of CASE, whose branches exclude each other."""
    part: list[Token] = []
    nested = 0
    for token in tokens[1:-1]:
        nested += token.is_word("CASE") - token.is_word("END")
        if not nested and token.is_word("WHEN", "THEN", "ELSE"):
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _check_growth(tokens: Sequence[Token], closings: Mapping[int, int], loops: int) -> None:
    """Refuse a statement that can make a value of more than 2 to the power of MOST_BITS items."""
    items = max([len(one.text) for one in tokens if one.kind == "string"], default=1)
    items = max(items, 1 + sum(one.is_symbol(",") for one in tokens))
    bits, collects = 0.0, False
    for at, token in enumerate(tokens):
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        bits += token.is_symbol("+", "||")
        if after is None or not after.is_symbol("(") or at + 1 not in closings:
            continue
        collects = collects or token.is_word("COLLECT")
        arguments = tokens[at + 2 : closings[at + 1]]
        if token.is_named and token.text.lower() == "replace":
            bits += _replace_bits(arguments)
        elif token.is_named and token.text.lower() == "range":
            if at and tokens[at - 1].is_word("UNWIND"):
                bits += log2(1 + _range_size(arguments, 2**10)) if loops else 0
            else:
                items = max(items, _range_size(arguments))
    bits += max(log2(1 + items), COLLECTED_BITS if collects and loops and bits else 0)
    # Inside two loops, lists of synthetic size multiply; what is collected is bounded by the data.
    if bits * (max(1, loops) if not collects else 1) > MOST_BITS:
        raise GateError(
            "the statement may make a text or list that is too large for the server; use fewer + "
            "and replace(), and smaller ranges"
        )


def _replace_bits(arguments: Sequence[Token]) -> float:
    """Return by how many bits ``replace`` may lengthen a text."""
    if len(arguments) < 2 or not arguments[-2].is_symbol(","):
        raise GateError("replace(…) may make a text too large; replace by one text in quotes")
    new = arguments[-1]
    return log2(max(1, len(new.text) - 2)) if new.kind == "string" else MOST_BITS


def _range_size(arguments: Sequence[Token], unknown: int | None = None) -> int:
    """Return how many numbers ``range`` gives, at most; ``unknown`` if its ends are not written.

    A range to ``size(…)`` or ``length(…)`` is as long as something that exists. Raises GateError
    for ends that are not written, unless ``unknown`` is given.
    """
    numbers = [one for one in arguments if one.kind == "number"]
    plain = all(_NUMBER.fullmatch(one.text) for one in numbers)
    parts = [one for one in arguments if one.kind != "number" and not one.is_symbol(",", "-")]
    ends = [int(one.text) for one in numbers] if plain else []
    if plain and not parts and len(ends) in (2, 3):
        negative = any(one.is_symbol("-") for one in arguments)
        return (ends[0] + ends[1] if negative else abs(ends[1] - ends[0])) + 1
    sized = sum(one.is_word("SIZE", "LENGTH") for one in parts) == 1
    if plain and sized and max(ends, default=0) <= 1_000 and not _multiplies(parts):
        return 1 + max(ends, default=0)
    if unknown is None or not plain or _multiplies(parts) or max(ends, default=0) > unknown**2:
        raise GateError(
            "a range whose ends are computed may be too long; write its ends as numbers, or "
            "turn the range into rows with UNWIND"
        )
    return unknown


def _multiplies(tokens: Sequence[Token]) -> bool:
    return any(one.is_symbol("*", "^") for one in tokens)


def _check_expression(tokens: Sequence[Token], at: int, params: Mapping[str, object]) -> None:
    """Refuse a regular expression that may try very many ways to match a text."""
    pattern = tokens[at + 1] if at + 1 < len(tokens) else None
    joined = at + 2 < len(tokens) and tokens[at + 2].is_symbol("+", "||", "[", ".")
    text = None
    if pattern is not None and not joined and pattern.kind == "string":
        text = pattern.text[1:-1].replace("\\\\", "\\")
    elif pattern is not None and not joined and pattern.kind == "parameter":
        text = str(params.get(pattern.text))
    if text is None:
        raise GateError(
            "=~ needs one regular expression in quotes; write it so, or use CONTAINS instead"
        )
    bare = _CLASS.sub("c", _ESCAPED.sub("c", text))
    if re.search(r"\)[*+{]", bare):
        raise GateError(
            "a regular expression that repeats a group may never end; repeat single characters "
            "only, as in 'a.*b', or use CONTAINS"
        )
    plain = bare.replace("(?", "(")
    repeats = len(_REPEAT.findall(plain))
    options = len(re.findall(r"(?<![*+?}])\?", plain))
    if repeats > MOST_REPEATS or options > MOST_OPTIONS:
        raise GateError(
            f"a regular expression may repeat at most {MOST_REPEATS} times, as in '.*a.*'; use "
            "CONTAINS for each word instead"
        )
