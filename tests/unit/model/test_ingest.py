"""What an ingestion says of itself: counts by state, and whether everything is in the graph."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.model.ingest import DocumentOutcome, DocumentState, Ingested
from pgs_neo4j.text.json_data import plain_data

STATES: tuple[DocumentState, ...] = get_args(DocumentState)


def ingested(*states: DocumentState, stopped: str = "") -> Ingested:
    outcomes = tuple(
        DocumentOutcome(id=f"{place}.md", state=state) for place, state in enumerate(states)
    )
    return Ingested(graph="notes", label="Notes", outcomes=outcomes, stopped=stopped)


@given(st.lists(st.sampled_from(STATES)))
def test_every_document_is_counted_once(states: list[DocumentState]) -> None:
    done = ingested(*states)
    assert sum(done.count(state) for state in STATES) == len(states)
    assert done.count(*STATES) == len(states)
    assert done.count() == 0


def test_several_states_are_counted_together() -> None:
    done = ingested("added", "added", "changed", "failed")
    assert done.count("added", "changed") == 3
    assert done.count("moved") == 0


@pytest.mark.parametrize("state", [state for state in STATES if state != "failed"])
def test_a_document_that_did_not_fail_leaves_it_complete(state: DocumentState) -> None:
    assert ingested(state).complete


def test_one_failed_document_or_a_limit_makes_it_incomplete() -> None:
    assert not ingested("added", "failed").complete
    assert not ingested("added", stopped="max_calls was reached").complete


@pytest.mark.parametrize("state", STATES)
def test_a_graph_is_known_to_have_documents_that_neither_failed_nor_went(
    state: DocumentState,
) -> None:
    assert ingested(state).has_documents is (state not in ("failed", "deleted"))
    assert ingested("failed", state, "added").has_documents
    assert not ingested().has_documents


def test_nothing_to_ingest_is_complete_and_cost_nothing() -> None:
    done = ingested()
    assert done.complete
    assert (done.usage.calls, done.cost, done.dropped, done.skipped) == (0, None, {}, {})


def test_results_are_read_only_and_share_no_counts() -> None:
    done = ingested("added")
    with pytest.raises(FrozenInstanceError):
        done.stopped = "later"  # type: ignore[misc]
    assert done.skipped is not ingested().skipped


def test_a_result_is_plain_data_in_the_order_of_the_documents() -> None:
    data = plain_data(ingested("failed", "added"))
    assert [one["id"] for one in data["outcomes"]] == ["0.md", "1.md"]
    assert [one["state"] for one in data["outcomes"]] == ["failed", "added"]
