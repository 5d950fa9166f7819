"""Tokens, and what their callers may see and do."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from pgs_neo4j.config import TokenEntry, load
from pgs_neo4j.config.token_table import entries
from pgs_neo4j.errors import ConfigError, UnknownGraphError, UnknownRunError, UsageError
from pgs_neo4j.web.access import tokens as module
from pgs_neo4j.web.access.callers import OWNER, Caller, ForbiddenError
from pgs_neo4j.web.access.tokens import (
    COOKIE_S,
    LINK_S,
    MOST_COOKIES,
    MOST_LINKS,
    Tokens,
    hash_token,
)
from pgs_neo4j.web.serve import ServeOptions, caller_of, check_options

HASH = "ab" * 32
ENTRY = TokenEntry(name="ann", sha256=HASH, role="asker")
TABLE = {"name": "ann", "sha256": HASH, "role": "asker"}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


def test_a_link_is_good_for_an_hour_and_once(clock: list[float]) -> None:
    tokens = Tokens()
    late, good = tokens.new_link(), tokens.new_link()
    traded = tokens.log_in(good)
    assert traded is not None
    assert traded[1] is OWNER
    assert tokens.log_in(good) is None
    clock[0] = LINK_S + 1
    assert tokens.log_in(late) is None


def test_a_cookie_lives_as_long_as_it_is_used(clock: list[float]) -> None:
    tokens = Tokens()
    cookie, _ = tokens.log_in(tokens.new_link()) or ("", None)
    for _ in range(3):
        clock[0] += COOKIE_S - 1
        assert tokens.cookie(cookie) is OWNER
    clock[0] += COOKIE_S + 1
    assert tokens.cookie(cookie) is None


def test_nothing_that_is_good_is_kept_or_shown(clock: list[float]) -> None:
    tokens = Tokens({hash_token("pgs_program"): Caller("program")})
    link = tokens.new_link()
    cookie, _ = tokens.log_in(link) or ("", None)
    held = f"{tokens!r} {tokens.programs} {tokens._links} {tokens._cookies}"
    assert not [text for text in ("pgs_program", link, cookie) if text in held]


def test_a_caller_that_logs_in_again_and_again_ends_its_own_sessions_only(
    clock: list[float],
) -> None:
    ann = Caller("owner", "reader", tenant=True)  # by the name of another
    tokens = Tokens({hash_token("t"): ann, hash_token("b"): Caller("bob", "reader", tenant=True)})
    owner, bob, first, second = (
        (tokens.log_in(token) or ("", None))[0] for token in (tokens.new_link(), "b", "t", "t")
    )
    clock[0] = 1.0
    assert tokens.cookie(first) is ann  # used since, so the other one goes
    assert all(tokens.log_in("t") for _ in range(MOST_COOKIES - 1))
    held = [tokens.cookie(cookie) for cookie in (owner, first, second)]
    assert held == [OWNER, ann, None]
    assert all(tokens.log_in("t") for _ in range(1001))
    assert tokens.cookie(owner) is OWNER
    assert tokens.cookie(bob) is not None
    assert tokens.cookie(first) is None
    assert len(tokens._cookies) == MOST_COOKIES + 2
    assert tokens.find_program("pgs_other") is None
    assert tokens.find_program("") is None


def test_links_that_are_not_followed_are_bounded(clock: list[float]) -> None:
    tokens = Tokens()
    first, *_, last = (tokens.new_link() for _ in range(MOST_LINKS + 1))
    assert len(tokens._links) == MOST_LINKS
    assert tokens.log_in(first) is None
    assert tokens.log_in(last) is not None


def test_a_token_for_metrics_does_not_log_in(clock: list[float]) -> None:
    tokens = Tokens({hash_token("m"): Caller("scraper", "metrics", tenant=True)})
    with pytest.raises(ForbiddenError, match=r"scraper has the role metrics.*another one"):
        tokens.log_in("m")
    assert tokens._cookies == {}
    assert tokens.find_program("m") is not None


def test_a_tenant_sees_its_graphs_and_sessions_and_the_owner_everything() -> None:
    ann = Caller("ann", tenant=True, graphs=frozenset({"papers"}))
    assert ann.check_graph("papers") == "papers"
    assert ann.visible(["other", "papers"]) == ["papers"]
    with pytest.raises(UnknownGraphError, match="there is no graph other"):
        ann.check_graph("other")
    stored = ann.stored_session("default")
    assert ann.own_session(stored) == "default"
    ann.check_run("r1", "papers", stored)
    for graph, session in (("other", stored), ("papers", "default"), ("papers", "bob / default")):
        with pytest.raises(UnknownRunError, match="there is no run 'r1'; 'pgs runs'"):
            ann.check_run("r1", graph, session)
    assert OWNER.sees("anything")
    assert OWNER.own_session("ann / default") == "ann / default"
    assert OWNER.stored_session("default") == "default"


def test_a_table_becomes_a_caller() -> None:
    (entry,) = entries([TABLE | {"graphs": ["a"], "runs": 2}])
    assert caller_of(entry) == Caller("ann", "asker", True, frozenset({"a"}), 2, None)
    assert HASH not in repr(entry)


@pytest.mark.parametrize("key", ["graphs", "runs", "cost_per_day"])
def test_a_null_is_refused_since_it_would_lift_a_limit(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=f"token entry 1: {key} is null; leave it out"):
        entries([TABLE | {key: None}])
    monkeypatch.setenv("PGS_TOKEN", json.dumps([TABLE | {key: None}]))
    with pytest.raises(ConfigError, match=f"token entry 1: {key} is null"):
        load()


def test_only_a_table_without_graphs_shows_all_of_them() -> None:
    every, none = (caller_of(*entries([TABLE | more])) for more in ({}, {"graphs": []}))
    assert every.sees("papers")
    assert (none.graphs, none.sees("papers"), none.visible(["papers"])) == (frozenset(), False, [])
    with pytest.raises(UnknownGraphError):
        none.check_graph("papers")
    with pytest.raises(ForbiddenError, match="limited to"):
        none.require_all_graphs()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("x", "not a list of tables"),
        ([1], "entry 1 is not a table"),
        ([{"name": "ann"}], "token entry 1: sha256"),
        ([{"name": "ann", "sha256": "secret"}], "token entry 1: sha256"),
        ([{"name": "a / b", "sha256": HASH}], "token entry 1: name"),
        ([TABLE | {"role": "secret"}], "token entry 1: role is not known; write one of metrics, "),
        ([TABLE | {"role": ""}], "token entry 1: role is not known"),
        ([TABLE | {"role": ["asker"]}], "token entry 1: role is not known"),
        ([{"name": "ann", "sha256": HASH}], "token entry 1: role is missing; write one of"),
        ([TABLE | {"token": "pgs_secret"}], "token entry 1: token"),
        *(
            ([TABLE | {"graphs": wrong}], "token entry 1: graphs is not a list of names")
            for wrong in ("papers", "", {}, 0)
        ),
        *(
            ([TABLE | {"graphs": wrong}], rf"token entry 1: graphs\.{place} must be {what}")
            for wrong, place, what in (
                (["*"], 0, "1 to 64 letters"),
                ([""], 0, "1 to 64 letters"),
                (["papers", "secret graph"], 1, "1 to 64 letters"),
                ([["papers"]], 0, "a text"),
                ([1], 0, "a text"),
            )
        ),
        *(
            ([TABLE | {limit: wrong}], f"token entry 1: {limit}")
            for limit in ("runs", "cost_per_day")
            for wrong in (0, -1, "", "5", True, "secret", [], math.nan, math.inf)
        ),
        ([TABLE] * 2, "two tokens have the name ann"),
        (
            [TABLE, TABLE | {"name": "bob", "role": "reader", "sha256": HASH.upper()}],
            "ann and bob have the same token",
        ),
    ],
)
def test_a_wrong_table_is_told_without_its_values(values: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        entries(values)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "allowed", "tokens", "message"),
    [
        ("0.0.0.0", (), (), "has no"),
        ("192.168.0.1", ("a",), (), "has no"),
        ("127.0.0.1.example", (), (), "has no"),
        ("::", (), (ENTRY,), "--allow-host"),
        ("graphs.example", (), (ENTRY,), "--allow-host"),
        ("0.0.0.0", ("a",), (ENTRY,), None),
        *((host, (), (), None) for host in ("127.0.0.1", "localhost", "::1", "127.8.0.1")),
    ],
)
def test_an_address_for_others_needs_tokens_and_names(
    host: str, allowed: tuple[str, ...], tokens: tuple[TokenEntry, ...], message: str | None
) -> None:
    options = ServeOptions(host=host, allow_hosts=allowed)
    if message is None:
        check_options(options, tokens)
        return
    with pytest.raises(UsageError, match=message):
        check_options(options, tokens)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({"allow_hosts": (name,)}, "not a server name")
          for name in ("", " ", "*", "*.example.org", "https://a.org", "a.org/", "a b", "a,")),
        *(({"allow_origins": (name,)}, "no origin of a page")
          for name in ("", "*", "null", "a.org", "https://", "https://*.org", "https://a.org/page",
                       "file://a.org", "https://user@a.org", "https://a.org,https://b.org")),
    ],
)  # fmt: skip
def test_a_name_that_no_request_has_is_refused(
    options: dict[str, tuple[str, ...]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        check_options(ServeOptions(**options), ())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", ["a.example.org", "a.org:8443", "[::1]", "[::1]:7475", "10.0.0.1", "graphs", "a_b.c."]
)
def test_a_name_with_a_port_and_an_address_are_allowed(name: str) -> None:
    options = ServeOptions(
        allow_hosts=(name,), allow_origins=(f"https://{name}", f"HTTP://{name}/")
    )
    with pytest.raises(UsageError, match="no origin"):  # of the last one alone
        check_options(replace(options, allow_origins=(*options.allow_origins, "null")), ())
    check_options(options, ())
