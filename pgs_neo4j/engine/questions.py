"""Questions put to a graph, in whole or one step at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pgs_neo4j import config
from pgs_neo4j.catalog import StoredGraph
from pgs_neo4j.config import Knobs
from pgs_neo4j.engine.core import Core
from pgs_neo4j.errors import UsageError
from pgs_neo4j.events import OnEvent, Warned
from pgs_neo4j.model import Answer, Mode, Plan, Routing, Sweep, Synthesis
from pgs_neo4j.pgs import idempotency, layered, pipeline, plan
from pgs_neo4j.pgs.layered import LayeredAnswer
from pgs_neo4j.pgs.route import route_question
from pgs_neo4j.pgs.run import Request, Work, check, check_question
from pgs_neo4j.runs import answers, runs, session
from pgs_neo4j.sweeping.context import Reader, new_gate, unrecorded
from pgs_neo4j.sweeping.sweep import sweep
from pgs_neo4j.synthesis.write import Writer, synthesize


@dataclass(frozen=True, slots=True)
class Asking:
    """A question with its options, as the caller put it."""

    question: str
    graph: str | None = None
    mode: Mode = "full"
    session: str = session.DEFAULT
    full_sweep: bool = False
    knobs: Knobs = field(default_factory=Knobs)


async def execute(
    core: Core, asking: Asking, on_event: OnEvent | None, idempotency_key: str | None
) -> Answer:
    """Run the whole pipeline; see ``PGS.execute``."""
    work, request = await _begin(core, asking, on_event)
    request = replace(request, idempotency_key=idempotency_key)
    check(request)
    return await idempotency.answered(work, request)


async def plan_question(core: Core, asking: Asking, on_event: OnEvent | None) -> Plan:
    """Predict the reading and its cost; see ``PGS.plan``."""
    work, request = await _begin(core, asking, on_event)
    return await plan.plan(work, request)


async def search(core: Core, asking: Asking, on_event: OnEvent | None, top_k: int) -> LayeredAnswer:
    """Search the nearest nodes, then sweep; see ``PGS.layered_search``."""
    work, request = await _begin(core, asking, on_event)
    return await layered.layered_search(work, request, top_k)


async def resume(core: Core, run: str, on_event: OnEvent | None, knobs: Knobs) -> Answer:
    """Resume a run; see ``PGS.resume``."""
    stored = await runs.read(core.db, run)
    graph = await core.graph(stored.graph)
    if stored.status == "complete":
        return await answers.load(core.db, stored, graph.mapping)
    request = idempotency.stored_request(stored, graph.mapping)
    in_force = config.restored(stored.properties["config"], knobs)
    work = core.work(graph.mapping, on_event, in_force)
    return await pipeline.execute(work, request, stored)


async def route(core: Core, asking: Asking) -> Routing:
    """Route a question; see ``PGS.route``."""
    check_question(asking.question)
    stored = await core.graph(asking.graph)
    work = core.work(stored.mapping, None, core.knobs(asking.knobs))
    current = await core.current(stored)
    return await route_question(work, _request(asking, stored), current.partitions, current)


async def sweep_partition(
    core: Core, asking: Asking, partition_id: int, on_event: OnEvent | None
) -> Sweep:
    """Sweep one partition; see ``PGS.sweep_partition``."""
    check_question(asking.question)
    stored = await core.graph(asking.graph)
    current = await core.current(stored)
    by_id = {part.id: part for part in current.partitions}
    if partition_id not in by_id:
        raise UsageError(
            f"graph {stored.name} has no partition {partition_id}; "
            f"its partitions are 1 to {len(by_id)}"
        )
    knobs = core.knobs(asking.knobs)
    reader = Reader(
        db=core.db,
        llm=core.sweep_llm,
        mapping=stored.mapping,
        generation=current.generation.id,
        partitions=by_id,
        question=asking.question,
        config=knobs,
        calls=core.calls(knobs),
        replies=None,
        on_event=on_event or core.on_event,
        record=unrecorded,
        gate=new_gate(),
    )
    return await sweep(reader, by_id[partition_id])


async def synthesize_sweeps(
    core: Core, asking: Asking, sweeps: Sequence[Sweep], on_event: OnEvent | None
) -> Synthesis:
    """Synthesize sweeps; see ``PGS.synthesize``."""
    check_question(asking.question)
    current = await core.current(await core.graph(asking.graph))
    if any(sweep.generation != current.generation.id for sweep in sweeps):
        raise UsageError(
            "the sweeps are of an older generation than the current one, so their aliases "
            "mean other nodes; sweep the partitions again"
        )
    tell = on_event or core.on_event
    knobs = core.knobs(asking.knobs)
    writer = Writer(
        llm=core.synthesis_llm,
        config=knobs,
        calls=core.calls(knobs),
        replies=None,
        on_event=tell,
        warn=lambda message: tell(Warned(message)),
    )
    return await synthesize(writer, asking.question, sweeps, current.partitions)


async def _begin(core: Core, asking: Asking, on_event: OnEvent | None) -> tuple[Work, Request]:
    check_question(asking.question)
    stored = await core.graph(asking.graph)
    request = _request(asking, stored)
    check(request)
    work = core.work(stored.mapping, on_event, core.knobs(asking.knobs))
    models = [core.sweep_llm.name, core.synthesis_llm.name]
    return work, replace(request, asked=idempotency.asked(request, models, work.config))


def _request(asking: Asking, stored: StoredGraph) -> Request:
    return Request(
        question=asking.question,
        graph=stored.name,
        mapping=stored.mapping,
        mode=asking.mode,
        session=asking.session,
        full_sweep=asking.full_sweep,
    )
