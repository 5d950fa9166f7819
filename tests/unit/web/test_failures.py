"""Errors as responses: every kind has a status, a word, and what to do."""

from __future__ import annotations

import inspect

import pytest

from pgs_neo4j import errors
from pgs_neo4j.errors import PGSError
from pgs_neo4j.web.access.callers import ForbiddenError
from pgs_neo4j.web.failures import code_of, failure_of, status_of

KINDS: list[type[PGSError]] = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, PGSError) and kind is not errors.AllSweepsFailedError
]
KINDS.append(ForbiddenError)
WORDS: dict[str, type[PGSError]] = {code_of(kind("x")): kind for kind in KINDS}


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (402, "budget"), (403, "forbidden"),
        (404, "unknown_graph unknown_node unknown_run unknown_session unknown_sweep"),
        (409, "graph_exists idempotency busy lease_lost stopped"),
        (422, "question unmatched_question no_text config usage"), (500, "pgs"),
        (502, "database_memory run_lost gds_missing model_rate_limit"),
        (503, "wait database_unavailable database_auth graph_changed"),
        (504, "deadline database_timeout"),
    ],
)  # fmt: skip
def test_an_error_has_its_status_and_its_word(status: int, words: str) -> None:
    for word in words.split():
        assert status_of(WORDS[word]("x")) == status, word


def test_every_error_has_a_word_and_a_status_of_its_own() -> None:
    assert len(WORDS) == len(KINDS)
    assert all(word.replace("_", "").isalnum() and word.islower() for word in WORDS)
    assert [kind for kind in KINDS if status_of(kind("x")) == 500] == [PGSError]


@pytest.mark.parametrize(
    ("message", "error", "fix"),
    [
        ("it went wrong", "it went wrong", ""),
        ("a; b; do this", "a; b", "do this"),
        ("the node \x1b[31m\u202e is wrong; mend it", "the node  is wrong", "mend it"),
    ],
    ids=["no remedy", "the last part is the remedy", "text of the graph is made harmless"],
)
def test_a_message_is_divided_into_what_happened_and_what_to_do(
    message: str, error: str, fix: str
) -> None:
    failure = failure_of(PGSError(message))
    assert (failure.error, failure.fix) == (error, fix)
