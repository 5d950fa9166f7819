"""Asks the model to answer from the results of a search, and checks its reply."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import (
    BudgetError,
    ModelError,
    ModelOutputError,
    PromptCutError,
    PromptTooLongError,
    StoppedError,
    UsageError,
)
from pgs_neo4j.events import TextStreamed
from pgs_neo4j.export.wording import EXTRACTIVE
from pgs_neo4j.llm.calls.receipts import receipt_characters
from pgs_neo4j.llm.protocol import LLM, is_free
from pgs_neo4j.model import CheckedAbsence, Completion, Found, GraphMapping, Prompt, Stated
from pgs_neo4j.pgs.answering.context import LEAST_TOKENS, Context, answer_prompt, build_context
from pgs_neo4j.pgs.answering.reading import (
    NOT_FOUND,
    SECTIONS,
    ReadReply,
    SectionGate,
    make_doubting,
    read_reply_text,
    strike_reply,
)
from pgs_neo4j.pgs.answering.record import AnswerOrder, AnswerRecord
from pgs_neo4j.pgs.answering.rows import describe_empty, describe_rows
from pgs_neo4j.pgs.checking.absences import AbsenceGroup, check_absences
from pgs_neo4j.pgs.order import RunTools
from pgs_neo4j.pgs.partitioning.result import Partitioning
from pgs_neo4j.pgs.sweeping.order import without_centroid
from pgs_neo4j.pgs.sweeping.strict import ask_again
from pgs_neo4j.pgs.synthesis.prompt import prompt_tokens, reply_tokens
from pgs_neo4j.pgs.synthesis.reply import CheckedStream, SynthesisTools, keep_reply, read_reply
from pgs_neo4j.pgs.synthesis.statements import (
    Repeats,
    StatementFilter,
    doubted_sentences,
    find_echoes,
    find_echoes_of,
)
from pgs_neo4j.pgs.synthesis.verdicts import VerdictFilter
from pgs_neo4j.pgs.synthesis.write import STRUCK, TRIES, UNPROVEN, WITHDRAWN
from pgs_neo4j.search.lookup import look_up
from pgs_neo4j.search.lookup_order import LookupOrder
from pgs_neo4j.text.claims.marking import Doubting
from pgs_neo4j.text.gist import search_terms
from pgs_neo4j.text.matching import SearchResult, SearchTerms
from pgs_neo4j.text.thinking import strip_thinking
from pgs_neo4j.text.tokens import estimate

NOTHING = "Nothing in the graph matches the question, so no model was asked to answer it."
NOTHING_KNOWN = (
    "Nothing was found that matches the question, so no model was asked to answer it. The "
    "database has changed since the graph was partitioned."
)
NO_PARTITIONS = "the graph has no partitions, so what was not found could not be looked for"


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """A parsed and checked reply.

    In ``text``, each bullet on what was not found ends with the result of its check.
    ``completion`` is None if no model was asked.
    """

    read: ReadReply
    text: str
    absences: tuple[CheckedAbsence, ...]
    completion: Completion | None


def fit_prompt(order: AnswerOrder, tools: RunTools) -> tuple[Context, Prompt]:
    """Return the context within all limits, and the prompt with it.

    Raises BudgetError if the limits are too low. Raises UsageError for the extractive reader in the
    mode ``bypass``, because it has no knowledge of its own.
    """
    found, question = order.found, order.run.request.question
    if found.mode == "bypass" and tools.synthesis_llm.name == EXTRACTIVE:
        raise UsageError(
            "the mode bypass needs a language model, because the extractive reader knows nothing; "
            "set OPENAI_API_KEY, or PGS_LLM_BASE_URL and PGS_SYNTHESIS_MODEL"
        )
    empty = Context("", {}, {}, 0)
    frame = answer_prompt(question, found.mode, empty)
    try:
        most = prompt_tokens(tools.calls, tools.synthesis_llm, order.run.config)
    except BudgetError:
        most = 0
    room, coded = order.max_context_tokens, tools.calls.asks_receipts(tools.synthesis_llm)
    if most is not None:
        codes = receipt_characters(room) // 2 if coded else 0
        room = min(room, most - estimate(frame.system) - estimate(frame.user) - codes)
    if room < LEAST_TOKENS:
        raise BudgetError(
            "the limit leaves no room for an answer; raise it, or search without --answer"
        )
    context = empty if found.mode == "bypass" else build_context(found, room)
    return context, answer_prompt(question, found.mode, context, with_receipts=coded)


def check_prices(tools: RunTools, helpers: Sequence[LLM] = ()) -> None:
    """Raise ConfigError if there is a limit on the cost and a model has no price.

    ``helpers`` are the models that name keywords and order nodes.
    """
    models = [tools.synthesis_llm, *helpers]
    tools.calls.budget.check({llm.name: is_free(llm) for llm in models})


def is_empty(order: AnswerOrder) -> bool:
    """Return whether a search found nothing, so that no model is asked."""
    found = order.found
    anything = found.items or found.facts or found.units or found.findings or _has_rows(found)
    return found.mode != "bypass" and not anything


def _has_rows(found: Found) -> bool:
    return found.rows is not None and bool(found.rows.rows)


async def ask_within_limits(
    order: AnswerOrder, tools: RunTools, record: AnswerRecord
) -> tuple[Context, CheckedReply]:
    """Return the context that the model was given, and its checked reply.

    If the prompt is too long for the model, or its server cuts it off, the request is repeated with
    a context of half the length. Raises the errors of ``ask_and_check``.
    """
    context, prompt = fit_prompt(order, tools)
    for _ in range(TRIES - 1):
        try:
            return context, await ask_and_check(order, tools, record, context, prompt)
        except PromptTooLongError as error:
            too_long = error
        half = context.tokens // 2
        if half < LEAST_TOKENS:
            raise too_long
        try:
            context, prompt = fit_prompt(replace(order, max_context_tokens=half), tools)
        except BudgetError:
            raise too_long from None
        tools.log.warn(
            f"pgs asks the model again for an answer, from fewer texts, because {too_long}"
        )
    return context, await ask_and_check(order, tools, record, context, prompt)


async def ask_and_check(
    order: AnswerOrder, tools: RunTools, record: AnswerRecord, context: Context, prompt: Prompt
) -> CheckedReply:
    """Return the checked reply to a prompt, streamed as events.

    Everything that the reply calls not found is looked up in the graph. If the search found
    nothing, no model is asked. Raises ModelError, StoppedError, and DatabaseError.
    """
    if is_empty(order):
        nothing = _say_nothing(order.found)
        tools.log.on_event(TextStreamed(nothing))
        return CheckedReply(read_reply_text(nothing, context), nothing, (), None)
    rows = order.found.rows
    if rows is not None and context.rows and tools.synthesis_llm.name == EXTRACTIVE:
        told = describe_rows(rows)
        tools.log.on_event(TextStreamed(told))
        return CheckedReply(read_reply_text(told, context), told, (), None)
    doubting = None
    if context.text and tools.synthesis_llm.name != EXTRACTIVE:
        doubting = make_doubting(order.run.request.question, context)
    repeats = find_echoes_of(tools.synthesis_llm, prompt)
    strict = doubting is not None and order.run.config.strict
    completion = await _complete(order, tools, record, prompt, doubting, repeats, stream=not strict)
    read = read_reply_text(completion.text, context, doubting, repeats)
    if strict and (failed := doubted_sentences(read.text)):
        again = ask_again(prompt, failed)
        first = read, completion
        read, completion = await _request_second_reply(order, tools, record, context, again, first)
        read = strike_reply(read, context)
    absences = await _look_for_missing(order, tools, record, context, read)
    verdicts = VerdictFilter(absences, NOT_FOUND, SECTIONS)
    text = verdicts.pass_on(read.text) + verdicts.end()
    if held := text if strict else text[len(_text_before_missing(text)) :]:
        await CheckedStream(tools.log.on_event, tools.db.check_deleted).finish(held)
    return CheckedReply(read, text, absences, completion)


def _say_nothing(found: Found) -> str:
    if found.mode == "cypher":
        return describe_empty(found.rows, found.reason)
    return NOTHING_KNOWN if found.changed else NOTHING


async def _request_second_reply(
    order: AnswerOrder,
    tools: RunTools,
    record: AnswerRecord,
    context: Context,
    prompt: Prompt,
    first: tuple[ReadReply, Completion],
) -> tuple[ReadReply, Completion]:
    """Request a second reply, and return it unless it is worse than the first.

    It is worse if it has more sentences in doubt, or if only the second was cut off. The returned
    usage covers both calls.
    """
    doubting, repeats = make_doubting(order.run.request.question, context), find_echoes(prompt)
    try:
        completion = await _complete(order, tools, record, prompt, doubting, repeats, stream=False)
    except (ModelError, StoppedError) as error:
        tools.log.warn(STRUCK.format(call="the answer", error=error))
        return first
    read = read_reply_text(completion.text, context, doubting, repeats)
    before, now = (len(doubted_sentences(one.text)) for one in (first[0], read))
    worse = now > before or (completion.truncated and not first[1].truncated)
    read, chosen = first if worse else (read, completion)
    return read, replace(chosen, usage=first[1].usage + completion.usage)


async def _complete(
    order: AnswerOrder,
    tools: RunTools,
    record: AnswerRecord,
    prompt: Prompt,
    doubting: Doubting | None,
    repeats: Repeats | None,
    *,
    stream: bool,
) -> Completion:
    """Return the model's reply, and stream it if ``stream`` is set.

    The stream ends before the section "Not found". In it, sentences in doubt are marked, and
    repeated instructions are left out.
    """
    gate, on_event = SectionGate(), tools.log.on_event
    statements = StatementFilter(doubting, NOT_FOUND, SECTIONS, repeats)
    checked = CheckedStream(on_event, tools.db.check_deleted)

    async def stream_piece(text: str) -> None:
        if stream:
            await checked.send(statements.pass_on(gate.pass_on(text)))

    llm, config = tools.synthesis_llm, order.run.config
    room = reply_tokens(tools.calls, llm, config, prompt)
    effort = config.synthesis_effort
    connected = SynthesisTools.of_run(tools, llm, record.replies)
    try:
        reply = await read_reply(connected, prompt, stream_piece, room=room, effort=effort)
    except PromptCutError:
        if checked.sent:
            on_event(TextStreamed(WITHDRAWN))
        raise
    rest = gate.end()
    rest = statements.pass_on(rest) + statements.end()
    if stream:
        await checked.finish(rest)
    if not strip_thinking(reply.text).strip():
        raise ModelOutputError(
            f"the model {llm.name} returned an empty answer; ask again, or name another "
            "PGS_SYNTHESIS_MODEL"
        )
    await keep_reply(connected, prompt, reply, room=room, effort=effort)
    if not reply.proven:
        tools.log.warn(UNPROVEN.format(call="the answer"))
    if reply.truncated:
        tools.log.warn(f"the answer was cut off at {room} tokens; raise synthesis_max_tokens")
    return reply


def _text_before_missing(text: str) -> str:
    gate = SectionGate()
    return gate.pass_on(text) + gate.end()


async def _look_for_missing(
    order: AnswerOrder, tools: RunTools, record: AnswerRecord, context: Context, read: ReadReply
) -> tuple[CheckedAbsence, ...]:
    """Search the whole graph for everything that a reply calls not found."""
    if not read.missing:
        return ()
    if record.partitioning is None:
        make = f"'pgs partition --graph {order.run.graph}'"
        tools.log.warn(f"{NO_PARTITIONS}; make them with {make}")
    return await check_missing(
        tools.db,
        order.run.mapping,
        record.partitioning,
        read.missing,
        [item.id for item in context.nodes.values()],
    )


async def check_missing(
    db: Database,
    mapping: GraphMapping,
    partitioning: Partitioning | None,
    missing: Sequence[str],
    shown: Iterable[str],
) -> tuple[CheckedAbsence, ...]:
    """Search all texts of the graph for each bullet of ``missing``. Raises DatabaseError.

    ``shown`` are the element ids of the nodes that the prompt showed; a bullet is contradicted if
    one of them contains its words. Without partitions, no bullet can be checked.
    """
    groups = [AbsenceGroup((Stated(0, place, text),)) for place, text in enumerate(missing)]
    if partitioning is None or not missing:
        return check_absences(groups, {}, {})
    generation = partitioning.generation
    order = LookupOrder(
        mapping=mapping,
        generation=generation.id,
        partitions=tuple(map(without_centroid, partitioning.partitions)),
        # Texts may have changed since the partitions were made, so their index proves no absence.
        outdated=True,
    )
    found = await look_up(db, order, [search_terms(text) for text in missing])
    return check_absences(groups, found, _shown_ranks(found, frozenset(shown)))


def _shown_ranks(
    found: Mapping[SearchTerms, SearchResult], shown: frozenset[str]
) -> dict[int, frozenset[int]]:
    """Return, by partition, the ranks of shown nodes that contain words of a bullet."""
    ranks: dict[int, set[int]] = defaultdict(set)
    for result in found.values():
        for hit in result.hits:
            if hit.element_id in shown:
                ranks[hit.partition].add(hit.rank)
    return {partition: frozenset(own) for partition, own in ranks.items()}
