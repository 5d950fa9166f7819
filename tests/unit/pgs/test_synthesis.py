"""The synthesis contract: reports in, sections and checked citations out."""

from pgs_neo4j.model import (
    Absence,
    Citation,
    Finding,
    Flag,
    Partition,
    Report,
    Sweep,
    SweepStatus,
)
from pgs_neo4j.pgs.synthesis import parse_synthesis, synthesis_prompt

REPLY = """## Thesis
Iron wins [P1:n1], gold does not [P2:n3].

## Connections
- P1 and P2 meet [P1:n1, P2:n3]

## Absences
- Costs, in two partitions

## Convergences
None.
"""


def cited(partition, rank):
    return Citation(
        alias=f"n{rank + 1}", partition=partition, node=f"k{rank}", title="T", rank=rank
    )


def sweep(partition, findings=3, status=SweepStatus.ACCEPTED):
    report = Report(
        partition=partition,
        domain_state="State.",
        findings=tuple(
            Finding(text=f"finding {i} [n{i + 1}]", citations=(cited(partition, i),))
            for i in range(findings)
        ),
        flags=(
            Flag(
                text="look there [n99]",
                target=2,
                citations=(Citation(alias="n99", partition=partition, valid=False),),
            ),
        ),
        absences=(Absence(text="costs"),),
    )
    failed = status is SweepStatus.FAILED
    return Sweep(
        partition=partition,
        status=status,
        nodes=10,
        read=() if failed else ((0, 10),),
        report=None if failed else report,
    )


PARTS = [Partition(id=i, size=10, tokens=1, keywords=(f"word{i}",)) for i in (1, 2, 3)]


def shown(*sweeps, characters=10**6, known=None):
    return synthesis_prompt("Why?", sweeps, PARTS, max_characters=characters, known=known)


def test_every_report_stands_under_its_partition_with_qualified_citations():
    made = shown(sweep(1), sweep(2))
    assert "# Partition P1: 10 of 10 nodes read; keywords: word1" in made.prompt.user
    assert "finding 2 [P2:n3]" in made.prompt.user
    assert "P2: look there [P1:n99]" in made.prompt.user
    assert made.prompt.user.endswith("Question: Why?")
    assert made.dropped == 0


def test_what_was_not_read_is_said():
    made = shown(sweep(1), sweep(2, status=SweepStatus.FAILED))
    assert "Not read in this run, 2 partitions:\nP2 (10 nodes): word2\nP3" in made.prompt.user
    assert "All partitions of the graph" in shown(sweep(1), sweep(2), sweep(3)).prompt.user


def test_sections_and_citations_are_parsed():
    made = shown(sweep(1), sweep(2))
    result = parse_synthesis(REPLY, made.citable)
    assert result.thesis.startswith("Iron wins")
    assert result.connections == ("P1 and P2 meet [P1:n1, P2:n3]",)
    assert result.absences == ("Costs, in two partitions",)
    assert result.convergences == ()
    assert [(c.partition, c.alias, c.valid) for c in result.citations] == [
        (1, "n1", True),
        (2, "n3", True),
    ]
    assert result.text == REPLY


def test_only_what_a_report_cited_validly_can_be_cited():
    made = shown(sweep(1))
    text = "## Thesis\na [P1:n99] b [P1:n4] c [P7:n1] d [n1] e [P1:n1]"
    found = parse_synthesis(text, made.citable).citations
    assert [(c.partition, c.alias, c.valid) for c in found] == [
        (1, "n99", False),
        (1, "n4", False),
        (7, "n1", False),
        (0, "n1", False),
        (1, "n1", True),
    ]


def test_a_text_without_sections_is_all_thesis():
    result = parse_synthesis("Iron wins [P1:n1].", shown(sweep(1)).citable)
    assert result.thesis == "Iron wins [P1:n1]."
    assert result.citations[0].valid


def test_reports_too_long_lose_their_last_bullets_and_say_how_many():
    made = shown(sweep(1, 400), sweep(2, 400), characters=20_000)
    assert len(made.prompt.system) + len(made.prompt.user) <= 20_000
    kept = [len(report.report.findings) for report in made.prompt.reports]
    assert kept[0] == kept[1] < 400
    assert made.dropped == 800 - sum(kept)
    assert "finding 0 [P2:n1]" in made.prompt.user
    assert (1, "n400") not in made.citable


def test_the_known_answer_cannot_be_cited():
    made = shown(sweep(1), known="Known: iron [n1]")
    assert "Known: iron ⟦n1⟧" in made.prompt.user
