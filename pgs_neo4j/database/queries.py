"""Loads ``cypher/*.cypher``: one statement per file, described by its header.

A file begins with comment lines that state its purpose, parameters, and columns::

    // Members of one partition, heaviest first.
    // params: partition: str, first: int, last: int
    // returns: rank: int, title: str?, text: list[str?]
    // mode: read

``params`` and ``returns`` may be empty; a long one continues in lines that are indented by three
blanks. The types are those of Python: ``bool``, ``int``, ``float``, ``number`` (one of the two
before), ``str``, ``bytes``, ``datetime``, ``dict``, ``list[...]``, and ``any`` for values of the
user. A question mark says that the value may be null. The test suite compares them with what it
sends and receives. These are the modes.

- ``read``: reads only.
- ``write``: writes data of the package.
- ``data``: writes the user's own data at the user's request.
- ``batch``: commits in batches, so it runs outside a managed transaction.
- ``schema``: changes the schema.

Loading a file fails if its header does not match the parameters of its statement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast, get_args

QueryMode = Literal["read", "write", "data", "batch", "schema"]

_HEADER = re.compile(r"//\s?(?:(params|returns|mode):)?(.*)")
_CONTINUED = "//   "
_PARAMETER = re.compile(r"\$(?!any\(|all\()([A-Za-z_]\w*)")
_TYPE = re.compile(r"(?:bool|int|float|number|str|bytes|datetime|dict|any|list\[(?P<item>.+)\])\??")
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_COMMENT = re.compile(r"^//.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Query:
    """One statement: its name (``folder/file``), text, mode, parameters, and columns.

    ``params`` and ``columns`` map names to types.
    """

    name: str
    text: str
    purpose: str
    mode: QueryMode
    params: Mapping[str, str]
    columns: Mapping[str, str]


def folder() -> Path:
    """Return the folder of the statements, installed or in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "_cypher"
    return installed if installed.is_dir() else package.parent / "cypher"


def names() -> tuple[str, ...]:
    """Return the names of all statements, sorted."""
    root = folder()
    paths = root.rglob("*.cypher")
    return tuple(sorted(path.relative_to(root).with_suffix("").as_posix() for path in paths))


@cache
def get(name: str) -> Query:
    """Return the named statement; ValueError if it is missing or malformed."""
    path = folder() / f"{name}.cypher"
    if not path.is_file():
        raise ValueError(f"there is no statement {name} in {folder()}")
    return parse(name, path.read_text(encoding="utf-8"))


def parse(name: str, text: str) -> Query:
    """Read a statement and check its header; ValueError names the fault."""
    header: dict[str, str] = {}
    purpose: list[str] = []
    latest = ""
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        field, value = cast("re.Match[str]", _HEADER.match(line)).groups()
        if field is None and latest and line.startswith(_CONTINUED):
            header[latest] += value
        elif field is None:
            purpose.append(value.strip())
        elif field in header:
            raise ValueError(f"{name}: the header has two lines '{field}:'")
        else:
            header[field], latest = value.strip(), field
    if missing := {"params", "returns", "mode"} - header.keys():
        raise ValueError(f"{name}: the header lacks {', '.join(sorted(missing))}")
    if header["mode"] not in get_args(QueryMode):
        raise ValueError(f"{name}: mode is {header['mode']!r}, not one of {get_args(QueryMode)}")
    if not purpose:
        raise ValueError(f"{name}: the header does not say what the statement is for")
    query = Query(
        name=name,
        text=text,
        purpose=" ".join(purpose),
        mode=cast("QueryMode", header["mode"]),
        params=_read_types(name, header["params"]),
        columns=_read_types(name, header["returns"]),
    )
    _check_statement(query)
    return query


def _read_types(statement: str, value: str) -> Mapping[str, str]:
    types: dict[str, str] = {}
    for part in filter(None, value.split(",")):
        name, _, type_name = (piece.strip() for piece in part.partition(":"))
        if not is_type(type_name):
            raise ValueError(f"{statement}: {name} has the type {type_name!r}, which is unknown")
        types[name] = type_name
    return MappingProxyType(types)


def is_type(text: str) -> bool:
    """Return whether headers may name ``text`` as a type."""
    match = _TYPE.fullmatch(text)
    return match is not None and (match["item"] is None or is_type(match["item"]))


def _check_statement(query: Query) -> None:
    statement = _STRING.sub("''", _COMMENT.sub("", query.text)).strip()
    if not statement:
        raise ValueError(f"{query.name}: there is no statement below the header")
    if ";" in statement.rstrip(";"):
        raise ValueError(f"{query.name}: there is more than one statement")
    used = set(_PARAMETER.findall(statement))
    if used != set(query.params):
        wrong = ", ".join(sorted(used ^ set(query.params)))
        raise ValueError(f"{query.name}: header and statement disagree on the parameters {wrong}")
