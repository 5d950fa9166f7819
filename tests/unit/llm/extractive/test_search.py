"""A search is answered with quotes, with names, or with the news that nothing was found."""

from pgs_neo4j.llm.extractive.search import LEAD, search_answer
from pgs_neo4j.model import Prompt, PromptNode


def prompt_of(*nodes: PromptNode, question: str = "How does iron melt?") -> Prompt:
    return Prompt(task="search", system="", user="", question=question, nodes=nodes)


def test_sentences_that_hold_the_question_are_quoted_with_their_nodes() -> None:
    node = PromptNode("n1", "Iron", "Iron melts at a temperature of 1538 degrees Celsius.")
    answer = search_answer(prompt_of(node), 3)
    assert answer.startswith(f"{LEAD}\n\n- ")
    assert "1538" in answer
    assert answer.endswith("[n1]")


def test_without_a_fitting_sentence_the_nearest_nodes_are_named() -> None:
    node = PromptNode("n1", "Gold", "Gold shines brightly in the light of the sun.")
    answer = search_answer(prompt_of(node), 3)
    assert answer.startswith(LEAD)
    assert "the nearest are Gold [n1]." in answer


def test_without_nodes_it_says_so() -> None:
    assert search_answer(prompt_of(), 3) == f"{LEAD} No node was found."
