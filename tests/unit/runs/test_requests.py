"""Requests that were made before are recognized by their keys, and by nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgs_neo4j.errors import IdempotencyError, UsageError
from pgs_neo4j.runs import runs
from pgs_neo4j.runs.requests import MAX_KEY, check_key, find_former
from pgs_neo4j.runs.runs import StoredRun

REQUEST = {"question": "Why?", "models": ["small"], "knobs": {"cache": True, "hedge": False}}


def stored(request: dict[str, Any]) -> StoredRun:
    return StoredRun(
        id="r1",
        graph="papers",
        session="s",
        generation=None,
        current=False,
        silent=False,
        properties={"request": json.dumps(request)},
    )


@pytest.fixture
def former(monkeypatch: pytest.MonkeyPatch) -> dict[str, StoredRun]:
    """The runs under keys."""
    under: dict[str, StoredRun] = {}

    async def by_key(db: object, graph: str, session: str, key: str) -> str | None:
        return key if key in under else None

    async def read(db: object, run: str) -> StoredRun:
        return under[run]

    monkeypatch.setattr(runs, "by_key", by_key)
    monkeypatch.setattr(runs, "read", read)
    return under


async def find(key: str | None, request: dict[str, Any] = REQUEST) -> StoredRun | None:
    return await find_former(None, "papers", "s", key, request)  # type: ignore[arg-type]


async def test_without_a_key_or_a_run_under_it_nothing_is_found(
    former: dict[str, StoredRun],
) -> None:
    assert await find(None) is None
    assert await find("new") is None


async def test_the_same_request_is_found(former: dict[str, StoredRun]) -> None:
    former["k"] = stored(REQUEST)
    assert await find("k") is former["k"]


@pytest.mark.parametrize(
    "other",
    [
        {"question": "Who?"},
        {"models": ["large"]},
        {"knobs": {"cache": False, "hedge": False}},
        {"search": {"mode": "hybrid"}},
    ],
)
async def test_another_request_under_the_key_is_refused(
    former: dict[str, StoredRun], other: dict[str, Any]
) -> None:
    former["k"] = stored(REQUEST)
    with pytest.raises(IdempotencyError, match="was used for run k"):
        await find("k", {**REQUEST, **other})


@pytest.mark.parametrize("key", ["", "  ", "k" * (MAX_KEY + 1), "a\nb", "\x1b[0m"])
def test_a_key_is_short_and_printable(key: str) -> None:
    with pytest.raises(UsageError, match=f"1 to {MAX_KEY} printable characters"):
        check_key(key)


@pytest.mark.parametrize("key", [None, "k", "ein Schlüssel", "k" * MAX_KEY])
def test_other_keys_pass(key: str | None) -> None:
    check_key(key)
    assert key is None or key.isprintable()
