"""What stands below an answer, at 80 columns, for people."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pgs_neo4j.cli import page
from pgs_neo4j.model import Answer, Citation, Coverage, Usage

Make = Callable[..., Answer]


def test_sources_name_each_node_once_and_flag_what_is_invalid(answer_of: Make) -> None:
    assert page.sources(answer_of().synthesis.citations, 80) == [
        "Sources",
        "  P1:n2  Second",
        "  P1:n9  (invalid: no report cites such a node)",
    ]


def test_sources_of_an_answer_that_cites_nothing() -> None:
    assert page.sources((), 80) == ["Sources", "  none: the answer cites no node"]


def test_a_hostile_title_stays_on_its_line(hostile: str) -> None:
    cited = Citation(alias="n1", partition=1, node="k", title=hostile + "\nP1:n2  forged " * 20)
    lines = page.sources([cited], 60)
    assert len(lines) == 2
    assert "\x1b" not in lines[1]
    assert len(lines[1]) <= 60
    assert lines[1].endswith("…")


def test_a_search_citation_has_no_partition() -> None:
    assert page.name_of(Citation(alias="n3", partition=0)) == "n3"
    assert page.name_of(Citation(alias="n3", partition=4)) == "P4:n3"


def test_summary_tells_coverage_cost_time_and_trouble(answer_of: Make) -> None:
    text = "\n".join(page.summary(answer_of(), 80))
    assert "1 of 4 partitions, 40 of 160 nodes (25 %) in session default" in text
    assert "2 partitions swept, 40 nodes read, 1 failed" in text
    assert "3 calls, 1,200 tokens in, 80 out" in text
    assert "3.2 s (partition 0.1 s, route 0.0 s, sweep 2.0 s, synthesize 1.0 s)" in text
    assert "P2: 0 of 30 nodes were read" in text
    assert all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.parametrize(
    ("model", "said"), [("extractive", True), ("gpt-5-mini / extractive", True), ("gpt-5", False)]
)
def test_summary_says_when_no_model_was_used(answer_of: Make, model: str, said: bool) -> None:
    text = " ".join(" ".join(page.summary(answer_of(model=model), 80)).split())
    assert ("No language model was used" in text) is said
    assert ("PGS_LLM_BASE_URL" in text) is said


def test_estimated_tokens_are_called_so() -> None:
    assert "about 5 tokens in" in page.usage(Usage(calls=1, input_tokens=5, estimated=True))


def test_advice_is_a_command_that_continues(answer_of: Make) -> None:
    found = page.advice(answer_of(question="who's there?", session="my line"))
    assert found[1] == "Try next, to read the 120 nodes left:"
    assert found[2] == (
        "  pgs ask --session 'my line' --graph papers --mode continue 'who'\"'\"'s there?'"
    )


def test_advice_does_not_repeat_a_long_question(answer_of: Make) -> None:
    found = page.advice(answer_of(question="long " * 40))
    assert found[2] == '  pgs ask --graph papers --mode continue "(your question)"'


def test_advice_when_everything_is_read(answer_of: Make) -> None:
    whole = Coverage(partitions_swept=4, partitions_total=4, nodes_read=160, nodes_total=160)
    found = page.advice(answer_of(coverage=whole))
    assert found[-1] == "  pgs sessions show default --graph papers"


def test_below_separates_its_parts(answer_of: Make) -> None:
    searched = [Citation(alias="n1", partition=0, node="k", title="Near")]
    lines = page.below(answer_of(), 80, searched)
    assert lines[:3] == ["", "Sources", "  n1     Near"]
    assert lines.count("") == 2
