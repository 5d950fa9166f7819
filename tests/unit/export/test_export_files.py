"""Markdown, JSON, and the notebook cell hold all that is known, and hold it still."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from pgs_neo4j.export import Document, figures, to_html, to_json, to_markdown, to_notebook, written
from pgs_neo4j.model import Citation, Crosscheck, Synthesis
from pgs_neo4j.text.citations import name_of
from tests.unit.export.conftest import make_answer, make_document, parse
from tests.unit.text.test_headings import FAKES, ranks

SECTIONS = [
    "Sources", "Invalid citations", "Checked absences", "Opportunities", "Followed-up flags",
    "Converging findings", "In doubt", "Coverage and cost", "Partitions", "Notes",
]  # fmt: skip


def headings(text: str) -> list[str]:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return [
        tokens[place + 1].content
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0
    ]


def leads(text: str) -> list[str]:
    """Whatever in a Markdown text leads or loads, links of definitions included."""
    known: dict[str, object] = {}
    tokens = MarkdownIt("commonmark").enable("table").parse(text, known)
    inside = [child.type for token in tokens for child in token.children or ()]
    links = [each for each in inside if each in {"link_open", "image"}]
    return [*links, *known.get("references", ())]  # type: ignore[misc]


def test_markdown_tells_the_answer_and_then_what_stands_behind_it() -> None:
    text = to_markdown(make_document())
    assert headings(text) == [
        "What about toys?", "Thesis", "Connections", "Absences", "Convergences", *SECTIONS,
    ]  # fmt: skip
    assert (
        "A claim [Title of n2], two at once [Title of n2, Title of n3], and one that is **wrong**"
        in text
    )
    assert "- P1:n2  n2 toys (Paper, toys, doi/n2)\n" in text
    assert "- P2:n3  n3 toys (Paper, toys, doi/n3), changed since it was read" in text
    assert "- P1:n5  n5 toys (doi/n5), no longer in the graph" in text
    assert text.count("- P1:n2  ") == 1
    assert "- P9:n4  (no report cites this node)" in text
    assert "2 of 6 findings unsupported, 2 misquotes, 1 invalid citation in the answer" in text


def test_markdown_has_a_row_for_each_absence() -> None:
    text = to_markdown(make_document())
    for row in (
        "| nothing on toys | P1, P2 | confirmed: found in none of the nodes searched | none | "
        "160 nodes searched by full text for “toys”, “term”; 0 nodes contain it. |",
        "| no x | P2 | elsewhere: found only in nodes that were not read | P3:n9 Far (not read); "
        "and 2 more | 160 nodes searched for “x”; 3 nodes contain it. |",
        "| no y [Title of n3 P1:n3] | P1 | contradicted: found in a node that was read | "
        "P1:n2 Title toys (read); P3:n9 Far (not read) | 160 nodes searched; 2 nodes contain it. |",
        "| vague | none | unchecked: could not be searched for in every node | none | "
        "Not searched. |",
    ):
        assert row in text


def test_markdown_tells_flags_and_convergences_with_whole_aliases() -> None:
    text = to_markdown(make_document())
    assert (
        "- P1 → P2: check toys [Title of n3 P1:n3]\n    - P2 reports it missing: nothing on toys"
        in text
    )
    assert "- P1 → P2: go (answered by 1 finding of P2)\n    - P2: Two [P2:n77]" in text
    assert "- P2 → P3: far (open: P3 was not read)" in text
    assert "- P2: nowhere (names no partition)" in text
    assert "- P1 and P2 say nearly the same:\n    - P1: One: toys [Title of n2 P1:n2]" in text
    assert "- P4: toys; pool; 0 of 40 nodes read\n" in text


def test_markdown_leaves_out_what_is_empty() -> None:
    answer = make_answer(
        synthesis=Synthesis(text=""), crosscheck=Crosscheck(), stopped="", warnings=()
    )
    text = to_markdown(Document(answer=answer, asked_at="now"))
    assert headings(text)[1:] == ["Sources", "In doubt", "Coverage and cost"]
    assert "There is no synthesis." in text
    assert "The answer cites no node." in text


def answer_part(text: str) -> str:
    """The answer as the file has it, with citations as they were written."""
    return written.inert_blocks(text, lambda group: f"[{name_of(*group[0].place)}]")


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("[P1:n2](https://evil.example)", "[P1:n2]&#40;`https://evil.example`)"),
        ("![x](https://evil.example/beacon)", "!&#91;x&#93;(`https://evil.example/beacon`)"),
        ("\\![x](/y)", "&#92;!&#91;x&#93;(/y)"),
        ("[P1:n2]: https://evil.example", "[P1:n2]&#58; `https://evil.example`"),
        ("> - [P1:n2]: /u 'title'", "> &#45; [P1:n2]&#58; /u 'title'"),
        ("<https://evil.example>", "&lt;`https://evil.example`>"),
        ("<javascript:alert`1`>", "&lt;`javascript:alert``1`>"),
        ("see www.evil.example, or a@b.c.", "see `www.evil.example`, or `a@b.c`."),
        ("So https://example.com/a_b?c&d=e.", "So `https://example.com/a_b?c&d=e`."),
        ("A claim [P1:n2]: it holds (P1:n3).", "A claim [P1:n2]&#58; it holds [P1:n3]."),
        ("- [x] done", "- &#91;x&#93; done"),
        ("a < b > c, ~5 % for $5, AT&T", "a &lt; b > c, ~5 % for $5, AT&amp;T"),
        ("1. x\n   - y\n   - z\n2. w", "1. x\n    - y\n    - z\n2. w"),
        ("Title\n---\n\ntext", "Title\n\n---\n\ntext"),
        ("```py\nif a:\n    b`\n```", "`if a:`  \n\xa0\xa0\xa0\xa0b&#96;"),
        ("| a \"b |\n|--:|\n| `c` |", "| a &quot;b |\n| ---: |\n| `c` |"),
    ],
)  # fmt: skip
def test_an_answer_has_its_own_marks_and_no_others(said: str, wanted: str) -> None:
    assert answer_part(said) == wanted
    assert leads(f"{wanted}\n\n[P1:n2] [a] [x]") == []


def test_a_node_is_named_once_among_the_sources() -> None:
    document = make_document()
    sources = tuple(replace(source, title="Same", key="Same") for source in document.sources)
    text = to_markdown(replace(document, sources=sources))
    assert "- P1:n2  Same (Paper, toys)\n" in text


@pytest.mark.parametrize(
    "unit", ["\\", "`", "**", "“", '"', "[", "- ", "|\n", "a|b\n-|-\n", "```\n"]
)
def test_files_take_time_in_proportion_to_the_text(unit: str) -> None:
    def time_of(size: int) -> float:
        document = Document(answer=make_answer(text=unit * (size // len(unit))), asked_at="now")
        begun = time.process_time()
        to_markdown(document)
        to_html(document)
        return time.process_time() - begun

    # 16 times the text: in quadratic time, it would take 256 times as long.
    assert time_of(80_000) < 64 * max(time_of(5_000), 0.02)


def test_json_holds_every_absence_and_citation() -> None:
    document = make_document()
    text = to_json(document)
    value = json.loads(text)
    assert [(each["partition"], each["alias"], each["valid"]) for each in value["citations"]] == [
        (1, "n2", True), (2, "n3", True), (9, "n4", False), (1, "n5", True),
    ]  # fmt: skip
    absences = document.answer.crosscheck.absences
    assert [each["text"] for each in value["checked_absences"]] == [a.text for a in absences]
    assert value["checks"] == {
        "findings": 6, "unsupported_findings": 2, "misquotes": 2, "invalid_citations": 1,
        "doubted_sentences": 2, "struck_sentences": 0,
    }  # fmt: skip
    assert value["areas"][1]["state"] == "partial"
    assert [each["gone"] for each in value["sources"]] == [False, False, True]
    assert value["sweeps"][0]["report"]["findings"][2]["quotes"][0]["found"] is False
    assert "element_id" not in text


def test_notebook_shows_answer_sources_and_figures() -> None:
    page = parse(to_notebook(make_answer()))
    (whole,) = page.having("div", "pgs-answer")
    assert page.elements[0] is whole
    for said in (
        "What about toys?", "A claim [Title of n2], two at once", "4 sources", "P2:n3 Title of n3",
        "P9:n4 no report cites this node", "2 of 4 partitions",
        "5 calls, 2 from the cache, 1,200 tokens in, 80 out",
        "1 confirmed, 1 elsewhere, 1 contradicted, 1 unchecked", "Stopped early",
    ):  # fmt: skip
        assert said in whole.text
    assert [each.text for each in page.having("s")] == ["P9:n4", "P9:n4"]
    (done,) = page.having("rect", "pgs-done")
    assert done.attributes["width"] == "37.5"


def test_notebook_marks_only_what_was_judged() -> None:
    cited = (Citation(alias="n2", partition=1), Citation(alias="n9", partition=1, valid=False))
    made = Synthesis(text="So [P1:n2], not [P1:n9], and who knows [P1:n3].", citations=cited)
    page = parse(to_notebook(make_answer(synthesis=made)))
    prose = page.having("p")[1]
    assert prose.text == made.text  # none has a title
    marked = [each.text for each in page.having(class_="pgs-cite")]
    assert marked == ["P1:n2", "P1:n2"]  # in the text, and among the sources
    assert {each.text for each in page.having("s", "pgs-invalid")} == {"P1:n9"}


@pytest.mark.parametrize("fake", FAKES)
def test_a_heading_of_the_model_stands_below_those_of_the_file(fake: str) -> None:
    usual, text = (ranks(to_markdown(make_document(text=text))) for text in ("", fake))
    assert [rank for rank in text if rank < 3] == [rank for rank in usual if rank < 3]
    cell = to_notebook(make_document(text=fake).answer)
    ours = ["<h3>Sources</h3>", "<h3>Coverage and cost</h3>"]
    assert re.findall("<h[1-3]>.*?</h[1-3]>", cell) == ours
    page = to_html(make_document(text=fake))
    assert page.count("<h2") == to_html(make_document(text="")).count("<h2")


def test_why_a_run_stopped_is_said_once() -> None:
    why = "the limit of 3 calls (max_calls) does not cover it"
    warnings = (f"1 of 3 partitions were left unread: {why}", "mind")
    answer = make_answer(stopped=why, warnings=warnings)
    assert figures.notes(answer) == [f"Stopped early: {why}", "mind"]
    for text in (to_notebook(answer), to_markdown(Document(answer=answer, asked_at="now"))):
        assert text.count("does not cover it") == 1
