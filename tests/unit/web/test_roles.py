"""What OpenAPI says about the role of a request is what the server enforces."""

from __future__ import annotations

from typing import Any, cast

from pgs_neo4j.config.token_table import ROLES, Role
from pgs_neo4j.errors import UnknownGraphError
from pgs_neo4j.manual import read_page
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.access.guard import OPEN
from tests.in_process import client_of, guarded, serving_of
from tests.openapi import operations, send

CHANGING = {
    *("post /api/runs", "delete /api/runs/{run}", "post /api/runs/{run}/resume"),
    *("post /api/runs/{run}/feedback", "post /api/plan", "post /api/search/plan"),
    *("post /api/graphs", "post /api/demo", "post /api/jobs"),
    *("post /api/graphs/{graph}/uploads", "delete /api/graphs/{graph}/document"),
    *("post /api/graphs/{graph}/ingestions", "post /api/graphs/{graph}/ingestions/plan"),
}
CALLING: tuple[Role, ...] = ("reader", "asker", "operator")


class Refusing:
    """An engine that every admitted request ends at."""

    def __getattr__(self, name: str) -> Any:
        raise UnknownGraphError("there is no graph here")


def role_of(told: Json) -> Role | None:
    """The role that a request is described with."""
    assert "security" in told  # also where no token is needed
    (scheme,) = told["security"] or [{}]
    (role,) = scheme.get("token", [None])
    return cast("Role | None", role)


async def test_a_request_is_refused_to_lower_roles_only() -> None:
    callers = [Caller(role, role, tenant=True) for role in CALLING]
    app = guarded(serving_of(Refusing(), *callers))
    for role in CALLING:
        async with client_of(app, role, raise_app_exceptions=False) as web:
            for method, path, told in operations():
                needed = role_of(told)
                answer = await send(web, method, path, told)
                enough = needed is None or ROLES.index(role) >= ROLES.index(needed)
                assert (answer.status_code != 403) == enough, (method, path, role, answer.text)
                assert enough or f"this needs the role {needed}" in answer.json()["error"]
                assert '"code":"invalid"' not in answer.text


async def test_a_server_that_only_reads_refuses_what_writes_or_costs_something() -> None:
    app = guarded(serving_of(Refusing(), Caller("owner"), read_only=True))
    refused = set()
    async with client_of(app, "owner", raise_app_exceptions=False) as web:
        for method, path, told in operations():
            if "only reads" in (await send(web, method, path, told)).text:
                refused.add(f"{method} {path}")
        assert (await web.get("/api/me")).json()["read_only"] is True
    assert refused == CHANGING


def test_all_roles_are_described_and_explained() -> None:
    assert {role_of(told) for _, _, told in operations()} == {None, *CALLING}
    assert {path for _, path, told in operations() if role_of(told) is None} == OPEN
    page = read_page("api")
    for method, path, told in operations():
        section = page.partition(f"### {method.upper()} {path}\n")[2].partition("\n### ")[0]
        role = role_of(told)
        assert (f"Role: `{role}`" if role else "No token is needed.") in section
