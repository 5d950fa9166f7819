"""``pgs.load``: loads a file, or the demo, as a stored graph."""

from __future__ import annotations

import asyncio
import platform
from dataclasses import dataclass
from pathlib import Path

from pgs_neo4j.documents.loading import load as ingestion
from pgs_neo4j.documents.loading.brain import read_brain
from pgs_neo4j.documents.loading.graph_file import GraphFile
from pgs_neo4j.documents.loading.load import LoadResult, refuse_documents
from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.core import Core
from pgs_neo4j.events import OnEvent, PhaseStarted, StepStarted

DEMO_GRAPH = "stdlib"


@dataclass(frozen=True, slots=True)
class Loader:
    """Loads graphs. Called, it loads a file: ``await pgs.load("physics.json", "physics")``."""

    _core: Core

    async def __call__(
        self,
        file: str | Path | GraphFile,
        graph: str,
        *,
        label: str | None = None,
        on_event: OnEvent | None = None,
    ) -> LoadResult:
        """Load a file, and store its mapping under the graph's name.

        The load is atomic; loading again replaces the graph. The default ``label`` is derived from
        the name. Raises InputFileError for an unusable file, MappingError for an unusable name,
        GraphExistsError when the name is stored for other nodes, and UsageError when the label
        belongs to other nodes.
        """
        catalog.check_name(graph)
        content = file if isinstance(file, GraphFile) else read_brain(Path(file))
        core = self._core
        core.require_unrestricted("a load writes to the graph")
        await refuse_documents(core.db, graph)
        await catalog.check_loadable(core.db, graph, label or ingestion.graph_label(graph))
        result = await ingestion.load(
            core.db, content, graph, label=label, on_event=on_event or core.on_event
        )
        await catalog.add(core.db, graph, result.mapping, replace=True)
        return result

    async def demo(self, graph: str = DEMO_GRAPH, *, on_event: OnEvent | None = None) -> LoadResult:
        """Load the running Python's standard library: modules, classes, and functions."""
        from pgs_neo4j.engine.demo.graph import build_demo, demo_file

        tell = on_event or self._core.on_event
        tell(PhaseStarted("load"))
        tell(StepStarted("load", f"read the source of Python {platform.python_version()}"))
        content = demo_file(await asyncio.to_thread(build_demo))
        return await self(content, graph, on_event=on_event)
