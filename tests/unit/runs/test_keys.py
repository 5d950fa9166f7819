"""The ids that runs store."""

from __future__ import annotations

import re

from pgs_neo4j.runs import keys


def test_ids_have_one_form_each() -> None:
    assert keys.session_uid("papers", "default") == "papers/default"
    assert keys.idempotency_uid("papers", "default", "k1") == '["papers", "default", "k1"]'
    assert keys.sweep_id("r1", 4) == "r1:4"
    assert keys.finding_id("r1", 4, 0) == "r1:4:f0"
    assert keys.flag_id("r1", 4, 2) == "r1:4:o2"
    assert keys.absence_id("r1", 4, 3) == "r1:4:a3"
    assert keys.thesis_id("r1") == "r1:thesis"
    assert keys.connection_id("r1", 5) == "r1:c5"
    assert keys.stated_convergence_id("r1", 6) == "r1:v6"
    assert keys.checked_convergence_id("r1", 7) == "r1:w7"


def test_a_request_without_an_idempotency_key_has_an_empty_one() -> None:
    assert keys.idempotency_uid("papers", "default", None) == ""
    assert keys.idempotency_uid("papers", "default", "") == ""


ODD = (
    "team",
    "team/x",
    "x/1",
    "1",
    "/",
    '"',
    '", "',
    "\\",
    "\\u002f",
    "[",
    "ä/",
    "a\u0308/",
    "k" * 200,
)


def test_no_two_sessions_and_keys_share_an_idempotency_key() -> None:
    pairs = [(session, key) for session in ODD for key in ODD if key]
    uids = {keys.idempotency_uid("papers", session, key) for session, key in pairs}
    assert len(uids) == len(pairs)


def test_run_ids_differ_and_have_one_form() -> None:
    one, other = keys.new_run_id(), keys.new_run_id()
    assert one != other
    assert re.fullmatch(r"r[0-9a-f]{12}", one)
