"""Asks for the planted facts: top-k retrieval, the published procedure, and the engine.

Each returns a ``Found``. A fact counts if a report states it and cites the node that holds it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Answer, Completion, GraphMapping, Mode, Node, Prompt, PromptNode
from pgs_neo4j.pgs.sweeping.pieces import render_node
from pgs_neo4j.pgs.sweeping.report import SYSTEM
from pgs_neo4j.search.nodes import read_nodes
from pgs_neo4j.search.paths.vector import find_by_vector
from pgs_neo4j.search.space import Space, embed_question
from pgs_neo4j.text.node_text import joined_text
from tests.bench import place
from tests.bench.groups import GraphNode, Group, routed
from tests.bench.loaded import FACT
from tests.bench.planted_reader import BEGIN, END, Faults, PlantedReader
from tests.bench.published import partitions
from tests.bench.store import Server

GRAPH = "recall"
TOP_K = 20
BATCH = 5
READ_NODES = """
MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs')
RETURN elementId(n) AS id, [name IN $text | n[name]] AS text, labels(n) AS labels,
       toFloatOrNull(n[$weight]) AS weight, n[$embedding] AS vector
ORDER BY id
"""
READ_EDGES = """
MATCH (a)-[r]->(b) WHERE NOT type(r) STARTS WITH 'PGS_'
RETURN elementId(a) AS source, elementId(b) AS target,
       coalesce(toFloatOrNull(r[$weight]), 1.0) AS weight
ORDER BY source, target
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a contender brought.

    ``real`` counts nodes that stood whole in a prompt whose reply came back whole, ``claimed``
    the nodes reported as read.
    """

    name: str
    calls: int
    facts: int
    real: int
    claimed: int
    tokens: int

    @property
    def false(self) -> int:
        """Nodes that are said to have been read and were not."""
        return self.claimed - self.real

    def as_row(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "false": self.false}


@dataclass(slots=True)
class Contest:
    """One graph with facts in it: what is asked, and which node holds which fact."""

    database: Database
    server: Server
    mapping: GraphMapping
    question: str
    facts: dict[str, str]

    async def top_k(self) -> Found:
        """The nearest nodes in one prompt."""
        reader, vector = PlantedReader(), await self._vector()
        hits = await find_by_vector(self.database, (), self.mapping, vector, TOP_K)
        closest = await read_nodes(self.database, self.mapping, [*hits.scores])
        prompt = _prompt("search", None, self.question, [_listed(node) for node in closest])
        by_alias = {node.alias: node.element_id for node in closest}
        return Found(
            name=f"top-k, the {TOP_K} nearest",
            calls=1,
            facts=len(self._stated(_text(reader(prompt)), by_alias)),
            real=len(closest),
            claimed=len(closest),
            tokens=reader.usage.tokens,
        )

    async def published(self, name: str, groups: Sequence[Group], faults: Faults) -> Found:
        """Routing, a prompt for each partition cut at 500,000 characters, and a synthesis."""
        reader = PlantedReader(faults)
        read = routed(groups, await self._vector())
        facts: set[str] = set()
        for first in range(0, len(read), BATCH):
            batch = read[first : first + BATCH]
            replies = await asyncio.gather(*(self._swept(reader, group) for group in batch))
            for group, text in zip(batch, replies, strict=True):
                facts |= self._stated(text, group.by_alias())
        reader(_prompt("synthesis", None, self.question, sorted(facts)))
        return Found(
            name=name,
            calls=reader.usage.calls + sum(faults.fails(group.number) for group in read),
            facts=len(facts),
            real=reader.read,
            claimed=sum(len(group.nodes) for group in read),
            tokens=reader.usage.tokens,
        )

    async def ours(self, name: str, session: str, faults: Faults, **knobs: Any) -> Found:
        """The engine, with any model that it uses scripted to read."""
        return (await self._ours(name, session, [faults], knobs))[-1]

    async def ours_then_continued(self, name: str, session: str, faults: Faults) -> list[Found]:
        """The same, and once more in mode ``continue`` when nothing fails any more."""
        return await self._ours(name, session, [faults, Faults()], {})

    async def _ours(
        self, name: str, session: str, turns: Sequence[Faults], knobs: dict[str, Any]
    ) -> list[Found]:
        rows: list[Found] = []
        facts: set[str] = set()
        real = 0
        for turn, faults in enumerate(turns):
            reader = PlantedReader(faults)
            llm = ScriptedLLM(reader)
            mode: Mode = "continue" if turn else "full"
            async with PGS.connect(
                sweep_llm=llm, synthesis_llm=llm, cache=False, **place.connection(self.server)
            ) as pgs:
                answer = await pgs.execute(
                    self.question,
                    graph=GRAPH,
                    mode=mode,
                    session_id=session,
                    full_sweep=True,
                    **knobs,
                )
            facts |= self._found(answer)
            real += reader.read
            rows.append(
                Found(
                    name=name + (", then continued" if turn else ""),
                    calls=len(llm.prompts),
                    facts=len(facts),
                    real=real,
                    claimed=answer.coverage.nodes_read,
                    tokens=reader.usage.tokens,
                )
            )
        return rows

    async def groups_of_its_own(self) -> list[Group]:
        """The partitions that the published procedure makes."""
        nodes = await self._nodes()
        numbers = {node.id: number for number, node in enumerate(nodes)}
        weight = self.mapping.relationship_weight or ""
        _, rows = await self.database.call(READ_EDGES, {"weight": weight}, "read")
        edges = [(numbers[r["source"]], numbers[r["target"]], r["weight"]) for r in rows]
        parts = partitions(len(nodes), edges)
        return [Group(n, [nodes[i] for i in part]) for n, part in enumerate(parts, start=1)]

    async def groups_of_ours(self, pgs: PGS) -> list[Group]:
        """The partitions that our engine made, for the procedure to read."""
        by_id = {node.id: node for node in await self._nodes()}
        statement = (
            "MATCH (:PgsPartition {uid: $uid})<-[m:PGS_IN]-(n) "
            "RETURN elementId(n) AS id ORDER BY m.rank"
        )
        groups = []
        for part in await pgs.partitions(GRAPH):
            _, rows = await self.database.call(statement, {"uid": part.uid}, "read")
            groups.append(Group(part.id, [by_id[row["id"]] for row in rows]))
        return groups

    async def _swept(self, reader: PlantedReader, group: Group) -> str:
        return _text(reader(_prompt("sweep", group.number, self.question, group.within())))

    async def _vector(self) -> NDArray[np.float32] | None:
        """The question in the graph's own space, as our engine puts it there."""
        if not self.mapping.embedding:
            return None
        _, rows = await self.database.call(
            "MATCH (n) WHERE n[$name] IS NOT NULL RETURN size(n[$name]) AS size LIMIT 1",
            {"name": self.mapping.embedding},
            "read",
        )
        space = Space("stored", None, self.mapping.embedding)
        asked = await embed_question(
            self.database, space, self.mapping, self.question, int(rows[0]["size"])
        )
        return asked.vector

    async def _nodes(self) -> list[GraphNode]:
        parameters = {
            "text": list(self.mapping.text),
            "weight": self.mapping.weight or "",
            "embedding": self.mapping.embedding or "",
        }
        _, rows = await self.database.call(READ_NODES, parameters, "read")
        return [
            GraphNode(
                id=row["id"],
                text=joined_text(row["text"]),
                labels=tuple(row["labels"]),
                weight=row["weight"] or 0.0,
                vector=None if row["vector"] is None else np.asarray(row["vector"]),
            )
            for row in rows
        ]

    def _stated(self, text: str, by_alias: dict[str, str]) -> set[str]:
        """The facts of a report's lines that cite the node which holds them."""
        cited = [line.removesuffix("]").rpartition("[")[::2] for line in text.splitlines()]
        return {
            fact
            for line, alias in cited
            for fact in FACT.findall(line)
            if self.facts.get(fact) == by_alias.get(alias)
        }

    def _found(self, answer: Answer) -> set[str]:
        return {
            fact
            for sweep in answer.sweeps
            if sweep.report is not None
            for finding in sweep.report.findings
            for fact in FACT.findall(finding.text)
            if any(c.valid and c.element_id == self.facts.get(fact) for c in finding.citations)
        }


def _prompt(task: Any, partition: int | None, question: str, lines: Iterable[str]) -> Prompt:
    listed = "\n".join(lines)
    return Prompt(
        task=task,
        system=SYSTEM,
        user=f"{BEGIN}\n{listed}\n{END}\n\nQuestion: {question}",
        question=question,
        partition=partition,
    )


def _listed(node: Node) -> str:
    return render_node(PromptNode(node.alias, node.title, node.text, node.labels))


def _text(reply: Completion | Exception) -> str:
    """What came back; nothing when the call failed, which the procedure takes for searched."""
    return reply.text if isinstance(reply, Completion) else ""
