"""Describes what is wrong with a value from outside, in plain words.

Pydantic checks settings, requests, and arguments of tools, but its messages are for programmers:
"Extra inputs are not permitted". The sentences made here name the value, say what it must be, and
suggest the right name. They never repeat the value, which may be a secret.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

SHOWN = 60  # characters of a name in messages; it came from outside
LISTED = 15  # maximum number of names that a message lists if no name is similar
_QUOTED = re.compile(r"'([^']*)'")  # the values in a message of pydantic
_LIST = "must be a list"
_TABLE = "must have named values, as an object in JSON or a table in TOML"
_WHOLE = "must be a whole number"
_NUMBER = "must be a number"
_SWITCH = "must be true or false"
_FORM = "does not have the right form"
_TEXT = "must be a text"
KINDS: Mapping[str, str] = {
    "missing": "is missing",
    "missing_argument": "is missing",
    "missing_keyword_only_argument": "is missing",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "int_parsing_size": "must be a whole number with fewer digits",
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "must be a number that is not infinite",
    "bool_type": _SWITCH,
    "bool_parsing": _SWITCH,
    "string_type": _TEXT,
    "string_unicode": "must be a text in valid Unicode",
    "list_type": _LIST,
    "tuple_type": _LIST,
    "set_type": _LIST,
    "frozen_set_type": _LIST,
    "iterable_type": _LIST,
    "dict_type": _TABLE,
    "mapping_type": _TABLE,
    "model_type": _TABLE,
    "model_attributes_type": _TABLE,
    "dataclass_type": _TABLE,
    "arguments_type": _TABLE,
    "none_required": "must be null",
    "bytes_type": _TEXT,
    "json_type": "must be JSON",
    "recursion_loop": "is nested too deeply",
}
"""Description of each pydantic error type that has no number."""
BOUNDS: Mapping[str, tuple[str, str]] = {
    "greater_than": ("must be greater than", "gt"),
    "greater_than_equal": ("must be at least", "ge"),
    "less_than": ("must be less than", "lt"),
    "less_than_equal": ("must be at most", "le"),
    "multiple_of": ("must be a multiple of", "multiple_of"),
}
"""Description of the bound, and the key of its number, for each pydantic error type."""
LENGTHS: Mapping[str, tuple[str, str, str]] = {
    "string_too_short": ("at least", "min_length", "character"),
    "string_too_long": ("at most", "max_length", "character"),
    "too_short": ("at least", "min_length", "item"),
    "too_long": ("at most", "max_length", "item"),
}
"""The bound, the key of its number, and the counted thing, for each pydantic error type."""
OWN = ("value_error", "assertion_error")
"""Pydantic's error types for the checks of this package, which raise plain ValueErrors."""
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


def describe_invalid(
    where: str,
    detail: Mapping[str, Any],
    known: Collection[str] = (),
    forms: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return a sentence, without its period, that says what is wrong with the value ``where``.

    ``detail`` is an entry of ``ValidationError.errors()``. ``known`` are names to suggest in place
    of an unknown name. ``forms`` maps patterns to descriptions, such as "16 hexadecimal digits".
    """
    kind = detail["type"]
    if kind in UNKNOWN:
        return f"{where} is unknown; {suggest_name(where.rpartition('.')[2], known)}"
    if kind == "string_pattern_mismatch":
        form = forms.get(detail["ctx"]["pattern"])
        return f"{where} must be {form}" if form else f"{where} {_FORM}"
    words = _describe(detail)
    return f"{where} {words}" if words else f"{where}: {_get_own_words(detail)}"


def describe_any(
    where: str, details: Iterable[Mapping[str, Any]], *, none_allowed: bool = False
) -> str:
    """Return one sentence for the errors of a value that may have one of several types.

    With ``none_allowed``, 'none' is also a valid value.
    """
    details = list(details)
    choices = [detail for detail in details if detail["type"] == "literal_error"]
    if len(choices) == len(details) and choices:
        names = dict.fromkeys(name for detail in choices for name in _find_choices(detail))
        values = [*names, "none"] if none_allowed else [*names]
        return f"{where} {_must_be_one_of(values, choices[0].get('input'))}"
    sentences = dict.fromkeys(describe_invalid("", detail).strip() for detail in details)
    own = [words for words in sentences if words.startswith(":")]
    if own:
        return f"{where}{own[0]}"
    words = [*sentences, "'none'"] if none_allowed else [*sentences]
    return f"{where} {', or '.join(words)}"


def suggest_name(name: str, known: Collection[str]) -> str:
    """Return advice about an unknown name: a similar name, or the known names."""
    if not known:
        return "leave it out"
    if len(known) > LISTED:
        return suggest_similar(name, known, "leave it out, or see the manual for the names")
    return suggest_similar(name, known, f"the names are {', '.join(known)}")


def suggest_similar(
    name: str, known: Collection[str], otherwise: str, quote: Callable[[str], str] = str
) -> str:
    """Return the question whether the most similar of ``known`` was meant; else ``otherwise``.

    ``quote`` returns the known name as the question shows it.
    """
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {quote(near[0])}?" if near else otherwise


def name_place(place: Iterable[str | int], start: str = "") -> str:
    """Return the place of a value, such as ``messages.2.role``, or ``start`` for the whole."""
    parts = (str(part)[:SHOWN] for part in place)
    return ".".join(part if part.isprintable() else ascii(part)[1:-1] for part in parts) or start


def _describe(detail: Mapping[str, Any]) -> str:
    """Return words that follow the name of an invalid value; empty for errors in ``OWN``."""
    kind, context = detail["type"], detail.get("ctx") or {}
    if kind in KINDS:
        return KINDS[kind]
    if kind in BOUNDS:
        words, key = BOUNDS[kind]
        return f"{words} {_write_number(context[key])}"
    if kind in LENGTHS:
        return _describe_length(*LENGTHS[kind], context)
    if kind in ("literal_error", "enum"):
        return _must_be_one_of(_find_choices(detail), detail.get("input"))
    if kind == "json_invalid":
        return f"is not JSON that can be read ({context.get('error', 'it ends early')})"
    return "" if kind in OWN else _FORM


def _describe_length(bound: str, key: str, noun: str, context: Mapping[str, Any]) -> str:
    count = context[key]
    if (bound, count) == ("at least", 1):
        return "must not be empty"
    return f"must have {bound} {count:,} {noun}{'' if count == 1 else 's'}"


def _write_number(number: object) -> str:
    if isinstance(number, int):
        return f"{number:,}"
    return f"{number:,g}" if isinstance(number, float) else str(number)


def _find_choices(detail: Mapping[str, Any]) -> list[str]:
    return _QUOTED.findall(str(detail["ctx"]["expected"]))


def _must_be_one_of(names: list[str], given: object) -> str:
    if not names:
        return _FORM
    quoted = [f"'{name}'" for name in names]
    if len(quoted) > 2:
        listed = f"{', '.join(quoted[:-1])}, or {quoted[-1]}"
    else:
        listed = " or ".join(quoted)
    word = given.lower() if isinstance(given, str) else ""
    hint = suggest_similar(word, names, "", quote=lambda name: f"'{name}'")
    return f"must be {listed}" + (f"; {hint}" if hint else "")


def _get_own_words(detail: Mapping[str, Any]) -> str:
    return str(detail["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
