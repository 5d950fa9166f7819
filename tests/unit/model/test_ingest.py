"""What an ingestion says of itself: counts by state, and whether everything is in the graph."""

from __future__ import annotations

from typing import get_args

import pytest

from pgs_neo4j.model.documents import GroundedEntity
from pgs_neo4j.model.ingest import DocumentOutcome, DocumentState, Ingested

STATES: tuple[DocumentState, ...] = get_args(DocumentState)


def ingested(*states: DocumentState, stopped: str = "") -> Ingested:
    outcomes = tuple(
        DocumentOutcome(id=f"{place}.md", state=state) for place, state in enumerate(states)
    )
    return Ingested(graph="notes", label="Notes", outcomes=outcomes, stopped=stopped)


@pytest.mark.parametrize("state", STATES)
def test_a_failed_document_or_a_limit_makes_it_incomplete(state: DocumentState) -> None:
    assert ingested("added", state).complete is (state != "failed")
    assert not ingested(state, stopped="max_calls was reached").complete
    assert ingested().complete


@pytest.mark.parametrize("state", STATES)
def test_a_graph_is_known_to_have_documents_that_neither_failed_nor_went(
    state: DocumentState,
) -> None:
    assert ingested(state).has_documents is (state not in ("failed", "deleted", "empty"))
    assert ingested("failed", state, "added").has_documents
    assert not ingested().has_documents


def test_an_entity_without_places_is_implicit() -> None:
    assert GroundedEntity(name="Ada", type="Person", sentences=(1,)).implicit
    assert not GroundedEntity(name="Ada", type="Person", spans=((0, 3),)).implicit
