"""Answers in the mode ``cypher``: a model's statement is checked, read, shown, and cited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import ModelUnavailableError
from pgs_neo4j.export import to_html, to_json, to_markdown
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.scripted import Reply, ScriptedLLM
from pgs_neo4j.model import Answer, Prompt, StatementRows
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import engine_on_papers
from tests.graphs import checksum

QUESTION = "How many papers are there on each topic?"
STATEMENT = (
    "MATCH (p:Paper) RETURN p.topic AS topic, count(p) AS papers ORDER BY papers DESC, topic"
)
REPLY = """\
## Answer
Topic 1 has 40 papers [R2], and topic 0 has 999 [R1].

## Findings
- Topic 1 has 40 papers [r2].
- There is a row nobody saw [R77].

## Not found
None.
"""


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """Four topics of papers, without partitions."""
    async with engine_on_papers(endpoint, db) as opened:
        yield opened


def script(pgs: PGS, statements: Sequence[str], reply: str = REPLY) -> ScriptedLLM:
    """Let the model write these statements, one after another, and then this answer."""
    waiting = list(statements)

    def answer(prompt: Prompt) -> Reply:
        if prompt.task == "statement":
            return f"```cypher\n{waiting.pop(0)}\n```"
        return reply

    model = pgs.synthesis_llm
    assert isinstance(model, ScriptedLLM)
    model._answer = answer
    return model


async def ask(pgs: PGS, question: str = QUESTION, **given: Any) -> Answer:
    found = await pgs.search(question, graph="papers", mode="cypher", answer=True, **given)
    assert found.answer is not None
    return found.answer


def rows_of(answer: Answer) -> StatementRows:
    assert answer.shown is not None
    assert answer.shown.rows is not None
    return answer.shown.rows


async def test_a_statement_is_read_shown_cited_and_kept(pgs: PGS, db: Database) -> None:
    before = await checksum(db)
    model = script(pgs, [STATEMENT])
    answer = await ask(pgs)
    assert await checksum(db) == before
    rows = rows_of(answer)
    assert (rows.columns, rows.writer, rows.tries) == (("topic", "papers"), model.name, ())
    assert len(rows.rows) == 4
    written, answered = model.prompts
    assert (written.task, answered.task) == ("statement", "answer")
    assert STATEMENT.split(" RETURN")[0] in answered.user
    assert f"[R1] topic: {rows.rows[0][0]}; papers: {rows.rows[0][1]}" in answered.user
    valid = {one.alias: one.valid for one in answer.synthesis.citations}
    assert valid == {"R1": True, "R2": True, "R77": False}
    assert any("999" in one.text for one in answer.in_doubt)
    stored = await pgs.runs.answer(answer.run)
    assert rows_of(stored) == rows
    document = await pgs.runs.document(answer.run)
    for text in (to_json(document), to_markdown(document), to_html(document)):
        assert "MATCH (p:Paper)" in text


async def test_what_is_refused_or_wrong_goes_back_to_the_model(pgs: PGS) -> None:
    wrong = ["MATCH (p:Paper) DELETE p", "MATCH (p:Paper RETURN p", STATEMENT]
    model = script(pgs, wrong)
    answer = await ask(pgs)
    rows = rows_of(answer)
    assert [one.statement for one in rows.tries] == wrong[:2]
    assert "DELETE" in rows.tries[0].problem
    assert model.prompts[1].user.count("It cannot be used:") == 1
    assert model.prompts[2].user.count("It cannot be used:") == 2
    assert len(rows.rows) == 4


async def test_after_three_statements_the_last_problem_is_told(pgs: PGS) -> None:
    model = script(pgs, ["MATCH (p:Paper) SET p.x = 1"] * 3)
    answer = await ask(pgs)
    assert answer.shown is not None
    assert answer.shown.rows is None
    assert "SET writes" in answer.text
    assert [prompt.task for prompt in model.prompts] == ["statement"] * 3


async def test_an_empty_result_says_which_part_is_empty(pgs: PGS) -> None:
    script(pgs, ["MATCH (p:Paper) WHERE p.topic = 1 AND p.topic = 99 RETURN p.doi"])
    answer = await ask(pgs, "Which papers are on topic 99?")
    assert "p.topic = 99" in answer.text
    assert rows_of(answer).rows == ()
    assert rows_of(answer).empty


async def test_a_model_may_say_that_the_schema_lacks_it(pgs: PGS) -> None:
    model = script(pgs, [])
    model._answer = lambda prompt: "NONE: there are no ships"
    answer = await ask(pgs, "How many ships are there?")
    assert "there are no ships" in answer.text
    assert len(model.prompts) == 1


async def test_wrong_names_go_back_with_the_nearest_right_ones(pgs: PGS) -> None:
    wrong = ["MATCH (p:Papr) RETURN p.topic", "MATCH (p:Paper) RETURN p.topics", STATEMENT]
    script(pgs, wrong)
    tries = rows_of(await ask(pgs)).tries
    assert [one.statement for one in tries] == wrong[:2]
    assert "Papr" in tries[0].problem
    assert "Paper" in tries[0].problem.replace("Papr", "")
    assert "topics" in tries[1].problem
    assert "topic" in tries[1].problem.replace("topics", "")


async def test_a_name_that_the_schema_lacks_and_the_database_has_is_no_mistake(
    pgs: PGS, db: Database
) -> None:
    """A schema is read from samples, and reused for a minute."""
    script(pgs, [STATEMENT])
    await ask(pgs)
    await alter(db, "MATCH (p:Paper {topic: 2}) WITH p LIMIT 1 SET p.rarity = 7")
    script(pgs, ["MATCH (p:Paper) WHERE p.rarity = 7 RETURN p.topic AS topic"])
    rows = rows_of(await ask(pgs, "Which topic is rare?"))
    assert (rows.rows, rows.tries) == (((2,),), ())


async def test_a_misspelled_value_is_linked_and_the_change_is_told(pgs: PGS, db: Database) -> None:
    await alter(db, "MATCH (p:Paper {topic: 2}) WITH p LIMIT 1 SET p.venue = 'Kiln Letters'")
    script(pgs, ["MATCH (p:Paper) WHERE p.venue = 'kiln leters' RETURN p.topic AS topic"])
    answer = await ask(pgs, "Which topics have papers in kiln leters?")
    rows = rows_of(answer)
    assert rows.rows == ((2,),)
    assert "'Kiln Letters'" in rows.statement
    assert [(one.written, one.linked) for one in rows.linked] == [("kiln leters", "Kiln Letters")]
    document = await pgs.runs.document(answer.run)
    assert 'was read as "Kiln Letters"' in to_json(document) or rows.linked
    assert "was read as" in to_markdown(document)


async def test_without_a_model_the_words_of_a_question_make_the_statement(pgs: PGS) -> None:
    found = await pgs.search("How many papers are there?", graph="papers", mode="cypher")
    assert found.rows is not None
    assert (found.rows.rows, found.rows.writer) == (((160,),), "")
    unknown = await pgs.search("How many ships are there?", graph="papers", mode="cypher")
    assert unknown.rows is None
    assert "needs a model" in unknown.reason


async def test_auto_sends_to_cypher_what_rows_answer(pgs: PGS) -> None:
    found = await pgs.search("How many papers are there?", graph="papers", mode="auto")
    assert (found.mode, found.reason) == ("cypher", "cypher: the question asks for a count")
    plain = await pgs.search("Who is Ann?", graph="papers", mode="auto")
    assert (plain.mode, plain.rows) == ("auto", None)
    barred = await pgs.search("How many papers?", graph="papers", mode="auto", cypher=False)
    assert (barred.mode, barred.rows) == ("auto", None)
    script(pgs, [STATEMENT])
    answered = await pgs.search(QUESTION, graph="papers", mode="auto", answer=True)
    assert answered.answer is not None
    assert answered.answer.mode == "cypher"
    assert rows_of(answered.answer).writer == "scripted"


async def test_the_extractive_reader_lists_the_rows(pgs: PGS) -> None:
    pgs.synthesis_llm = ExtractiveLLM()
    answer = await ask(pgs, "How many papers are there?")
    assert "160 [R1]" in answer.text
    assert [one.alias for one in answer.synthesis.citations] == ["R1"]


async def test_a_plan_bounds_what_an_answer_costs(endpoint: Endpoint, db: Database) -> None:
    prices = {"scripted": {"input_price": 1.0, "output_price": 10.0}}
    async with engine_on_papers(endpoint, db, models=prices) as pgs:
        planned = await pgs.search.plan(QUESTION, graph="papers", mode="cypher")
        assert planned.calls == 2
        script(pgs, ["MATCH (p) RETURN p", "MATCH (p:Paper) DELETE p", STATEMENT])
        answer = await ask(pgs)
        assert answer.cost is not None
        assert planned.low is not None
        assert planned.high is not None
        assert planned.low <= answer.cost <= planned.high
        again = await ask(pgs, idempotency_key="k")
        assert (await ask(pgs, idempotency_key="k")).run == again.run


async def test_a_run_that_ended_early_resumes_without_paying_twice(pgs: PGS) -> None:
    model = script(pgs, [STATEMENT])
    replies = model._answer

    def fail_once(prompt: Prompt) -> Reply:
        if prompt.task == "answer":
            raise ModelUnavailableError("the endpoint is down")
        return replies(prompt)  # type: ignore[return-value]

    model._answer = fail_once
    with pytest.raises(ModelUnavailableError):
        await ask(pgs)
    (stored,) = await pgs.runs("papers")
    model._answer = replies
    answer = await pgs.resume(stored.id)
    assert len(rows_of(answer).rows) == 4
    assert [prompt.task for prompt in model.prompts].count("statement") == 1
