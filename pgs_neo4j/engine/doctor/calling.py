"""Calls each model once, as a question would, and says what came back: ``pgs doctor --call``."""

from __future__ import annotations

from time import perf_counter

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.engine.doctor.check import Check, run_check
from pgs_neo4j.errors import ModelOutputError, PGSError
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.factory import create_llms
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Effort, Prompt
from pgs_neo4j.pgs.sweeping.report import SYSTEM, parse_report
from pgs_neo4j.text.shown import counted, money, one_line, seconds, used_tokens

ROOM = 2_000
"""Tokens of the reply at most; a model that thinks needs most of them."""
SHOWN = 120
"""Characters of a reply that is no report."""
QUESTION = "What is a lighthouse for?"
NODES = """\
Partition P1: 2 nodes. Keywords: lighthouse, ships.

<nodes>
[n1] Lighthouse | A lighthouse warns ships of rocks with a strong light.
[n2] Foghorn | A foghorn warns ships when the light of a lighthouse cannot be seen.
</nodes>"""
CALL_FIX = "read what the server says, then check its log, the model's name, and the key"
REPORT_FIX = (
    "sweeps need a model that keeps to four headings; use a larger one, or one that was tuned to "
    "follow instructions"
)


async def call_models(settings: Settings, config: PGSConfig) -> tuple[Check, ...]:
    """Ask each model for the report of two short nodes; the only checks that cost money.

    The limits of a run apply. Problems are reported, not raised.
    """
    if not settings.uses_models:
        return (Check("model call", "skipped", "no language model is configured"),)
    try:
        readers = create_llms(settings, config)
    except PGSError as error:
        return (Check("model call", "failed", str(error), CALL_FIX),)
    named: dict[LLM, tuple[str, Effort | None]] = {}
    for task, llm in readers.by_task.items():
        effort = config.sweep_effort if task == "sweep model" else config.synthesis_effort
        named.setdefault(llm, (f"{task} call", effort))
    if len(named) == 1:
        named = {readers.sweep: ("model call", config.sweep_effort)}
    try:
        calls = Calls.of(config, settings.models)
        return tuple(
            [
                await run_check(name, _call(name, llm, effort, config, calls), CALL_FIX)
                for llm, (name, effort) in named.items()
            ]
        )
    finally:
        await readers.close()


async def _call(
    name: str, llm: LLM, effort: Effort | None, config: PGSConfig, calls: Calls
) -> Check:
    user = f"{NODES}\n\nQuestion: {QUESTION}"
    prompt = Prompt(task="sweep", system=SYSTEM, user=user, question=QUESTION)
    before, cost_before, began = calls.usage, calls.budget.cost or 0.0, perf_counter()
    room = min(ROOM, config.sweep_max_tokens)
    reply = await calls.complete(llm, prompt, room=room, effort=effort, last=True)
    took = perf_counter() - began
    used = reply.usage
    pace = f", {used.output_tokens / took:,.0f} tokens per second" if took >= 1 else ""
    cost = calls.budget.cost
    tries = calls.usage.calls - before.calls
    again = f" after {counted(tries, 'try', 'tries')}" if tries > 1 else ""
    told = (
        f"{one_line(reply.model, 60)} replied in {seconds(took)}{again}, {used_tokens(used)}{pace}"
    )
    told += "; no price is set" if cost is None else f"; cost {money(cost - cost_before)}"
    problem = "the reply was cut off" if reply.truncated else _find_problem(reply.text)
    if not problem:
        return Check(name, "ok", f"{told}; its report is accepted")
    begins = one_line(reply.text, SHOWN) or "nothing"
    return Check(name, "warning", f"{told}; {problem}; it begins: {begins}", REPORT_FIX)


def _find_problem(text: str) -> str:
    """Return why a reply is no report; empty if it is one."""
    try:
        parse_report(text, 1, {})
    except ModelOutputError as error:
        return str(error)
    return ""
