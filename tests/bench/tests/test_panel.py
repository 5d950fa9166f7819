"""The benchmark of a node's panel: what it makes, asks for, and tells."""

from __future__ import annotations

import pytest

from pgs_neo4j.engine import PGS
from tests.bench import panel, place
from tests.bench.store import Server
from tests.conftest import Endpoint
from tests.serving import served


@pytest.mark.nightly
async def test_panels_of_a_hub_are_timed_whole_and_by_part(endpoint: Endpoint, db) -> None:
    server = Server(endpoint.uri, endpoint.user, endpoint.password)
    async with PGS.connect_without_models(**place.connection(server)) as pgs:
        await pgs.graphs.add(panel.GRAPH, panel.MAPPING)
        hub, degree = await panel.filled(db, 1000, 500)
        assert degree == 500 + panel.CITING + 1  # with its own place in a partition
        async with served(pgs) as serving, serving.owner() as owner:
            figures = await panel.panels(owner, hub, 2)
    assert set(figures["seconds"]) == set(panel.NAMES)
    assert all(len(seconds) == 2 for seconds in figures["seconds"].values())
    assert all(
        whole >= part
        for part, whole in zip(
            figures["seconds"]["neighbors"], figures["seconds"]["whole"], strict=True
        )
    )
    shown = panel.table({"nodes": 1000, "degree": degree, **figures})
    assert "a node with 701 relationships" in shown
    assert "300 ms" in shown
