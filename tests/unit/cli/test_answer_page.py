"""What stands below an answer, at 80 columns, for people: sources, figures, and checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pgs_neo4j.cli.pages import answer_page
from pgs_neo4j.cli.pages.text import columns
from pgs_neo4j.export import wording
from pgs_neo4j.model import (
    AbsenceStatus,
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Citation,
    Convergence,
    Coverage,
    Crosscheck,
    Sighting,
    Stated,
    Sweep,
    SweepStatus,
    Synthesis,
    Usage,
)
from pgs_neo4j.pgs.synthesis.prompt import parse_synthesis
from pgs_neo4j.pgs.synthesis.verdicts import judged
from tests.fakes.commands import on_one_line

Make = Callable[..., Answer]
Whole = tuple[Sweep, ...]


def test_sources_name_each_node_once_and_flag_what_is_invalid(
    answer_of: Make, hostile: str
) -> None:
    assert answer_page.sources(answer_of().synthesis.citations, 80) == [
        "Sources",
        "  P1:n2  Second (doi/2)",
        "  P1:n9  (invalid: no report cites this node)",
    ]
    assert answer_page.sources((), 80) == ["Sources", "  The answer cites no node."]
    searched = [Citation(alias="n3", partition=0), Citation(alias="n3", partition=4)]
    assert [line.split()[0] for line in answer_page.sources(searched, 80)[1:]] == ["n3", "P4:n3"]
    cited = Citation(alias="n1", partition=1, node="k", title=hostile + "\nP1:n2  forged " * 20)
    _, line = answer_page.sources([cited], 60)
    assert "\x1b" not in line
    assert len(line) <= 60
    assert line.endswith("… (k)")


def test_sources_keep_within_the_columns_of_wide_letters() -> None:
    wide = Citation(alias="節1", partition=1, node="x", title="東京都の図書館" * 10)
    narrow = Citation(alias="n2", partition=1, node="y", title="Owls")
    _, first, second = answer_page.sources([wide, narrow], 60)
    assert 58 <= columns(first) <= 60
    assert first.endswith("… (x)")
    assert columns(first.partition("東")[0]) == second.index("Owls")


@pytest.mark.parametrize(
    ("labels", "key", "room", "shown"),
    [
        (("Person",), "p-17", 80, "Ada (Person, p-17)"),
        (("Person", "Author"), "p-17", 80, "Ada (Person, Author, p-17)"),
        (("Person",), "Ada", 80, "Ada (Person)"),
        ((), "p-17", 80, "Ada (p-17)"),
        (("Person",), None, 80, "Ada (Person)"),
        (("L" * 30,), "p-17", 40, "Ada (p-17)"),
        # The database's own id is no key: cut to this width, it would lead nowhere.
        (("Person",), "4:27e53abd-21a8-40a1-88b5-a1c060e06138:8150", 120, "Ada (Person)"),
    ],
)
def test_sources_tell_nodes_of_one_title_apart_by_labels_and_key(
    labels: tuple[str, ...], key: str | None, room: int, shown: str
) -> None:
    cited = Citation(alias="n1", partition=2, node=key, title="Ada", labels=labels)
    assert answer_page.sources([cited], room) == ["Sources", f"  P2:n1  {shown}"]


def summary(answer: Answer) -> str:
    lines = answer_page.summary(answer, 80)
    assert all(len(line) <= 80 for line in lines)
    return on_one_line(" ".join(lines))


def test_summary_tells_coverage_calls_cost_time_and_trouble(answer_of: Make) -> None:
    text = summary(answer_of())
    assert "40 of 160 nodes, all with text (25 %) in session default so far" in text
    assert "2 partitions swept; 40 nodes read; 1 failed" in text
    assert "3 calls, 1,200 tokens in, 80 out" in text
    assert "3.2 s (partition 0.1 s, route 0.0 s, sweep 2.0 s, synthesize 1.0 s)" in text
    assert "P2: 0 of 30 nodes were read" in text
    assert "Cost 0.0042" in summary(answer_of(cost=0.0042))
    for free in (None, 0.0):
        assert "Cost" not in summary(answer_of(cost=free))
    made = Synthesis(text="x", reductions=2)
    used = Usage(calls=6, input_tokens=12, output_tokens=3, cached=10)
    text = summary(answer_of(synthesis=made, usage=used))
    assert "6 calls, 10 from the cache, 12 tokens in, 3 out; 2 of the calls condensed" in text
    estimated = Usage(calls=1, input_tokens=5, estimated=True)
    assert "about 5 tokens in" in summary(answer_of(usage=estimated))


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
    found = answer_page.advice(
        answer_of(session="my line", sweeps=whole, coverage=covered, own_coverage=covered)
    )
    assert found == ["", *advice]


def test_what_a_session_read_for_other_questions_is_not_read_for_this_one(
    answer_of: Make, whole: Whole
) -> None:
    session = Coverage(partitions_swept=4, partitions_total=4, nodes_read=160, nodes_total=160)
    own = Coverage(partitions_swept=1, partitions_total=4, nodes_read=36, nodes_total=160)
    answer = answer_of(question="who's there?", sweeps=whole, coverage=session, own_coverage=own)
    told = answer_page.advice(answer)
    assert "only 36 of 160 nodes for this answer" in told[1]
    assert answer_page.ALL_READ not in " ".join(told)
    assert told[2].endswith("""--full-sweep --graph papers 'who'"'"'s there?'""")


def test_advice_on_a_partial_or_stopped_answer_is_to_resume(answer_of: Make) -> None:
    assert answer_page.advice(answer_of()) == ["", "To complete this answer:", "  pgs resume r1"]
    found = answer_page.advice(answer_of(stopped="2 calls (max_calls)"))
    assert found[1:3] == ["To continue this run:", "  pgs resume r1"]
    assert "limits start over" in found[3]


def test_below_and_above_an_answer_stand_its_sources_and_what_was_asked(
    answer_of: Make, hostile: str
) -> None:
    searched = [Citation(alias="n1", partition=0, node="k", title="Near")]
    lines = answer_page.below(answer_of(), 80, searched)
    assert lines[:3] == ["", "Sources", "  n1     Near (k)"]
    assert lines.count("") == 2
    lines = answer_page.below(answer_of(synthesis=Synthesis(text="", complete=False)), 80)
    assert lines[:2] == ["", wording.NO_SYNTHESIS]
    assert "Sources" not in lines
    lines = answer_page.above(answer_of(question=hostile), "2026-01-02T03:04:05.6Z", "partial", 80)
    assert lines[1:] == [
        "Asked     2026-01-02 03:04 UTC, graph papers, mode full",
        "Status    partial",
    ]
    assert lines[0].isprintable()


def absence(status: AbsenceStatus, text: str = "none on x [n3]", **changed: Any) -> CheckedAbsence:
    given = {"reported": (Stated(2, 0, text),), "searched": 586, "terms": ("x",)}
    return CheckedAbsence(text=text, status=status, **given | changed)


def seen(partition: int, rank: int, *, read: bool) -> Sighting:
    return Sighting(partition=partition, rank=rank, node="k", title="t", read=read)


def told(answer_of: Make, width: int = 80, **met: Any) -> list[list[str]]:
    return answer_page.check_sections(answer_of(crosscheck=Crosscheck(**met)), width)


def joined(section: list[str]) -> str:
    return " ".join(" ".join(section).split())


def test_an_absence_says_who_reports_it_and_what_was_found(answer_of: Make) -> None:
    """The tests of the export have the other sentences."""
    found = absence(AbsenceStatus.ELSEWHERE, sightings=(seen(7, 11, read=False),), count=1)
    (section,) = told(answer_of, absences=(found,))
    assert section[0] == "Checked absences: 1 elsewhere"
    assert joined(section[1:]) == (
        "- “x”: reported missing by P2, but found in 1 node that was not read (P7:n12)."
    )
    assert told(answer_of) == []
    assert told(answer_of, absences=(absence(AbsenceStatus.UNCHECKED),)) == []
    many = tuple(
        absence(status, f"none on {status}{place}")
        for status in AbsenceStatus
        for place in range(5)
    )
    (section,) = told(answer_of, absences=many)
    assert section[0] == ("Checked absences: 5 confirmed, 5 elsewhere, 5 contradicted, 5 unchecked")
    assert sum(line.startswith("  - ") for line in section) == 6
    assert section[-1] == "  To see all of them: pgs export r1 --to answer.html"


def test_opportunities_name_both_sides_and_findings_that_meet_how_they_do(answer_of: Make) -> None:
    flag = ChasedFlag(
        source=1, place=0, text="they may know y [n2]", target=7, swept=True,
        absent=Stated(7, 1, "no y"),
    )  # fmt: skip
    plain = ChasedFlag(source=1, place=1, text="else", target=8, swept=True)
    said = tuple(Stated(partition, 0, f"finding {partition} [n1]") for partition in range(1, 7))
    cited = (Citation(alias="n4", partition=1), Citation(alias="n5", partition=2))
    met = (
        Convergence(kind="words", findings=said),
        Convergence(kind="neighbors", findings=said[:2], citations=cited),
    )
    chances, meeting = told(answer_of, flags=(flag, plain), convergences=met)
    assert chances[0] == "Opportunities"
    assert joined(chances[1:]) == (
        "- P1 → P7: they may know y [P1:n2] (P7 reports it missing: no y)"
    )
    text = joined(meeting)
    assert "- P1, P2, P3, P4, and 2 more say nearly the same: finding 1 [P1:n1]" in text
    assert (
        "- P1 and P2 cite connected nodes (P1:n4, P2:n5): finding 1 [P1:n1] / finding 2 [P2:n1]"
        in text
    )


def test_what_the_answer_states_is_not_told_again(answer_of: Make) -> None:
    gold = absence(AbsenceStatus.CONFIRMED, "No data on gold prices", terms=("gold", "prices"))
    iron = absence(AbsenceStatus.CONFIRMED, "No data on iron ores", terms=("iron", "ores"))
    said = tuple(Stated(part, 0, "ammonia harms young fish [n1]") for part in (1, 2))
    others = tuple(Stated(part, 1, "seagulls steal bread [n2]") for part in (1, 2))
    met = tuple(Convergence(kind="words", findings=one) for one in (said, others))
    text = (
        "## Absences\n- There is nothing on gold prices.\n\n## Convergences\n"
        "- Ammonia harms young fish, says each of them [P1:n1, P2:n1]."
    )
    synthesis = judged(parse_synthesis(text, {}), (gold, iron))
    assert "checked: confirmed" in synthesis.absences[0]
    checks = Crosscheck(absences=(gold, iron), convergences=met)
    missing, meeting = answer_page.check_sections(
        answer_of(crosscheck=checks, synthesis=synthesis), 80
    )
    assert missing[0] == "Checked absences: 2 confirmed; the answer states 1 of them"
    assert "iron" in joined(missing)
    assert "gold" not in joined(missing)
    assert "seagulls" in joined(meeting)
    assert "ammonia" not in joined(meeting)
    # An answer that says nothing of it leaves everything to the checks.
    silent = answer_of(crosscheck=checks, synthesis=judged(parse_synthesis("No.", {}), (gold,)))
    assert "gold" in str(answer_page.check_sections(silent, 80))
    assert "ammonia" in str(answer_page.check_sections(silent, 80))


@pytest.mark.parametrize("width", [40, 60, 80])
def test_long_and_hostile_texts_stay_in_their_lines(
    answer_of: Make, hostile: str, width: int
) -> None:
    text = f"{hostile} and a very long account of it" * 20
    met = {
        "absences": (absence(AbsenceStatus.CONFIRMED, text),),
        "flags": (
            ChasedFlag(
                source=1, place=0, text=text, target=2, swept=True, absent=Stated(2, 0, text)
            ),
        ),
        "convergences": (Convergence(kind="words", findings=(Stated(1, 0, text),)),),
    }
    for section in told(answer_of, width, **met):
        assert len(section) <= 1 + 3
        assert all(line.isprintable() and len(line) <= width for line in section)
