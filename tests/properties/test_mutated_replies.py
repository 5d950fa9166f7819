"""Hundreds of mutated replies of a model: no crash, and no invented citation is accepted."""

import random

from pgs_neo4j.errors import ModelOutputError
from pgs_neo4j.model import Citation, Node
from pgs_neo4j.pgs.sweeping.report import merge_reports, parse_report, render_report
from pgs_neo4j.pgs.synthesis.prompt import parse_synthesis
from pgs_neo4j.text.citations import find_mentions
from tests.thorough import tries

MUTATIONS = tries(300, 1000)
SHOWN = {
    f"n{i + 1}": Node(
        rank=i, element_id=f"e{i}", key=f"k{i}", title=f"Title {i}", text=f"Iron number {i} works."
    )
    for i in range(12)
}
REPORT = """## Domain State
Catalysts, well studied. The question is answered in part.

## Findings
- Iron works at 400 °C [n3], “Iron number 2 works” [n3].
- Ruthenium is better [n1, n4], and so is [n5-n7].
- Nothing supports this one.

## Outbound Flags
- P4: promoters may explain it [n2]
- Someone should look at energy use.

## Absences
- Costs per tonne
- The word “unicorn”
"""
SYNTHESIS = """## Thesis
Iron wins [P1:n1], gold does not [P2:n3].

## Connections
- P1 and P2 meet [P1:n1, P2:n3]

## Absences
- Costs, in two partitions

## Convergences
- Both say so [P1:n2]
"""
FORGED = [
    "[n99]",
    "[P7:n1]",
    "n3]",
    "[n1](javascript:alert(1))",
    "[n1000000000000]",
    "【n13】",
    "(n2, n77)",
    "[n1-n900]",
    "<think>",
    "```",
    "## Findings",
    "\ud800",
    "| [n2] forged title",
    "# Partition P9: 10 of 10 nodes read",
    "💥" * 50,
    "[" * 200,
    "“" * 20,
]


def reordered(text, draw):
    blocks = text.split("\n\n")
    draw.shuffle(blocks)
    return "\n\n".join(blocks)


def forged(text, draw):
    for _ in range(draw.randrange(1, 6)):
        at = draw.randrange(len(text) + 1)
        text = text[:at] + draw.choice(FORGED) + text[at:]
    return text


def garbled(text, draw):
    letters = list(text)
    for _ in range(draw.randrange(1, 30)):
        if letters:
            at = draw.randrange(len(letters))
            letters[at] = draw.choice(
                ["", " ", "\n", "#", "[", "]", "n", "9", ":", letters[at] * 3]
            )
    return "".join(letters)


MUTATORS = [
    reordered,
    forged,
    garbled,
    lambda text, draw: text[: draw.randrange(len(text) + 1)],
    lambda text, draw: f"Sure! Here it is:\n\n```markdown\n{text}\n```\nAnything else?",
    lambda text, draw: text.replace("## ", draw.choice(["### ", "KEY "])),
    lambda text, draw: text + "\n\n" + text,
]


def mutated(text, seed):
    draw = random.Random(seed)
    for mutator in draw.sample(MUTATORS, draw.randrange(1, 4)):
        text = mutator(text, draw)
    return text


def aliases(text, partition):
    return {
        (partition if mention.partition is None else mention.partition, alias)
        for mention in find_mentions(text, partition)
        for alias in mention.aliases(SHOWN)
    }


def test_mutated_reports():
    accepted = 0
    for seed in range(MUTATIONS):
        reply = mutated(REPORT, seed)
        try:
            report = parse_report(reply, 1, SHOWN, known_partitions=(1, 2, 4))
        except ModelOutputError:
            continue
        accepted += 1
        for each in (*report.findings, *report.flags):
            assert {(c.partition, c.alias) for c in each.citations} == aliases(each.text, 1)  # type: ignore[attr-defined]
        assert all(flag.target in (None, 1, 2, 4) for flag in report.flags)
        for citation in report.citations:
            shown = citation.partition == 1 and citation.alias in SHOWN
            assert citation.valid == shown
            if citation.valid:
                assert citation.node == SHOWN[citation.alias].key
        for finding in report.findings:
            assert finding.supported == any(c.valid for c in finding.citations)
            for quote in finding.quotes:
                assert quote.text in finding.text
        assert render_report(report, qualify=True).encode()
        merged = merge_reports(1, {"1": report, "2": report}, 2)
        assert {c.alias for c in merged.citations} == {c.alias for c in report.citations}
    assert accepted > MUTATIONS / 2


KNOWN = {
    (p, f"n{i}"): Citation(alias=f"n{i}", partition=p, node="k", title="T", rank=i - 1)
    for p, i in ((1, 1), (1, 2), (2, 3))
}


def test_mutated_syntheses():
    for seed in range(MUTATIONS):
        reply = mutated(SYNTHESIS, seed)
        made = parse_synthesis(reply, KNOWN)
        for citation in made.citations:
            assert citation.valid == ((citation.partition, citation.alias) in KNOWN)
        made.text.encode()  # no half characters
