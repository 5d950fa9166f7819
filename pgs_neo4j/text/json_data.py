"""Writes values as JSON that is safe to display anywhere.

Numbers that JSON cannot express (NaN, infinity) become null.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from pgs_neo4j.text.invisible import INVISIBLE, is_plainly_visible

Json = dict[str, Any]

# Line separators that JSON does not escape, although viewers break lines at them.
_LINES = re.compile("[\u2028\u2029]")


def plain_data(value: object) -> Any:
    """Convert any value to JSON data; dataclasses become objects by field name."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value)  # a member of a string enumeration becomes its text
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_data(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [plain_data(item) for item in value]
    # Numpy scalars and arrays convert themselves. A path or anything else becomes text.
    to_list = getattr(value, "tolist", None)
    return str(value) if to_list is None else plain_data(to_list())


def json_text(value: object, *, ascii_only: bool = False) -> str:
    """Return JSON text, indented by two spaces; parsing restores every character.

    Invisible characters are written as escapes, so a reader sees them.
    """
    text = json.dumps(value, ensure_ascii=ascii_only, indent=2, allow_nan=False)
    if not is_plainly_visible(text):
        text = _LINES.sub(_escape, INVISIBLE.sub(_escape, text))
    return text + "\n"


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]
