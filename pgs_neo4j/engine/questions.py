"""Answers questions to a graph, by the whole pipeline or a single step.

A repeated request is recognized by its idempotency key, and gets the answer of its first run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from pgs_neo4j import config
from pgs_neo4j.config import SHAPING, Knobs, PGSConfig
from pgs_neo4j.engine.catalog import StoredGraph
from pgs_neo4j.engine.core import Core
from pgs_neo4j.errors import UnknownPartitionError, UsageError
from pgs_neo4j.events import OnEvent, Warned
from pgs_neo4j.export.wording import EXTRACTIVE
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.spending import Account, recording_unbegun
from pgs_neo4j.model import Answer, GraphMapping, Plan, Routing, SearchMode, Sweep, Synthesis
from pgs_neo4j.pgs import pipeline, plan
from pgs_neo4j.pgs.answering.layered import LayeredAnswer, layered_search
from pgs_neo4j.pgs.checking.citing import read_cited_texts
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.partitioning.drift import may_have_changed
from pgs_neo4j.pgs.partitioning.kept_settings import ChosenSettings
from pgs_neo4j.pgs.request import Request
from pgs_neo4j.pgs.route import route_question
from pgs_neo4j.pgs.runs import answers, runs
from pgs_neo4j.pgs.runs.runs import StoredRun, find_run_by_key
from pgs_neo4j.pgs.runs.session import Read
from pgs_neo4j.pgs.sweeping import sweep
from pgs_neo4j.pgs.sweeping.order import SweepTools, new_gate, record_nothing, without_centroid
from pgs_neo4j.pgs.synthesis.reply import SynthesisOrder, SynthesisTools
from pgs_neo4j.pgs.synthesis.write import write_synthesis
from pgs_neo4j.pgs.waves import order_sweeps


async def execute(core: Core, request: Request, on_event: OnEvent | None) -> Answer:
    """Run the whole pipeline; see ``PGS.execute``."""
    core = await core.opened(request.graph)
    order = await _make_identified_order(core, request)
    tools = core.run_tools(order, on_event)
    async with recording_unbegun(core.db, tools.calls, run_account(core, order)):
        return await _answer_request(order, tools)


async def find_repeated(core: Core, request: Request) -> StoredRun | None:
    """Return the run that a request with a key would repeat; see ``PGS.runs.repeated``."""
    core = await core.opened(request.graph)
    order = await _make_identified_order(core, request)
    return await find_run_by_key(
        core.db, order.graph, request.session, request.idempotency_key, order.identity
    )


async def plan_question(core: Core, request: Request, on_event: OnEvent | None) -> Plan:
    """Predict what a question would read and cost; see ``PGS.plan``."""
    core = await core.opened(request.graph)
    order = await _make_identified_order(core, request)
    async with _open_routing(core, order, on_event) as (tools, embedding_calls):
        planned = await plan.plan_run(order, tools)
    return plan.add_routing_cost(planned, embedding_calls.spent())


async def search(
    core: Core,
    request: Request,
    on_event: OnEvent | None,
    top_k: int,
    search_mode: SearchMode | None,
) -> LayeredAnswer:
    """Answer from the best-matching nodes, then sweep; see ``PGS.layered_search``."""
    core = await core.opened(request.graph)
    if request.idempotency_key is not None:
        raise UsageError("a layered search is not repeated by a key; leave out idempotency_key")
    order = await _make_identified_order(core, request)
    tools = core.run_tools(order, on_event)
    async with recording_unbegun(core.db, tools.calls, run_account(core, order)):
        return await layered_search(order, tools, top_k, search_mode)


async def resume(core: Core, run: str, on_event: OnEvent | None, knobs: Knobs) -> Answer:
    """Resume a run; see ``PGS.resume``."""
    core = await core.opened_for_run(run)
    stored = await runs.read(core.db, run)
    graph = await core.graph(stored.graph)
    if stored.status == "complete":
        return await answers.load(core.db, stored)
    if "search" in stored.request:
        from pgs_neo4j.engine.searching import Searcher

        return await Searcher(core).resume(stored, on_event, knobs)
    run_config = config.restored(stored.properties["config"], knobs)
    order = _restore_order(stored, graph.mapping, run_config)
    return await pipeline.execute(order, core.run_tools(order, on_event), stored)


async def route(core: Core, request: Request) -> Routing:
    """Route a question; see ``PGS.route``."""
    core = await core.opened(request.graph)
    stored = await core.graph(request.graph)
    order = _make_run_order(core, request, stored)
    current = await core.current(stored, centroids=False)
    outdated = await may_have_changed(core.db, current.generation)
    current = replace(current, outdated=outdated)
    async with _open_routing(core, order, None) as (tools, _):
        return await route_question(order, tools, current, current.partitions)


async def sweep_partition(
    core: Core, request: Request, partition_id: int, on_event: OnEvent | None
) -> Sweep:
    """Sweep one partition; see ``PGS.sweep_partition``."""
    core = await core.opened(request.graph)
    stored = await core.graph(request.graph)
    current = await core.current(stored, centroids=False)
    by_id = {part.id: part for part in current.partitions}
    if partition_id not in by_id:
        raise UnknownPartitionError(
            f"graph {stored.name} has no partition {partition_id}; "
            f"its partitions are 1 to {len(by_id)}"
        )
    order = _make_run_order(core, request, stored)
    chosen = [by_id[partition_id]]
    (sweep_order,) = await order_sweeps(core.db, order, current, chosen, Read({}))
    account = Account(task="sweep", graph=stored.name, model=core.sweep_llm.name)
    async with core.spending(account, order.config, on_event) as calls:
        tools = SweepTools(
            db=core.db,
            llm=core.sweep_llm,
            calls=calls,
            replies=None,
            on_event=on_event or core.on_event,
            record=record_nothing,
            gate=new_gate(),
        )
        return (await sweep.sweep_partition(sweep_order, tools)).sweep


async def synthesize_sweeps(
    core: Core, request: Request, sweeps: Sequence[Sweep], on_event: OnEvent | None
) -> Synthesis:
    """Synthesize sweeps; see ``PGS.synthesize``."""
    core = await core.opened(request.graph)
    stored = await core.graph(request.graph)
    current = await core.current(stored, centroids=False)
    if any(sweep.generation != current.generation.id for sweep in sweeps):
        raise UsageError(
            "the sweeps belong to an older generation, in which their aliases name other nodes; "
            "sweep the current partitions instead"
        )
    emit = on_event or core.on_event
    knobs = core.knobs(request.knobs)
    texts = None
    if core.synthesis_llm.name != EXTRACTIVE:
        texts = await read_cited_texts(core.db, stored.mapping, current.partitions, sweeps)
    order = SynthesisOrder(
        question=request.question,
        sweeps=tuple(sweeps),
        partitions=tuple(map(without_centroid, current.partitions)),
        config=knobs,
        texts=texts,
    )
    account = Account(task="synthesis", graph=stored.name, model=core.synthesis_llm.name)
    async with core.spending(account, knobs, on_event) as calls:
        tools = SynthesisTools(
            llm=core.synthesis_llm,
            calls=calls,
            replies=None,
            on_event=emit,
            warn=lambda message: emit(Warned(message)),
            check_deleted=core.db.check_deleted,
        )
        return await write_synthesis(order, tools)


def run_account(core: Core, order: RunOrder) -> Account:
    """Return the account for costs of a run that has no record yet."""
    names = dict.fromkeys((core.sweep_llm.name, core.synthesis_llm.name))
    return Account(
        task="run", graph=order.graph, session=order.request.session, model=" / ".join(names)
    )


def _describe_request(order: RunOrder, models: list[str]) -> dict[str, Any]:
    """Return the data by which a repeated request is recognized.

    Two requests are the same if question, mode, options, models, and shaping knobs are the same.
    """
    return {
        "question": order.request.question,
        "mode": order.request.mode,
        "full_sweep": order.request.full_sweep,
        "structure_only": order.request.structure_only,
        "models": models,
        "knobs": order.config.model_dump(mode="json", include=set(SHAPING)),
    }


async def _answer_request(order: RunOrder, tools: RunTools) -> Answer:
    """Answer a request, or return the stored answer of the run with its idempotency key.

    A run with that key but without an answer is resumed. Raises IdempotencyError when the key
    belongs to another request, BusyError while that run is still running, and the errors of
    ``execute``.
    """
    request = order.request
    stored = await find_run_by_key(
        tools.db, order.graph, request.session, request.idempotency_key, order.identity
    )
    if stored is not None and stored.properties.get("details"):
        return await answers.load(tools.db, stored)
    return await pipeline.execute(order, tools, stored)


def _restore_order(stored: StoredRun, mapping: GraphMapping, config: PGSConfig) -> RunOrder:
    """Return the order of a stored run, with the settings of ``config``."""
    properties = stored.properties
    request = Request(
        question=properties["question"],
        graph=stored.graph,
        mode=properties["mode"],
        session=stored.session,
        full_sweep=stored.request["full_sweep"],
        structure_only=stored.request["structure_only"],
    )
    return RunOrder(
        request=request,
        graph=stored.graph,
        mapping=mapping,
        config=config,
        search_answer=properties.get("known"),
        identity=stored.request,
        chosen=ChosenSettings(),
    )


@asynccontextmanager
async def _open_routing(
    core: Core, order: RunOrder, on_event: OnEvent | None
) -> AsyncIterator[tuple[RunTools, Calls]]:
    """Yield the tools for planning or routing without a run, and the calls of the embedder.

    The embedder's costs are recorded as the cost of a plan, and do not count against the limits of
    a run.
    """
    embedder = core.space(order.mapping).embedder
    account = Account(
        task="plan",
        graph=order.graph,
        session=order.request.session,
        model=getattr(embedder, "name", ""),
    )
    most = core.question_cost([embedder], order.request.question)
    async with core.spending(account, core.config, on_event, most=most) as calls:
        tools = core.run_tools(order, on_event)
        yield replace(tools, space=core.space(order.mapping, calls)), calls


async def _make_identified_order(core: Core, request: Request) -> RunOrder:
    """Return the order of a run, with the identity by which a repeated request is recognized."""
    order = _make_run_order(core, request, await core.graph(request.graph))
    models = [core.sweep_llm.name, core.synthesis_llm.name]
    return replace(order, identity=_describe_request(order, models))


def _make_run_order(core: Core, request: Request, stored: StoredGraph) -> RunOrder:
    return RunOrder(
        request=request,
        graph=stored.name,
        mapping=stored.mapping,
        config=core.knobs(request.knobs),
        chosen=core.choose_settings(request.knobs),
        redefined=stored.redefined,
    )
