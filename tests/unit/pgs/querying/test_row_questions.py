"""Questions that rows answer, and questions that only texts answer."""

from __future__ import annotations

import pytest

from pgs_neo4j.pgs.querying.row_questions import find_asked_rows


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How many papers are there?", "a count"),
        ("What is the number of users?", "a count"),
        ("How are Ann and Bob connected?", "what lies between two names"),
        ("What is the shortest path from Ann to Bob?", "what lies between two names"),
        ("Which author has the most papers?", "a ranking"),
        ("Top 5 movies by revenue", "a ranking"),
        ("What is the average rating for each genre?", "a figure of a group"),
        ("Which papers have no abstract?", "a list by a condition"),
        ("Which users have more than three posts?", "a list by a condition"),
        ("List all genres", "a list by a condition"),
    ],
)
def test_questions_that_rows_answer(question: str, asked: str) -> None:
    assert find_asked_rows(question) == asked


@pytest.mark.parametrize(
    "question",
    [
        "Who is Ann Smith?",
        "What is missing?",
        "What investigations have been made of the flow about a body?",
        "What criteria have been developed for the evaluation of retrieval systems?",
        "What is the difference between cats and dogs?",
        "What do the papers say about sleep?",
        "List all articles dealing with data types in Pascal and Ada",
        "The number of databases has increased over the years, " * 6,
        "",
    ],
)
def test_questions_that_texts_answer(question: str) -> None:
    assert find_asked_rows(question) == ""
