"""The right to write the documents of a graph, as this engine holds it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from pgs_neo4j.documents.describe.model import describer_signature
from pgs_neo4j.documents.fold.resolution import Resolver
from pgs_neo4j.documents.names.renewal import hold_resolved
from pgs_neo4j.documents.writer import Writer
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.ingestion.parts import Parts


def hold_graph(
    core: Core, graph: str, label: str, resolver: Resolver | None
) -> AbstractAsyncContextManager[Writer]:
    """Hold the right to write a graph; what has to be described waits for the describer.

    Raises ConfigError for parts that cannot be used. Entering raises UsageError, BusyError,
    LeaseLostError, and DatabaseError.
    """
    parts = Parts(core)
    own = parts.describer()
    built_in = describer_signature(core.sweep_llm, core.config.sweep_effort)
    signature = own.signature if own else built_in
    return hold_resolved(core.db, graph, label, signature, parts.resolver(resolver))
