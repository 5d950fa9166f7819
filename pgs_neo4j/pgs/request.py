"""A question to a graph and its options, in the form that all interfaces and phases share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast, get_args

from pgs_neo4j.config import Knobs
from pgs_neo4j.errors import QuestionError, UsageError
from pgs_neo4j.model import Mode
from pgs_neo4j.pgs.runs import session
from pgs_neo4j.pgs.runs.keys import check_new_id
from pgs_neo4j.pgs.runs.runs import check_key

MAX_QUESTION = 20_000  # characters


@dataclass(frozen=True, slots=True)
class Request:
    """A question, the graph to ask, and options. All values are checked when it is created.

    Without a ``graph``, the question goes to the configured graph, or to the only graph.
    ``structure_only`` allows a question to a graph whose nodes have no text. ``knobs`` override the
    configuration. ``run_id`` is the id for the new run if the caller has chosen one. The same
    request with the same ``idempotency_key`` returns the same answer.

    Raises QuestionError for an invalid question, and UsageError for any other invalid value.
    """

    question: str
    graph: str | None = None
    mode: Mode = "full"
    session: str = session.DEFAULT
    full_sweep: bool = False
    structure_only: bool = False
    knobs: Knobs = field(default_factory=Knobs)
    run_id: str | None = None
    idempotency_key: str | None = None

    def __post_init__(self) -> None:
        check_question(self.question)
        session.check_name(self.session)
        check_key(self.idempotency_key)
        check_new_id(self.run_id)
        if self.mode not in get_args(Mode):
            modes = ", ".join(get_args(Mode))
            raise UsageError(f"there is no mode {self.mode!r}; the modes are {modes}")


class RequestOptions(Knobs, total=False):
    """The options for a question passed as text: the fields of a ``Request``, and all knobs.

    ``session_id`` sets the field ``session`` of the request, and ``run`` sets ``run_id``.
    """

    graph: str | None
    mode: Mode
    session_id: str
    full_sweep: bool
    structure_only: bool
    run: str | None
    idempotency_key: str | None


FIELDS = {
    "graph": "graph",
    "mode": "mode",
    "session_id": "session",
    "full_sweep": "full_sweep",
    "structure_only": "structure_only",
    "run": "run_id",
    "idempotency_key": "idempotency_key",
}
"""Maps names of options to fields of a request; every other option is a knob."""


def as_request(question: str | Request, options: RequestOptions) -> Request:
    """Return a request for a question and its options; a ``Request`` is returned unchanged.

    Raises UsageError for a ``Request`` together with options, and the errors of ``Request``.
    """
    given: Mapping[str, object] = options
    if isinstance(question, Request):
        if given:
            raise UsageError(
                f"a Request already holds its options; set {', '.join(given)} where it is made"
            )
        return question
    fields = {FIELDS[name]: value for name, value in given.items() if name in FIELDS}
    knobs = {name: value for name, value in given.items() if name not in FIELDS}
    return Request(question, **cast("dict[str, Any]", fields), knobs=cast(Knobs, knobs))


def check_question(question: str) -> None:
    """Raise QuestionError for an empty, overlong, or malformed question."""
    if not question.strip():
        raise QuestionError("the question is empty; write what you want to know")
    if len(question) > MAX_QUESTION:
        raise QuestionError(
            f"the question has {len(question):,} characters; ask in at most {MAX_QUESTION:,}"
        )
    try:
        question.encode()
    except UnicodeEncodeError as error:
        raise QuestionError(
            "the question holds bytes that are not valid UTF-8; write it again"
        ) from error
