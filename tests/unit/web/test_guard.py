"""What a request must have before it reaches a route."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import httpx2
import pytest

from pgs_neo4j.config.token_table import Role
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UnknownGraphError
from pgs_neo4j.web.access import guard, tokens
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.access.guard import (
    FILE,
    JSON,
    MOST_BODY,
    MOST_CHAT,
    OPEN,
    Guard,
    host_name,
    served_hosts,
)
from pgs_neo4j.web.access.tokens import hash_token
from pgs_neo4j.web.app import create_app
from pgs_neo4j.web.shared import Serving
from tests.in_process import client_of, failure, guarded, in_process, serving_of
from tests.openapi import PLACES, operations
from tests.thorough import tries

HOST = "127.0.0.1:1"
OTHER = "https://good.example"
GOOD = {"Authorization": "Bearer good"}
MOST_FILE = 1_000_000
RUNS, FILES = "/api/runs", "/api/graphs/docs/uploads?name=a.md"
AGENTS, CHATS = "/mcp", "/v1/chat/completions"


class NoEngine:
    """An engine that a request must not reach."""

    def __getattr__(self, name: str) -> Any:
        raise UnknownGraphError(f"the engine was asked for {name}; it must not be")


@pytest.fixture
def serving() -> Serving:
    return serving_of(NoEngine(), Caller("good", tenant=True))


@pytest.fixture
async def client(serving: Serving) -> AsyncIterator[httpx2.AsyncClient]:
    app = guarded(serving, origins=frozenset({OTHER}), most_file=MOST_FILE)
    async with client_of(app, raise_app_exceptions=False) as opened:
        yield opened


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer pgs_bad"}, {"Cookie": "pgs_1=bad"},
                {"Authorization": "Basic Z29vZDpnb29k"}]
)  # fmt: skip
async def test_no_route_answers_without_a_good_token(
    client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    for method, path, _ in operations():
        if path not in OPEN:
            kind = FILE if path.endswith("/uploads") else JSON
            sent = headers | ({"Content-Type": kind} if method == "post" else {})
            way = path.format_map(dict.fromkeys(("graph", "session", "node", "job"), "x") | PLACES)
            answer = await client.request(method, way, headers=sent, content=b"{}")
            told = answer.status_code, answer.json()["code"]
            assert told == (401, "unauthenticated"), (method, path)


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
    serving: Serving, client: httpx2.AsyncClient, role: Role, tenant: bool, allowed: set[str]
) -> None:
    serving.tokens.programs[hash_token("good")] = Caller("good", role, tenant=tenant)
    for path in ("/metrics", "/api/me"):
        answer = await client.get(path, headers=GOOD)
        refused = (answer.status_code, "does not open this" in answer.text) == (403, True)
        assert refused == (path not in allowed), path


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        *((RUNS, {"Host": host}, 421) for host in (
            f"{HOST}.evil.example", f"{HOST}@evil.example", "evil.example:1", "",
        )),
        *((path, headers, status) for path in (RUNS, FILES, AGENTS, CHATS) for headers, status in (
            ({"Host": "evil.example"}, 421), ({"Origin": "https://evil.example"}, 403),
            ({"Sec-Fetch-Site": "cross-site"}, 403), ({"Content-Type": "text/plain"}, 415),
            ({"Authorization": "Bearer bad"}, 401),
        )),
        *((RUNS, headers, 403) for headers in (
            {"Origin": "null"}, {"Origin": "http://127.0.0.1:8080"}, {"Origin": "http://127.0.0.1"},
            {"Origin": "https://127.0.0.1"}, {"Origin": "http://localhost"}, {"Origin": ""},
            {"Origin": "http://localhost:1"}, {"Origin": f"file://{HOST}"}, {"Origin": HOST},
            {"Sec-Fetch-Site": "same-site"},
        )),
        *((RUNS, {"Content-Type": kind}, 415) for kind in (
            "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", FILE,
        )),
        (FILES, {"Content-Type": JSON}, 415),
        *((path, {"Content-Length": str(most + 1)}, 413) for path, most in (
            (RUNS, MOST_BODY), (FILES, MOST_FILE), (AGENTS, MOST_BODY), (CHATS, MOST_CHAT),
        )),
        (RUNS, {"Content-Length": str(MOST_BODY)}, 404),
        (RUNS, {"Content-Length": "-5"}, 413),
        (FILES, {"Content-Length": str(MOST_FILE)}, 404),
    ],
)  # fmt: skip
async def test_what_a_hostile_page_can_send_is_refused(
    client: httpx2.AsyncClient, path: str, headers: dict[str, str], status: int
) -> None:
    sent = GOOD | {"Content-Type": FILE if path == FILES else JSON} | headers
    answer = await client.post(path, headers=sent, content=b'{"question": "Why?"}')
    assert answer.status_code == status
    assert answer.json().keys() == ({"error"} if path == CHATS else {"error", "code", "fix"})


async def portions(size: int, portion: int) -> AsyncIterator[bytes]:
    """Bytes of which no header says how many come."""
    for _ in range(0, size, portion):
        yield b"x" * portion


async def test_a_body_that_grows_beyond_its_limit_is_refused(
    client: httpx2.AsyncClient, serving: Serving
) -> None:
    sent = GOOD | {"Content-Type": JSON}
    assert failure(
        await client.post(RUNS, headers=sent, content=portions(MOST_BODY + 1, 8192))
    ) == (413, "too_large")
    serving.pgs = cast(PGS, SimpleNamespace(ingest=SimpleNamespace(endings=(".md",))))
    sent = GOOD | {"Content-Type": FILE}
    answer = await client.post(FILES, headers=sent, content=portions(MOST_FILE + 1, 50_000))
    assert failure(answer) == (413, "too_large")
    assert "raise max_document_mb" in answer.json()["fix"]
    assert serving.uploads.waiting == 0
    taken = await client.post(FILES, headers=sent, content=b"It is so.")
    assert (taken.status_code, taken.json()["size"], serving.uploads.waiting) == (201, 9, 1)
    serving.read_only = True
    refused = await client.post(FILES, headers=sent, content=b"It is so.")
    assert (refused.status_code, serving.uploads.waiting) == (403, 1)
    serving.uploads.close()


async def test_other_methods_are_refused_and_those_served_are_named(
    client: httpx2.AsyncClient,
) -> None:
    for method in ("PUT", "PATCH", "TRACE", "OPTIONS", "CONNECT", "X" * 3000):
        assert failure(await client.request(method, RUNS)) == (401, "unauthenticated"), method
        refused = await client.request(method, RUNS, headers=GOOD)
        assert failure(refused) == (405, "method"), method
        assert refused.headers["allow"] == "GET, POST"
        assert refused.json()["fix"] == "use GET or POST"
    for method, path, allowed in (
        ("GET", "/api/plan", "POST"), ("DELETE", "/api/graphs/papers", "GET"),
        ("POST", "/ask", "GET, HEAD"), ("PUT", "/v1/models", "GET"),
    ):  # fmt: skip
        refused = await client.request(method, path, headers=GOOD | {"Content-Type": JSON})
        assert (refused.status_code, refused.headers["allow"]) == (405, allowed), path


async def test_what_is_not_there_is_not_there_for_any_method(client: httpx2.AsyncClient) -> None:
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "X"):
        for path in ("/api/nothing", "/v1/responses", "/nothing.js"):
            sent = {**GOOD, "Content-Type": JSON}
            answer = await client.request(method, path, headers=sent)
            assert answer.status_code == 404, (method, path)


async def test_who_has_no_good_token_hears_which_kind_is_wanted(
    client: httpx2.AsyncClient,
) -> None:
    for path in ("/api/graphs", "/v1/models", "/metrics", "/mcp"):
        answer = await client.get(path)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize(
    ("host", "origin", "allowed"),
    [
        ("127.0.0.1:1", "http://127.0.0.1:1", True),
        ("localhost", "https://localhost", True),  # behind a proxy of this machine
        ("127.0.0.1:1", "https://graphs.example", True),  # whose proxy asks under another name
        ("graphs.example", "https://graphs.example", True),
        ("graphs.example:1", "https://graphs.example", False),  # another program of that machine
        ("graphs.example:1", "http://graphs.example:1", True),
        ("127.0.0.1:1", "http://[::1]:1", False),
        # The default port of a scheme is the same as no port, and that of another scheme is not.
        ("graphs.example:443", "https://graphs.example", True),
        ("graphs.example:443", "https://graphs.example:443", True),
        ("graphs.example", "https://graphs.example:443", True),
        ("GRAPHS.example:443", "https://graphs.EXAMPLE", True),
        ("graphs.example:80", "http://graphs.example", True),
        ("graphs.example", "http://graphs.example:80", True),
        ("[::1]:443", "https://[::1]", True),
        ("127.0.0.1:1", "https://graphs.example:443", True),
        ("graphs.example:443", "http://graphs.example", False),
        ("graphs.example:80", "https://graphs.example", False),
        ("graphs.example", "http://graphs.example:443", False),
        ("graphs.example", "https://graphs.example:80", False),
        ("graphs.example:1", "https://graphs.example:443", False),
        ("graphs.example:443", "https://graphs.example:8443", False),
        ("graphs.example:443", "https://graphs.example:4430", False),
        ("graphs.example:443", "https://evil.example", False),
        ("graphs.example:443", "https://evil.example:443", False),
        ("127.0.0.1:1", "https://evil.example:443", False),
        ("127.0.0.1:1", "http://127.0.0.1:80", False),
        ("127.0.0.1:443", "https://graphs.example:443:443", False),
    ],
)
async def test_a_page_of_another_port_is_another_programs(
    serving: Serving, host: str, origin: str, allowed: bool
) -> None:
    hosts = served_hosts("127.0.0.1", 1, ("graphs.example",))
    app = Guard(
        create_app(serving), serving.tokens, serving.cookie, hosts,
        proxied=frozenset({"graphs.example"}),
    )  # fmt: skip
    headers = GOOD | {"Host": host, "Origin": origin}
    async with client_of(app, raise_app_exceptions=False) as client:
        answer = await client.post("/api/logout", json={}, headers=headers)
    assert answer.status_code == (200 if allowed else 403), answer.text


async def test_an_allowed_origin_may_ask_and_others_get_no_such_header(
    client: httpx2.AsyncClient,
) -> None:
    asked = await client.options("/api/runs", headers={"Origin": OTHER})
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-origin"] == OTHER
    assert "access-control-allow-credentials" not in asked.headers
    sent = GOOD | {"Origin": OTHER, "Sec-Fetch-Site": "cross-site"}
    answer = await client.post("/api/runs", headers=sent, json={})
    assert answer.status_code == 422
    evil = await client.get("/api/health", headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in evil.headers


async def test_every_answer_has_the_headers(client: httpx2.AsyncClient) -> None:
    assert "unsafe" not in guard.POLICY
    for path in ("/", "/app.js", "/api/health", "/api/graphs", "/nothing.js"):
        answer = await client.get(path)
        own = {"Cache-Control": "no-cache"} if path in ("/", "/app.js") else {}
        expected = guard.HEADERS | own
        assert {name: answer.headers.get(name) for name in expected} == expected, path
        assert "server" not in answer.headers


async def test_no_path_leaves_the_page(client: httpx2.AsyncClient) -> None:
    for path in (f"{AGENTS}/other", f"{CHATS}/other"):
        assert (await client.get(path, headers=GOOD)).status_code == 404
    for path in (
        "/../pyproject.toml", "/static/../../app.py", "/%2e%2e/%2e%2e/app.py", "/app.py",
        "/static/%2e%2e/app.py", "//etc/passwd.txt", "/.env", "/api/../app.py",
        "/api/runs/..%2f..%2fx/answer.html",
    ):  # fmt: skip
        answer = await client.get(path)
        assert answer.status_code in (401, 404), path
        assert "import" not in answer.text


async def test_a_link_works_once_and_its_cookie_is_not_the_token(
    client: httpx2.AsyncClient, serving: Serving
) -> None:
    token = serving.tokens.new_link()
    answer = await client.post("/api/login", json={"token": token})
    assert (answer.status_code, answer.json()["role"]) == (200, "operator")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("pgs_1=")
    assert token not in cookie
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {*cookie.split("; ")}
    assert (await client.get("/api/me")).json()["name"] == "owner"
    stolen = client.cookies["pgs_1"]
    async with in_process(serving) as other:
        again = await other.post("/api/login", json={"token": token})
        assert failure(again) == (401, "token")
        assert again.headers["www-authenticate"] == "Bearer"
        assert (await client.post("/api/logout", json={})).status_code == 200
        assert (await client.get("/api/me")).status_code == 401
        late = await other.get("/api/me", headers={"Cookie": f"pgs_1={stolen}"})
        assert late.status_code == 401, "a stolen cookie is useless after the log-out"


async def test_thousands_of_guesses_are_slowed_down(
    client: httpx2.AsyncClient, serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(tokens, "monotonic", lambda: clock[0])
    looked_at, guesses = 0, tries(300, 10_000)
    for number in range(guesses):
        answer = await client.post("/api/login", json={"token": f"guess {number}"})
        looked_at += answer.status_code == 401
        clock[0] += 1000 / guesses
    assert looked_at < 20
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0
    for good in (serving.tokens.new_link(), "good"):
        assert (await client.post("/api/login", json={"token": good})).status_code == 200
    assert (await client.post("/api/login", json={"token": "guess"})).status_code == 429


async def test_an_invalid_body_is_explained_without_being_repeated(
    client: httpx2.AsyncClient,
) -> None:
    body = {"question": "Why?", "max_calls": "secret-canary"}
    answer = await client.post("/api/runs", headers=GOOD, json=body)
    assert failure(answer) == (422, "invalid")
    assert "max_calls" in answer.json()["error"]
    sent = GOOD | {"Content-Type": JSON}
    broken = await client.post("/api/runs", headers=sent, content=b"{canary")
    assert broken.status_code == 422
    assert "canary" not in answer.text + broken.text


async def test_a_fault_says_nothing_of_its_cause(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(self: object, name: str) -> Any:
        raise RuntimeError("canary")

    monkeypatch.setattr(NoEngine, "__getattr__", fault)
    answer = await client.get("/api/graphs", headers=GOOD)
    assert failure(answer) == (500, "fault")
    assert "canary" not in answer.text


@pytest.mark.parametrize(
    ("host", "more", "served"),
    [
        ("127.0.0.1", (), {"127.0.0.1:7475", "localhost:7475", "[::1]:7475", "localhost"}),
        ("::1", (), {"[::1]:7475", "[::1]", "localhost:7475"}),
        ("fd00::1", ("fd00::2",), {"[fd00::1]:7475", "[fd00::1]", "[fd00::2]:7475"}),
        ("0.0.0.0", ("Graphs.example",), {"graphs.example", "graphs.example:7475"}),
        ("0.0.0.0", ("graphs.example:8443",), {"graphs.example:8443"}),
        ("0.0.0.0", ("graphs.example",), {"graphs.example:443", "graphs.example:80"}),
    ],
)
def test_hosts_that_are_served(host: str, more: tuple[str, ...], served: set[str]) -> None:
    assert served <= served_hosts(host, 7475, more)
    assert not {"evil.example", "evil.example:443"} & served_hosts(host, 7475, more)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.2", "::1"])
def test_a_server_on_any_loopback_address_is_reached_as_localhost(host: str) -> None:
    assert {host_name(host), "localhost:7475"} <= served_hosts(host, 7475, ())
    assert "localhost:7475" not in served_hosts("192.0.2.1", 7475, ())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (GOOD, 404),
        ({"Origin": f"http://{HOST}"}, 404),
        ({}, 415),
        ({"Sec-Fetch-Site": "same-origin"}, 415),
        ({"Origin": f"http://{HOST}", "Content-Type": "text/plain"}, 415),
        (GOOD | {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        (GOOD | {"Content-Length": "1"}, 415),
        (GOOD | {"Transfer-Encoding": "chunked"}, 415),
        (GOOD | {"Origin": "https://evil.example"}, 403),
    ],
)
async def test_a_request_without_a_body_needs_no_type_of_it_where_no_form_can_have_sent_it(
    serving: Serving, client: httpx2.AsyncClient, headers: dict[str, str], status: int
) -> None:
    serving.tokens.programs[hash_token("good")] = Caller("good", tenant=True)
    cookie, _ = serving.tokens.log_in("good") or ("", None)
    client.cookies.set(serving.cookie, cookie)
    path = f"/api/runs/{PLACES['run']}/resume"
    request = client.build_request("POST", path)
    del request.headers["Content-Length"]
    request.headers.update(headers)
    assert (await client.send(request)).status_code == status
