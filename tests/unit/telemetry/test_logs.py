"""Log records as JSON: their fields, the ids of concurrent runs, and no secrets."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from typing import Any

import pytest

from pgs_neo4j.telemetry import redaction
from pgs_neo4j.telemetry.logs import JOB, RUN, JsonLines, log_ids
from pgs_neo4j.telemetry.redaction import hide, redacted

PASSWORD = 'p"ä\\ss/word'


@pytest.fixture(autouse=True)
def nothing_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_hidden", set())


def formatted(message: object, *arguments: object, **more: Any) -> dict[str, Any]:
    record = logging.LogRecord("a.b", logging.WARNING, "f", 1, message, arguments, None)
    vars(record).update(more)
    line = JsonLines().format(record)
    assert line.isascii()
    assert "\n" not in line
    return dict(json.loads(line))


def test_a_record_has_its_time_level_logger_and_message() -> None:
    assert formatted("x %s\n\u2028", "é", created=0.25) == {
        "time": "1970-01-01T00:00:00.250000Z",
        "level": "warning",
        "logger": "a.b",
        "message": "x é\n\u2028",
    }


def test_a_record_has_more_fields_and_its_exception() -> None:
    try:
        raise ValueError("no")
    except ValueError:
        told = formatted("x", exc_info=sys.exc_info(), fields={"code": 4, "fix": None})
    assert (told["code"], told["fix"]) == (4, None)
    assert told["exception"].startswith("Traceback (most recent call last):")
    assert told["exception"].endswith("ValueError: no")
    assert "exception" not in formatted("x", exc_info=(None, None, None))
    assert formatted("x %d", "does not fit")["message"] == "x %d"


def test_ids_end_with_their_block_and_nest() -> None:
    with log_ids(job="j1"):
        with log_ids(run="r1"):
            told = formatted("x")
        assert (told["run"], told["job"]) == ("r1", "j1")
        assert "run" not in formatted("x")
    assert (RUN.get(), JOB.get()) == ("", "")


async def test_records_of_concurrent_runs_differ() -> None:
    both = asyncio.Barrier(2)

    async def work(run: str) -> list[str]:
        with log_ids(run=run):
            await both.wait()
            inner = asyncio.create_task(asyncio.to_thread(formatted, "x"))
            return [formatted("x")["run"], (await inner)["run"]]

    told = await asyncio.gather(work("r1"), work("r2"))
    assert list(told) == [["r1", "r1"], ["r2", "r2"]]


async def test_a_block_may_be_closed_by_another_task() -> None:
    async def enter() -> None:
        block.__enter__()

    block = log_ids(run="r1")
    await asyncio.create_task(enter())
    block.__exit__(None, None, None)
    assert RUN.get() == ""


def test_a_hidden_secret_is_masked_in_every_field() -> None:
    hide([PASSWORD, None])
    for form in (PASSWORD, repr(PASSWORD), json.dumps(PASSWORD), "p%22%C3%A4%5Css%2Fword"):
        try:
            raise ValueError(form)
        except ValueError:
            told = formatted("x %s", form, exc_info=sys.exc_info(), fields={"error": form})
        assert "ss" not in told["message"]
        assert told["error"].strip("'\"") == "***"
        assert "word" not in told["exception"]


def test_a_text_of_a_few_letters_is_no_secret() -> None:
    hide(["a", " abc ", "", " word "])
    assert redacted("a abc, words") == "a abc, ***s"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("bolt://ann:pass@host:7687/x", "bolt://***@host:7687/x"),
        ("Authorization: Bearer abc.def-1", "Authorization: ***"),
        ("key sk-abcdefghijklmnopqrst, and", "key ***, and"),
        (f"token pgs_{'a' * 43}", "token ***"),
        ("http://127.0.0.1:7475/#token=abc", "http://127.0.0.1:7475/#token=***"),
        ("pgs_neo4j.cli at 10:20, see a@b", "pgs_neo4j.cli at 10:20, see a@b"),
    ],
)
def test_what_looks_like_a_secret_is_masked(text: str, shown: str) -> None:
    assert redacted(text) == shown
