"""The ids that runs store, and which idempotency keys are taken."""

from __future__ import annotations

import re

import pytest

from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.scope import NO_SCOPE
from pgs_neo4j.pgs.runs import keys
from pgs_neo4j.pgs.runs.runs import MAX_KEY, check_key


def test_a_request_without_an_idempotency_key_has_an_empty_one() -> None:
    assert keys.idempotency_uid(NO_SCOPE, "papers", "default", None) == ""
    assert keys.idempotency_uid(NO_SCOPE, "papers", "default", "") == ""


def test_run_ids_differ_and_have_one_form() -> None:
    one, other = keys.new_run_id(), keys.new_run_id()
    assert one != other
    assert re.fullmatch(r"r[0-9a-f]{12}", one)


def test_a_key_is_short_and_printable() -> None:
    for key in (None, "k", "ein Schlüssel", "k" * MAX_KEY):
        check_key(key)
    for key in ("", "  ", "k" * (MAX_KEY + 1), "a\nb", "\x1b[0m"):
        with pytest.raises(UsageError, match=f"1 to {MAX_KEY} printable characters"):
            check_key(key)
