"""The page: what it shows, and that it is inert whatever it shows."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace

import pytest

from pgs_neo4j.export import Area, AreaState, Document, SourceNode, to_html
from pgs_neo4j.model import (
    AbsenceStatus,
    CheckedAbsence,
    Crosscheck,
    Stated,
    Synthesis,
)
from tests.unit.export.conftest import Element, Page, make_answer, make_document, parse


@pytest.fixture(scope="module")
def page() -> Page:
    """The page of the usual document."""
    return parse(to_html(make_document()))


def opened_by(button: Element, page: Page) -> Element:
    """The node that a button opens."""
    place = button.attributes["popovertarget"]
    (node,) = [each for each in page.having("div", "node") if each.attributes["id"] == place]
    return node


def test_the_policy_allows_this_style_sheet_and_nothing_else() -> None:
    text = to_html(make_document())
    assert to_html(make_document()) == text
    page = parse(text)
    (sheet,) = page.having("style")
    digest = base64.b64encode(hashlib.sha256(sheet.text.encode()).digest()).decode()
    (policy,) = [
        each.attributes["content"]
        for each in page.having("meta")
        if each.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.split("; ") == [
        "default-src 'none'", f"style-src 'sha256-{digest}'", "base-uri 'none'",
        "form-action 'none'",
    ]  # fmt: skip
    assert text.index("Content-Security-Policy") < text.index("<style>")
    assert not re.search(r"url\((?!#)|@import|https?:", sheet.text)


def test_citations_are_buttons_that_open_their_node(page: Page) -> None:
    (lead,) = page.having("div", "lead")
    assert lead.text.startswith("A claim [n2 toys], two at once [n2 toys, n3 toys]")
    buttons = [each for each in page.having("button", "cite") if each.text == "n2 toys"]
    assert {each.attributes["title"] for each in buttons} == {"P1:n2 n2 toys"}
    assert len({each.attributes["popovertarget"] for each in buttons}) == 1
    node = opened_by(buttons[0], page)
    assert "popover" in node.attributes
    for said in ("n2 toys", "Text of toys", "Paper", "doi/n2"):
        assert said in node.text
    sources = page.having("ul", "sources")[0].text
    assert "changed" in sources
    assert "no longer in the graph" in sources


def test_an_alias_without_a_partition_opens_the_node_it_means(page: Page) -> None:
    (close, *_) = [each for each in page.having("button", "cite") if each.text == "n5 toys"]
    node = opened_by(close, page)
    assert node.attributes["aria-label"] == "Node P1:n5"
    assert "no longer in the graph" in node.text


def test_invalid_citations_are_struck_and_open_nothing(page: Page) -> None:
    struck = [each.text for each in page.having("s", "invalid")]
    assert struck.count("P9:n4") == 2  # in the answer, and among the sources
    assert "n77" in struck
    buttons = {each.text for each in page.having("button")}
    assert not {"P9:n4", "n77"} & buttons


def test_a_node_that_is_cited_by_a_report_alone_shows_its_title() -> None:
    page = parse(to_html(make_document(sources=())))
    nodes = {each.attributes["aria-label"]: each.text for each in page.having("div", "node")}
    assert "Title of n3" in nodes["Node P1:n3"]
    assert "not part of this page" in nodes["Node P1:n3"]
    assert "Node P3:n9" in nodes  # sighted


def test_the_picture_has_a_cell_for_each_partition(page: Page) -> None:
    assert [each.attributes["class"] for each in page.having("svg")] == ["map wide", "map narrow"]
    groups = page.having("g")
    assert [each.attributes["class"] for each in groups] == [
        "read", "partial", "failed", "unread",
    ] * 2  # fmt: skip
    assert "P2: toys; 20 of 40 nodes read" in groups[1].text
    assert len(page.having("rect", "pool")) == 2
    hatches = {each.attributes["fill"] for each in page.having("rect", "pool")}
    assert hatches == {"url(#hatch-wide)", "url(#hatch-narrow)"}
    assert {"hatch-wide", "hatch-narrow"} <= set(page.ids)
    track, done = page.having("rect", "track")[0], page.having("rect", "done")[0]
    assert float(done.attributes["width"]) == pytest.approx(
        float(track.attributes["width"]) / 2, abs=0.02
    )


def test_links_lead_to_what_was_swept(page: Page) -> None:
    assert {each.attributes["href"] for each in page.having("a")} == {
        "#partition-1", "#partition-2", "#partition-3", "#section-answer", "#section-sources",
        "#section-coverage", "#section-checked-absences", "#section-opportunities",
        "#section-followed-up-flags", "#section-converging-findings", "#section-in-doubt",
        "#section-reports", "#section-coverage-and-cost",
    }  # fmt: skip


def test_absences_have_a_column_for_each_partition_concerned(page: Page) -> None:
    (matrix,) = page.having("table", "matrix")
    heads = [each.text for each in page.having("th", "mark")]
    assert heads == ["P1", "P2", "P3"]
    cells = [each.text for each in page.having("td", "mark")]
    assert cells == ["○", "○", "", "", "○", "◇", "", "", "", "○●", "", "◇"]
    badges = [each.text for each in page.having("span", "badge") if each.text in set(AbsenceStatus)]
    assert badges[:4] == ["confirmed", "elsewhere", "unchecked", "contradicted"]
    assert "160 nodes searched by full text for “toys”, “term”; 0 nodes contain it." in matrix.text
    assert "and 2 more" in matrix.text
    labels = {each.attributes["aria-label"] for each in page.having("span", "seen-read")}
    assert labels == {"found, read"}
    (opened, *_) = [each for each in page.having("button", "cite") if each.text == "●"]
    assert opened.attributes["popovertarget"] in page.ids


def test_more_than_forty_partitions_are_listed() -> None:
    reported = tuple(Stated(number, 0, "x") for number in range(1, 42))
    absence = CheckedAbsence(text="x", reported=reported, status=AbsenceStatus.CONFIRMED)
    answer = make_answer(crosscheck=Crosscheck(absences=(absence,)))
    page = parse(to_html(Document(answer=answer, asked_at="now")))
    assert not page.having("td", "mark")
    assert "Reported by P1, P2, " in page.having("table", "matrix")[0].text
    short = replace(absence, reported=reported[:40])
    answer = make_answer(crosscheck=Crosscheck(absences=(short,)))
    page = parse(to_html(Document(answer=answer, asked_at="now")))
    assert len(page.having("td", "mark")) == 40


def test_findings_are_told_with_what_is_wrong_with_them(page: Page) -> None:
    first, second, third = page.having("div", "report")
    assert "Two [n77] unsupported" in first.text
    assert "Misquoted: no node it cites contains “never said toys”" in first.text
    assert "20 of 40 nodes read in this run; 1 of 2 passes accepted" in second.text
    assert "429 toys" in third.text
    summaries = [each.text for each in page.having("summary")]
    assert any("3 findings, 1 unsupported, 1 misquote" in each for each in summaries)


def test_flags_and_convergences_are_told(page: Page) -> None:
    opportunity, flags, met = (each.text for each in page.having("ul", "cards"))
    assert opportunity.startswith("P1 → P2 check toys [Title of n3]")
    assert "P2 reports it missing: nothing on toys" in opportunity
    assert "answered by 1 finding of P2" in flags
    assert "P1 + P2 cite connected nodes" in met


def test_the_record_and_the_notes(page: Page) -> None:
    (record,) = page.having("dl", "record")
    for said in ("2 of 4 partitions, 60 of 160 nodes", "5 calls, 2 from the cache",
                 "1,200 tokens in, 80 out", "0.25", "3.2 s (partition 0.1 s",
                 "r1, mode full", "g7"):  # fmt: skip
        assert said in record.text
    (notes,) = page.having("section", "notes")
    assert "This answer is partial" in notes.text
    assert "Stopped early: the budget; toys" in notes.text
    assert "P3: 0 of 40 nodes were read" in notes.text


def test_the_first_screen_is_the_thesis_what_was_read_and_what_is_in_doubt(page: Page) -> None:
    (header,) = page.having("header")
    order = ["What about toys?", "2026-03-17 15:48 UTC", "A claim", "What was read",
             "2 of 4 partitions, 60 of 160 nodes", "This answer is partial", "1 contradicted",
             "found in P1:n2", "Answer", "Coverage and cost"]  # fmt: skip
    places = [header.text.index(words) for words in order]
    assert places == sorted(places)
    (prose,) = page.having("div", "prose")
    assert prose.text.startswith("Connections\n")  # the thesis is not said twice
    assert "15:48:10" not in header.text


def test_an_answer_without_a_thesis_doubts_or_anything() -> None:
    whole = make_answer(text="", sweeps=(), crosscheck=Crosscheck(), stopped="", warnings=())
    plain = replace(whole, synthesis=Synthesis(text="Just this.", citations=()))
    page = parse(to_html(Document(answer=plain, asked_at="now")))
    assert not page.having("div", "lead")
    assert page.having("div", "prose")[0].text == "Just this."
    assert "What is in doubt" in page.having("section", "notes")[0].text
    nothing = replace(whole, synthesis=replace(whole.synthesis, citations=(), complete=False))
    (body,) = parse(to_html(Document(answer=nothing, asked_at=""))).having("body")
    for said in ("There is no synthesis", "cites no node", "No absence was reported"):
        assert said in body.text


def test_many_contradicted_absences_are_closed() -> None:
    reported = (Stated(1, 0, "x"),)
    statuses = [AbsenceStatus.CONTRADICTED] * 4 + [AbsenceStatus.CONFIRMED]
    absences = tuple(
        CheckedAbsence(text=f"no {number}", reported=reported, status=status)
        for number, status in enumerate(statuses)
    )
    answer = make_answer(crosscheck=Crosscheck(absences=absences))
    page = parse(to_html(Document(answer=answer, asked_at="now")))
    first, rest = page.having("table", "matrix")
    assert "no 4" in first.text
    assert "no 0" not in first.text
    assert "no 0" in rest.text
    assert any(each.text.startswith("4 contradicted absences") for each in page.having("details"))


def test_node_text_is_whole() -> None:
    content = "  two\n\n\tlines <b>&amp;</b>  "
    source = SourceNode(partition=1, alias="n2", key="k", title="t", text=content)
    page = parse(to_html(make_document(sources=(source,))))
    assert content in [each.text for each in page.having("div", "text")]


def test_duplicates_do_not_repeat_ids() -> None:
    whole = make_document()
    answer = replace(whole.answer, sweeps=whole.answer.sweeps * 2)
    page = to_html(replace(whole, answer=answer, sources=whole.sources * 2))
    assert parse(page)  # the parser refuses an id that occurs twice


def test_the_picture_has_a_color_and_a_key_for_what_was_shown_without_proof() -> None:
    assert "unproven" not in "".join(re.findall(r"<main.*", to_html(make_document()), re.DOTALL))
    areas = (
        Area(partition=1, nodes=9, nodes_read=0, state=AreaState.UNPROVEN, nodes_unproven=9),
        Area(partition=2, nodes=8, nodes_read=2, state=AreaState.PARTIAL, nodes_unproven=4),
        Area(partition=3, nodes=7, nodes_read=0, state=AreaState.UNREAD),
    )
    page = parse(to_html(make_document(areas=areas)))
    assert [each.classes for each in page.having("g")] == [
        ["unproven"],
        ["partial"],
        ["unread"],
    ] * 2
    assert [each.text for each in page.elements if each.tag == "title"][1:3] == [
        "P1: no keywords; 0 of 9 nodes read, 9 shown, unproven",
        "P2: no keywords; 2 of 8 nodes read, none of them with text, 4 shown, unproven",
    ]
    for done, shown in zip(page.having("rect", "done"), page.having("rect", "shown"), strict=True):
        assert float(shown.attributes["width"]) == pytest.approx(
            2 * float(done.attributes["width"]), rel=0.02
        )
    legend = [each.text for each in page.elements if each.tag == "li"]
    assert "shown, unproven: 1 partition, 9 nodes" in legend
    assert len(page.having("span", "unproven")) == 2  # the key, and the badge in the table
    assert "Unproven" in [each.text for each in page.elements if each.tag == "th"]


def test_areas_without_nodes_or_more_read_than_there_are() -> None:
    areas = (
        Area(partition=1, nodes=0, nodes_read=0, state=AreaState.PARTIAL),
        Area(partition=2, nodes=5, nodes_read=9, state=AreaState.PARTIAL),
    )
    page = parse(to_html(make_document(areas=areas)))
    assert len(page.having("g")) == 2
