"""What OpenAPI says about the role of a request is what the server enforces."""

from __future__ import annotations

from typing import Any, cast

import httpx2
import pytest

from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UnknownGraphError
from pgs_neo4j.manual import read_page
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.access.callers import ROLES, Caller, Role
from pgs_neo4j.web.access.guard import OPEN, Guard, served_hosts
from pgs_neo4j.web.access.tokens import Tokens, hashed
from pgs_neo4j.web.app import create_app
from pgs_neo4j.web.runs.board import RunBoard
from pgs_neo4j.web.shared import Serving
from tests.openapi import operations, send

CALLING: tuple[Role, ...] = ("reader", "asker", "operator")


class Refusing:
    """An engine that every admitted request ends at."""

    def __getattr__(self, name: str) -> Any:
        raise UnknownGraphError("there is no graph here")


def role_of(told: Json) -> Role | None:
    """The role that a request is described with."""
    (scheme,) = told.get("security", [{}])
    (role,) = scheme.get("token", [None])
    return cast("Role | None", role)


@pytest.fixture(scope="module")
def app() -> Guard:
    """A server that knows a token of each role."""
    callers = {hashed(f"pgs_{role}"): Caller(role, role, tenant=True) for role in CALLING}
    serving = Serving(cast(PGS, Refusing()), RunBoard(1), Tokens(callers), "c")
    hosts = served_hosts("127.0.0.1", 7475, ())
    return Guard(create_app(serving), serving.tokens, "c", hosts)


async def answer_of(app: Guard, role: Role, method: str, path: str, told: Json) -> httpx2.Response:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer pgs_{role}"}
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://127.0.0.1:7475", headers=headers
    ) as client:
        return await send(client, method, path, told)


@pytest.mark.parametrize(("method", "path", "told"), [*operations()])
async def test_a_request_is_refused_to_lower_roles_only(
    app: Guard, method: str, path: str, told: Json
) -> None:
    needed = role_of(told)
    for role in CALLING:
        answer = await answer_of(app, role, method, path, told)
        enough = needed is None or ROLES.index(role) >= ROLES.index(needed)
        assert (answer.status_code != 403) == enough, (role, needed, answer.text)
        assert enough or f"this needs the role {needed}" in answer.json()["error"]
        assert '"code":"invalid"' not in answer.text


def test_requests_without_a_role_are_those_that_need_no_token() -> None:
    assert {path for _, path, told in operations() if role_of(told) is None} == OPEN


def test_all_roles_are_described_and_explained() -> None:
    assert {role_of(told) for _, _, told in operations()} == {None, *CALLING}
    page = read_page("api")
    for method, path, told in operations():
        section = page.partition(f"### {method.upper()} {path}\n")[2].partition("\n### ")[0]
        role = role_of(told)
        assert (f"Role: `{role}`" if role else "No token is needed.") in section
