"""Numbers, dates, names, quotations, and negations of sentences are looked up in what they cite."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.claims.check import Known, find_doubts
from pgs_neo4j.text.claims.dates import find_dates, same_date
from pgs_neo4j.text.claims.marking import doubts_of, find_marked, mark, spans, strike
from pgs_neo4j.text.claims.numbers import find_numbers
from pgs_neo4j.text.claims.sources import Material, Sources
from tests.claims import KINDS, MADE, Claim, make_claims
from tests.standins import Brain

KILN = Material(
    "The kiln reached 1,200 °C in March 2008 and its mass changed by -5 %. Maria Kessler founded "
    "it on 14 March 2008 with $3.4 million. Three kilns hold 12, 20 and 8 tons. It does not use "
    "lead glaze at all. The rate was between 10 and 12 %. The COVID-19 team met in 1994."
)
SALES = Material(
    "Revenue was 3,412,345 euros. CO2 emissions rose from 50 kg to 75 kg. Potters of the "
    "conformal field theory group work in silence. The 3rd oven took 0.25 of the space."
)
KNOWN = Known(Material("What does NASA say of 77 ovens?"), partitions=frozenset({3, 5}))


def doubts(sentence: str, cited: tuple[int, int] = (0, 0)) -> tuple[str, ...]:
    return find_doubts(sentence, Sources((KILN, SALES)), KNOWN, cited=cited)


@pytest.mark.parametrize(
    "sentence",
    [
        "The kiln reached 1200 °C [n1].",
        "It reached 1.2 thousand degrees of some sort.",
        "It reached 1\u202f200 °C.",
        "Mass fell by 5 %.",
        "Founded on 2008-03-14 by Maria Kessler.",
        "Kessler\u2019s company of 14.03.2008",
        "Founded 3/14/2008.",
        "In March 2008, 3.4m dollars were raised.",
        "She invested $3.4m.",
        "Revenue was about 3.4 million euros.",
        "Revenue exceeded 3 million euros.",
        "The three kilns total 40 tons.",
        "Together, the three kilns hold 40,000 kg.",
        "Emissions rose by 25 kg, or 50 % more.",
        "The rate was 10 to 12 %.",
        "A quarter, 25 %, of the space",
        "3 partitions agree [P1:n2, P3:n4].",
        "Two of five partitions agree.",
        "2 nodes say so.",
        "Two glazes, ash and lead, are named.",
        "The process is gentle, and nobody is disturbed.",
        "The Conformal Field Theory group is silent.",
        "The CFT group is silent.",
        "NASA asks of 77 ovens.",
        "In the 1990s, the COVID-19 team met.",
        "The third oven is large.",
        "It does not use lead glaze.",
        "It uses no lead glaze at all.",
        "It says “the kiln reached 1200 °C … March 2008”.",
        "**Hot Kiln:** it is hot.",
        "(1) CO2 rises, and (2) it stays.",
        "Die Töpfer der Gruppe arbeiten in der Stille und ohne Lärm.",
    ],
)
def test_what_the_cited_texts_bear_out_is_in_no_doubt(sentence: str) -> None:
    assert doubts(sentence, (2, 2)) == ()


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("The kiln reached 1300 °C.", "1300 °C"),
        ("The kiln reached 1200 °F.", "1200 °F"),
        ("It reached 1.2 million degrees.", "1.2 million"),
        ("Mass rose by 5 %.", "5 %"),
        ("The rate was 11 %.", "11 %"),
        ("It was 12.", None),
        ("It has 3.4 dollars.", "3.4 dollars"),
        ("Revenue was about 3.5 million euros.", "3.5 million euros"),
        ("The three kilns total 41 tons.", "41 tons"),
        ("Emissions rose by 30 kg.", "30 kg"),
        ("9 partitions agree.", "9"),
        ("Five kilns are there.", "Five"),
        ("Founded on 2008-03-15.", "2008-03-15"),
        ("Founded in April 2008.", "April 2008"),
        ("Founded on 14 March 2009.", "14 March 2009"),
        ("It was founded by Maria Keller.", "Maria Keller"),
        ("SO2 rises.", "SO2"),
        ("The glaze of Meissen is white.", "Meissen"),
        ("It says “the oven reached 1200 °C in March 2008”.", "the oven reached"),
        ("It uses lead glaze at all.", "contrary"),
        ("The kiln never reached 1,200 °C in March 2008.", "contrary"),
        ("It calls `fire_up` at night.", "fire_up"),
    ],
)
def test_what_they_do_not_say_is_in_doubt(sentence: str, said: str | None) -> None:
    found = doubts(sentence)
    assert (said is None) == (not found)
    assert said is None or said in found[0]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2020-02-03", "3 February 2020", True),
        ("02/03/2020", "3 Feb. 2020", True),
        ("02/03/2020", "March 2, 2020", True),
        ("2.3.2020", "3 February 2020", False),
        ("February 2020", "3rd of February, 2020", True),
        ("3. Februar 2020", "February 2020", False),
        ("2020年2月3日", "2020/02/03", True),
        ("3 février 2020", "3 febrero 2020", True),
        ("May 5", "5 May 1999", True),
    ],
)
def test_dates_are_compared_as_dates(one: str, other: str, same: bool) -> None:
    ([claim], [source]) = find_dates(one), find_dates(other)
    assert same_date(claim, source) is same


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234.5 and 1.234,5 and 3,14", ["1234.5", "1234.5", "3.14"]),
        ("5 km, 5m, 12-inch, 3.2e5, 4 x 10^3, 10⁻²", ["5000", "5", "12", "320000", "4000", "0.01"]),
        ("H2O, v2, x_3, 1.2.3, COVID-19", []),
        ("\u22123 to -1, but 4-5 and (\u20137)", ["-3", "-1", "4", "5", "-7"]),
        ("twenty-five thousand, a hundred and two", ["25000", "102"]),
        ("\u0663\u0664 \uff15", ["34", "5"]),
        ("9" * 500, []),
    ],
)
def test_numbers_are_read_in_any_form(text: str, values: list[str]) -> None:
    assert [f"{number.value.normalize():f}" for number in find_numbers(text)] == values


@given(st.text() | st.text("0123456789.,-\u2212%$ kmbn°C[]()n“”eE^x\u00b2"))
def test_any_text_is_taken(text: str) -> None:
    assert all(text[first:last] for first, last in spans(text))
    find_doubts(text, Sources.of(text), KNOWN)
    assert find_doubts(text, Sources((KILN,)), KNOWN) is not None


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("The Weiß seal holds water of Preßburg.", "The Weiss seal holds no water of Pressburg."),
        ("The W\u00aderra seal holds Kri\u200bmml.", "The Werra seal does not hold Krimml."),
        ("12,500,000 liters in 1\u202f200 crates", "Not 12500000 liters in 1200 crates"),
    ],
)
def test_among_many_texts_the_contrary_is_found_in_any_spelling(said: str, claim: str) -> None:
    others = [f"The oil valve {number} holds liters under pressure." for number in range(40)]
    reasons = find_doubts(claim, Sources.of(*others, said), Known())
    assert reasons == ("a cited node says the contrary",)


def doubting(sentence: str, cites: str) -> tuple[str, ...]:
    sources = tuple(text for alias, text in (("n1", KILN), ("n2", SALES)) if alias in cites)
    return find_doubts(sentence, Sources(sources), KNOWN)


def test_each_sentence_is_marked_where_it_stands_and_may_be_struck() -> None:
    line = "It is hot. [n1] Revenue was 9 euros [n2]. The rate was 11 % in (some) places [n1]"
    marked = mark(line, doubting)
    assert marked == (
        "It is hot. [n1] Revenue was 9 euros [n2]. (in doubt: no cited node has 9 euros) "
        "The rate was 11 % in (some) places [n1] (in doubt: no cited node has 11 %)"
    )
    assert mark(marked, doubting) == marked
    assert [one.text for one in find_marked(f"- {marked}")] == [
        "Revenue was 9 euros [n2].",
        "The rate was 11 % in (some) places [n1]",
    ]
    assert strike(f"# A\n- {marked}\n- It is 8 (in doubt: no)\n\nend") == (
        "# A\n- It is hot. [n1]\n\nend"
    )
    # A sentence may end in the next line.
    wrapped = mark("- Revenue was\n  9 euros [n2].\n", doubting)
    assert wrapped == "- Revenue was\n  9 euros [n2]. (in doubt: no cited node has 9 euros)\n"
    assert [one.text for one in find_marked(wrapped)] == ["Revenue was 9 euros [n2]."]
    assert strike(f"a\n{wrapped}\nb") == "a\n\nb"
    # A sentence without citations is looked up in what its line cites.
    assert doubts_of("It took 75 kg. It is so [n2].", doubting) == []
    assert doubts_of("It took 75 kg. It is so [n1].", doubting) == ["no cited node has 75 kg"]


def shares(claims: list[Claim]) -> tuple[float, float]:
    """The share of corrupted sentences that are caught, and of true ones that are flagged."""
    found = {True: 0, False: 0}
    for claim in claims:
        sources = Sources.of(claim.text)
        if doubts_of(claim.sentence, lambda one, _, own=sources: find_doubts(one, own, Known())):  # type: ignore[misc]
            found[claim.true] += 1
    half = len(claims) / 2
    return found[False] / half, found[True] / half


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_corrupted_sentences_are_caught_and_true_ones_are_not(seed: int) -> None:
    claims = make_claims(MADE, 100, seed)
    assert {claim.kind for claim in claims} == set(KINDS)
    assert len(claims) == 200
    caught, flagged = shares(claims)
    assert caught >= 0.95
    assert flagged <= 0.03


def test_so_it_is_with_300_of_each_from_a_graph(brain: Brain) -> None:
    nodes = json.loads(gzip.decompress(brain.path.read_bytes()))["nodes"]
    texts = [node["concept"] for node in nodes]
    claims = make_claims(texts, 300, 29)
    assert len(claims) == 600
    caught, flagged = shares(claims)
    assert caught >= 0.95
    assert flagged <= 0.03
