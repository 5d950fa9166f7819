"""Loads ``cypher/*.cypher``: one statement per file, described by its header.

A file begins with comment lines that state its purpose, parameters, and columns::

    // Members of one partition, heaviest first.
    // params: partition, first, last
    // returns: rank, title, text
    // mode: read

``params`` and ``returns`` may be empty. These are the modes.

- ``read``: reads only.
- ``write``: writes data of the package.
- ``data``: writes the user's own data at the user's request.
- ``batch``: commits in batches, so it runs outside a managed transaction.
- ``schema``: changes the schema.

Loading a file fails if its header does not match the parameters of its statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, cast, get_args

QueryMode = Literal["read", "write", "data", "batch", "schema"]

_HEADER = re.compile(r"//\s?(?:(params|returns|mode):)?(.*)")
_PARAMETER = re.compile(r"\$(?!any\(|all\()([A-Za-z_]\w*)")
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_COMMENT = re.compile(r"^//.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Query:
    """One statement: its name (``folder/file``), text, mode, parameters, and columns."""

    name: str
    text: str
    purpose: str
    mode: QueryMode
    params: tuple[str, ...]
    columns: tuple[str, ...]


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
    lines = text.splitlines()
    for line in lines:
        if not line.startswith("//"):
            break
        field, value = cast("re.Match[str]", _HEADER.match(line)).groups()
        if field is None:
            purpose.append(value.strip())
        elif field in header:
            raise ValueError(f"{name}: the header has two lines '{field}:'")
        else:
            header[field] = value.strip()
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
        params=_split_list(header["params"]),
        columns=_split_list(header["returns"]),
    )
    _check_statement(query)
    return query


def _split_list(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


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
