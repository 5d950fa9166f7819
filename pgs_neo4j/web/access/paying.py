"""Lets the caller of each request pay for what it searches and plans, and for its jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from pgs_neo4j.engine import Payer, paid_by
from pgs_neo4j.web.access.callers import Caller


@dataclass(slots=True)
class PaidByCaller:
    """Names the payer of a request, whose caller the guard has noted, and of what it starts."""

    app: ASGIApp
    payer_of: Callable[[Caller], Payer]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        caller = scope.get("state", {}).get("caller")
        with paid_by(self.payer_of(caller) if caller is not None else Payer()):
            await self.app(scope, receive, send)
