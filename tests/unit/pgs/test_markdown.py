"""Headings, bullets, and what a reply says beside the model's thinking."""

import pytest

from pgs_neo4j.errors import ModelOutputError
from pgs_neo4j.pgs.markdown import bullets, paragraph, sections, spoken
from pgs_neo4j.pgs.report import SECTIONS, parse_report


@pytest.mark.parametrize(
    "line",
    ["## Findings", "Findings", "findings:", "# Findings #", "**Findings**", "__Findings__:",
     "**Findings:**", "2. Findings", "2) **Findings**", "## 2. Findings", "   ### Findings ###",
     "###### Key  Findings", "##Findings"],
)  # fmt: skip
def test_lines_that_head_the_findings(line):
    assert sections(f"{line}\n- a", SECTIONS) == {"findings": "- a"}


@pytest.mark.parametrize(
    "line",
    ["- Findings", "* Findings", "    Findings", "####### Findings", "The Findings", "`Findings`",
     "| Findings", "Findings of the year", "## Findings" + " " * 200 + "x"],
)  # fmt: skip
def test_lines_that_head_nothing(line):
    assert sections(f"{line}\n- a", SECTIONS) == {}


def test_another_heading_of_the_same_weight_ends_a_section():
    assert sections("## Findings\n- a\n## Notes\n- b\n", SECTIONS) == {"findings": "- a"}
    assert "- b" in sections("## Findings\n- a\n### Notes\n- b\n", SECTIONS)["findings"]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("a", "a"),
        ("<think>x</think>a", "a"),
        ("a<think>x</think>b<think>\ny</think>c", "abc"),
        ("a<think>x", "a"),
        ("<think>", ""),
        ("<think></think>", ""),
        ("a\n<think>x<think>y</think>b", "a\nb"),
        ("thought\n</think>\n\nb", "\n\nb"),
        ("they write </think> there", "they write </think> there"),
        ("a\n</think>\n", "a\n</think>\n"),
        ("a\ud83db", "a?b"),
        ("a\ud83d\ude00b", "a??b"),
        ("<thi\udc00nk>", "<thi?nk>"),
    ],
)
def test_what_a_reply_says(reply, said):
    assert spoken(reply) == said


def test_thoughts_neither_make_a_report_nor_add_to_it():
    report = "## Domain State\nx\n## Findings\n- a [n1]"
    with pytest.raises(ModelOutputError):
        parse_report(f"<think>{report}</think>", 1, {})
    with pytest.raises(ModelOutputError):
        parse_report(f"<think>{report}", 1, {})
    parsed = parse_report(f"<think>{report}\n- b [n2]\n</think>\n{report}\ud83d", 1, {})
    assert [f.text for f in parsed.findings] == ["a [n1]?"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 150_000,
        "</think>" * 150_000,
        "<think></think>" * 70_000,
        "Name of the thing" + " " * 10**6 + "| x",
        ("Name of the thing" + " " * 80 + "|\n") * 10_000,
        "#" * 10**6,
        "# " * 500_000,
        " " * 10**6 + "x",
        "**" * 500_000 + "Findings",
        "1. " * 300_000,
        "- " * 500_000,
        ("-" + " " * 500 + "\n") * 2_000,
        "```" + "a" * 10**6 + " !",
        "no " * 300_000,
        "## Findings\n" + "(" * 10**6 + "none",
        "## Outbound Flags\n- " + "P1 " * 300_000,
        "## Outbound Flags\n- " + "*" * 500_000 + "P1" + "*" * 500_000,
        "## Domain State\n## Outbound Flags\n- " + "[ " * 500_000,
    ],
    ids=lambda text: text[:10].strip(),
)
def test_a_megabyte_of_anything_takes_no_time_to_speak_of(text):
    assert len(spoken(text)) <= len(text)
    for body in (text, *sections(text, SECTIONS).values()):
        assert len("".join(bullets(body))) <= len(body)
        assert len(paragraph(body)) <= len(body)
    try:
        report = parse_report(f"## Absences\n{text}", 1, {}, (1,))
    except ModelOutputError:
        return
    assert len(report.flags) <= 1
