"""Quotations are looked up in the nodes that the finding cites, and in no others."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.model import Node, Quote
from pgs_neo4j.pgs.sweeping.claims import find_quotes
from pgs_neo4j.pgs.sweeping.report import parse_report
from tests.thorough import tries

SAID = "Iron works at 400 °C, they say — and ruthenium is\nbetter [n9] by far."
SHOWN = {
    "n1": Node(rank=0, element_id="e0", key="k0", title="On iron and its use", text=SAID),
    "n2": Node(rank=1, element_id="e1", key="k1", title="T", text="Something else altogether."),
}


def finding(text):
    report = parse_report(f"## Domain State\nx\n## Findings\n- {text}\n", 1, SHOWN)
    return report.findings[0]


@pytest.mark.parametrize(
    "quote",
    [
        "“Iron works at 400 °C”",
        '"iron  works at 400 °C"',
        "«they say - and ruthenium»",
        "“ruthenium is better ⟦n9⟧ by far.”",
        "“Iron works … ruthenium is better”",
        "“Iron [the metal] works at 400”",
        "“on iron and its”",
    ],
)
def test_what_a_cited_node_says_is_found(quote):
    assert [each.found for each in finding(f"They say {quote} [n1]").quotes] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "“Iron works at 500 °C” [n1]",
        "“Iron works at 400 °C” [n2]",
        "“Iron works at 400 °C” [n7]",
        "“Iron works at 400 °C”",
        "“ruthenium is better … Iron works at 400” [n1]",
        "“ron works at 400 °C” [n1]",
    ],
)
def test_what_no_cited_node_says_is_not(text):
    (quote,) = finding(text).quotes
    assert not quote.found


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The infor\xadmation on tem\u200bperature", "information on temperature"),
        ("The infor\xadmation on temperature was lost.", "infor mation on temperature was lost"),
        (
            "The stake-\nholders re-\nquested a well-\nknown survey.",
            "stakeholders requested a well-known survey",
        ),
        ("The \ufb01ring of 1,200 tiles", "firing of 1200 tiles"),
        ("Die Strasse nach Gie\u00dfen ist weit", "Stra\u00dfe nach Giessen"),
    ],
)
def test_a_quotation_is_found_in_other_code_points(text, quote):
    shown = {"n1": Node(rank=0, element_id="e", key="k", title="T", text=text)}
    report = parse_report(f"## Domain State\nx\n## Findings\n- “{quote}” [n1]\n", 1, shown)
    assert report.findings[0].quotes == (Quote(quote, True),)


def test_quotations_are_long_and_count_once_in_order_and_a_finding_needs_a_shown_node():
    assert finding("The “P4” class, or “two words” [n1]").quotes == ()
    assert find_quotes('5" pipes and 6" pipes are the same thing') == []
    text = "“Something else altogether” and “Iron works at 400 °C” and “Something else altogether”"
    assert finding(f"{text} [n1, n2]").quotes == (
        Quote("Something else altogether", True),
        Quote("Iron works at 400 °C", True),
    )
    assert finding("It works [n1]").supported
    assert not finding("It works [n7]").supported
    assert not finding("It works").supported


@settings(max_examples=tries(25, 100))
@given(st.text(max_size=300))
def test_any_text_is_taken(text):
    assert all(len(quote) >= 12 for quote in find_quotes(text))
