"""A request holds all that a question is asked with, and is checked where it is made."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest

from pgs_neo4j.config import Knobs
from pgs_neo4j.errors import QuestionError, UsageError
from pgs_neo4j.pgs.request import FIELDS, Request, RequestOptions, as_request


def test_a_question_and_its_options_are_the_same_request_as_one_made_by_hand() -> None:
    asked = as_request(
        "Why?",
        {
            "graph": "papers", "mode": "continue", "session_id": "s", "full_sweep": True,
            "structure_only": True, "run": "r0a1b2c3d4e5f", "idempotency_key": "k",
            "max_calls": 3, "strict": None,
        },
    )  # fmt: skip
    assert asked == Request(
        "Why?",
        graph="papers",
        mode="continue",
        session="s",
        full_sweep=True,
        structure_only=True,
        knobs={"max_calls": 3, "strict": None},
        run_id="r0a1b2c3d4e5f",
        idempotency_key="k",
    )
    assert as_request("Why?", {}) == Request("Why?")
    assert as_request(asked, {}) is asked


def test_every_option_is_a_field_or_a_knob() -> None:
    options = set(get_type_hints(RequestOptions))
    assert options == set(FIELDS) | set(get_type_hints(Knobs))
    assert set(FIELDS.values()) | {"question", "knobs"} == set(Request.__dataclass_fields__)


def test_a_request_takes_no_further_options() -> None:
    with pytest.raises(UsageError, match="already holds its options; set graph, max_calls where"):
        as_request(Request("Why?"), {"graph": "papers", "max_calls": 3})


@pytest.mark.parametrize(
    ("given", "error", "why"),
    [
        ({"question": " "}, QuestionError, "the question is empty"),
        ({"question": "x" * 20_001}, QuestionError, "20,001 characters; ask in at most 20,000"),
        ({"question": "\udc80"}, QuestionError, "not valid UTF-8"),
        ({"mode": "all"}, UsageError, "no mode 'all'; the modes are full, continue, targeted"),
        ({"session": ""}, UsageError, "session"),
        ({"run_id": "mine"}, UsageError, "'mine' is no id of a run"),
        ({"idempotency_key": ""}, UsageError, "idempotency key"),
    ],
)
def test_what_cannot_be_asked_is_refused_where_it_is_made(
    given: dict[str, Any], error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why):
        Request(**{"question": "Why?"} | given)
