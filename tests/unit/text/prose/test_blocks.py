"""Prose is read by lines, whatever the lines are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.prose.blocks import (
    COLUMNS,
    Block,
    Heading,
    Listing,
    ListItem,
    Paragraph,
    Preformatted,
    Rule,
    Table,
    read_blocks,
)


def bullet(depth: int, *paragraphs: str, number: int | None = None) -> ListItem:
    return ListItem(depth, number, paragraphs)


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("## Thesis ##\nOne\ntwo.\n\nThree", [Heading(2, "Thesis ##"), Paragraph("One two."),
                                             Paragraph("Three")]),
        ("- a\n  b\n  - c\n- d", [Listing((bullet(0, "a b"), bullet(1, "c"), bullet(0, "d")))]),
        ("1. a\n\n   more\n2) b\n\nend", [Listing((bullet(0, "a", "more", number=1),
                                                  bullet(0, "b", number=2))), Paragraph("end")]),
        ("a\n---\nb\n***", [Paragraph("a"), Rule(), Paragraph("b"), Rule()]),
        ("```py\n# x\n\n- y\n```\nz", [Preformatted("# x\n\n- y"), Paragraph("z")]),
        ("```\nnever closed", [Paragraph("``` never closed")]),
        ("```markdown\n## T\n```py\nx\n```\n```", [Heading(2, "T"), Preformatted("x")]),
        ("> one\n> two\n\n>>> doctest", [Paragraph("one two", quotation=True),
                                         Paragraph(">>> doctest")]),
        ("| a | b |\n|---|--:|\n| 1 | 2 | 3 |\n| 4 |", [Table((("a", "b"), ("1", "2"), ("4", "")),
                                                           (False, True))]),
        ("a | b\nno table", [Paragraph("a | b no table")]),
        ("    indented", [Paragraph("indented")]),
        ("#hash\n**bold**", [Paragraph("#hash **bold**")]),
        ("", []),
    ],
)  # fmt: skip
def test_lines_become_blocks(text: str, blocks: list[Block]) -> None:
    assert list(read_blocks(text)) == blocks


def test_lists_and_tables_have_limits() -> None:
    deep = "\n".join(f"{' ' * 2 * depth}- x" for depth in range(40))
    (listing,) = read_blocks(deep)
    assert isinstance(listing, Listing)
    assert max(item.depth for item in listing.entries) == 5
    wide = "|" * (COLUMNS + 3) + "\n|---|\n"
    assert not any(isinstance(block, Table) for block in read_blocks(wide))


@given(
    st.lists(
        st.sampled_from(["- ", "1. ", "```\n", "~~~\n", "|", "---", "\n", "# ", "> ", "é", "  "])
    ).map("".join)
)
def test_no_letter_is_lost(text: str) -> None:
    read = str(read_blocks(text))
    # A cell beyond the columns of its table's head is the only text without a place.
    assert read.count("é") == text.count("é") or "Table" in read
