"""`pgs ask`: one question, read for, answered, and accounted for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgs_neo4j.cli.options import (
    CallsBound,
    ConcurrencyOption,
    CostBound,
    FlagSweepsOption,
    FractionOption,
    FullSweepOption,
    GraphOption,
    HedgeOption,
    JsonOption,
    KeyOption,
    LeastOption,
    MaxPartitionOption,
    MinCommunityOption,
    ModeOption,
    MostOption,
    NoCacheOption,
    QuestionArgument,
    QuietOption,
    SessionOption,
    SweepTokensOption,
    SynthesisTokensOption,
    ThresholdOption,
    TimeBound,
    TokensBound,
    TopKOption,
)
from pgs_neo4j.cli.progress.listen import run_progress
from pgs_neo4j.cli.run import run
from pgs_neo4j.errors import UsageError

if TYPE_CHECKING:
    from pgs_neo4j.cli.commands.questions.asking import Ask, Asked
    from pgs_neo4j.engine import PGS
    from pgs_neo4j.events import OnEvent


def ask(
    question: QuestionArgument,
    graph: GraphOption = None,
    mode: ModeOption = "full",
    session: SessionOption = "default",
    full_sweep: FullSweepOption = False,
    sweep_fraction: FractionOption = None,
    top_k: TopKOption = None,
    max_sweep_partitions: MostOption = None,
    min_sweep_partitions: LeastOption = None,
    threshold: ThresholdOption = None,
    max_flag_sweeps: FlagSweepsOption = None,
    max_concurrent_sweeps: ConcurrencyOption = None,
    sweep_max_tokens: SweepTokensOption = None,
    synthesis_max_tokens: SynthesisTokensOption = None,
    min_community_size: MinCommunityOption = None,
    target_partition_max: MaxPartitionOption = None,
    max_calls: CallsBound = None,
    max_tokens: TokensBound = None,
    max_cost: CostBound = None,
    timeout: TimeBound = None,
    no_cache: NoCacheOption = False,
    hedge: HedgeOption = False,
    idempotency_key: KeyOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Ask a graph a question.

    Partitions the graph, routes the question to the partitions that matter, sweeps each at full
    text, and synthesizes one cited answer. What was read counts in the session. A bound ends it
    early with what was read until then; 'pgs resume' goes on. 'pgs plan' tells the cost before.

    Exit codes: 0 done, 2 usage, 3 partial answer, or stopped by a bound before there was one,
    4 that key's run is still going on, 5 database, 6 model, 130 interrupted.

    \b
      pgs ask "Which results contradict each other?" --graph papers
      pgs ask "And what is missing?" --mode continue --max-calls 20
      pgs ask "Who supplies whom?" --json --quiet > answer.json
    """
    knobs = {
        "sweep_fraction": sweep_fraction,
        "max_sweep_partitions": max_sweep_partitions,
        "min_sweep_partitions": min_sweep_partitions,
        "partition_relevance_threshold": threshold,
        "max_flag_sweeps": max_flag_sweeps,
        "max_concurrent_sweeps": max_concurrent_sweeps,
        "sweep_max_tokens": sweep_max_tokens,
        "synthesis_max_tokens": synthesis_max_tokens,
        "min_community_size": min_community_size,
        "target_partition_max": target_partition_max,
        "max_calls": max_calls,
        "max_tokens": max_tokens,
        "max_cost": max_cost,
        "run_timeout_s": timeout,
        "cache": False if no_cache else None,
        "hedge": True if hedge else None,
    }
    asked: dict[str, Any] = {
        "graph": graph,
        "mode": mode,
        "session_id": session,
        "full_sweep": full_sweep,
    }
    if top_k is not None:
        asked["top_k"] = top_k
    if idempotency_key is not None:
        asked["idempotency_key"] = idempotency_key
    run(_ask(question, asked, knobs, as_json=as_json, quiet=quiet))


async def _ask(
    question: str, asked: dict[str, Any], knobs: dict[str, Any], *, as_json: bool, quiet: bool
) -> int:
    from pgs_neo4j.cli.commands.questions.asking import answered
    from pgs_neo4j.cli.connection import engine
    from pgs_neo4j.engine import check_question

    check_question(question)
    if "top_k" in asked and "idempotency_key" in asked:
        raise UsageError("an idempotency key does not hold with --top-k; leave one of them out")
    with run_progress(quiet=quiet) as shown:
        async with engine(shown, **knobs) as pgs:
            return await answered(pgs, asking(pgs, question, asked), shown, as_json=as_json)


def asking(pgs: PGS, question: str, asked: dict[str, Any]) -> Ask:
    """Asks ``question``, after a search where ``asked`` says so."""

    async def ask(on_event: OnEvent) -> Asked:
        if "top_k" not in asked:
            return await pgs.execute(question, **asked, on_event=on_event), None
        layered = await pgs.layered_search(question, **asked, on_event=on_event)
        return layered.answer, layered.search

    return ask
