"""Checks of the embedder, the reranker, and the language models.

For ``pgs doctor --call``, each language model is also called once, as a question would call it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from time import perf_counter

from pgs_neo4j import config as configuration
from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.engine.doctor import Check, run_check
from pgs_neo4j.errors import ModelOutputError, PGSError
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.context import Contexts
from pgs_neo4j.llm.embedders.reading import describe_text_limits
from pgs_neo4j.llm.factory import create_embedder, create_llms, create_relevance_model
from pgs_neo4j.llm.openai.recognizing import Probed
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Effort, Prompt
from pgs_neo4j.pgs.sweeping.pack import pass_size
from pgs_neo4j.pgs.sweeping.report import SYSTEM, parse_report
from pgs_neo4j.text.shown import counted, money, one_line, seconds, used_tokens

TIMEOUT_S = 30.0
NAMED = 8  # maximum models of an endpoint to name in a fix; similar names come first
ENDPOINT_FIX = (
    "check PGS_LLM_BASE_URL and PGS_LLM_API_KEY, or use no model: PGS_LLM_PROVIDER=extractive"
)
RERANK_FIX = "check PGS_RERANK_BASE_URL, PGS_RERANK_MODEL, and the key for it"
DESCRIPTIONS = {
    "none": "off; every partition is a candidate for every question",
    "stored": "a question uses the stored vectors of nodes that share its words",
}
UNSET = (
    "not set: hashing; if a graph has stored vectors, a question uses those of nodes that "
    "share its words"
)
ROOM = 2_000
"""Maximum tokens of the reply; a thinking model uses most of them to think."""
SHOWN = 120
"""Maximum characters to show of a reply that is not a report."""
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


async def examine_embedder(settings: Settings, config: PGSConfig) -> tuple[Check, int | None]:
    """Check the embedder; also return the length of its vectors.

    The length is None if it is unknown, or if stored vectors are never compared with the
    embedder's. An endpoint embeds one word. Without ``--call``, this is the only call of the
    examination that may cost anything.
    """
    name = settings.embedder
    if name is None:
        return Check("embedder", "ok", UNSET), None
    if name in DESCRIPTIONS:
        return Check("embedder", "ok", DESCRIPTIONS[name]), None
    if name == "sentence-transformers" and find_spec("sentence_transformers") is None:
        fix = "pip install 'pgs-neo4j[sentence-transformers]', or set another PGS_EMBEDDER"
        return Check("embedder", "failed", "the package is not installed", fix), None
    try:
        embedder = create_embedder(settings, _shorten_timeout(config), name)
        assert embedder is not None
        try:
            dimensions = embedder.dimensions
            if name == "openai":
                dimensions = (await embedder.embed(["word"])).shape[1]
            limits = await describe_text_limits([embedder])
        finally:
            await embedder.close()
    except PGSError as error:
        return Check("embedder", "failed", str(error), _advise_embedder(name)), None
    size = f"vectors of {dimensions}" if dimensions else "loaded at first use"
    # Hashing reads the texts itself, so its vectors are never compared with stored ones.
    comparable = None if name == "hashing" else dimensions
    reads = "".join(f"; it reads {text}" for _, text in limits)
    return Check("embedder", "ok", f"{embedder.name}, {size}{reads}"), comparable


async def examine_reranker(settings: Settings, config: PGSConfig) -> tuple[Check, ...]:
    """Check the model that orders search results, if one is configured.

    Its server is asked only how much of a text the model reads, which costs nothing.
    """
    try:
        reranker = create_relevance_model(settings, _shorten_timeout(config))
    except PGSError as error:
        return (Check("reranker", "failed", str(error), RERANK_FIX),)
    if reranker is None:
        return ()
    try:
        limits = await describe_text_limits([reranker])
    finally:
        await reranker.close()
    return tuple(Check("reranker", "ok", f"{name}; it reads {text}") for name, text in limits)


def _advise_embedder(name: str) -> str:
    if name == "openai":
        return (
            "check PGS_EMBEDDING_MODEL, PGS_LLM_BASE_URL and PGS_LLM_API_KEY, or set "
            "PGS_EMBEDDER=hashing, which needs neither"
        )
    return "correct PGS_EMBEDDING_DIMENSIONS or PGS_EMBEDDING_MODEL, or set another PGS_EMBEDDER"


def sweep_pass_size(settings: Settings, config: PGSConfig) -> float:
    """Return the estimated tokens of the longest prompt of a sweep."""
    tokens = config.max_pass_tokens
    if settings.uses_models:
        contexts = Contexts(settings.models)
        tokens = contexts.input_room(settings.sweep_model, tokens, config.sweep_max_tokens)
    return pass_size(config.max_pass_characters, tokens)


async def examine_models(settings: Settings, config: PGSConfig) -> tuple[Check, ...]:
    """Check the model of each task; a model used for several tasks is checked once."""
    if not settings.uses_models:
        detail = "extractive: no language model; answers consist of sentences of the graph"
        return (Check("model", "ok", detail),)
    try:
        readers = create_llms(settings, _shorten_timeout(config))
    except PGSError as error:
        return (Check("model", "failed", str(error), ENDPOINT_FIX),)
    named: dict[LLM, str] = {}
    for task, llm in readers.by_task.items():
        named.setdefault(llm, task)
    if len(named) == 1:
        named = {readers.sweep: "model"}
    try:
        return tuple(
            [
                await run_check(name, _probe_model(name, llm, settings.models), ENDPOINT_FIX)
                for llm, name in named.items()
                if isinstance(llm, Probed)
            ]
        )
    finally:
        await readers.close()


async def _probe_model(name: str, llm: Probed, models: Mapping[str, ModelEntry]) -> Check:
    result = await llm.probe()
    if result.listed is False:
        variable = f"PGS_{name.replace(' ', '_').upper()}" if " " in name else "PGS_SWEEP_MODEL"
        more = f", and {len(result.models) - NAMED:,} more" if len(result.models) > NAMED else ""
        named = f": {', '.join(result.models[:NAMED])}{more}" if result.models else ""
        fix = f"set {variable} to a model that it lists{named}"
        return Check(name, "warning", result.text, fix)
    contexts = Contexts(models)
    await contexts.ask(llm)
    known = "".join(f"; its context: {text}" for _, text in contexts.describe((llm,)))
    advice = contexts.advise((llm,))
    if advice:
        return Check(name, "warning", f"{result.text}{known}", advice[0])
    return Check(name, "ok", f"{result.text}{known}")


def _shorten_timeout(config: PGSConfig) -> PGSConfig:
    timeout_s = min(config.model_timeout_s, TIMEOUT_S)
    return configuration.with_overrides(config, {"model_timeout_s": timeout_s})


async def call_models(settings: Settings, config: PGSConfig) -> tuple[Check, ...]:
    """Ask each model for a report on two short nodes, which costs money.

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
                await run_check(name, _call_model(name, llm, effort, config, calls), CALL_FIX)
                for llm, (name, effort) in named.items()
            ]
        )
    finally:
        await readers.close()


async def _call_model(
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
    detail = (
        f"{one_line(reply.model, 60)} replied in {seconds(took)}{again}, {used_tokens(used)}{pace}"
    )
    detail += "; no price is set" if cost is None else f"; cost {money(cost - cost_before)}"
    problem = "the reply was cut off" if reply.truncated else _find_problem(reply.text)
    if not problem:
        return Check(name, "ok", f"{detail}; its report is accepted")
    begins = one_line(reply.text, SHOWN) or "nothing"
    return Check(name, "warning", f"{detail}; {problem}; it begins: {begins}", REPORT_FIX)


def _find_problem(text: str) -> str:
    """Return why a reply is not a valid report; empty if it is valid."""
    try:
        parse_report(text, 1, {})
    except ModelOutputError as error:
        return str(error)
    return ""
