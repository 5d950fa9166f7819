"""Routes to log in, log out, and check the server's health."""

from __future__ import annotations

from math import ceil
from typing import Annotated, Literal

from fastapi import Request, Response
from pydantic import BaseModel, Field

from pgs_neo4j import __version__
from pgs_neo4j.config.token_table import Role
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.access.guard import plain_origin
from pgs_neo4j.web.access.tokens import COOKIE_S
from pgs_neo4j.web.failures import Failure, failure_response
from pgs_neo4j.web.routes.router import BODY, api_router
from pgs_neo4j.web.shared import CallerNow, Serving, ServingNow

router = api_router("access")


class Login(BaseModel):
    """A token to trade for a cookie."""

    model_config = BODY
    token: Annotated[str, Field(max_length=500)]


class Me(BaseModel):
    """Who the caller is; ``graphs`` is null if all are visible.

    ``scope`` has the values of all nodes that the caller sees; it is empty without a scope. The
    page asks before a question that may cost more than ``confirm_cost``.
    """

    name: str
    role: Role
    graphs: list[str] | None
    scope: dict[str, str | int | float | bool]
    version: str = __version__
    read_only: bool
    confirm_cost: float | None


class Health(BaseModel):
    """Whether the server answers. It says nothing else to those without a token."""

    status: Literal["ok"] = "ok"


@router.post("/login", responses={code: {"model": Failure} for code in (401, 403, 429)})
async def log_in(body: Login, request: Request, response: Response, serving: ServingNow) -> Me:
    """Trade the token of the link, or one of ``pgs.toml``, for a cookie.

    After several wrong tokens, an address has to wait before it can try another one. A valid token
    always passes, because people behind a proxy share an address, and a token cannot be guessed. A
    token for metrics only is refused.
    """
    address = request.client.host if request.client else ""
    traded = serving.tokens.log_in(body.token)
    if traded is None:
        wait_s = serving.backoff.wait_s(address)
        if wait_s:
            return _refuse_login(429, f"wait {ceil(wait_s)} s before the next try", ceil(wait_s))
        serving.backoff.fail(address)
        return _refuse_login(401, "open the link that pgs serve printed; it works once")
    cookie, caller = traded
    response.set_cookie(
        serving.cookie,
        cookie,
        max_age=int(COOKIE_S),
        httponly=True,
        samesite="strict",
        secure=_uses_tls(request),
    )
    return _describe_caller(caller, serving)


@router.post("/logout")
async def log_out(
    request: Request, response: Response, serving: ServingNow, _: CallerNow
) -> Health:
    """Make the cookie useless."""
    serving.tokens.log_out(request.state.cookie)
    secure = _uses_tls(request)
    response.delete_cookie(serving.cookie, httponly=True, samesite="strict", secure=secure)
    return Health()


@router.get("/me")
async def me(caller: CallerNow, serving: ServingNow) -> Me:
    """Return who the caller is."""
    return _describe_caller(caller, serving)


@router.get("/health")
@router.head("/health", include_in_schema=False)
async def health() -> Health:
    """Return that the server answers."""
    return Health()


def _uses_tls(request: Request) -> bool:
    """Return whether the browser uses TLS, by its Origin header or by a trusted proxy."""
    origin, host = (request.headers.get(name, "") for name in ("origin", "host"))
    page = plain_origin(f"https://{host}")
    return request.url.scheme == "https" or plain_origin(origin) == page


def _describe_caller(caller: Caller, serving: Serving) -> Me:
    return Me(
        name=caller.name,
        role=caller.role,
        graphs=None if caller.graphs is None else sorted(caller.graphs),
        scope=serving.for_caller(caller).scope.as_dict(),
        read_only=serving.read_only,
        confirm_cost=serving.confirm_cost,
    )


def _refuse_login(status: int, fix: str, wait_s: int = 0) -> Me:
    code, error = ("wait", "too many tokens were wrong") if wait_s else ("token", "no such token")
    failure = Failure(error=error, code=code, fix=fix)
    headers = {"Retry-After": str(wait_s)} if wait_s else {}
    return failure_response("/api/login", status, failure, headers)  # type: ignore[return-value]
