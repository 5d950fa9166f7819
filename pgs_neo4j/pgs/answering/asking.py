"""One short call that helps a search: kept by content, and bounded like the answer."""

from __future__ import annotations

from pgs_neo4j.llm.calls.receipts import without_receipts
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Prompt
from pgs_neo4j.pgs.answering.order import AnswerOrder
from pgs_neo4j.pgs.answering.record import AnswerRecord
from pgs_neo4j.pgs.order import RunTools
from pgs_neo4j.pgs.synthesis.order import SynthesisTools, find_or_claim
from pgs_neo4j.pgs.synthesis.reply import keep_reply
from pgs_neo4j.pgs.synthesis.write import UNPROVEN


async def ask_once(
    order: AnswerOrder,
    tools: RunTools,
    record: AnswerRecord,
    llm: LLM,
    prompt: Prompt,
    room: int,
) -> str:
    """Return the reply of a model, from the cache or bought once.

    ``room`` is the most tokens of the reply. Raises ModelError, StoppedError, and DatabaseError.
    """
    effort = order.run.config.sweep_effort
    connected = SynthesisTools(
        llm=llm,
        calls=tools.calls,
        replies=record.replies,
        on_event=tools.log.on_event,
        warn=tools.log.warn,
        check_deleted=tools.db.check_deleted,
    )
    reply = await find_or_claim(connected, record.replies.key(llm, prompt, room, effort))
    if reply is not None:
        tools.calls.count_cached(reply)
    else:
        reply = await tools.calls.complete(llm, prompt, room=room, effort=effort, last=True)
        await keep_reply(connected, prompt, reply, room=room, effort=effort)
    # A prompt for keywords holds the question alone, of which no server cuts anything.
    if prompt.task == "rerank" and not reply.proven:
        tools.log.warn(UNPROVEN.format(call="the call that orders the nodes"))
    return without_receipts(reply.text, prompt.receipts)
