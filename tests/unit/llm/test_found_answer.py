"""Answers of the extractive reader from the context of a search."""

from __future__ import annotations

from pgs_neo4j.llm.extractive.reader import found_answer
from pgs_neo4j.pgs.answering.context import answer_prompt, build_context
from pgs_neo4j.pgs.answering.reading import read_reply_text
from tests.unit.pgs.answering.test_context import found, node

QUESTION = "When did tea and zeppelins arrive?"


def test_it_quotes_what_was_shown_and_names_words_in_no_node() -> None:
    made = found(
        node(1, "Tea did arrive early. It was dear."), node(2, "Salt is old."), question=QUESTION
    )
    context = build_context(made, 2000)
    reading = read_reply_text(found_answer(answer_prompt(QUESTION, "hybrid", context), 5), context)
    assert "Tea did arrive early" in reading.answer
    assert all(finding.supported for finding in reading.findings)
    assert reading.missing == ("“zeppelins”",)


def test_without_a_matching_sentence_it_names_the_nearest_nodes_if_any() -> None:
    context = build_context(found(node(1, ""), question="Why so?"), 2000)
    text = found_answer(answer_prompt("Why so?", "hybrid", context), 5)
    assert "[n1]" in text
    assert text.endswith("## Not found\nNone.")
    context = build_context(found(question="Why so?"), 2000)
    reading = read_reply_text(found_answer(answer_prompt("Why so?", "hybrid", context), 5), context)
    assert (reading.findings, reading.missing, reading.citations) == ((), (), ())
