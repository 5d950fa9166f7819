"""Domain States and flags are looked up in what they cite, or in all that their prompt showed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgs_neo4j.model import Node, Partition, PromptNeighbor, Relationship, Report
from pgs_neo4j.pgs.sweeping.claims import collect_uncited_facts, render_surroundings
from pgs_neo4j.pgs.sweeping.report import merge_reports, parse_report
from pgs_neo4j.pgs.sweeping.strict import failed_sentences, strike_report
from pgs_neo4j.text.claims.check import Known
from tests.claims import MADE, make_claims
from tests.orders import sweep_order

TEXTS = (
    "The kiln of Delft reached 1,200 °C in March 2008. Its tiles were blue.",
    "The pottery sold 640 tiles to Maria Kessler. It does not use lead glaze at all.",
    "Clay was dug near the river for 17 years.",
)
SHOWN = {
    f"n{place}": Node(
        rank=place - 1,
        element_id=f"e{place}",
        key=f"k{place}",
        title=f"Pot {place}",
        text=text,
        labels=("Pot",) if place < 3 else ("Clay",),
    )
    for place, text in enumerate(TEXTS, 1)
}
LINKS = [Relationship(0, 1, "BURNT_IN"), Relationship(1, 2, "MADE_OF")]
ORDER = sweep_order(
    "Are there 5 kilns?",
    Partition(id=2, uid="g:2", size=40, tokens=9, terms=("kilns", "Delft")),
    [
        PromptNeighbor(
            "P4",
            ("glaze",),
            "Ash from Faenza at 55 guilders.",
            edges=12,
            titles=("The mines of Siena",),
        )
    ],
)


def read(
    state: str = "Pots.", flags: tuple[str, ...] = (), findings: tuple[str, ...] = ()
) -> Report:
    listed = "\n".join(f"- {one}" for one in flags) or "None."
    found = "\n".join(f"- {one}" for one in findings) or "None."
    return parse_report(
        f"## Domain State\n{state}\n\n## Findings\n{found}\n\n## Outbound Flags\n{listed}\n\n"
        "## Absences\n- Nothing on the 777 unicorns.\n",
        2,
        SHOWN,
        (2, 4),
        LINKS,
        collect_uncited_facts(ORDER),
        around=render_surroundings(ORDER, SHOWN, LINKS, "1 of 2"),
    )


@pytest.mark.parametrize(
    "state",
    [
        "This partition covers pots, with 640 tiles and the kiln of Delft.",
        "It has 40 nodes, of which 3 were shown, and 2 relationships; this is part 1 of 2.",
        "It covers 2 pots and 1 clay.",
        "The kiln reached 1200 °C [n1]. Sales went to Maria Kessler. Clay lasted 17 years.",
        "It borders on P4, by 12 shared relationships, where ash came from Faenza.",
        "Whether there are 5 kilns stays open.",
        "It says nothing of prices, and no node mentions the weather.",
        "Two kinds of text are here, on pots and on clay.",
        "It does not use lead glaze.",
    ],
)
def test_a_domain_state_may_say_what_its_prompt_showed(state: str) -> None:
    report = read(state)
    assert report.domain_state == state
    assert report.in_doubt == ()


@pytest.mark.parametrize(
    ("state", "mark"),
    [
        ("It covers 98,765 tiles.", "no node of its partition has 98,765"),
        ("It was founded by Wilhelmine Quast.", "no node of its partition has Wilhelmine Quast"),
        ("Work began on 3 May 1887.", "no node of its partition has 3 May 1887"),
        ("It says “the moon is green cheese”.", "no node of its partition has “the moon is green"),
        ("The kiln had 640 tiles [n1].", "no cited node has 640"),
        ("It uses lead glaze at all.", "a node of its partition says the contrary"),
        ("Sales rose by 53 %.", "no node of its partition has 53 %"),  # 640 of 1,200
        ("It spans 41 nodes.", "no node of its partition has 41"),
    ],
)
def test_what_it_did_not_show_is_marked_in_a_domain_state(state: str, mark: str) -> None:
    report = read(f"{state} All is on pots.")
    assert f"{state} (in doubt: {mark}" in report.domain_state
    assert report.domain_state.endswith(") All is on pots.")
    assert [(one.text, one.partition) for one in report.in_doubt] == [(state, 2)]


FALSE = "P4: its 31,337 ovens may explain the tiles [n2]"


def test_flags_are_looked_up_and_struck_as_a_whole() -> None:
    flags = (
        "P4: the mines of Siena may have fed the kiln of Delft [n1]",
        "Ash at 55 guilders may have paid for the 640 tiles.",
        FALSE,
        "P4 and P9: tiles for Wilhelmine Quast",
        "See whether 12 of 31,337 ovens are left",
    )
    report = read("It has 98,765 tiles. Pots.", flags, ("It has 43 doors [n1].", "Blue [n1]."))
    texts = [flag.text for flag in report.flags]
    assert texts[:2] == [flags[0].removeprefix("P4: "), flags[1]]
    assert texts[2] == f"{FALSE.removeprefix('P4: ')} (in doubt: no cited node has 31,337)"
    assert [flag.target for flag in report.flags] == [4, None, 4, 4, None]
    assert all("(in doubt: no node of its partition has" in text for text in texts[3:])
    assert len(report.in_doubt) == 4
    assert len(failed_sentences(report)) == 5
    struck = strike_report(report)
    assert [flag.text for flag in struck.flags] == texts[:2]
    assert struck.domain_state == "Pots."
    assert [one.text for one in struck.findings] == ["Blue [n1]."]
    assert struck.in_doubt == failed_sentences(struck) == ()
    assert struck.struck == failed_sentences(report)
    other = replace(read(), flags=report.flags)
    merged = merge_reports(2, {"1": report, "2": other, "3": struck}, 3)
    assert merged.in_doubt == report.in_doubt
    assert merged.struck == struck.struck


def test_nothing_is_looked_up_for_a_reader_that_quotes() -> None:
    reply = "## Domain State\nIt has 98,765 tiles.\n\n## Findings\nNone.\n"
    assert parse_report(reply, 2, SHOWN).in_doubt == ()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_true_sentences_of_a_domain_state_are_seldom_in_doubt(seed: int) -> None:
    claims = make_claims(MADE, 60, seed)
    texts = list(dict.fromkeys(claim.text for claim in claims))
    shown = {
        f"n{place}": Node(
            rank=place - 1, element_id=f"e{place}", key=f"k{place}", title="T", text=text
        )
        for place, text in enumerate(texts, 1)
    }
    marked = {True: 0, False: 0}
    for claim in claims:
        reply = f"## Domain State\n{claim.sentence}\n\n## Findings\nNone.\n"
        report = parse_report(reply, 2, shown, known=Known())
        marked[claim.true] += bool(report.in_doubt)
    assert marked[True] <= 0.03 * len(claims) / 2
    assert marked[False] >= 0.6 * len(claims) / 2
