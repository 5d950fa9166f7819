"""A database that answers each statement with the rows that a test defines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from copy import copy
from typing import Any

from pgs_neo4j.database.queries import BOUND, Query
from pgs_neo4j.model.scope import NO_SCOPE, Scope
from tests.typed_rows import check

Row = dict[str, Any]
Answer = list[Row] | Exception | Callable[[Row], list[Row]]

NO_VIEW: dict[str, object] = dict(zip(BOUND, ({}, None, []), strict=True))
"""What the database adds to statements without a scope and a view."""


class FakeDatabase:
    """Answers by statement name; ``sent`` lists names and parameters in order.

    An answer is rows, an error to raise, or a function of the parameters. A statement without
    an answer has no rows. Statements sent as text are answered by ``text_answer``.
    """

    uri = "bolt+s://graph.example:7687"
    host = ("graph.example", 7687)
    name: str | None = None
    fence = None
    scope = NO_SCOPE

    def __init__(self, **answers: Answer) -> None:
        self.answers = answers
        self.sent: list[tuple[str, Row]] = []
        self.text_answer: Callable[[str, Row], list[Row]] = lambda text, params: []
        self.metadata: list[Row | None] = []
        self.begin: Callable[[], Callable[[], None]] = lambda: lambda: None

    def require_no_scope(self, action: str) -> None:
        """Do nothing, because there is no scope."""

    def bind(self, query: Query, params: Row) -> Row:
        return params | {name: value for name, value in NO_VIEW.items() if name in query.params}

    def scoped(self, scope: Scope) -> FakeDatabase:
        return self

    def unfenced(self) -> FakeDatabase:
        return self

    async def fenced(self) -> FakeDatabase:
        return self

    async def read(self, query: Query, **params: Any) -> list[Row]:
        return self._answer(query, params)

    async def stream(
        self,
        query: Query,
        take: Callable[[AsyncIterator[Row]], Awaitable[Any]],
        /,
        *,
        fetch: int = 1000,
        **params: Any,
    ) -> Any:
        async def read_rows() -> AsyncIterator[Row]:
            for row in self._answer(query, params):
                yield row

        return await take(read_rows())

    async def write(self, query: Query, **params: Any) -> list[Row]:
        return self._answer(query, params)

    async def transact(
        self, work: Callable[[Any], Awaitable[Any]], timeout_s: float, room_mb: int = 0
    ) -> Any:
        undo = self.begin()
        try:
            return await work(copy(self))
        except BaseException:
            undo()
            raise

    async def call(
        self,
        text: str,
        params: Row,
        access: str,
        timeout_s: float | None = None,
        metadata: Row | None = None,
    ) -> tuple[list[str], list[Row]]:
        self.sent.append((text, params))
        self.metadata.append(metadata)
        rows = self.text_answer(text, params)
        return list(rows[0]) if rows else [], rows

    def address(self) -> tuple[str, int]:
        return self.host

    def params(self, name: str) -> list[Row]:
        """Return the parameters of every call of a statement, by the last part of its name."""
        return [params for sent, params in self.sent if sent == name]

    def _answer(self, query: Query, params: Row) -> list[Row]:
        assert set(params) == set(query.params) - set(BOUND), query.name
        check(query, query.params, [params])
        name = query.name.rpartition("/")[2]
        self.sent.append((name, params))
        answer = self.answers.get(name, [])
        if isinstance(answer, Exception):
            raise answer
        rows = answer(params) if callable(answer) else answer
        assert all(set(row) == set(query.columns) for row in rows), query.name
        check(query, query.columns, rows)
        return rows
