"""What counts as a citation, what a range cites, and how text is kept from citing."""

import pytest

from pgs_neo4j.model import Citation, Node
from pgs_neo4j.text.citations import (
    RANGE,
    Mention,
    defuse,
    find_mentions,
    qualify_aliases,
    resolve,
    resolve_qualified,
)

SHOWN = {
    f"n{i}": Node(rank=i - 1, element_id="e", key=f"k{i}", title="T", text="t")
    for i in (*range(1, 10), *range(100, 160))
}
CITING = {
    "[n1]": ["n1"],
    "(n1, n3)": ["n1", "n3"],
    "\u3010n3\u3011": ["n3"],
    "\uff08n3\uff0c": [],
    "\uff08n3\uff09": ["n3"],
    "\u3014n3\u3015": ["n3"],
    "[n1; n2 & n3, and n4]": ["n1", "n2", "n3", "n4"],
    "[nodes n1 and n2]": ["n1", "n2"],
    "[n1, n1] (n1)": ["n1"],
    "[[n1]]": ["n1"],
    "[n3)": ["n3"],
    "[n007]": ["n7"],
    "[n3\u2013n5]": ["n3", "n4", "n5"],
    "(n3 \u2014 n5, n7)": ["n3", "n4", "n5", "n7"],
    "[n3 to n5]": ["n3", "n4", "n5"],
    "[n5-n3]": ["n5", "n3"],
    "[n8-n11]": ["n8", "n11"],
    f"[n100-n{100 + RANGE - 1}]": [f"n{i}" for i in range(100, 100 + RANGE)],
    f"[n100-n{100 + RANGE}]": ["n100", f"n{100 + RANGE}"],
    "[n1-n999999999]": ["n1", "n999999999"],
}


@pytest.mark.parametrize(("text", "aliases"), CITING.items())
def test_aliases_that_are_cited(text, aliases):
    assert [c.alias for c in resolve(text, 2, SHOWN)] == aliases


@pytest.mark.parametrize(
    "text",
    ["n1", "[n]", "[n1b]", "[n1n2]", "[x n1]", "(see n1)", "[]", "arr[0]", "f(x)", "[-n1]",
     "[n1-]", "[and]", "[node]", "[P3]", "[n1--n2]", "\u27e6n1\u27e7", "{n1}", "<n1>", "[n1"],
)  # fmt: skip
def test_what_cites_nothing(text):
    assert list(find_mentions(text, 2)) == []


@pytest.mark.parametrize("text", ["[n8-n11]", "[n3-n5]", "[P4:n1-n3]", "[n3-P4:n5]", "[n5-n3]"])
def test_a_range_cites_nothing_that_was_not_shown_but_its_ends(text):
    cited = resolve(text, 2, {k: v for k, v in SHOWN.items() if k != "n4"})
    assert len(cited) == 2
    assert all(c.valid == (c.partition == 2 and c.alias in SHOWN) for c in cited)


def test_a_partition_holds_until_the_next_within_its_brackets():
    assert list(find_mentions("[P4:n1, n2; P 5] [P4 : n1, n2; P5 n3, n4] (n6)", 2)) == [
        Mention(4, 1, 1),
        Mention(4, 2, 2),
        Mention(5, 3, 3),
        Mention(5, 4, 4),
        Mention(2, 6, 6),
    ]


def test_a_synthesis_range_cites_what_the_reports_cited():
    known = {(4, f"n{i}"): Citation(alias=f"n{i}", partition=4, node=f"k{i}") for i in (3, 4, 5)}
    cited = resolve_qualified("[P4:n3-P4:n5] (P4:n5\u2013n7)", known)
    assert [(c.alias, c.valid) for c in cited] == [
        ("n3", True),
        ("n4", True),
        ("n5", True),
        ("n7", False),
    ]


def test_qualified_text_names_the_partition_of_every_alias_and_stays_a_range():
    text = "a (n3) b [n1-n5, n7] c \u3010P9:n2, n4\u3011 d [x] e (n5-n3)"
    assert qualify_aliases(text, 4) == (
        "a [P4:n3] b [P4:n1-P4:n5, P4:n7] c [P9:n2, P9:n4] d [x] e [P4:n5, P4:n3]"
    )
    assert qualify_aliases(qualify_aliases(text, 4), 6) == qualify_aliases(text, 4)


@pytest.mark.parametrize("text", [text for text, aliases in CITING.items() if aliases])
def test_defused_text_cites_nothing_and_keeps_its_length(text):
    assert list(find_mentions(defuse(text), 2)) == []
    assert len(defuse(text)) == len(text)
    assert "n" in defuse(text).lower()


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "text",
    [
        "[P1" + " " * 200_000 + "]",
        "[n1" + " " * 200_000 + "]",
        "[" * 200_000,
        "[n1, " * 40_000,
        "(" + "n1, " * 50_000 + "x)",
        "[" + "n1 and " * 28_000 + "n2",
        "[n1" + " nodes n3" * 22_000,
        "[n" + "1" * 200_000 + "]",
        "\t\u2003" * 100_000,
    ],
    ids=lambda text: text[:6],
)
def test_long_texts_of_almost_citations_take_no_time_to_speak_of(text):
    assert len(defuse(text)) == len(text)
    assert qualify_aliases(text, 1)
    assert len(list(find_mentions(text, 1))) <= 2
