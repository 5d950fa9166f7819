"""A line of prose has few marks, and what it quotes has none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.prose.inline import Cites, Code, Inline, read_inline


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
