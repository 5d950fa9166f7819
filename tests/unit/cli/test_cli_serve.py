"""`pgs serve` and `pgs token`: options that arrive, what is printed, and what is refused."""

from __future__ import annotations

import asyncio
import json
import tomllib
import webbrowser
from collections.abc import Callable
from hashlib import sha256

import pytest

from pgs_neo4j.cli.commands import serve as command
from pgs_neo4j.config.token_table import entries
from pgs_neo4j.web import serve as module
from pgs_neo4j.web.access.new_links import offer_links
from pgs_neo4j.web.serve import ServeOptions
from tests.fakes.commands import StandIn, pgs

LINK = "http://127.0.0.1:9000/#token=t"


@pytest.fixture
def asked(engine: StandIn, monkeypatch: pytest.MonkeyPatch) -> list[ServeOptions]:
    """The options of each server that would have been started."""
    listed: list[ServeOptions] = []

    async def serve(pgs: object, options: ServeOptions, ready: Callable[[str], None]) -> None:
        listed.append(options)
        ready(LINK)

    monkeypatch.setattr(module, "serve", serve)
    return listed


def test_without_options_it_serves_this_machine_and_open_opens_the_link(
    asked: list[ServeOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    done = pgs("serve")
    assert (done.exit_code, done.stdout) == (0, f"{LINK}\n"), done.output
    assert asked == [ServeOptions()]
    assert asked[0].host == "127.0.0.1"
    assert opened == []
    assert pgs("serve", "--open").exit_code == 0
    assert opened == [LINK]


async def test_link_prints_what_the_running_server_hands_out_and_serves_nothing(
    asked: list[ServeOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = iter(["http://127.0.0.1:9000/#token=one", "http://127.0.0.1:9000/#token=two"])
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    async with offer_links(9000, lambda: next(made)):
        one = await asyncio.to_thread(pgs, "serve", "--link", "--port", "9000")
        two = await asyncio.to_thread(pgs, "serve", "--link", "--port", "9000", "--open")
        other = await asyncio.to_thread(pgs, "serve", "--link")
    assert (one.exit_code, one.stdout) == (0, "http://127.0.0.1:9000/#token=one\n")
    assert two.stdout == "http://127.0.0.1:9000/#token=two\n"
    assert opened == ["http://127.0.0.1:9000/#token=two"]
    gone = await asyncio.to_thread(pgs, "serve", "--link", "--port", "9000")
    for done, port in ((other, 7475), (gone, 9000)):
        assert (done.exit_code, done.stdout) == (2, "")
        assert f"no server that you started runs on port {port}" in done.stderr
    assert asked == []


def test_options_arrive(asked: list[ServeOptions]) -> None:
    words = "--host 0.0.0.0 --port 9000 --read-only --max-runs 3 --allow-host a --allow-host b"
    words += " --trust-proxy 10.0.0.1"
    done = pgs("serve", *words.split(), "--allow-origin", "https://site.example")
    assert done.exit_code == 0, done.output
    (options,) = asked
    assert options == ServeOptions(
        host="0.0.0.0", port=9000, read_only=True, max_runs=3, allow_hosts=("a", "b"),
        allow_origins=("https://site.example",), proxies=("10.0.0.1",),
    )  # fmt: skip


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn", "prometheus_client"])
def test_without_the_extra_it_says_what_to_install(
    asked: list[ServeOptions], monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == missing else object())
    done = pgs("serve")
    assert done.exit_code == 2
    assert "pip install 'pgs-neo4j[serve]'" in done.stderr
    assert asked == []


def test_a_token_comes_with_the_table_that_accepts_it() -> None:
    for role in ("metrics", "reader", "asker", "operator"):
        done = pgs("token", "ann", "--role", role)
        assert done.exit_code == 0, done.output
        made, _, table = done.stdout.partition("\n")
        (entry,) = entries(tomllib.loads(table)["token"])
        assert (entry.name, entry.role) == ("ann", role)
        assert entry.sha256 == sha256(made.encode()).hexdigest()
        assert made not in table
    one, two = (json.loads(pgs("token", "ann", "--json").stdout) for _ in range(2))
    assert one["token"] != two["token"]
    assert len(one["token"]) > 40
    assert one["sha256"] == sha256(one["token"].encode()).hexdigest()


@pytest.mark.parametrize("name", ["", "a b", "a/b", "-a" * 40, "é" * 3])
def test_a_name_that_would_not_do_is_refused(name: str) -> None:
    done = pgs("token", "--", name)
    assert done.exit_code == 2
    assert "name" in done.stderr
