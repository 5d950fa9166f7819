"""Writes labels, types, and properties into statements where no parameter can stand for them.

Nothing else does. Whatever characters a name has, it stays one name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pgs_neo4j.database.queries import Query

# In a statement: n:`{labels}` or n.`{properties}`, which is valid Cypher as it stands.
_PLACE = re.compile(r"(\w+\.)?`\{(\w+)\}`")


def fill_names(query: Query, **names: Sequence[str]) -> Query:
    """Return a statement with names in the places that are called so.

    Several labels are joined by ``|``, several properties by commas. Raises ValueError unless each
    place has at least one name, and each name a place.
    """
    places = {place for _, place in _PLACE.findall(query.text)}
    if places != names.keys() or not all(names.values()):
        raise ValueError(f"{query.name} has places for {', '.join(sorted(places))}")

    def fill(match: re.Match[str]) -> str:
        owner = match[1] or ""
        return (", " if owner else "|").join(f"{owner}{quote(name)}" for name in names[match[2]])

    return replace(query, text=_PLACE.sub(fill, query.text))


def quote(name: str) -> str:
    r"""Return a name in back-ticks.

    The server decodes ``\uXXXX`` before it looks for the back-tick that ends a name, so each
    backslash is written as such a code.
    """
    escaped = name.replace("\\", "\\u005C").replace("`", "``")
    return f"`{escaped}`"
