"""Headings of a model stand below those of this package, however they are written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pgs_neo4j.text.headings import lower_headings, lowered, lowered_text
from tests.thorough import tries

TITLES = ("Sources", "Coverage", "This run", "Checked absences")
FAKES = [
    "# Sources", "## Sources", "### Sources", "   ## Sources ##", "##\tSources", "#", "## ",
    "Sources\n-------", "Sources\n=", "Sources\n-", "a\nSources\n  ===  ", "## Sources\n---",
    "- ## Sources", "> # Sources", "1. > - ## Sources", "- a\n\n    ## Sources",
    "> Sources\n> ---", "- Sources\n  ---", "1.  Sources\n    ===", "> > Sources\n> > =",
    "<h2>Sources</h2>", "<H1 id=a>\nSources\n</H1>", "one <h2>Sources</h2>", "</h2><h2>Sources",
    "`a` <h1>Sources", "`a <h1>Sources</h1>", "\\\\<h2>Sources", "`\n` <h2>Sources</h2> `",
    "<div>\n```\n</div>\n\n## Sources\n```", "<!--\n```\n-->\n\n## Sources",
    "- a\n  ```\n## Sources\n  ```", "1. a\n\n   ~~~\n# Sources", "- ```\n```\n\n## Sources\n```",
    "```\ncode\n```\n## Sources", "```\ncode\n````\n## Sources", "~~~\n```\n~~~\n## Sources",
    "``` a`b\n## Sources", "> a\n## Sources", "- a\n## Sources", "> ```\n## Sources",
    "```\n## harmless, and never closed", "- ```\n  ## in code\n  ```\n  more",
]  # fmt: skip


def ranks(text: str) -> list[int]:
    """The levels of the headings of a text to a renderer that lets HTML pass."""
    tokens = MarkdownIt("commonmark", {"html": True}).parse(text)
    marked = [int(one.tag[1]) for one in tokens if one.type == "heading_open"]
    inline = [child for one in tokens for child in one.children or ()]
    live = " ".join(one.content for one in [*tokens, *inline] if one.type.startswith("html_"))
    return [*marked, *map(int, re.findall(r"<h([1-6])", live, re.IGNORECASE))]


@pytest.mark.parametrize("fake", FAKES)
def test_no_heading_of_a_model_has_a_rank_of_ours(fake: str) -> None:
    shown = lower_headings(f"{fake}\n\n100 %\n")
    assert min(ranks(shown), default=6) >= 3, shown
    below = f"{shown}\n\n## Sources\n"
    assert ranks(below).count(2) == 1, below  # nothing takes ours in


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("## Thesis\nIt is so.", "### Thesis\nIt is so."),
        ("# A\n## B\n### C\n###### D", "### A\n### B\n#### C\n###### D"),
        ("```sh\n# a comment\n```\n", "```sh\n# a comment\n```\n"),
        ("1. Do:\n   ```\n   # a comment\n   ```", "1. Do:\n   ```\n   # a comment\n   ```"),
        ("- ```\n  # a comment\n  ```\n", "- ```\n  # a comment\n  ```\n"),
        ("~~~\nSources\n", "~~~\nSources\n~~~"),
        ("<https://a.org> says 1 <2", "<https://a.org> says 1 <2"),
        ("a\n\n---\n\nb", "a\n\n---\n\nb"),
        ("| a |\n|---|\n| # b |", "| a |\n|---|\n| # b |"),
        ("#hashtag and 5 < 6", "#hashtag and 5 < 6"),
        ("Sources agree [P1:n2].", "Sources agree [P1:n2]."),
        ("- Sources\n> Sources\n1. Sources", "- Sources\n> Sources\n1. Sources"),
        ("Coverage: it is cold.", "Coverage: it is cold."),
        ("", ""),
    ],
)
def test_all_else_stays_as_it_is(text: str, shown: str) -> None:
    assert lower_headings(text, TITLES) == shown
    assert lower_headings(text, TITLES, markdown=False) == shown


@pytest.mark.parametrize(
    "fake",
    ["Sources", "sources:", "**Sources**", "__Sources__", "*Sources*:", "  Sources", "`Sources`",
     "\uff33ources", "Coverage  100 %", "**Coverage**\t100 %", "This  run", "THIS RUN  done",
     "Checked absences: 3 confirmed", "**Checked absences:** none", "=== Sources ===", "#Sources"],
)  # fmt: skip
@pytest.mark.parametrize("markdown", [True, False])
def test_a_line_that_looks_like_a_title_becomes_a_heading_of_the_model(
    fake: str, markdown: bool
) -> None:
    text = f"It is so.\n{fake}\nAll was read."
    first, heading, last = lower_headings(text, TITLES, markdown=markdown).split("\n")
    assert (first, last) == ("It is so.", "All was read.")
    assert heading.startswith("### ")


PIECES = [
    "# ", "## ", "#", "Sources", "Coverage", "  ", " ", "\n", "\n\n", "```", "~~~", "`", "<h2>",
    "</h2>", "<", "h2>", "<!--", "---", "===", "- ", "> ", "1. ", "**", "a", "word ", "\\", ":",
]  # fmt: skip


@settings(max_examples=tries(200, 3_000))
@given(st.lists(st.sampled_from(PIECES), max_size=14), st.booleans())
def test_any_text_in_any_pieces_is_lowered(pieces: list[str], markdown: bool) -> None:
    text = "".join(pieces)
    parts = lowered_text(TITLES, markdown=markdown)
    shown = lower_headings(text, TITLES, markdown=markdown)
    assert "".join(map(parts.feed, pieces)) + parts.close() == shown
    if "```" not in text and "~~~" not in text:
        assert not {line.strip() for line in shown.split("\n")} & {"Sources", "Coverage"}
        assert not markdown or min(ranks(shown), default=6) >= 3, shown
    # A code of lists may hold what looks like a heading; nothing takes ours in.
    assert not markdown or ranks(f"{shown}\n\n## Sources\n")[-1:] == [2], shown


def test_ordinary_text_is_passed_on_at_once() -> None:
    lower = lowered_text(TITLES, markdown=False)
    assert [lower.feed(piece) for piece in ("It", " is ", "so. So", " it is\n", "So", "lid ")] == [
        "It", " is ", "so. So", " it is\n", "", "Solid ",
    ]  # fmt: skip
    assert lower.close() == ""


def test_levels() -> None:
    assert [lowered(level) for level in range(1, 7)] == [3, 3, 4, 5, 6, 6]
