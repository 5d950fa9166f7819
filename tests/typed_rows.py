"""Compares the parameters and rows of statements with the types that their headers declare."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from itertools import islice
from typing import Any

import pytest
from neo4j.time import DateTime

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Query, Row

MOST = 20  # rows, and items of a list, to look at
KINDS: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (float,),
    "number": (int, float),
    "str": (str,),
    "graph": (str,),
    "bytes": (bytes, bytearray),
    "datetime": (DateTime,),
    "dict": (dict,),
}


def fits(value: object, type_name: str) -> bool:
    """Return whether a value has a type, as headers name it."""
    name = type_name.removesuffix("?")
    if value is None:
        return type_name.endswith("?")
    if name == "any":
        return True
    if name.startswith("list["):
        return isinstance(value, list | tuple) and all(
            fits(item, name[5:-1]) for item in islice(value, MOST)
        )
    return isinstance(value, KINDS[name]) and isinstance(value, bool) == (name == "bool")


def check(query: Query, types: Mapping[str, str], rows: Iterable[Row]) -> None:
    """Fail unless every value fits."""
    for row in islice(rows, MOST):
        for name, value in row.items():
            assert fits(value, types[name]), (
                f"{query.name}: {name} is not {types[name]} but {value!r:.200}"
            )


def install(patch: pytest.MonkeyPatch) -> None:
    """Check every statement that this process runs."""
    for name in ("read", "write", "rehearse", "batch"):
        patch.setattr(Database, name, _checked(getattr(Database, name)))
    patch.setattr(Database, "stream", _checked_stream(Database.stream))


def _checked(run: Any) -> Any:
    @functools.wraps(run)
    async def checked(db: Database, query: Query, **params: object) -> list[Row]:
        rows: list[Row] = await run(db, query, **params)
        check(query, query.params, [params])
        check(query, query.columns, rows)
        return rows

    return checked


def _checked_stream(run: Any) -> Any:
    @functools.wraps(run)
    async def checked(
        db: Database, query: Query, take: Any, /, *, fetch: int = 1000, **params: object
    ) -> Any:
        check(query, query.params, [params])

        async def watch(rows: AsyncIterator[Row]) -> AsyncGenerator[Row]:
            async for row in rows:
                check(query, query.columns, [row])
                yield row

        async def take_checked(rows: AsyncIterator[Row]) -> Any:
            async with aclosing(watch(rows)) as watched:
                return await take(watched)

        return await run(db, query, take_checked, fetch=fetch, **params)

    return checked
