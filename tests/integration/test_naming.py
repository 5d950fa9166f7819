"""What names partitions, on a real database: labels, titles, sentences, digests of neighbors."""

# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.pgs.sweeping.neighbors import digest_neighbors, read_reached
from tests.database import alter

SIZE = 12  # nodes of a group, all of which are linked
BOILERPLATE = """Copyright (c) The Society and the persons named as authors. All rights reserved.

This memo is distributed without any limit to all sites of the network."""
CREATE = """
UNWIND $nodes AS node CREATE (d:Doc) SET d = node
WITH collect(d) AS docs
UNWIND $links AS link
WITH docs[link[0]] AS a, docs[link[1]] AS b
CREATE (a)-[:TO]->(b)
"""
MAPPING = GraphMapping(labels=("Doc",), relationship_types=("TO",), text=("text",), title="title")
SUBJECTS = ("glacier", "court", "lathe", "violin")
# Sentences of many scripts, five of them without spaces between words.
LANGUAGES = (
    "The ice of a glacier moves slowly.", "Das Eis eines Gletschers bewegt sich langsam.",
    "La glace d'un glacier avance lentement.", "El hielo de un glaciar avanza despacio.",
    "Il ghiaccio di un ghiacciaio si muove lentamente.", "O gelo de uma geleira move-se devagar.",
    "Gheața unui ghețar se mișcă încet.", "Het ijs van een gletsjer beweegt langzaam.",
    "Isen i en glaciär rör sig långsamt.", "Isen i en isbre beveger seg sakte.",
    "Isen i en gletsjer bevæger sig langsomt.", "Ísinn í jökli hreyfist hægt.",
    "Jäätikön jää liikkuu hitaasti.", "Liustiku jää liigub aeglaselt.",
    "Ledāja ledus kustas lēni.", "Ledyno ledas juda lėtai.",
    "Lód lodowca porusza się powoli.", "Led ledovce se pohybuje pomalu.",
    "Ľad ľadovca sa pohybuje pomaly.", "Led ledenika se premika počasi.",
    "Led ledenjaka kreće se sporo.", "Лед глечера се креће споро.",
    "Ледът на ледника се движи бавно.", "Лёд ледника движется медленно.",
    "Лід льодовика рухається повільно.", "Лёд ледавіка рухаецца павольна.",
    "Ο πάγος ενός παγετώνα κινείται αργά.", "Bir buzulun buzu yavaş hareket eder.",
    "Egy gleccser jege lassan mozog.", "Băng của sông băng di chuyển chậm.",
    "Es gletser bergerak perlahan.", "Barafu ya barafuto husonga polepole.",
    "הקרח של קרחון נע לאט.", "جليد النهر الجليدي يتحرك ببطء.", "یخ یخچال آهسته حرکت می‌کند.",
    "हिमनद की बर्फ धीरे-धीरे चलती है।", "হিমবাহের বরফ ধীরে ধীরে চলে।",
    "பனிப்பாறையின் பனி மெதுவாக நகர்கிறது.", "氷河の氷はゆっくり動きます。", "冰川的冰缓慢移动。",
    "빙하의 얼음은 천천히 움직인다.", "น้ำแข็งของธารน้ำแข็งเคลื่อนที่ช้า", "ທານນ້ຳແຂງເຄື່ອນທີ່ຊ້າ",
    "ទឹកកកនៃផ្ទាំងទឹកកកផ្លាស់ទីយឺត។", "ရေခဲမြစ်၏ရေခဲသည်ဖြည်းဖြည်းရွေ့လျားသည်။",
)  # fmt: skip
Text = Callable[[int, int], str]


async def partitioned(
    engine: PGS, db: Database, text: Text, groups: int = 4, title: Text | None = None
) -> tuple[Partition, ...]:
    """Partitions of groups of nodes, one relationship between one group and the next."""
    nodes = [
        {"text": text(group, number), "title": title(group, number) if title else None}
        for group in range(groups)
        for number in range(SIZE)
    ]
    links: list[Sequence[int]] = []
    for group in range(groups):
        first = group * SIZE
        links += [(first + a, first + b) for a, b in combinations(range(SIZE), 2)]
        if group:
            links.append((first + 5, first - SIZE + 7))
    await alter(db, CREATE, nodes=nodes, links=[list(link) for link in links])
    await engine.graphs.add("docs", MAPPING)
    made = await engine.partitions.build("docs")
    assert len(made.partitions) == groups
    return made.partitions


def on_subject(group: int, number: int) -> str:
    """A text that tells its group, and something that all mention."""
    subject = SUBJECTS[group]
    return f"Note {number} treats the {subject} of the valley, and every {subject}{number} there."


async def test_labels_lead_to_their_partitions_and_titles_to_neighbors(
    engine: PGS, db: Database
) -> None:
    parts = await partitioned(engine, db, on_subject, title=lambda g, n: f"{SUBJECTS[g]} no. {n}")
    for part in parts:
        routing = await engine.route(part.label, graph="docs")
        assert routing.routes[0].partition == part.id
        (subject,) = {title.split()[0] for title in part.titles}
        assert part.topics[0] == part.terms[0] == subject
        assert len(part.titles) == 8
        assert f"the {subject} of the valley" in part.abstract
    by_id = {part.id: part for part in parts}
    reached = await read_reached(db, (await engine.partitions.generation("docs")).id, by_id)
    for part in parts:
        own = part.titles[0].split()[0]
        for digest in digest_neighbors(part, by_id, reached):
            assert len(digest.reached) == 1
            assert digest.reached[0].split()[0] != own
            assert digest.reached[0].split()[-1] in ("5", "7")
    assert (await engine.partitions("docs"))[0].titles


@pytest.mark.thorough
async def test_boilerplate_of_every_node_names_nothing(engine: PGS, db: Database) -> None:
    def text(group: int, number: int) -> str:
        return f"{BOILERPLATE}\n\n{on_subject(group, number)}"

    for part in await partitioned(engine, db, text):
        assert not {"copyright", "memo", "network", "rights"} & set(part.terms)
        assert not {"Copyright", "memo"} & set(part.abstract.split())
        assert "valley" in part.abstract
        assert "copyright" in part.keywords or "copyright" in part.summary.lower()


@pytest.mark.thorough
async def test_partitions_of_the_same_text_have_no_label(engine: PGS, db: Database) -> None:
    parts = await partitioned(engine, db, lambda *_: "The same text stands in all nodes here.")
    assert {part.label for part in parts} == {""}
    assert {part.abstract for part in parts} == {""}
    assert all(part.gist == part.summary != "" for part in parts)
    answer = await engine.execute("Which text is the same?", graph="docs")
    assert answer.coverage.nodes_read == 4 * SIZE


async def test_partitions_without_text_have_no_names(engine: PGS, db: Database) -> None:
    texts = ("", " \n\t ", "…", "")
    for part in await partitioned(engine, db, lambda group, _: texts[group]):
        assert part.label == ""
        assert part.terms == part.keywords == ()
        assert part.abstract in texts
        assert {*part.titles} <= {"", "…"}


async def test_the_only_partition_is_named_by_its_words(engine: PGS, db: Database) -> None:
    (part,) = await partitioned(engine, db, on_subject, groups=1)
    assert set(part.label.split(", ")) == {"glacier", "note", "treats"}
    # Which note is first depends on the ids that the database has to give.
    assert part.abstract.startswith(tuple(on_subject(0, number)[:24] for number in range(SIZE)))
    assert (await engine.route(part.label, graph="docs")).routes[0].partition == part.id


@pytest.mark.thorough
async def test_forty_languages(engine: PGS, db: Database) -> None:
    def text(group: int, number: int) -> str:
        own = LANGUAGES[(group * SIZE + number) % len(LANGUAGES)]
        return f"{own} {own} {SUBJECTS[group % 4]}{number}"

    for part in await partitioned(engine, db, text):
        assert part.label
        assert part.abstract
        assert len(part.titles) == 8
        assert (await engine.route(part.label, graph="docs")).routes[0].partition == part.id


async def test_a_changed_title_is_what_neighbors_are_shown(engine: PGS, db: Database) -> None:
    parts = await partitioned(engine, db, on_subject, title=lambda g, n: f"{SUBJECTS[g]} no. {n}")
    labels = {part.id: part.label for part in parts}
    change = "MATCH (d:Doc {title: 'court no. 5'}) SET d.title = 'bailiff', d.text = 'A bailiff.'"
    await alter(db, change)
    refreshed = await engine.partitions.build("docs")
    assert refreshed.generation.origin == "refreshed"
    reached = await read_reached(db, refreshed.generation.id, labels)
    assert ["bailiff"] in reached.values()
    relabeled = [part for part in refreshed.partitions if part.label != labels[part.id]]
    assert [part.terms[0] for part in relabeled] in ([], ["court"])
