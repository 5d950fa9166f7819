"""The two ways to project a view, and when the direct one is not taken."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pgs_neo4j.database.gds import GDS, Projection, project_view
from pgs_neo4j.errors import GDSError, GDSMemoryError
from pgs_neo4j.model import GraphMapping
from tests.unit.database.gds.conftest import MakeGDS

MAPPING = GraphMapping(labels=("Thing",), relationship_weight="w")
NAMES = [{"labels": ["Other", "Thing"], "types": ["HAS", "TIES"]}]
IDS = np.array([3, 5, 8])


class Server:
    """A client and runner in one: notes both ways, and holds ``count`` nodes."""

    def __init__(self, count: int = 3, error: Exception | None = None):
        self.count, self.error = count, error
        self.native: list[tuple[Any, ...]] = []
        self.by_statement: list[dict[str, Any]] = []
        project = SimpleNamespace(native=self._native)
        self.graph = SimpleNamespace(project=project, get=lambda name: "by statement")

    def _native(self, name: str, labels: Any, relationships: Any, **options: Any) -> Any:
        self.native.append((labels, relationships, options))
        if self.error:
            raise self.error
        return SimpleNamespace(node_count=lambda: self.count), None

    def project(self, text: str, params: dict[str, Any]) -> bool:
        self.by_statement.append(params)
        return True


def gds_on(make_gds: MakeGDS, server: Server, names: Any = NAMES) -> GDS:
    return make_gds(server, server, read_view_names=names)


async def view_of(gds: GDS, mapping: GraphMapping = MAPPING, **options: Any) -> Projection:
    async with project_view(gds, mapping, IDS, **options) as view:
        return view


async def test_a_clean_view_is_read_directly(make_gds: MakeGDS) -> None:
    server = Server()
    view = await view_of(gds_on(make_gds, server), direct=True)
    ((labels, relationships, _),) = server.native
    assert labels == ["Thing"]
    weighted = {
        "orientation": "UNDIRECTED",
        "properties": {"weight": {"property": "w", "defaultValue": 1.0}},
    }
    assert relationships == {"HAS": weighted, "TIES": weighted}
    assert (view.types, view.weight, view.seeded) == (("*",), "weight", False)
    await view_of(gds_on(make_gds, server), GraphMapping(), direct=True)
    labels, relationships, _ = server.native[1]
    assert (labels, list(relationships)) == (["Other", "Thing"], ["HAS", "TIES"])
    assert not server.by_statement


@pytest.mark.parametrize(
    ("count", "error"), [(2, None), (4, None), (3, GDSError("a weight is a string"))]
)
async def test_a_view_not_reached_whole_is_projected_by_statement(
    make_gds: MakeGDS, count: int, error: GDSError | None
) -> None:
    server = Server(count, error)
    view = await view_of(gds_on(make_gds, server), direct=True)
    assert view == Projection("by statement")
    (params,) = server.by_statement
    assert (params["ids"], params["labels"], params["types"]) == ([3, 5, 8], ["Thing"], [])


async def test_a_lack_of_memory_does_not_fall_back(make_gds: MakeGDS) -> None:
    server = Server(error=GDSMemoryError("heap"))
    with pytest.raises(GDSMemoryError):
        await view_of(gds_on(make_gds, server), direct=True)
    assert not server.by_statement
