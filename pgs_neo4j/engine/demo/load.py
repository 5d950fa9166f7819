"""The demo graph in the form that the loader takes."""

from __future__ import annotations

from pgs_neo4j.documents.graph_file import FileNode, FileRelationship, GraphFile
from pgs_neo4j.engine.demo.graph import DemoGraph
from pgs_neo4j.model import GraphMapping


def demo_file(demo: DemoGraph) -> GraphFile:
    """Return the demo graph as a GraphFile; id is key and title."""
    positions = {node.id: i for i, node in enumerate(demo.nodes)}
    return GraphFile(
        nodes=tuple(
            FileNode(
                id=node.id,
                labels=node.labels,
                properties={
                    "name": node.name,
                    "kind": node.kind,
                    "module": node.module,
                    "text": node.text,
                    "weight": node.weight,
                },
            )
            for node in demo.nodes
        ),
        relationships=tuple(
            FileRelationship(positions[r.source], positions[r.target], r.type, r.weight)
            for r in demo.relationships
        ),
        mapping=GraphMapping(
            text=("text",),
            title="id",
            key="id",
            weight="weight",
            relationship_weight="weight",
        ),
    )
