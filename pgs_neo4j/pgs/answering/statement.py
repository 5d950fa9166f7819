"""Asks a model for a Cypher statement, and reads its rows, in the mode ``cypher``.

A statement that is refused, fails, or names what does not exist goes back to the model, with the
reason. Each call is cached, and the budget of the answer limits it.
"""

from __future__ import annotations

from dataclasses import replace

from pgs_neo4j.errors import ModelError, StoppedError
from pgs_neo4j.llm.protocol import is_free
from pgs_neo4j.model import Found, StatementRows, StatementTry
from pgs_neo4j.pgs.answering.model_help import ask_once
from pgs_neo4j.pgs.answering.record import AnswerOrder, AnswerRecord
from pgs_neo4j.pgs.order import RunTools
from pgs_neo4j.pgs.querying.schema.text import prune_schema, write_schema
from pgs_neo4j.pgs.querying.statements.attempt import try_statement
from pgs_neo4j.pgs.querying.statements.prompt import ROOM, TRIES, parse_statement, statement_prompt

NO_STATEMENT = "the reply has no Cypher statement; write one in a block of code"


def asks_for_statement(order: AnswerOrder, tools: RunTools) -> bool:
    """Return whether a model writes the statement. Free readers are not asked."""
    return order.found.mode == "cypher" and not is_free(tools.synthesis_llm)


async def read_model_statement(
    order: AnswerOrder, tools: RunTools, record: AnswerRecord, found: Found
) -> Found:
    """Return the results with the rows of a statement that the model writes, in three tries.

    If no model is asked, its calls fail, a limit prevents them, or none of its statements can be
    used, the results keep the rows of the statement that was made from the question's words, if
    there is one. Raises DatabaseError.
    """
    if not asks_for_statement(order, tools):
        return found
    question, llm = order.run.request.question, tools.synthesis_llm
    index = await tools.schema.get(tools.db)
    shown = write_schema(prune_schema(index, question))
    tries: list[StatementTry] = []
    for _ in range(TRIES):
        prompt = statement_prompt(question, shown, tries)
        try:
            reply = parse_statement(await ask_once(order, tools, record, llm, prompt, ROOM))
        except (ModelError, StoppedError) as error:
            tools.log.warn(f"the model wrote no statement: {error}")
            return found
        if reply.missing:
            return replace(found, rows=None, reason=f"the model says that {reply.missing}")
        if not reply.statement:
            tries.append(StatementTry(statement="", problem=NO_STATEMENT))
            continue
        read = await try_statement(tools.db, index.schema, reply.statement)
        if isinstance(read, StatementRows):
            return replace(found, rows=replace(read, tries=tuple(tries), writer=llm.name))
        tries.append(read)
    failure = _describe_failure(tries)
    tools.log.warn(failure)
    return found if found.rows else replace(found, reason=failure)


def _describe_failure(tries: list[StatementTry]) -> str:
    last = tries[-1]
    return f"none of {len(tries)} statements of the model can be used; of the last: {last.problem}"
