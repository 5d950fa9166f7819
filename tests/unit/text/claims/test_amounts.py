"""Fractions, factors, times, ratios, ordinals, and directions are looked up."""

from __future__ import annotations

import pytest

from pgs_neo4j.text.claims.check import Known, find_doubts
from pgs_neo4j.text.claims.dates import find_dates, same_date
from pgs_neo4j.text.claims.sources import Material, Sources

WORKS = Sources.of(
    "The Arlon works employed 420 people in 1987 and 610 in 1993. Output rose from 12,500 tons in "
    "1987 to 18,750 tons in 1993. Between 15 and 20 percent of the tiles crack. The furnace was "
    "lit on 3 March 1987 by Dr. Helga Brandt and President Omar Diallo. The net result was a loss "
    "of $4.2 million in 1991, the second loss in a row. Two thirds of the workers are women. The "
    "plant has 3 kilns, 14 presses and 2 laboratories. The temperature in winter drops to -12 °C. "
    "Half of the clay comes from Westerwald. Production doubled between 1987 and 1995. The museum "
    "opened on 2001-09-17 and closed in 2014. The project cost €1.25 billion. Interest was 0.5 %. "
    "The ratio of lead to tin is 3:2. Its population fell by a quarter. A study of 1,024 patients "
    "found a response rate of 37 %. The 5th edition appeared in spring 2003. The line is 48 km "
    "long and 1.435 m wide. They meet at 14:30 on Tuesdays."
)
KNOWN = Known(Material("What happened at Arlon?"), partitions=frozenset({3}))


@pytest.mark.parametrize(
    "sentence",
    [
        "10\u201320 % of the tiles crack.",
        "Ninety percent of the tiles crack.",
        "Interest was 5 %.",
        "Interest was 0.05 %.",
        "Interest was 0.5 ‰.",
        "Three quarters of the workers are women.",
        "One third of the workers are women.",
        "Most of it, nine tenths, comes from Westerwald.",
        "Production tripled between 1987 and 1995.",
        "Production quadrupled.",
        "Production halved between 1987 and 1995.",
        "Output grew tenfold.",
        "It is 12 times larger.",
        "Output fell from 12,500 tons to 18,750 tons.",
        "The net result was a profit of $4.2 million in 1991.",
        "The temperature in winter drops to 12 °C.",
        "Output rose by 6,350 tons.",
        "The sixth edition appeared in 2003.",
        "The third loss in a row came in 1991.",
        "The museum closed in the 19th century.",
        "Founded in the eighteenth century.",
        "The ratio of lead to tin is 2:3.",
        "They meet at 15:30 on Tuesdays.",
        "They meet at 2:30 am.",
        "They meet at 14:30 on Fridays.",
        "The furnace was lit on Mar-04-1987.",
        "The furnace was lit on 4-Mar-1987.",
        "The museum opened on 17 September '02.",
        "The furnace was lit on 4 марта 1987 года.",
        "The plant has 3 kilns, 15 presses and 2 laboratories.",
        "Some 2,000 patients were studied.",
        "Hundreds of thousands of patients were studied.",
        "Millions of tiles crack.",
        "A million people worked there.",
        "Apollo 13 was launched.",
        "The furnace was lit by Dr. Helga Brand.",
        "Sie sagt »die Hälfte des Tons kommt aus dem Westen«.",
        "It says \u2018half of the clay comes from the valley\u2019.",
        "It says 'half of the clay comes from the valley'.",
    ],
)
def test_a_wrong_amount_in_any_words_is_in_doubt(sentence: str) -> None:
    assert find_doubts(sentence, WORKS, KNOWN)


@pytest.mark.parametrize(
    "sentence",
    [
        "15\u201320 % of the tiles crack.",
        "2/3 of the workers are women.",
        "About 67 % of the workers are women.",
        "50 % of the clay comes from Westerwald.",
        "Production grew twofold.",
        "Production doubled.",
        "Its population fell by 25 %.",
        "Over a third responded.",
        "The net result was -$4.2 million in 1991.",
        "The loss was USD 4.2m.",
        "The project cost EUR 1.25bn.",
        "The project cost 1,25 Mrd. Euro.",
        "Temperatures reach minus 12 degrees Celsius.",
        "Der Ofen wurde am 3. März 1987 angezündet.",
        "The furnace was lit on 03-Mar-1987.",
        "The museum closed thirteen years later.",
        "It took six years, from 1987 to 1993.",
        "Six years after 1987, output was 18,750 tons.",
        "In the 20th century the works grew.",
        "The plant has 19 installations in total.",
        "Output rose by 6,250 tons.",
        "Output rose by 50 %.",
        "Output rose by half.",
        "Output grew 1.5 times.",
        "Employment rose by 190 people, or 45.2 %.",
        "The ratio is 3 to 2 in favor of lead.",
        "Over a thousand patients were studied.",
        "Hundreds of people worked there.",
        "They meet at 2:30 pm.",
        "They meet at 14.30 Uhr.",
        "The museum opened on Monday, 17 September 2001.",
        "The fifth edition appeared in 2003.",
        "A third reason is the clay; a fourth one is the furnace.",
        "It says \u2018half of the clay comes from Westerwald\u2019.",
        "The workers' pay and the owners' gains are linked.",
    ],
)
def test_a_true_amount_in_other_words_is_in_no_doubt(sentence: str) -> None:
    assert find_doubts(sentence, WORKS, KNOWN) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("03-Mar-1987", "1987-03-03"),
        ("Mar-03-1987", "3 maart 1987"),
        ("17 Sept. '01", "17 de setembro de 2001"),
        ("September 17, \u201901", "17 сентября 2001"),
    ],
)
def test_more_forms_of_dates(one: str, other: str) -> None:
    ([claim], [source]) = find_dates(one), find_dates(other)
    assert same_date(claim, source)


ENGINES = Sources.of(
    "The COVID-19 team used GPT-4 and Python 3.11.4 on 10.0.0.1. The motor runs at 7000rpm with a "
    "12dB gain, and 37 % of patients slept. 3D printing of 512 parts took rank #12. The B-52 flew."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "It has 98_765 tokens.",
        "It has 98765tokens.",
        "The motor runs at 9000rpm.",
        "It has a gain of 15dB.",
        "It took rank #13.",
        "The COVID-21 team used it.",
        "The team used GPT-5.",
        "They used Python 3.11.5.",
        "They used 10.0.0.2.",
        "It was so in the mid-1990s.",
        "43 per cent of patients slept.",
        "The B-53 flew.",
    ],
)
def test_a_number_within_a_name_or_beside_its_unit_is_looked_up(sentence: str) -> None:
    assert find_doubts(sentence, ENGINES, KNOWN)


@pytest.mark.parametrize(
    "sentence",
    [
        "The motor runs at 7000 rpm.",
        "It has a gain of 12 dB.",
        "It ranks 12th.",
        "The COVID-19 team used GPT 4.",
        "They used Python 3.11.",
        "They used Python 3.11.4 on 10.0.0.1.",
        "37 per cent of patients slept.",
        "The B52 flew, and the GPT-4 model ran.",
        "3D printing took place.",
    ],
)
def test_so_it_is_in_any_spelling(sentence: str) -> None:
    assert find_doubts(sentence, ENGINES, KNOWN) == ()


COUNCIL = Sources.of(
    "The council approved the new furnace in spring. The museum is open to all visitors. Salt "
    "increases the strength of the clay. The river freezes every winter. The board did not "
    "approve the merger with Kessler. Costs fell in 2003 and rose in 2004. The gate refuses long "
    "and heavy carts of the potters."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The council rejected the new furnace in spring.",
        "The council declined to approve the new furnace in spring.",
        "It is false that the council approved the new furnace in spring.",
        "The museum is closed to all visitors.",
        "Salt decreases the strength of the clay.",
        "Salt reduces the strength of the clay.",
        "The river rarely freezes in winter.",
    ],
)
def test_what_is_denied_by_another_word_is_in_doubt(sentence: str) -> None:
    assert find_doubts(sentence, COUNCIL, KNOWN) == ("a cited node says the contrary",)


@pytest.mark.parametrize(
    "sentence",
    [
        "The board refused the merger with Kessler.",
        "Salt does not reduce the strength of the clay.",
        "Costs rose in 2004.",
        "Costs fell in 2003.",
        "The gate rejects long and heavy carts of the potters.",
        "The museum is not closed to any visitors.",
    ],
)
def test_two_denials_are_none(sentence: str) -> None:
    assert find_doubts(sentence, COUNCIL, KNOWN) == ()
