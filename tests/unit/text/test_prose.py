"""Prose is read by lines, whatever the lines are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.prose import (
    COLUMNS,
    Block,
    Cites,
    Code,
    Heading,
    Inline,
    Listing,
    ListItem,
    Paragraph,
    Preformatted,
    Rule,
    Table,
    read_blocks,
    read_inline,
)


def bullet(depth: int, *paragraphs: str, number: int | None = None) -> ListItem:
    return ListItem(depth, number, paragraphs)


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("## Thesis ##\nOne\ntwo.\n\nThree", [Heading(2, "Thesis"), Paragraph("One two."),
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
        ("|a\\|b|c\\|\n|-|-|\n|1|2\\|3|", [Table((("a|b", "c|"), ("1", "2|3")), (False, False))]),
        ("a | b\nno table", [Paragraph("a | b no table")]),
        ("````\n```\nx\n```\n````\n~~~\ny\n~~~~", [Preformatted("```\nx\n```"), Preformatted("y")]),
        ("- a\n  ```\n  if x:\n      y\n z\n  ```", [Listing((bullet(0, "a"),)),
                                                   Preformatted("if x:\n    y\nz")]),
        ("> one\n\n> two", [Paragraph("one", quotation=True), Paragraph("two", quotation=True)]),
        ("> one\n>\n> two", [Paragraph("one", quotation=True), Paragraph("two", quotation=True)]),
        ("> one\n> \n> two\n>", [Paragraph("one", quotation=True),
                                 Paragraph("two", quotation=True)]),
        ("one\n>\n> two", [Paragraph("one"), Paragraph("two", quotation=True)]),
        ("# C# #\n## a ##b", [Heading(1, "C#"), Heading(2, "a ##b")]),
        # CommonMark reads these in another way, but models mean this.
        ("• a\n• b", [Listing((bullet(0, "a"), bullet(0, "b")))]),
        ("1. a\n  - x\n2. b", [Listing((bullet(0, "a", number=1), bullet(1, "x"),
                                       bullet(0, "b", number=2)))]),
        ("One.\n2. two", [Paragraph("One."), Listing((bullet(0, "two", number=2),))]),
        ("1986. It began.", [Paragraph("1986. It began.")]),
        ("> one\ntwo", [Paragraph("one", quotation=True), Paragraph("two")]),
        ("|a|\n|-|\n|1|\nend", [Table((("a",), ("1",)), (False,)), Paragraph("end")]),
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


def drawn(parts: list[Inline]) -> str:
    """The parts with ``<b>`` and ``<c>`` around bold words and code, citations as places."""
    texts = []
    for part in parts:
        text = (
            " ".join(f"{p}.{a}" for p, a in (c.place for c in part.group))
            if isinstance(part, Cites)
            else part.text
        )
        text = f"<c>{text}</c>" if isinstance(part, Code) else text
        text = f"({text})" if isinstance(part, Cites) else text
        texts.append(f"<b>{text}</b>" if part.bold else text)
    return "".join(texts)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("**Gap:** none [P1:n2].", "<b>Gap:</b> none (1.n2)."),
        ("a **bold `x` [n3]** end", "a <b>bold </b><b><c>x</c></b><b> </b><b>(4.n3)</b> end"),
        ("`a` and ``b`c``", "<c>a</c> and <c>b`c</c>"),
        ("`[P1:n2]` (**x**)", "(1.n2) (<b>x</b>)"),
        ("**a **b** c**", "**a <b>b</b> c**"),
        # What a graph holds looks as it is in the graph.
        ("f(*args, **kwargs) and g(**kwargs)", "f(*args, **kwargs) and g(**kwargs)"),
        ("x**2 + y**2 = z**2", "x**2 + y**2 = z**2"),
        ("*.py, a*b, _x_, ~~y~~, *z*", "*.py, a*b, _x_, ~~y~~, *z*"),
        ("C:\\_new\\*x* &lt;b&gt;", "C:\\_new\\*x* &lt;b&gt;"),
        ("[x](http://y) ![x](/y) <b> <http://z>", "[x](http://y) ![x](/y) <b> <http://z>"),
        ("it says “**a** `b`” [P1:n2]", "it says “**a** `b`” (1.n2)"),
        ('it says "a **b** c", **d**', 'it says "a **b** c", <b>d</b>'),
        ('a 5" disk, **b** and 3" more', 'a 5" disk, <b>b</b> and 3" more'),
        ("a ` alone and “ alone **b**", "a ` alone and “ alone <b>b</b>"),
    ],
)
def test_marks_have_a_meaning_where_a_writer_puts_them(text: str, wanted: str) -> None:
    assert drawn(read_inline(text, 4)) == wanted


def test_a_quoted_line_has_citations_and_no_marks() -> None:
    parts = read_inline("A **b** `c` __d__ [n1].", 4, quoted=True)
    assert drawn(parts) == "A **b** `c` __d__ (4.n1)."


@given(st.lists(st.sampled_from(["**", "`", "``", "“", "”", '"', " ", "a", ".", "[n1]"])))
def test_nothing_but_marks_is_lost(words: list[str]) -> None:
    text = "".join(words)
    left = drawn(read_inline(text, 4)).replace("(4.n1)", "")
    for mark in ("<b>", "</b>", "<c>", "</c>"):
        left = left.replace(mark, "")
    for letter in 'a.“”"':
        assert left.count(letter) == text.count(letter)
