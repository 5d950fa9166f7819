"""Converts errors to responses: a status, a code for programs, a sentence, and a fix."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from pgs_neo4j.errors import (
    BudgetError,
    BusyError,
    DatabaseAuthError,
    DatabaseError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    DeadlineError,
    FeedbackError,
    GraphChangedError,
    GraphExistsError,
    IdempotencyError,
    ModelError,
    NoAnswerError,
    NothingLeftError,
    NotPartitionedError,
    PGSError,
    StoppedError,
    UnknownDocumentError,
    UnknownGenerationError,
    UnknownGraphError,
    UnknownNodeError,
    UnknownPageError,
    UnknownPartitionError,
    UnknownRunError,
    UnknownSessionError,
    UnknownSweepError,
    UsageError,
    WaitError,
)
from pgs_neo4j.text.shown import plain
from pgs_neo4j.web.access.callers import (
    ForbiddenError,
    UnknownJobError,
    UnknownUploadError,
    UnrecordedRunError,
)

STATUSES: tuple[tuple[type[PGSError], int], ...] = (
    (ForbiddenError, 403),
    (UnknownGraphError, 404),
    (UnknownJobError, 404),
    (UnknownNodeError, 404),
    (UnknownRunError, 404),
    (UnknownSessionError, 404),
    (UnknownSweepError, 404),
    (UnknownPartitionError, 404),
    (UnknownGenerationError, 404),
    (UnknownDocumentError, 404),
    (UnknownPageError, 404),
    (UnknownUploadError, 404),
    (NotPartitionedError, 404),
    (NoAnswerError, 404),
    (FeedbackError, 409),
    (UnrecordedRunError, 409),
    (GraphExistsError, 409),
    (IdempotencyError, 409),
    (UsageError, 422),
    (BusyError, 409),
    (BudgetError, 402),
    (WaitError, 503),
    (DeadlineError, 504),
    (StoppedError, 409),
    (NothingLeftError, 409),
    (DatabaseUnavailableError, 503),
    (DatabaseAuthError, 503),
    (DatabaseTimeoutError, 504),
    (GraphChangedError, 503),
    (DatabaseError, 502),
    (ModelError, 502),
)
"""HTTP statuses by type of error; the first match counts."""

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Failure(BaseModel):
    """The body of every error."""

    error: Annotated[str, Field(description="what happened, in one sentence")]
    code: Annotated[str, Field(description="a word for programs, such as unknown_graph")]
    fix: Annotated[str, Field(description="what to do about it; empty if nothing can be done")] = ""


FAULT = Failure(
    error="unexpected error of pgs", code="fault", fix="the server's log has the details"
)
"""The response to an unexpected error, whose details are only in the log."""

MISSING = Failure(
    error="there is nothing here", code="not_found", fix="see /api/openapi.json for what there is"
)
NO_HEADERS: Mapping[str, str] = MappingProxyType({})

CHAT = "/v1/"
CHAT_TYPES = {401: "authentication_error", 402: "insufficient_quota", 403: "permission_error"}
CHAT_CODES = {
    "unauthenticated": "invalid_api_key",
    "budget": "insufficient_quota",
    "unknown_graph": "model_not_found",
}
TRIED_AGAIN = frozenset({"busy", "database_unavailable", "graph_changed"})
"""Codes after which the same request may succeed soon."""


def failure_response(
    path: str,
    status: int,
    failure: Failure,
    headers: Mapping[str, str] = NO_HEADERS,
    param: str | None = None,
) -> JSONResponse:
    """Return a failure as a response to a request for a path.

    Chat requests get OpenAI's error format. A response with status 401 names the authentication
    scheme, as RFC 9110 (11.6.1) requires. ``param`` is the invalid part of a chat's body.
    """
    all_headers = {**headers, **({"WWW-Authenticate": "Bearer"} if status == 401 else {})}
    if not path.startswith(CHAT):
        return JSONResponse(failure.model_dump(), status, all_headers)
    all_headers["x-should-retry"] = "true" if failure.code in TRIED_AGAIN else "false"
    # OpenAI's API uses 400 for an invalid body.
    status = 400 if status == 422 else status
    return JSONResponse(chat_failure(status, failure, param), status, all_headers)


def chat_failure(status: int, failure: Failure, param: str | None = None) -> dict[str, object]:
    """Return a failure in the format of OpenAI's API; ``param`` is the invalid parameter."""
    usual = "invalid_request_error" if status < 500 else "server_error"
    return {
        "error": {
            "message": "; ".join(filter(None, (failure.error, failure.fix))),
            "type": CHAT_TYPES.get(status, usual),
            "param": param,
            "code": CHAT_CODES.get(failure.code, failure.code),
        }
    }


def status_of(error: PGSError) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def failure_of(error: PGSError) -> Failure:
    """Return an error as a body; the text after the last ``;`` of its message is the fix."""
    what, _, fix = plain(str(error)).rpartition("; ")
    return Failure(error=what or fix, code=code_of(error), fix=fix if what else "")


def code_of(error: PGSError) -> str:
    """Return the code of an error, such as ``unknown_graph`` for UnknownGraphError."""
    return _WORDS.sub("_", type(error).__name__.removesuffix("Error")).lower()
