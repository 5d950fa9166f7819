"""A server begins, is told to stop, and ends in time."""

from __future__ import annotations

import asyncio
import gc
import socket
from dataclasses import replace
from functools import partialmethod
from types import SimpleNamespace
from typing import Any, cast

import httpx2
import pytest

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine.live_work import LiveBoard
from pgs_neo4j.errors import UsageError
from pgs_neo4j.web import serve as module
from pgs_neo4j.web.access import tokens
from pgs_neo4j.web.access.new_links import ask_link
from pgs_neo4j.web.access.tokens import FREE
from pgs_neo4j.web.serve import ServeOptions, _open_listener, check_options, serve, settle_memory
from tests.fakes.tokens import unchanged
from tests.fakes.working_engine import WorkingEngine
from tests.serving import Served, entry, events, free_port, served

RUNS = SimpleNamespace(deletion_token=unchanged)
ENGINE = cast(
    PGS, SimpleNamespace(settings=Settings(confirm_cost=2.0), config=PGSConfig(), runs=RUNS)
)


async def test_it_serves_the_page_and_monitors_may_ask_for_the_head_of_what_is_open() -> None:
    async with served(ENGINE) as server, server.owner() as client:
        page = await client.get("/")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "<script" in page.text
        for view in ("/graphs/papers", "/runs/r0123456789ab", "/ask"):
            assert (await client.get(view)).text == page.text
        assert (await client.get("/app.js")).headers["content-type"].startswith("text/javascript")
        assert (await client.get("/answer.css")).headers["content-type"].startswith("text/css")
        assert (await client.get("/api/health")).json() == {"status": "ok"}
        for path in ("/", "/app.js", "/ask", "/manual", "/manual/concepts", "/api/health"):
            whole, head = await client.get(path), await client.head(path)
            assert (head.status_code, head.content) == (200, b"")
            for name in ("content-type", "content-length"):
                assert head.headers[name] == whole.headers[name]
        for path in ("/api/graphs", "/api/runs/r0123456789ab/events", "/api/plan"):
            assert (await client.head(path)).status_code == 405


async def test_the_link_of_a_server_leads_in_and_its_cookie_into_no_other() -> None:
    async with served(ENGINE) as server, served(ENGINE) as other, server.owner() as owner:
        assert server.link.startswith(f"{server.base}/#token=")
        me = (await owner.get("/api/me")).json()
        assert (me["name"], me["confirm_cost"]) == ("owner", 2.0)
        (name,) = owner.cookies
        assert name == f"pgs_{server.base.rpartition(':')[2]}"
        jar = {f"pgs_{other.base.rpartition(':')[2]}": owner.cookies[name]}
        for strange in (server.client(), other.client(cookies=jar)):
            async with strange as stranger:
                assert (await stranger.get("/api/me")).status_code == 401


async def test_a_running_server_hands_out_another_link_and_metrics_stay_apart() -> None:
    settings = Settings(token=[entry("scraper", role="metrics")])
    engine = cast(PGS, SimpleNamespace(settings=settings, config=PGSConfig(), runs=RUNS))
    async with served(engine) as server, server.owner() as first:
        port = int(server.base.rpartition(":")[2])
        link = await ask_link(port)
        assert link != server.link
        again = replace(server, link=link)
        async with again.owner() as second, server.client() as third:
            for one in (first, second):
                assert (await one.get("/api/me")).json()["name"] == "owner"
            used = await third.post("/api/login", json={"token": again.token})
            assert used.status_code == 401
            refused = await third.post("/api/login", json={"token": "pgs_scraper"})
            assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
            assert not third.cookies
            assert (await third.get("/metrics")).status_code == 401
    with pytest.raises(UsageError, match="no server"):
        await ask_link(port)


async def test_a_port_that_is_taken_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        options = ServeOptions(port=taken.getsockname()[1])
        with pytest.raises(UsageError, match=r"Address already in use.*; choose another one"):
            await serve(ENGINE, options, lambda link: None)
        with pytest.raises(UsageError, match="has no"):  # checked before anything listens
            await serve(ENGINE, replace(options, host="0.0.0.0"), lambda link: None)


def test_no_part_of_an_answer_waits_for_the_one_before() -> None:
    options = ServeOptions(port=free_port())
    with (
        _open_listener(options) as listening,
        socket.create_connection(("127.0.0.1", options.port)),
        listening.accept()[0] as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


async def wait(*_: object) -> None:
    """Work that does not end."""
    await asyncio.Event().wait()


async def hang(*_: object, **__: object) -> None:
    """Work whose cleanup waits for a database that does not answer."""
    try:
        await wait()
    finally:
        await wait()


async def test_it_ends_although_the_database_hangs_and_connections_are_idle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert LiveBoard[Any]().stop_s + module.STOP_S + module.FORCE_S < 5
    monkeypatch.setattr(LiveBoard, "__init__", partialmethod(LiveBoard.__init__, stop_s=0.2))
    pgs = WorkingEngine(hang)
    pgs.jobs = SimpleNamespace(attempt=hang)
    async with served(pgs.as_pgs()) as server, server.owner() as owner:
        clients = [server.client() for _ in range(20)]
        for client in clients:
            assert (await client.get("/api/health")).status_code == 200
        run = (await owner.post("/api/runs", json={"question": "Why?"})).json()
        starting = asyncio.create_task(owner.post("/api/jobs", json={"graph": "papers"}))
        hearing = asyncio.create_task(events(owner, run["events"]))
        await asyncio.wait([starting], timeout=0.2)
        server.task.cancel()
        await asyncio.wait([server.task], timeout=0.05)
        server.task.cancel()  # which cuts no cleanup short
        async with asyncio.timeout(60):
            await asyncio.wait([server.task])
        assert [one.name for one in await hearing] == ["accepted", "stopping"]
        starting.cancel()
        assert all("Lifespan" not in repr(task) for task in asyncio.all_tasks())
        async with server.client() as late:
            with pytest.raises(httpx2.ConnectError):
                await late.get("/api/health")
        await asyncio.gather(*(client.aclose() for client in clients))


async def test_two_tabs_cancel_one_run_and_hear_the_same() -> None:
    async with served(WorkingEngine(wait).as_pgs()) as server, server.owner() as owner:
        run = (await owner.post("/api/runs", json={"question": "Why?"})).json()
        path = f"/api/runs/{run['run']}"
        async with server.client(cookies=owner.cookies) as other:
            for tab in (owner, other):
                await events(tab, run["events"], until=lambda told: told.name == "accepted")
            reading = [asyncio.create_task(events(tab, run["events"])) for tab in (owner, other)]
            answers = await asyncio.gather(owner.delete(path), other.delete(path))
            assert [answer.json()["state"] for answer in answers] == ["cancelled"] * 2
            one, same = await asyncio.gather(*reading)
            assert [told.name for told in one] == ["accepted", "cancelled"]
            assert one == same
            again = await owner.delete(path)
            assert (again.status_code, again.json()["state"]) == (202, "cancelled")


async def guess(server: Served, count: int, **headers: str) -> list[int]:
    """The answers to so many wrong tokens, each said to come from another address."""
    async with server.client() as client:
        return [
            (
                await client.post(
                    "/api/login",
                    json={"token": "guess"},
                    headers={"X-Forwarded-For": f"10.0.0.{number}", **headers},
                )
            ).status_code
            for number in range(count)
        ]


async def test_who_guesses_has_to_wait_whatever_address_it_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tokens, "monotonic", lambda: 0.0)
    async with served(ENGINE) as server:
        assert await guess(server, 12) == [401] * FREE + [429] * (12 - FREE)
        async with server.owner() as owner:  # whose address is the same
            assert (await owner.get("/api/me")).status_code == 200
        assert await guess(server, 1) == [429]
    async with served(ENGINE, proxies=("127.0.0.0/8",)) as server:  # which tells clients apart
        assert await guess(server, 12) == [401] * 12


@pytest.mark.parametrize(
    ("proxies", "headers", "secure"),
    [
        ((), {}, False),
        ((), {"X-Forwarded-Proto": "https"}, False),
        ((), {"Origin": "https://localhost"}, True),
        ((), {"Origin": "http://localhost"}, False),
        ((), {"Host": "localhost:443", "Origin": "https://localhost"}, True),
        ((), {"Host": "localhost:80", "Origin": "http://localhost"}, False),
        (("127.0.0.1",), {"X-Forwarded-Proto": "https"}, True),
        (("127.0.0.1",), {}, False),
        (("10.0.0.0/8",), {"X-Forwarded-Proto": "https"}, False),
    ],
)
async def test_the_cookie_of_a_browser_behind_tls_never_travels_without(
    proxies: tuple[str, ...], headers: dict[str, str], secure: bool
) -> None:
    async with served(ENGINE, proxies=proxies) as server, server.client() as client:
        sent = {"Host": "localhost", **headers}
        answer = await client.post("/api/login", json={"token": server.token}, headers=sent)
        assert answer.status_code == 200
        cookie = answer.headers["set-cookie"]
        assert ("Secure" in cookie.split("; ")) == secure
        value = {"Cookie": cookie.partition(";")[0]}
        gone = await client.post("/api/logout", json={}, headers=sent | value)
        assert ("Secure" in gone.headers["set-cookie"].split("; ")) == secure


async def test_an_allowed_origin_with_its_default_port_is_that_of_its_pages() -> None:
    allowed = ("https://Site.example:443/", "http://site.example:443")
    async with served(ENGINE, allow_origins=allowed) as server, server.client() as client:
        for origin, status in (
            ("https://site.example", 401), ("http://site.example:443", 401),
            ("http://site.example", 403), ("https://site.example:80", 403),
        ):  # fmt: skip
            sent = {"Origin": origin, "Sec-Fetch-Site": "cross-site"}
            answer = await client.post("/api/logout", json={}, headers=sent)
            assert answer.status_code == status, answer.text
            told = answer.headers.get("access-control-allow-origin")
            assert told == (origin if status == 401 else None)


@pytest.mark.parametrize("proxy", ["*", "graphs.example", "10.0.0.1/8", ""])
def test_a_proxy_is_an_address_or_a_network(proxy: str) -> None:
    with pytest.raises(UsageError, match="no address of a proxy; name one"):
        check_options(ServeOptions(proxies=(proxy,)), ())
    check_options(ServeOptions(proxies=("10.0.0.1", "10.0.0.0/8", "::1")), ())


async def test_files_travel_compressed_and_only_when_they_changed() -> None:
    async with served(ENGINE) as server, server.client() as client:
        plain = await client.get("/app.js", headers={"Accept-Encoding": "identity"})
        packed = await client.get("/app.js", headers={"Accept-Encoding": "gzip"})
        assert packed.headers["content-encoding"] == "gzip"
        assert int(packed.headers["content-length"]) < len(plain.content) / 2
        assert packed.text == plain.text
        known = {"If-None-Match": plain.headers["etag"]}
        assert (await client.get("/app.js", headers=known)).status_code == 304
        assert (await client.get("/missing.js")).status_code == 404
        assert (await client.get("/../pyproject.toml")).status_code == 404


def test_what_is_loaded_is_no_longer_collected() -> None:
    gc.unfreeze()
    settle_memory()
    try:
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()
