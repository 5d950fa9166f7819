"""Errors as responses: every kind has a status, a word, and what to do."""

from __future__ import annotations

import inspect

import pytest

from pgs_neo4j import errors
from pgs_neo4j.errors import PGSError
from pgs_neo4j.web.access.callers import ForbiddenError
from pgs_neo4j.web.failures import code_of, failure_of, status_of

EXPECTED = [
    (ForbiddenError, 403, "forbidden"),
    (errors.UnknownGraphError, 404, "unknown_graph"),
    (errors.UnknownNodeError, 404, "unknown_node"),
    (errors.UnknownRunError, 404, "unknown_run"),
    (errors.UnknownSessionError, 404, "unknown_session"),
    (errors.UnknownSweepError, 404, "unknown_sweep"),
    (errors.GraphExistsError, 409, "graph_exists"),
    (errors.IdempotencyError, 409, "idempotency"),
    (errors.BusyError, 409, "busy"),
    (errors.LeaseLostError, 409, "lease_lost"),
    (errors.QuestionError, 422, "question"),
    (errors.UnmatchedQuestionError, 422, "unmatched_question"),
    (errors.NoTextError, 422, "no_text"),
    (errors.ConfigError, 422, "config"),
    (errors.UsageError, 422, "usage"),
    (errors.BudgetError, 402, "budget"),
    (errors.WaitError, 503, "wait"),
    (errors.DeadlineError, 504, "deadline"),
    (errors.StoppedError, 409, "stopped"),
    (errors.DatabaseUnavailableError, 503, "database_unavailable"),
    (errors.DatabaseAuthError, 503, "database_auth"),
    (errors.DatabaseTimeoutError, 504, "database_timeout"),
    (errors.DatabaseMemoryError, 502, "database_memory"),
    (errors.RunLostError, 502, "run_lost"),
    (errors.GDSMissingError, 502, "gds_missing"),
    (errors.ModelRateLimitError, 502, "model_rate_limit"),
    (PGSError, 500, "pgs"),
]


@pytest.mark.parametrize(("kind", "status", "code"), EXPECTED)
def test_an_error_has_its_status_and_its_word(kind: type[PGSError], status: int, code: str) -> None:
    error = kind("it went wrong; mend it")
    assert status_of(error) == status
    assert failure_of(error).model_dump() == {
        "error": "it went wrong", "code": code, "fix": "mend it",
    }  # fmt: skip


def test_every_error_has_a_word_and_a_status_of_its_own() -> None:
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, PGSError) and kind is not errors.AllSweepsFailedError
    ]
    words = [code_of(kind("x")) for kind in kinds]
    assert len(words) == len({*words})
    assert all(word.replace("_", "").isalnum() and word.islower() for word in words)
    assert [kind for kind in kinds if status_of(kind("x")) == 500] == [PGSError]


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
