"""Scored sentences: what is read, what is quoted, and what repeats become."""

from pgs_neo4j.llm.extractive.scoring import best, name_of, read
from pgs_neo4j.model import Prompt, PromptNode

IRON = PromptNode("n1", "Iron", "Iron melts at a temperature of 1538 degrees Celsius.")
SAME = PromptNode("n2", "Iron again", "Iron melts at a temperature of 1538 degrees Celsius.")
GOLD = PromptNode("n3", "Gold", "Gold shines brightly in the light of the morning sun.")


def prompt_of(*nodes: PromptNode, question: str = "At which temperature does iron melt?") -> Prompt:
    return Prompt(task="sweep", system="", user="", question=question, nodes=nodes)


def test_every_node_is_counted_once_per_word() -> None:
    reading = read(prompt_of(IRON, SAME, GOLD))
    assert reading.holders("iron") == 2
    assert reading.holders("gold") == 1
    assert reading.degrees == (0, 0, 0)
    assert reading.central == []


def test_sentences_that_say_the_same_share_a_quote() -> None:
    [quoted] = best(read(prompt_of(IRON, SAME, GOLD)), 5)
    assert quoted.aliases == ("n1", "n2")
    assert quoted.line.endswith("[n1, n2]")


def test_no_more_sentences_than_the_limit_are_quoted() -> None:
    towns = ("Athens burns oil", "Berlin digs deep mines", "Cairo trades gold")
    nodes = [PromptNode(f"n{i}", "", f"{town} where iron melts.") for i, town in enumerate(towns)]
    assert len(best(read(prompt_of(*nodes)), 9)) > 2
    assert len(best(read(prompt_of(*nodes)), 2)) == 2


def test_a_node_is_named_by_its_title_else_by_its_text() -> None:
    assert name_of(IRON) == "Iron"
    assert name_of(PromptNode("n1", "", "Some text.")) == "Some text."
    assert name_of(PromptNode("n1", "", "")) == "untitled"
