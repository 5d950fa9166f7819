"""Reports and syntheses of the extractive reader."""

from __future__ import annotations

import re

from pgs_neo4j.llm.extractive.sweep import sweep_report
from pgs_neo4j.llm.extractive.synthesis import synthesis
from pgs_neo4j.model import (
    Absence,
    Citation,
    Finding,
    Flag,
    Prompt,
    PromptNeighbor,
    PromptNode,
    PromptReport,
    Relationship,
    Report,
)

NODES = (
    PromptNode(
        "n1", "net.loop", "The event loop runs callbacks. It never sleeps long.", ("Class",)
    ),
    PromptNode(
        "n2", "net.sock", "Sockets are read by the event loop when data is ready.", ("Class",)
    ),
    PromptNode(
        "n3", "net.copy", "Sockets are read by the event loop when data is ready.", ("Module",)
    ),
    PromptNode("n4", "text.wrap", "Wrap a paragraph of prose to a given width.", ("Module",)),
    PromptNode("n5", "net.sockets", "", ("Class",)),
)
QUESTION = "How does the event loop read sockets and quantum timeouts?"


def prompt(
    question: str = QUESTION,
    nodes: tuple[PromptNode, ...] = NODES,
    neighbors: tuple[PromptNeighbor, ...] = (),
) -> Prompt:
    return Prompt(
        task="sweep",
        system="",
        user="",
        question=question,
        nodes=nodes,
        relationships=(Relationship(0, 1, "CALLS"), Relationship(3, 0, "CALLS")),
        neighbors=neighbors,
        partition=2,
    )


def parts(report: str) -> dict[str, list[str]]:
    found = re.split(r"^## (.+)\n", report, flags=re.MULTILINE)
    return {
        title: body.strip().splitlines()
        for title, body in zip(found[1::2], found[2::2], strict=True)
    }


def test_a_report_has_the_sections_of_the_contract() -> None:
    report = parts(sweep_report(prompt(), 8))
    assert list(report) == ["Domain State", "Findings", "Outbound Flags", "Absences"]
    [state] = report["Domain State"]
    assert state.startswith("5 nodes (3 Class, 2 Module) about ")
    assert "Best connected: net.loop [n1]" in state
    assert "“event” in 3, “loop” in 3, “read” in 2, “sockets” in 3 of 5 nodes" in state
    first, *others = report["Findings"]  # what is said in the same words is cited together
    assert first == "- Sockets are read by the event loop when data is ready. [n2, n3]"
    assert any(line.startswith("- net.loop: The event loop runs callbacks.") for line in others)
    assert not any("paragraph" in line for line in others)
    assert report["Absences"] == [
        "- “quantum”: no mention in the 5 nodes read here.",
        "- “timeouts”: no mention in the 5 nodes read here.",
    ]


def test_a_sentence_of_another_name_or_number_is_not_cited_for_the_first() -> None:
    nodes = (
        PromptNode("n1", "Ada Novak", "Ada Novak (born 1908) is known for radio plays in Oslo."),
        PromptNode("n2", "Bo Costa", "Bo Costa (born 1913) is known for radio plays in Oslo."),
        PromptNode("n3", "Room 2", "Radio plays in Oslo are recorded in room 2 on Mondays."),
        PromptNode("n4", "Room 3", "Radio plays in Oslo are recorded in room 3 on Mondays."),
        PromptNode("n5", "Note", "Radio plays in Oslo are not recorded in room 2 on Mondays."),
    )
    report = parts(sweep_report(prompt("Who is known for radio plays in Oslo?", nodes), 8))
    assert sorted(report["Findings"]) == [
        "- Ada Novak (born 1908) is known for radio plays in Oslo. [n1]",
        "- Bo Costa (born 1913) is known for radio plays in Oslo. [n2]",
        "- Note: Radio plays in Oslo are not recorded in room 2 on Mondays. [n5]",
        "- Radio plays in Oslo are recorded in room 2 on Mondays. [n3]",
        "- Radio plays in Oslo are recorded in room 3 on Mondays. [n4]",
    ]


def test_a_question_that_is_nowhere_or_central_or_of_no_nodes_still_makes_a_report() -> None:
    nowhere = parts(sweep_report(prompt("Where are unicorns?"), 8))
    assert nowhere["Findings"] == ["None."]
    assert nowhere["Domain State"][0].endswith("None of the question's words occurs here.")
    central = parts(sweep_report(prompt("What is this about?"), 2))
    assert len(central["Findings"]) == 2
    assert central["Absences"] == ["None."]
    assert parts(sweep_report(prompt(nodes=()), 8))["Findings"] == ["None."]


def test_titles_serve_without_text_and_words_that_are_never_together_are_an_absence() -> None:
    only = (PromptNode("n1", "The Matrix", ""), PromptNode("n2", "Alien", ""))
    report = parts(sweep_report(prompt("Who saw The Matrix?", only), 8))
    assert report["Findings"] == ["- The Matrix [n1]"]
    apart = (PromptNode("n1", "", "A solid state of matter."), PromptNode("n2", "", "A machine."))
    report = parts(sweep_report(prompt("Which state machine?", apart), 8))
    assert report["Absences"] == [
        "- “state machine”: both words occur, but none of the 2 nodes has them together."
    ]


def test_flags_come_from_neighbors_that_name_what_is_asked() -> None:
    neighbors = (
        PromptNeighbor("P4", ("timeouts", "deadline"), "timeouts: …", 12),
        PromptNeighbor("P9", ("color", "paint"), "color: …", 90),
        PromptNeighbor("P5", ("sockets",), "sockets", 1),
    )
    flags = parts(sweep_report(prompt(neighbors=neighbors), 8))["Outbound Flags"]
    assert flags == [
        "- P4: its digest names “timeouts”, which the question asks for and which is absent here "
        "(“timeouts”) (12 relationships).",
        "- P5: its digest names “sockets”, which the question asks for; compare [n2] "
        "(1 relationship).",
    ]


def finding(partition: int, text: str, *aliases: str) -> Finding:
    """A finding whose citations are valid but for n999."""
    cited = (Citation(alias=alias, partition=partition, valid=alias != "n999") for alias in aliases)
    return Finding(text=text, citations=tuple(cited))


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
        finding(2, "Sockets block until the peer answers. [n4, n5]", "n4", "n999", "n5", "n4"),
        finding(2, "A priority queue serves the scheduler. [n6]", "n6"),
        finding(2, "An invented source says so. [n999]", "n999"),
    ),
    absences=(Absence(text="“unicorns”: no mention."), Absence(text="“deadline”: no mention.")),
)
THREE = Report(partition=3, absences=(Absence(text="“unicorns”: no mention here."),))
LOOPS = "How do event loops treat sockets, deadlines and unicorns?"


def sections(*reports: Report, question: str = LOOPS, bullets: int = 8) -> dict[str, list[str]]:
    prompt = Prompt(
        task="synthesis",
        system="",
        user="",
        question=question,
        reports=tuple(shown(report) for report in reports),
    )
    return parts(synthesis(prompt, bullets))


def absent(text: str, *partitions: int) -> list[Report]:
    return [Report(partition=p, absences=(Absence(text=text),)) for p in partitions]


def test_reports_become_the_sections_of_the_contract() -> None:
    made = sections(ONE, TWO, THREE)
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
    assert len(sections(ONE, TWO, THREE, bullets=1)["Connections"]) == 1


def test_absences_are_counted_by_their_text_and_name_where_it_is_found() -> None:
    assert sections(ONE, *absent("“deadline”: none.", 4, 5, 6))["Absences"][1] == (
        "- “deadline”: absent from 3 of 4 partitions; but see [P1:n1]."
    )
    assert sections(*absent("No data on field trials.", 1, 2))["Absences"] == [
        "- “No data on field trials.”: absent from all 2 partitions."
    ]


def test_convergences_begin_with_claims_that_say_the_same() -> None:
    twin = "Crossing symmetry bounds every operator dimension sharply."
    other = "Crossing symmetry bounds each operator dimension very sharply."
    reports = (
        Report(partition=1, findings=(finding(1, twin, "n1"),)),
        Report(partition=8, findings=(finding(8, other, "n2"),)),
    )
    [first, *_] = sections(*reports)["Convergences"]
    assert first == f"- P1 and P8 say much the same: {twin} [P1:n1] — {other} [P8:n2]"


def test_nothing_found_is_said_plainly() -> None:
    [thesis] = sections(THREE)["Thesis"]
    assert "The partition that was read holds no sentence on “event”" in thesis
    assert sections(THREE)["Connections"] == ["None."]
    assert sections()["Thesis"][0].startswith("Extracted without a language model")
