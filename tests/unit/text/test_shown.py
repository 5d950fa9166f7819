"""Text is made safe, and citations are found where they stand."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.model import Citation, Usage
from pgs_neo4j.text import citations
from pgs_neo4j.text import shown as text
from pgs_neo4j.text.citations import distinct, name_of, pieces, validity_of
from pgs_neo4j.text.shown import document_key, natural_key


def places(said: str, partition: int = 0) -> list[tuple[int, str]]:
    return [
        each.place for piece in pieces(said, partition) if piece != str(piece) for each in piece
    ]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a\x1b[31mb\x1b]0;owned\x07c", "abc"),
        ("a\x1b]never closed", "a]never closed"),
        ("a\r\nb\rc\u2028d\x0be", "a\nb\nc\nd\ne"),
        ("a\u202eb\u2066c\x00\x9b\ud800\ufeff\u061c", "abc"),
        ("tab\tstays, é 中 👩‍💻 too", "tab\tstays, é 中 👩‍💻 too"),
    ],
)
def test_plain_has_no_control_characters(given: str, shown: str) -> None:
    assert text.plain(given) == shown


def test_one_line_is_cut_with_an_ellipsis() -> None:
    assert text.one_line(" a\n b ") == "a b"
    assert text.one_line("abcdef", 4) == "abc…"


@pytest.mark.parametrize(
    ("share", "said"), [(0, "0"), (0.001, "under 1"), (0.5, "50"), (0.999, "over 99"), (1, "100")]
)
def test_percent_never_rounds_to_all_or_nothing(share: float, said: str) -> None:
    assert text.percent(share) == f"{said} %"


@pytest.mark.parametrize(
    ("value", "said"), [(1234.5, "1,234.50"), (0.25, "0.25"), (0.00421, "0.0042"), (0.0, "0")]
)
def test_money(value: float, said: str) -> None:
    assert text.money(value) == said


@pytest.mark.parametrize(("value", "said"), [(0.82, "0.8 s"), (45.2, "45 s"), (185, "3 min 05 s")])
def test_seconds(value: float, said: str) -> None:
    assert text.seconds(value) == said


def test_an_alias_without_a_partition_belongs_to_the_one_given() -> None:
    assert places("[n1] [P2:n2, n3] [n4]", 7) == [(7, "n1"), (2, "n2"), (2, "n3"), (7, "n4")]


@given(st.text("[](){}Pn12:,;- and\n", max_size=80))
def test_pieces_are_the_whole_text(said: str) -> None:
    whole = ""
    for piece in pieces(said):
        whole += piece if isinstance(piece, str) else "".join(
            f"{each.before}{each.text}{each.after}" for each in piece
        )  # fmt: skip
    assert whole == said


WORDS = [*"[]()[,;&/-:.P0 \n\u2013【】", "n1", "n2", "n7", "P4:", "P4 ", "to", "and", "nodes"]


@given(st.lists(st.sampled_from(WORDS), max_size=20).map("".join), st.sampled_from([0, 4]))
def test_pieces_are_what_counts_as_cited(said: str, partition: int) -> None:
    """The engine decides what is a citation; what draws them must find the same."""
    counted = {
        (mention.partition or 0, f"n{number}")
        for mention in citations.find_mentions(said, partition or None)
        for number in (mention.first, mention.last)
    }
    assert set(places(said, partition)) == counted


@pytest.mark.timeout(120)
@pytest.mark.parametrize("unit", ["[", "[n1", "[n1,", "[P1 ", "[n1, n2 ", "nodes ", "[and,", "(["])
def test_pieces_take_linear_time(unit: str) -> None:
    assert [*pieces(unit * 60_000)]


def test_citations_once_each_in_order() -> None:
    one, two = Citation(alias="n1", partition=2), Citation(alias="n2", partition=1)
    assert distinct((one, two, one)) == [one, two]
    assert validity_of((one, Citation(alias="n1", partition=2, valid=False)))[(2, "n1")] is True
    assert (name_of(4, "n12"), name_of(0, "n3")) == ("P4:n12", "n3")


@pytest.mark.parametrize(
    ("cached", "stored", "estimated", "words"),
    [
        (0, 0, False, "9,000 tokens in, 400 out"),
        (0, 0, True, "about 9,000 tokens in, 400 out"),
        (5_000, 0, False, "9,000 tokens in (5,000 from the provider's cache), 400 out"),
        (0, 9_000, False, "9,000 tokens in (9,000 written to the provider's cache), 400 out"),
        (
            5_000,
            2_000,
            False,
            "9,000 tokens in (5,000 from the provider's cache, 2,000 written to it), 400 out",
        ),
    ],
)
def test_tokens_name_the_providers_cache_where_it_was_used(
    cached: int, stored: int, estimated: bool, words: str
) -> None:
    usage = Usage(
        calls=3,
        input_tokens=9_000,
        output_tokens=400,
        estimated=estimated,
        cache_read_tokens=cached,
        cache_write_tokens=stored,
    )
    assert text.used_tokens(usage) == words


def test_numbers_in_names_are_in_the_order_of_their_values() -> None:
    places = ["a.csv#line 8", "a.csv#line 9", "a.csv#line 15", "a.csv#line 1,019", "b.csv#2"]
    shuffled = places[:]
    Random(1).shuffle(shuffled)
    assert sorted(shuffled, key=natural_key) == places
    names = ["2.md", "10.md", "a", "a/2/b", "a/10/b", "v1.2", "v1.10", "1,5"]
    assert sorted(sorted(names), key=natural_key) == [
        "1,5", "2.md", "10.md", "a", "a/2/b", "a/10/b", "v1.2", "v1.10",
    ]  # fmt: skip


def test_equal_numbers_keep_an_order_of_their_own() -> None:
    assert sorted(["a01", "a1", "a001"], key=natural_key) == ["a001", "a01", "a1"]
    assert natural_key("a01") != natural_key("a1")


def test_records_without_keys_are_in_the_order_of_their_titles() -> None:
    """Their hashes put line 15 before line 8, and look as if nothing were sorted."""
    documents = [
        ("a.csv#9", "Ninth"),
        ("a.csv#10", "Tenth"),
        ("lines.jsonl#c1983cd2920d1517", "Line 1"),
        ("lines.jsonl#38080b12b125fdc2", "Line 8"),
        ("lines.jsonl#48412a984831f2cd", "Line 15"),
        ("lines.jsonl#48412a984831f2ce", "Line 15"),
        ("notes.md", "A title"),
    ]
    shuffled = documents[:]
    Random(1).shuffle(shuffled)
    assert sorted(shuffled, key=lambda one: document_key(*one)) == documents
    assert document_key("notes.md", "A title") == document_key("notes.md", "")
