"""Headings, bullets, and what a reply says beside the model's thinking."""

import pytest

from pgs_neo4j.errors import ModelOutputError
from pgs_neo4j.pgs.sweeping.report import SECTIONS, parse_report
from pgs_neo4j.text.markdown import bullets, paragraph, passage, sections
from pgs_neo4j.text.thinking import strip_thinking


@pytest.mark.parametrize(
    "line",
    ["## Findings", "Findings", "findings:", "# Findings #", "**Findings**", "__Findings__:",
     "**Findings:**", "2. Findings", "2) **Findings**", "## 2. Findings", "   ### Findings ###",
     "###### Key  Findings", "##Findings", "## Findings (5)", "**Findings** (5)", "**2. Findings**",
     "### \U0001f50d Findings", "## \U0001f50d 2. **Key Findings:**", "## Findings / Gaps",
     "## Key Findings and Evidence", "**Findings & Gaps:**", "## 2 Findings"],
)  # fmt: skip
def test_lines_that_head_the_findings(line):
    assert sections(f"{line}\n- a", SECTIONS) == {"findings": "- a"}


@pytest.mark.parametrize(
    "line",
    ["- Findings", "* Findings", "    Findings", "####### Findings", "The Findings", "`Findings`",
     "| Findings", "Findings of the year", "## Findings" + " " * 200 + "x", "**Findings** show it",
     "Findings show: a gap", "1. **Findings:** a numbered bullet", "Findings and Evidence",
     "## Findings of the year", "**"],
)  # fmt: skip
def test_lines_that_head_nothing(line):
    assert sections(f"{line}\n- a", SECTIONS) == {}


@pytest.mark.parametrize(
    "line",
    ["**Domain State:** All of iron.", "**Domain State**: All of iron.",
     "## Domain State: All of iron.", "## **Domain State:** All of iron."],
)  # fmt: skip
def test_a_section_may_begin_in_the_line_of_its_heading(line):
    assert sections(f"{line}\nMore.", SECTIONS) == {"domain state": "All of iron.\nMore."}


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ("## Findings\n- a\n## Notes (2), and more\n- b", ["a"]),
        ("## Findings\n- a\n### Notes\n- b", ["a", "b"]),
        ("**Findings**\n### Iron\n- a\n# Notes\n- b", ["a"]),
        ("## Findings\n- a\n### Key Findings\n- b", ["a", "b"]),
        ("## Findings\n- a\n### Gaps\n- b", ["a"]),
        ("## Findings\n- a\n\n**Absences:** none", ["a"]),
        ("## Findings\n- a\n\n**Findings:** b", ["a", "**Findings:** b"]),
        ("## Findings\n- a\n\n**Missing:** b", ["a", "**Missing:** b"]),
        ("## Findings\n- a\n## Absences\n- b\n## Findings\n- c", ["a", "c"]),
        ("Findings\n--------\n- a\n\n---\n\n## Absences\n- b", ["a"]),
        ("## Domain State\nIron.\n\n---\n\n## Findings\n- a\n***", ["a"]),
    ],
)
def test_where_a_section_ends(text, findings):
    assert bullets(sections(text, SECTIONS)["findings"]) == findings


@pytest.mark.parametrize(
    ("body", "items"),
    [
        ("Key result [n3]\n\n- other [n1]", ["Key result [n3]", "other [n1]"]),
        ("Here they are:\n\n- a\n- b", ["a", "b"]),
        ("Iron works [n3]:\n- a", ["Iron works [n3]:", "a"]),
        ("- a\n- b [n2]\n\nAll rests on [n3].", ["a", "b [n2]", "All rests on [n3]."]),
        ("- a\ncontinues\n\n  and on\n- b", ["a continues and on", "b"]),
        ("- a\n\nMore:\n- b\n\nOne.\n\nTwo.", ["a", "b", "One.", "Two."]),
        ("1. a:\n   - x\n   - y\n2. b", ["a: x y", "b"]),
        ("\u2022 a\n---\n* b", ["a", "b"]),
        ("### 1. Iron wins\n\nIt does [n1].\n### Rest\n- b", ["Iron wins: It does [n1].", "b"]),
    ],
)
def test_bullets_and_the_paragraphs_around_them(body, items):
    assert bullets(body) == items


def test_a_paragraph_can_be_no_heading():
    assert paragraph("### one\n  two") == "one two"
    assert passage("One.\n\nTwo.\n- a") == "One.\n\nTwo.\n- a"
    assert passage("None.\n") == ""


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 30_000,
        "<think></think>" * 14_000,
        "Name of the thing" + " " * 200_000 + "| x",
        "#" * 200_000,
        " " * 200_000 + "x",
        "**" * 100_000 + "Findings",
        "- " * 100_000,
        "```" + "a" * 200_000 + " !",
        "no " * 60_000,
        "## Outbound Flags\n- " + "*" * 100_000 + "P1" + "*" * 100_000,
        "## Outbound Flags\n- " + "P1, " * 50_000,
        "## Outbound Flags\n- **(partition 1" + "; and [P2]" * 20_000,
        "## Findings: " + "(" * 200_000,
        "**Findings" + " " * 200_000 + "**:",
        "## Findings\n" + "- a\n\nb\n\n" * 20_000,
        "none" + " found" * 32_000 + " x",
    ],
    ids=lambda text: text[:10].strip(),
)
def test_long_texts_of_anything_take_no_time_to_speak_of(text):
    assert len(strip_thinking(text)) <= len(text)
    for body in (text, *sections(text, SECTIONS).values()):
        assert len("".join(bullets(body))) <= len(body)
        assert len(paragraph(body)) <= len(body)
    try:
        report = parse_report(f"## Absences\n{text}", 1, {}, (1,))
    except ModelOutputError:
        return
    assert len(report.flags) <= 1
