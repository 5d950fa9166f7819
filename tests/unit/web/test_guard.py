"""What a request must have before it reaches a route."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import httpx2
import pytest

from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UnknownGraphError
from pgs_neo4j.web.access import backoff, guard
from pgs_neo4j.web.access.callers import Caller, Role
from pgs_neo4j.web.access.guard import FILE, JSON, MOST_BODY, Guard, served_hosts
from pgs_neo4j.web.access.tokens import Tokens, hashed
from pgs_neo4j.web.app import create_app
from pgs_neo4j.web.runs.board import RunBoard
from pgs_neo4j.web.shared import Serving

HOST = "127.0.0.1:7475"
GOOD, OTHER = "pgs_good", "https://good.example"
MOST_FILE = 1_000_000
OPEN = {"/api/health", "/api/login"}


class NoEngine:
    """An engine that a request must not reach."""

    def __getattr__(self, name: str) -> Any:
        raise UnknownGraphError(f"the engine was asked for {name}; it must not be")


@pytest.fixture
def serving() -> Serving:
    tokens = Tokens({hashed(GOOD): Caller("good", tenant=True)})
    return Serving(cast(PGS, NoEngine()), RunBoard(1), tokens, "pgs_7475")


@pytest.fixture
async def client(serving: Serving) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(serving) as opened:
        yield opened


def client_of(serving: Serving, **more: Any) -> httpx2.AsyncClient:
    app = Guard(
        create_app(serving), serving.tokens, serving.cookie,
        served_hosts("127.0.0.1", 7475, ()), frozenset({OTHER}), MOST_FILE,
    )  # fmt: skip
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url=f"http://{HOST}", **more)


def routes() -> list[tuple[str, str]]:
    """Every method and path of the API, with something for each parameter."""
    app = create_app(Serving(cast(PGS, NoEngine()), RunBoard(1), Tokens(), "c"))
    return [
        (method.upper(), path.replace("{run}", "r0123456789ab").replace("{kind}", "html"))
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if path not in OPEN
    ]


@pytest.mark.parametrize(("method", "path"), routes())
@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer pgs_bad"}, {"Cookie": "pgs_7475=bad"},
                {"Authorization": "Basic Z29vZDpnb29k"}]
)  # fmt: skip
async def test_no_route_answers_without_a_good_token(
    client: httpx2.AsyncClient, method: str, path: str, headers: dict[str, str]
) -> None:
    kind = FILE if path.endswith("/uploads") else JSON
    sent = {"Content-Type": kind} if method == "POST" else {}
    answer = await client.request(method, path, headers=headers | sent, content=b"{}")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


async def test_a_good_token_reaches_the_engine(client: httpx2.AsyncClient) -> None:
    headers = {"Authorization": f"Bearer {GOOD}"}
    answer = await client.get("/api/graphs", headers=headers)
    assert answer.status_code == 404
    assert answer.json() == {
        "error": "the engine was asked for graphs", "code": "unknown_graph",
        "fix": "it must not be",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("role", "tenant", "allowed"),
    [
        ("metrics", True, {"/metrics"}),
        ("reader", True, {"/api/me"}),
        ("operator", True, {"/api/me"}),
        ("operator", False, {"/api/me", "/metrics"}),
    ],
)
async def test_only_its_own_role_and_the_owner_open_the_metrics(
    serving: Serving, role: Role, tenant: bool, allowed: set[str]
) -> None:
    serving.tokens.programs[hashed(GOOD)] = Caller("good", role, tenant=tenant)
    async with client_of(serving) as client:
        for path in ("/metrics", "/api/me"):
            answer = await client.get(path, headers={"Authorization": f"Bearer {GOOD}"})
            refused = (answer.status_code, "does not open this" in answer.text) == (403, True)
            assert refused == (path not in allowed), path


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:7475"}, 421),
        ({"Host": f"{HOST}.evil.example"}, 421),
        ({"Host": "127.0.0.1:7475@evil.example"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:8080"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
        ({"Content-Length": str(MOST_BODY + 1)}, 413),
        ({"Content-Length": "-5"}, 413),
    ],
)
async def test_what_a_hostile_page_can_send_is_refused(
    client: httpx2.AsyncClient, headers: dict[str, str], status: int
) -> None:
    sent = {"Authorization": f"Bearer {GOOD}", "Content-Type": "application/json"} | headers
    answer = await client.post("/api/runs", headers=sent, content=b'{"question": "Why?"}')
    assert answer.status_code == status
    assert answer.json().keys() == {"error", "code", "fix"}


async def test_a_body_that_grows_beyond_what_it_said_is_refused(
    client: httpx2.AsyncClient,
) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 8192

    sent = {"Authorization": f"Bearer {GOOD}", "Content-Type": "application/json"}
    answer = await client.post("/api/runs", headers=sent, content=endless())
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "application/json"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
        ({"Content-Type": "text/plain"}, 415),
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Length": str(MOST_FILE + 1)}, 413),
        ({}, 404),
    ],
)
async def test_a_file_is_checked_before_it_is_read(
    client: httpx2.AsyncClient, headers: dict[str, str], status: int
) -> None:
    sent = {"Authorization": f"Bearer {GOOD}", "Content-Type": FILE} | headers
    answer = await client.post("/api/graphs/docs/uploads?name=a.md", headers=sent, content=b"x")
    assert answer.status_code == status
    assert answer.json().keys() == {"error", "code", "fix"}


async def test_a_file_that_grows_beyond_its_limit_is_refused(serving: Serving) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(MOST_FILE // 50_000 + 1):
            yield b"x" * 50_000

    serving.pgs = cast(PGS, SimpleNamespace(ingest=SimpleNamespace(endings=(".md",))))
    headers = {"Authorization": f"Bearer {GOOD}", "Content-Type": FILE}
    async with client_of(serving) as client:
        path = "/api/graphs/docs/uploads?name=a.md"
        answer = await client.post(path, headers=headers, content=endless())
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert "raise max_document_mb" in answer.json()["fix"]
        assert serving.uploads.waiting == 0
        taken = await client.post(path, headers=headers, content=b"It is so.")
        assert (taken.status_code, taken.json()["size"], serving.uploads.waiting) == (201, 9, 1)
        serving.read_only = True
        refused = await client.post(path, headers=headers, content=b"It is so.")
        assert (refused.status_code, serving.uploads.waiting) == (403, 1)
    serving.uploads.close()


@pytest.mark.parametrize("method", ["PUT", "PATCH", "TRACE", "OPTIONS", "CONNECT", "X" * 3000])
async def test_other_methods_are_refused(client: httpx2.AsyncClient, method: str) -> None:
    answer = await client.request(method, "/api/graphs")
    assert (answer.status_code, answer.json()["code"]) == (405, "method")


async def test_an_allowed_origin_may_ask_and_others_get_no_such_header(
    client: httpx2.AsyncClient,
) -> None:
    asked = await client.options("/api/runs", headers={"Origin": OTHER})
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-origin"] == OTHER
    assert "access-control-allow-credentials" not in asked.headers
    sent = {"Authorization": f"Bearer {GOOD}", "Origin": OTHER, "Sec-Fetch-Site": "cross-site"}
    answer = await client.post("/api/runs", headers=sent, json={})
    assert answer.status_code == 422
    evil = await client.get("/api/health", headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in evil.headers


@pytest.mark.parametrize("path", ["/", "/app.js", "/api/health", "/api/graphs", "/nothing.js"])
async def test_every_answer_has_the_headers(client: httpx2.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    own = {"Cache-Control": "no-cache"} if path in ("/", "/app.js") else {}
    for name, value in (guard.HEADERS | own).items():
        assert answer.headers[name] == value
    assert "unsafe" not in guard.POLICY
    assert "server" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/../pyproject.toml", "/static/../../app.py", "/%2e%2e/%2e%2e/app.py", "/app.py",
             "/static/%2e%2e/app.py", "//etc/passwd.txt", "/.env", "/api/../app.py",
             "/api/runs/..%2f..%2fx/answer.html"]
)  # fmt: skip
async def test_no_path_leaves_the_page(client: httpx2.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code in (401, 404)
    assert "import" not in answer.text


async def test_a_link_works_once_and_its_cookie_is_not_the_token(
    client: httpx2.AsyncClient, serving: Serving
) -> None:
    token = serving.tokens.new_link()
    answer = await client.post("/api/login", json={"token": token})
    assert answer.status_code == 200
    assert answer.json()["role"] == "operator"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("pgs_7475=")
    assert token not in cookie
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {*cookie.split("; ")}
    assert (await client.get("/api/me")).json()["name"] == "owner"
    async with client_of(serving) as other:
        again = await other.post("/api/login", json={"token": token})
        assert (again.status_code, again.json()["code"]) == (401, "token")
    assert (await client.post("/api/logout", json={})).status_code == 200
    assert (await client.get("/api/me")).status_code == 401


async def test_a_stolen_cookie_is_useless_after_log_out(
    client: httpx2.AsyncClient, serving: Serving
) -> None:
    await client.post("/api/login", json={"token": serving.tokens.new_link()})
    stolen = client.cookies["pgs_7475"]
    await client.post("/api/logout", json={})
    answer = await client.get("/api/me", headers={"Cookie": f"pgs_7475={stolen}"})
    assert answer.status_code == 401


async def test_ten_thousand_guesses_are_slowed_down(
    client: httpx2.AsyncClient, serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(backoff, "monotonic", lambda: clock[0])
    looked_at = 0
    for number in range(10_000):
        answer = await client.post("/api/login", json={"token": f"guess {number}"})
        looked_at += answer.status_code == 401
        clock[0] += 0.1
    assert looked_at < 20
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0
    for good in (serving.tokens.new_link(), GOOD):
        assert (await client.post("/api/login", json={"token": good})).status_code == 200
    assert (await client.post("/api/login", json={"token": "guess"})).status_code == 429


async def test_an_invalid_body_is_explained_without_being_repeated(
    client: httpx2.AsyncClient,
) -> None:
    headers = {"Authorization": f"Bearer {GOOD}"}
    body = {"question": "Why?", "max_calls": "secret-canary"}
    answer = await client.post("/api/runs", headers=headers, json=body)
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid"
    assert "max_calls" in answer.json()["error"]
    assert "canary" not in answer.text
    broken = await client.post(
        "/api/runs", headers=headers | {"Content-Type": "application/json"}, content=b"{canary"
    )
    assert broken.status_code == 422
    assert "canary" not in broken.text


async def test_a_fault_says_nothing_of_its_cause(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(self: object, name: str) -> Any:
        raise RuntimeError("canary")

    monkeypatch.setattr(NoEngine, "__getattr__", fault)
    answer = await client.get("/api/graphs", headers={"Authorization": f"Bearer {GOOD}"})
    assert (answer.status_code, answer.json()["code"]) == (500, "fault")
    assert "canary" not in answer.text


def test_the_openapi_says_what_errors_look_like() -> None:
    app = create_app(Serving(cast(PGS, NoEngine()), RunBoard(1), Tokens(), "c"))
    document = app.openapi()
    assert document["components"]["schemas"]["Failure"]["required"] == ["error", "code"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation.get("description"), (method, path)
            assert ("401" in operation["responses"]) == (path != "/api/health"), (method, path)


@pytest.mark.parametrize(
    ("host", "more", "served"),
    [
        ("127.0.0.1", (), {"127.0.0.1:7475", "localhost:7475", "[::1]:7475", "localhost"}),
        ("0.0.0.0", ("Graphs.example",), {"graphs.example", "graphs.example:7475"}),
        ("0.0.0.0", ("graphs.example:8443",), {"graphs.example:8443"}),
    ],
)
def test_hosts_that_are_served(host: str, more: tuple[str, ...], served: set[str]) -> None:
    assert served <= served_hosts(host, 7475, more)
    assert "evil.example" not in served_hosts(host, 7475, more)
