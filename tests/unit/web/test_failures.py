"""Errors as responses: every kind has a status, a word, and what to do."""

from __future__ import annotations

import inspect

import pytest

from pgs_neo4j import errors
from pgs_neo4j.errors import (
    AllSweepsFailedError,
    BudgetError,
    BusyError,
    ConfigError,
    DatabaseAuthError,
    DatabaseMemoryError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    DeadlineError,
    GDSMissingError,
    GraphExistsError,
    IdempotencyError,
    LeaseLostError,
    ModelRateLimitError,
    NoTextError,
    PGSError,
    QuestionError,
    RunLostError,
    StoppedError,
    UnknownGraphError,
    UnknownNodeError,
    UnknownRunError,
    UnknownSessionError,
    UnknownSweepError,
    UnmatchedQuestionError,
    UsageError,
    WaitError,
)
from pgs_neo4j.web.access.callers import ForbiddenError
from pgs_neo4j.web.failures import code_of, failure_of, status_of

EXPECTED = [
    (ForbiddenError, 403, "forbidden"),
    (UnknownGraphError, 404, "unknown_graph"),
    (UnknownNodeError, 404, "unknown_node"),
    (UnknownRunError, 404, "unknown_run"),
    (UnknownSessionError, 404, "unknown_session"),
    (UnknownSweepError, 404, "unknown_sweep"),
    (GraphExistsError, 409, "graph_exists"),
    (IdempotencyError, 409, "idempotency"),
    (BusyError, 409, "busy"),
    (LeaseLostError, 409, "lease_lost"),
    (QuestionError, 422, "question"),
    (UnmatchedQuestionError, 422, "unmatched_question"),
    (NoTextError, 422, "no_text"),
    (ConfigError, 422, "config"),
    (UsageError, 422, "usage"),
    (BudgetError, 402, "budget"),
    (WaitError, 503, "wait"),
    (DeadlineError, 504, "deadline"),
    (StoppedError, 409, "stopped"),
    (DatabaseUnavailableError, 503, "database_unavailable"),
    (DatabaseAuthError, 503, "database_auth"),
    (DatabaseTimeoutError, 504, "database_timeout"),
    (DatabaseMemoryError, 502, "database_memory"),
    (RunLostError, 502, "run_lost"),
    (GDSMissingError, 502, "gds_missing"),
    (ModelRateLimitError, 502, "model_rate_limit"),
    (PGSError, 500, "pgs"),
]


@pytest.mark.parametrize(("kind", "status", "code"), EXPECTED)
def test_an_error_has_its_status_and_its_word(kind: type[PGSError], status: int, code: str) -> None:
    error = kind("it went wrong; mend it")
    assert status_of(error) == status
    assert failure_of(error).model_dump() == {
        "error": "it went wrong", "code": code, "fix": "mend it",
    }  # fmt: skip


def test_no_two_errors_share_a_word() -> None:
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, PGSError) and kind is not AllSweepsFailedError
    ]
    words = [code_of(kind("x")) for kind in kinds]
    assert len(words) == len({*words})
    assert all(word.replace("_", "").isalnum() and word.islower() for word in words)


def test_every_error_but_the_base_has_a_status_of_its_own() -> None:
    for _, kind in inspect.getmembers(errors, inspect.isclass):
        if issubclass(kind, PGSError) and kind not in (PGSError, AllSweepsFailedError):
            assert status_of(kind("x")) != 500, kind


def test_a_message_without_a_remedy_is_all_error() -> None:
    assert failure_of(PGSError("it went wrong")).model_dump() == {
        "error": "it went wrong", "code": "pgs", "fix": "",
    }  # fmt: skip


def test_only_the_last_part_of_a_message_is_the_remedy() -> None:
    failure = failure_of(PGSError("a; b; do this"))
    assert (failure.error, failure.fix) == ("a; b", "do this")


def test_text_of_the_graph_is_made_harmless() -> None:
    failure = failure_of(PGSError("the node \x1b[31m\u202e is wrong; mend it"))
    assert "\x1b" not in failure.error
    assert "\u202e" not in failure.error
