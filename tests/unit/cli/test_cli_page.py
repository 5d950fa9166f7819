"""What stands below an answer, at 80 columns, for people."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pgs_neo4j.cli.pages import page
from pgs_neo4j.export import wording
from pgs_neo4j.model import Answer, Citation, Coverage, Sweep, SweepStatus, Synthesis, Usage
from tests.fakes.commands import on_one_line

Make = Callable[..., Answer]
Whole = tuple[Sweep, ...]


def test_sources_name_each_node_once_and_flag_what_is_invalid(answer_of: Make) -> None:
    assert page.sources(answer_of().synthesis.citations, 80) == [
        "Sources",
        "  P1:n2  Second",
        "  P1:n9  (invalid: no report cites this node)",
    ]
    assert page.sources((), 80) == ["Sources", "  The answer cites no node."]
    searched = [Citation(alias="n3", partition=0), Citation(alias="n3", partition=4)]
    assert [line.split()[0] for line in page.sources(searched, 80)[1:]] == ["n3", "P4:n3"]


def test_a_hostile_title_stays_on_its_line(hostile: str) -> None:
    cited = Citation(alias="n1", partition=1, node="k", title=hostile + "\nP1:n2  forged " * 20)
    lines = page.sources([cited], 60)
    assert len(lines) == 2
    assert "\x1b" not in lines[1]
    assert len(lines[1]) <= 60
    assert lines[1].endswith("…")


def summary(answer: Answer) -> str:
    lines = page.summary(answer, 80)
    assert all(len(line) <= 80 for line in lines)
    return on_one_line(" ".join(lines))


def test_summary_tells_coverage_cost_time_and_trouble(answer_of: Make) -> None:
    text = summary(answer_of())
    assert "40 of 160 nodes, all with text (25 %) in session default so far" in text
    assert "2 partitions swept; 40 nodes read; 1 failed" in text
    assert "3 calls, 1,200 tokens in, 80 out" in text
    assert "3.2 s (partition 0.1 s, route 0.0 s, sweep 2.0 s, synthesize 1.0 s)" in text
    assert "P2: 0 of 30 nodes were read" in text
    assert "Cost 0.0042" in summary(answer_of(cost=0.0042))
    for free in (None, 0.0):
        assert "Cost" not in summary(answer_of(cost=free))


def test_summary_of_a_stopped_run_says_why_and_says_it_once(answer_of: Make) -> None:
    why = "the limit of 3 calls (max_calls) does not cover it"
    sweeps = (
        Sweep(partition=1, status=SweepStatus.ACCEPTED, nodes=40, read=((0, 40),)),
        Sweep(partition=3, status=SweepStatus.PARTIAL, nodes=9, read=((0, 5),), wave=2),
        Sweep(partition=2, status=SweepStatus.UNREAD, nodes=30, errors=(why,), wave=2),
    )
    warnings = (f"1 of 3 partitions were left unread: {why}", "mind")
    found = answer_of(stopped=why, sweeps=sweeps, warnings=warnings)
    text = summary(found)
    assert "r1: 2 partitions swept, 1 of them because of flags; 45 nodes read; " in text
    assert "read; 1 read in part, 1 not read" in text
    assert text.count(why) == 1
    assert "Stopped the limit of 3 calls" in text
    assert "Note mind" in text


def test_summary_counts_what_came_from_the_cache_and_what_condensed(answer_of: Make) -> None:
    made = Synthesis(text="x", reductions=2)
    used = Usage(calls=6, input_tokens=12, output_tokens=3, cached=10)
    text = summary(answer_of(synthesis=made, usage=used))
    assert "6 calls, 10 from the cache, 12 tokens in, 3 out; 2 of the calls condensed" in text
    estimated = Usage(calls=1, input_tokens=5, estimated=True)
    assert "about 5 tokens in" in summary(answer_of(usage=estimated))


def test_a_run_without_a_synthesis_says_so_instead_of_sources(answer_of: Make) -> None:
    lines = page.below(answer_of(synthesis=Synthesis(text="", complete=False)), 80)
    assert lines[:2] == ["", wording.NO_SYNTHESIS]
    assert "Sources" not in lines


def test_above_a_stored_answer_stands_what_was_asked(answer_of: Make, hostile: str) -> None:
    lines = page.above(answer_of(question=hostile), "2026-01-02T03:04:05.6Z", "partial", 80)
    assert lines[1:] == [
        "Asked     2026-01-02 03:04 UTC, graph papers, mode full",
        "Status    partial",
    ]
    assert lines[0].isprintable()


@pytest.mark.parametrize(
    ("model", "said"), [("extractive", True), ("gpt-5-mini / extractive", True), ("gpt-5", False)]
)
def test_summary_says_when_no_model_was_used(answer_of: Make, model: str, said: bool) -> None:
    text = summary(answer_of(model=model))
    assert ("No language model was used" in text) is said
    assert ("PGS_LLM_BASE_URL" in text) is said


@pytest.mark.parametrize(
    ("read", "advice"),
    [
        (40, ["To read the 120 nodes that are left:",
              "  pgs ask --continue --graph papers --session 'my line'"]),
        (159, ["To read the 1 node that is left:",
               "  pgs ask --continue --graph papers --session 'my line'"]),
        (160, ["The whole graph has been read. To list the questions of this session:",
               "  pgs sessions show 'my line' --graph papers"]),
    ],
)  # fmt: skip
def test_advice_is_a_command_that_continues(
    answer_of: Make, whole: Whole, read: int, advice: list[str]
) -> None:
    covered = Coverage(partitions_swept=3, partitions_total=4, nodes_read=read, nodes_total=160)
    assert page.advice(answer_of(session="my line", sweeps=whole, coverage=covered)) == [
        "",
        *advice,
    ]


def test_advice_on_a_partial_or_stopped_answer_is_to_resume(answer_of: Make) -> None:
    assert page.advice(answer_of()) == ["", "To complete this answer:", "  pgs resume r1"]
    found = page.advice(answer_of(stopped="2 calls (max_calls)"))
    assert found[1:3] == ["To continue this run:", "  pgs resume r1"]
    assert "limits start over" in found[3]


def test_below_separates_its_parts(answer_of: Make) -> None:
    searched = [Citation(alias="n1", partition=0, node="k", title="Near")]
    lines = page.below(answer_of(), 80, searched)
    assert lines[:3] == ["", "Sources", "  n1     Near"]
    assert lines.count("") == 2
