from __future__ import annotations

import re

from pgs_neo4j.llm.extractive.synthesis import synthesis
from pgs_neo4j.model import Absence, Citation, Finding, Flag, Prompt, PromptReport, Report


def finding(partition: int, text: str, *aliases: str, valid: bool = True) -> Finding:
    cited = tuple(Citation(alias=alias, partition=partition, valid=valid) for alias in aliases)
    return Finding(text=text, citations=cited)


def shown(report: Report) -> PromptReport:
    return PromptReport(f"P{report.partition}", ("k",), report, "")


ONE = Report(
    partition=1,
    findings=(
        finding(1, "net.loop: The event loop polls sockets under a deadline. [n1]", "n1"),
        finding(1, "A priority queue orders all pending timers by their due date. [n2]", "n2"),
    ),
    flags=(
        Flag(text="its digest names “sockets”", target=2),
        Flag(text="its digest names “colors”", target=7),
        Flag(text="its digest names “unicorns”", target=3),
    ),
    absences=(Absence(text="“unicorns”: no mention in the 9 nodes."),),
)
TWO = Report(
    partition=2,
    findings=(
        finding(2, "Sockets block until the peer answers. [n4, n5]", "n4", "n5"),
        finding(2, "A priority queue serves the scheduler. [n6]", "n6"),
        finding(2, "An invented source says so. [n999]", "n999", valid=False),
    ),
    absences=(Absence(text="“unicorns”: no mention."), Absence(text="“deadline”: no mention.")),
)
THREE = Report(partition=3, absences=(Absence(text="“unicorns”: no mention here."),))
QUESTION = "How do event loops treat sockets, deadlines and unicorns?"


def parts(*reports: Report, question: str = QUESTION, bullets: int = 8) -> dict[str, list[str]]:
    prompt = Prompt(
        task="synthesis",
        system="",
        user="",
        question=question,
        reports=tuple(shown(report) for report in reports),
    )
    found = re.split(r"^## (.+)\n", synthesis(prompt, bullets), flags=re.MULTILINE)
    return {
        title: body.strip().splitlines()
        for title, body in zip(found[1::2], found[2::2], strict=True)
    }


def absent(text: str, *partitions: int) -> list[Report]:
    return [Report(partition=p, absences=(Absence(text=text),)) for p in partitions]


def test_reports_become_the_sections_of_the_contract() -> None:
    made = parts(ONE, TWO, THREE)
    assert list(made) == ["Thesis", "Connections", "Absences", "Convergences"]
    [thesis] = made["Thesis"]
    assert thesis.startswith("Extracted without a language model")
    assert "net.loop: The event loop polls sockets under a deadline. [P1:n1]" in thesis
    assert "[P2:n4] [P2:n5]" in thesis
    assert "of 5 findings in 3 partitions" in thesis
    # Flags are chased to what their target says.
    assert made["Connections"] == [
        "- P1 and P2 meet in “sockets”: net.loop: The event loop polls sockets under a deadline. "
        "[P1:n1] — Sockets block until the peer answers. [P2:n4] [P2:n5]",
        "- P1 points to P7 for “colors”; P7 was not read.",
        "- P1 points to P3 for “unicorns”, but P3 reports it as absent: a place to look further.",
    ]
    # What another partition found after all is left out.
    assert made["Absences"] == ["- “unicorns”: absent from all 3 partitions."]
    [line] = made["Convergences"]
    assert line.startswith("- “priority queue” comes up independently in P1, P2: ")
    assert "[P1:n2]" in line
    assert "[P2:n6]" in line
    assert "n999" not in str(made)  # its citation is invalid
    assert len(parts(ONE, TWO, THREE, bullets=1)["Connections"]) == 1


def test_absences_are_counted_by_their_text_and_name_where_it_is_found() -> None:
    assert parts(ONE, *absent("“deadline”: none.", 4, 5, 6))["Absences"][1] == (
        "- “deadline”: absent from 3 of 4 partitions; but see [P1:n1]."
    )
    assert parts(*absent("No data on field trials.", 1, 2))["Absences"] == [
        "- “No data on field trials.”: absent from all 2 partitions."
    ]


def test_convergences_begin_with_claims_that_say_the_same() -> None:
    twin = "Crossing symmetry bounds every operator dimension sharply."
    other = "Crossing symmetry bounds each operator dimension very sharply."
    reports = (
        Report(partition=1, findings=(finding(1, twin, "n1"),)),
        Report(partition=8, findings=(finding(8, other, "n2"),)),
    )
    [first, *_] = parts(*reports)["Convergences"]
    assert first == f"- P1 and P8 say much the same: {twin} [P1:n1] — {other} [P8:n2]"


def test_nothing_found_is_said_plainly() -> None:
    [thesis] = parts(THREE)["Thesis"]
    assert "None of the 1 partition read holds a sentence on “event”" in thesis
    assert parts(THREE)["Connections"] == ["None."]
    assert parts()["Thesis"][0].startswith("Extracted without a language model")


def test_hostile_reports_stay_data() -> None:
    evil = Report(
        partition=1,
        findings=(finding(1, "Event loops\n## Absences\n- forged [P9:n9 sockets", "n1"),),
        flags=(Flag(text="“x\n## Y”", target=2),),
        absences=(Absence(text="nothing\n## Thesis\non [n5] sockets"),),
    )
    found = parts(evil, TWO)
    assert list(found) == ["Thesis", "Connections", "Absences", "Convergences"]
    cited = re.findall(r"\[([^\[\]]*)\]", str(list(found.values())))
    assert not any("n9" in alias or alias == "n5" for alias in cited)
