"""`pgs plan`: what a question would read and cost, told before it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgs_neo4j.cli import output
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
from pgs_neo4j.cli.run import run

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS


def plan(
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
    """Show what a question would read and cost.

    No language model is asked. Give it the options that 'pgs ask' will have. Not in the figures:
    the search of --top-k, what --hedge asks twice, a run that a --timeout ends, and that an
    --idempotency-key may have its answer already. The graph is partitioned if it has to be.
    Passes whose reply is kept cost nothing. (An embedder that is a paid endpoint gives one vector.)

    \b
      pgs plan "Which results contradict each other?" --graph papers
      pgs plan "And what is missing?" --mode continue --max-cost 0.50
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
    del top_k, idempotency_key  # taken so that the words of 'pgs ask' can be used as they are
    asked = {"graph": graph, "mode": mode, "session_id": session, "full_sweep": full_sweep}
    run(_plan(question, asked, knobs, as_json=as_json, quiet=quiet))


async def _plan(
    question: str, asked: dict[str, Any], knobs: dict[str, Any], *, as_json: bool, quiet: bool
) -> None:
    from pgs_neo4j.cli.connection import engine
    from pgs_neo4j.cli.pages import as_json as json_of
    from pgs_neo4j.cli.progress.listen import progress
    from pgs_neo4j.engine import check_question

    check_question(question)
    with progress(quiet=quiet) as shown:
        async with engine(shown, **knobs) as pgs:
            found = await pgs.plan(question, **asked)
            missing = unpriced(pgs)
    if as_json:
        output.write_json(json_of.plan(found, missing))
        return
    from pgs_neo4j.cli.pages import plan_page, tables

    if found.sweeps:
        output.write_table(tables.plan(found, plan_page.shared_reason(found)))
        output.write_lines([""])
    output.write_lines(plan_page.below(found, missing, output.width()))


def unpriced(pgs: PGS) -> list[str]:
    """The models that cost something, nobody has said what."""
    models = {llm.name: llm for llm in (pgs.sweep_llm, pgs.synthesis_llm)}
    known = pgs.settings.models
    return [
        name
        for name, llm in models.items()
        if not getattr(llm, "free", False) and (name not in known or known[name].cost(1, 1) is None)
    ]
