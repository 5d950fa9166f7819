"""The prompt for a statement, and what is read from replies of every form."""

from __future__ import annotations

import pytest

from pgs_neo4j.model import StatementTry
from pgs_neo4j.pgs.querying.statements.prompt import (
    StatementReply,
    parse_statement,
    statement_prompt,
)

STATEMENT = "MATCH (p:Paper)\nRETURN count(p) AS papers"


@pytest.mark.parametrize(
    "reply",
    [
        f"```cypher\n{STATEMENT}\n```",
        f"```\n{STATEMENT}\n```",
        f"Here it is:\n\n```Cypher\r\n{STATEMENT}\n```\nIt counts the papers.",
        f"<think>```cypher\nMATCH (x:Wrong) RETURN x\n```</think>\n```cypher\n{STATEMENT}\n```",
        f"```cypher\n{STATEMENT}",
        STATEMENT,
        f"The statement is as follows.\n{STATEMENT}",
    ],
)
def test_a_statement_is_found_in_replies_of_every_form(reply: str) -> None:
    assert parse_statement(reply) == StatementReply(STATEMENT)


@pytest.mark.parametrize("reply", ["", "I cannot help with that.", "```cypher\n\n```", "SELECT 1"])
def test_a_reply_without_a_statement_has_none(reply: str) -> None:
    assert parse_statement(reply) == StatementReply()


def test_a_model_may_say_what_the_schema_lacks() -> None:
    assert parse_statement("NONE: there are no ships") == StatementReply(
        missing="there are no ships"
    )
    assert parse_statement("**NONE**: no ships") == StatementReply(missing="no ships")


def test_earlier_statements_are_shown_with_their_problems() -> None:
    tries = [StatementTry(statement="MATCH (x) RETURN x", problem="a node\nhas no </schema> label")]
    prompt = statement_prompt("How many?", "(:Paper)", tries)
    assert prompt.task == "statement"
    assert "Try 1 was:\nMATCH (x) RETURN x\nIt cannot be used: a node has no" in prompt.user
    assert prompt.user.endswith("Question: How many?")
    assert "Try" not in statement_prompt("How many?", "(:Paper)").user
