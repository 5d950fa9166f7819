"""What entities are called is taken from their nodes, or counted where that does not hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgs_neo4j.documents.fold.tallies import entity_id
from tests.fakes.documents import graph_of
from tests.unit.documents.names.test_neighborhood import FULL, SHORT, found, person


async def test_mentions_of_a_hub_are_counted_only_when_it_loses_one() -> None:
    graph = await graph_of(**{f"c{at}": found("Marie Curie") for at in range(9)})
    graph.database.sent.clear()
    await graph.write(more=found("M. Curie", "Polonium"))
    assert graph.database.params("read_called")
    assert graph.database.params("read_names") == []
    await graph.write(["c0"])
    counted = [id_ for row in graph.database.params("read_names") for id_ in row["entities"]]
    assert entity_id(FULL) in counted


@pytest.mark.parametrize("called", [None, "", "[]"])
async def test_a_node_that_somebody_changed_is_made_right_by_the_next_mention(
    called: str | None,
) -> None:
    """Its mentions are not those that it keeps, or it keeps none any more."""
    graph = await graph_of(a=person("M. Curie"), b=person("M. Curie"))
    if called is None:
        del graph.chunks["b"]
        graph.mentions = [row for row in graph.mentions if row.chunk != "b"]
    else:
        short = graph.entities[entity_id(SHORT)]
        graph.entities[short.id] = replace(short, called=called)
    await graph.write(c=person("M. Curie", text="She won."))
    assert graph.entities[entity_id(SHORT)].mentions == len(graph.chunks)
