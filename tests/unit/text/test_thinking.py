"""Only thinking is thinking: drafts of every family of models go, and nothing else."""

from __future__ import annotations

import pytest

from pgs_neo4j.text.prompt_text import clean_text
from pgs_neo4j.text.thinking import MARKS, ThinkingFilter, strip_thinking

DRAFT = "Let me draft.\n\n## Findings\n- WRONGDRAFT [n1]\n"
ANSWER = "## Findings\n- iron <3 [n2], a[1] < b ◁ c\n"
FORMS = [
    *((begin, end) for begin, end in MARKS),
    ("[THINK]", "[/THINK]"),
    ("<Think>", "</THINK>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    (
        "<|start|>assistant<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>commentary<|message|>WRONGDRAFT<|end|>"
        "<|start|>assistant<|channel|>final<|message|>",
    ),
    ("<|channel|>commentary to=browser<|message|>", "<|channel|>final<|message|>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final <|constrain|>json<|message|>"),
    (
        "<|start|>assistant to=functions.find<|channel|>commentary<|message|>",
        "<|call|><|start|>assistant<|channel|> final<|message|>",
    ),
    ('<think type="deep">', "</think >"),
    ("< Thinking\n>", "</ thinking>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
]


def streamed(reply: str, size: int) -> str:
    """What a filter passes on of a reply that arrives in pieces of ``size`` characters."""
    filtering = ThinkingFilter()
    pieces = [filtering.pass_on(reply[i : i + size]) for i in range(0, len(reply), size)]
    return "".join([*pieces, filtering.end()])


@pytest.mark.parametrize(("begin", "end"), FORMS)
def test_a_draft_is_neither_in_the_reply_nor_in_its_stream(begin, end):
    for reply, said in (
        (f"{begin}{DRAFT}{end}\n\n{ANSWER}", ANSWER),
        (f"{begin}{DRAFT}{end}{ANSWER}{begin}{DRAFT}{end}{ANSWER}", ANSWER + ANSWER),
        (f"{begin}{DRAFT}", ""),
    ):
        assert strip_thinking(reply).lstrip() == said
        assert {streamed(reply, size) for size in (1, 3, 7, 1000)} == {said}


@pytest.mark.parametrize("end", [end for _, end in MARKS])
def test_thinking_whose_beginning_was_swallowed_ends_at_a_line_of_its_own(end):
    assert strip_thinking(f"{DRAFT}\n {end} \n\n{ANSWER}").lstrip() == ANSWER
    assert strip_thinking(f"they write {end} there") == f"they write {end} there"
    assert strip_thinking(f"a\n{end}\n") == f"a\n{end}\n"


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("<think>\nA <reflection>b</reflection> c <think>d</think> ", "</think>"),
        ("<thinking>", "</think>"),
        ("analysis<|message|>", "<|channel|>final<|message|>"),
        ("Here is my thought process: ", "Here is my response:"),
        ("Here are my reasoning steps:\n", "[BEGIN FINAL RESPONSE]\n"),
        ("<|start_thinking|>", "<|end_thinking|><|START_RESPONSE|>"),
        ("<think>", "</think>\n<answer>"),
        ("", "</think>"),
        ("Well.</think>\nMore.", "\n</think>\n"),
        ("", "\n[BEGIN FINAL RESPONSE]\n"),
    ],
)
def test_a_draft_between_odd_marks_is_not_in_the_reply(begin, end):
    assert strip_thinking(f"{begin}{DRAFT.strip()}{end}{ANSWER}").strip() == ANSWER.strip()


def test_marks_without_their_partners_take_linear_time():
    for reply in ("<think></thought>" * 20_000, "<think>" * 20_000 + "</think>" * 20_000):
        assert strip_thinking(reply) == ""


@pytest.mark.parametrize("first", ["analysis", "Here", "here is my", "< 3", "<|", "final"])
def test_a_stream_that_begins_like_a_draft_is_passed_on(first):
    assert {streamed(f"{first} of it", size) for size in (1, 2, 50)} == {f"{first} of it"}


def test_harmony_without_its_special_tokens():
    assert strip_thinking(f"analysisWe need it. {DRAFT}assistantfinal{ANSWER}") == ANSWER
    assert streamed(f"analysisWe need it. {DRAFT}assistantfinal{ANSWER}", 1) == ANSWER
    assert streamed(f"analysisWe need it. {DRAFT}", 1) == ""
    assert strip_thinking("analysis of assistantfinal") == "analysis of assistantfinal"


def test_the_end_of_a_message_is_no_text():
    assert strip_thinking("<|channel|>final<|message|>Iron.<|return|>") == "Iron."
    assert streamed("<|channel|>final<|message|>Iron.<|return|>", 4) == "Iron."


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("a", "a"),
        ("a<think>x</think>b<think>\ny</think>c", "abc"),
        ("a\n<think>x<think>y</think>b", "a\nb"),
        ("a\ud83d\ude00b", "a??b"),
        ("<thi\udc00nk>", "<thi?nk>"),
        ("\u0130<think>x</THINK>b", "\u0130b"),
    ],
)
def test_what_a_reply_says(reply, said):
    assert strip_thinking(reply) == said


@pytest.mark.parametrize("mark", [mark for pair in FORMS for mark in pair])
def test_text_of_a_graph_holds_no_mark(mark):
    text = clean_text(f"Iron {mark} ore")
    assert strip_thinking(text) == text
