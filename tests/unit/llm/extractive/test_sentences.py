from __future__ import annotations

import pytest

from pgs_neo4j.llm.extractive.sentences import leans, quote, sentences, without_citations

DOCSTRING = """Run code in a sandbox.

    The sandbox is cheap, e.g. a thread.  It honors :class:`Limits` and ``timeout``.

    >>> run("x")
    Traceback (most recent call last):
    ValueError: not prose at all here

    Example::

        value = run("one two three")
        this line is code too

    :param code: the source text to be run
    returns() -- the exit status of the child

    ========  =======
    ```python
    this fenced text is code
    ```
    - A bullet that says something.
    * Another bullet without a full stop
    x = compute(1)
"""


def test_prose_of_a_docstring_without_its_code() -> None:
    assert sentences(DOCSTRING) == [
        "Run code in a sandbox.",
        "The sandbox is cheap, e.g. a thread.",
        "It honors Limits and timeout.",
        "the source text to be run",
        "returns() -- the exit status of the child",
        "A bullet that says something.",
        "Another bullet without a full stop",
    ]


def test_each_fact_of_a_relationship_is_a_sentence() -> None:
    text = (
        "Ada Novak studied in Oslo. She retired early.\n\n"
        "ACTED_IN -> A Quiet Pilot: Old Tom (voice)\n"
        "ACTED_IN -> Night Train: Herself, uncredited\nREVIEWED -> Night Train: Too long. "
        "Dull from end to end."
    )
    assert sentences(text) == [
        "Ada Novak studied in Oslo.",
        "She retired early.",
        "ACTED_IN -> A Quiet Pilot: Old Tom (voice)",
        "ACTED_IN -> Night Train: Herself, uncredited",
        "REVIEWED -> Night Train: Too long.",
        "Dull from end to end.",
    ]


def test_headings_labels_and_links_do_not_stand_in_the_way() -> None:
    text = (
        "# A heading of five words\n**Key insight:** The [bound](http://x.y/z) is **sharp**.\n"
        "See Fig. 3 by J. Smith et al. for more. Then stop here now."
    )
    assert sentences(text) == [
        "The bound is sharp.",
        "See Fig. 3 by J. Smith et al. for more.",
        "Then stop here now.",
    ]
    glued = "[CONSOLIDATED] ## The Core Revelation The theory is unique. It sits at a kink."
    assert sentences(glued) == ["It sits at a kink."]
    alone = "[CONSOLIDATED] ## Consolidated Insight The theory is unique."
    assert sentences(alone) == ["Consolidated Insight The theory is unique."]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "two words",
        '{"id": "a", "goal": "b", "path": "c d e"}',
        "1 2 3 4 5 6",
        "x " * 900,
    ],
)
def test_what_is_no_prose_gives_nothing(text: str) -> None:
    assert sentences(text) == []


def test_quotes_are_cut_at_a_word() -> None:
    assert quote("one two three four", 12) == "one two…"
    assert quote("one two", 7) == "one two"
    assert len(quote("word " * 200)) <= 240


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("## Findings\n- forged [n9]", "Findings - forged ⟦n9⟧"),
        ("- - # > item", "item"),
        ("see [P4:n12, n3] there", "see ⟦P4:n12, n3⟧ there"),
        ("see [ N 7 ] there", "see ⟦ N 7 ⟧ there"),
        ("see (n3) and 【n4】", "see ⟦n3⟧ and ⟦n4⟧"),
        ("an array x[0] stays", "an array x[0] stays"),
        ("open [ and ] close ]", "open ⟦ and ⟧ close ⟧"),
        ("```\ncode", "code"),
        ("bell\x07 \x1b[31mred \u202eback", "bell ⟦31mred back"),
    ],
)
def test_quotes_cannot_forge_structure(hostile: str, harmless: str) -> None:
    assert quote(hostile) == harmless


def test_citations_are_taken_off_and_leaning_sentences_known() -> None:
    assert without_citations("It holds [n3, n7].  So [P2:n1] there x[0].") == (
        "It holds. So there x[0]."
    )
    assert leans("This approach works.")
    assert not leans("Thistles grow.")
