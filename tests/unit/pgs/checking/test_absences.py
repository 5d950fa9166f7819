"""Absences grouped and judged, flags chased, findings that meet: by counting, without a model."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.errors import DatabaseTimeoutError
from pgs_neo4j.model import (
    Absence,
    AbsenceStatus,
    Finding,
    Report,
    Stated,
    Sweep,
    SweepStatus,
)
from pgs_neo4j.pgs.checking import absences as lookups_module
from pgs_neo4j.pgs.checking import comparing as convergences_module
from pgs_neo4j.pgs.checking.absences import Lookups, check_absences, group_absences
from pgs_neo4j.pgs.checking.comparing import chase_flags, cited_places, find_convergences
from pgs_neo4j.text.gist import search_terms
from pgs_neo4j.text.matching import Hit, SearchResult
from tests.orders import cited, swept
from tests.thorough import tries
from tests.timeless import timeless


def hit(partition, rank):
    return Hit(
        partition=partition, rank=rank, element_id=f"e{rank}", key=f"k{rank}", title=f"T{rank}"
    )


def found(*hits, searched=100, complete=True):
    return SearchResult(searched=searched, method="scan", hits=hits, complete=complete)


# Absences
def test_absences_that_say_the_same_are_one_with_all_that_report_it():
    groups = group_absences(
        [
            swept(
                3, absences=["Ammonia toxicity is not addressed [n4].", "Nothing on gold prices"]
            ),
            swept(1, absences=["No data on the toxicity of ammonia."]),
            swept(2, absences=["No mention of ammonia toxicity in humans", "No iron."]),
        ]
    )
    assert [[(s.partition, s.place) for s in group.reported] for group in groups] == [
        [(1, 0), (2, 0), (3, 0)],
        [(2, 1)],
        [(3, 1)],
    ]
    assert groups[0].text == "No data on the toxicity of ammonia."
    assert groups[0].partitions == 3


@pytest.mark.parametrize(
    ("reports", "partitions"),
    [
        ([], []),
        ([[f"No data on the cost of {m} catalysts"] for m in ("iron", "gold", "zinc")], [1, 1, 1]),
        ([["no costs given", "nothing on costs given"]], [1]),  # said twice, counted once
        ([["Nothing.", "No data."], ["nothing."]], [2, 1]),  # without words: only to the letter
    ],
)
def test_absences_are_one_if_no_telling_word_differs(reports, partitions):
    groups = group_absences([swept(i, absences=texts) for i, texts in enumerate(reports)])
    assert [group.partitions for group in groups] == partitions
    assert sum(len(group.reported) for group in groups) == sum(map(len, reports))


def test_a_failed_sweep_has_nothing_to_check():
    failed = swept(1, absences=["no costs"], status=SweepStatus.FAILED)
    assert group_absences([failed]) == ()
    assert chase_flags([failed]) == ()
    assert find_convergences([failed], []) == ()


def test_bullets_of_reports_on_one_partition_are_told_apart_by_their_runs():
    same = "Promoters lower the activation energy of dinitrogen"
    own = swept(1, [("Tea is traded", [0])], [("tea and promoters", 2)], ["no zebras"])
    earlier = replace(swept(1, [(same, [1])], absences=["no unicorns"]), run="r0")
    sweeps = [own, earlier, swept(2, [(same, [2])], absences=["no tea"])]
    groups = group_absences(sweeps)
    runs = {g.text: [(s.run, s.partition, s.place) for s in g.reported] for g in groups}
    assert runs == {
        "no zebras": [("", 1, 0)],
        "no unicorns": [("r0", 1, 0)],
        "no tea": [("", 2, 0)],
    }
    (met,) = find_convergences(sweeps, [])
    assert [(s.run, s.partition, s.place) for s in met.findings] == [("r0", 1, 0), ("", 2, 0)]
    (flag,) = chase_flags([own, replace(sweeps[2], run="r1")])
    assert {stated.run for stated in (*flag.answers, flag.absent) if stated} == {"r1"}


said = st.lists(
    st.lists(st.sampled_from(["iron", "gold", "zinc", "cost", "yield", "heat"]), max_size=4).map(
        lambda words: f"No data on {' '.join(words)}."
    ),
    max_size=4,
)


@settings(max_examples=tries(25, 100))
@given(st.lists(said, max_size=6), st.randoms())
def test_every_absence_is_in_one_group_whatever_the_order_of_sweeps(reports, random):
    sweeps = [swept(i, absences=absences) for i, absences in enumerate(reports)]
    groups = group_absences(sweeps)
    stated = [
        Stated(i, place, text)
        for i, absences in enumerate(reports)
        for place, text in enumerate(absences)
    ]
    assert sorted((s.partition, s.place, s.text) for g in groups for s in g.reported) == sorted(
        (s.partition, s.place, s.text) for s in stated
    )
    assert all(one.partitions >= other.partitions for one, other in pairwise(groups))
    random.shuffle(sweeps)
    assert group_absences(sweeps) == groups


@pytest.mark.timeout(60)
def test_thousands_of_absences_are_grouped_in_reasonable_time():
    texts = [
        f"No data on topic{i % 900} of catalyst{i % 70} under heat{i % 7}" for i in range(3000)
    ]
    groups = group_absences([swept(p, absences=texts[5 * p : 5 * p + 5]) for p in range(600)])
    assert sum(len(group.reported) for group in groups) == 3000


# Judged
def judge(text, hits, read):
    groups = group_absences([swept(1, absences=[text])])
    return check_absences(groups, hits, read)[0]


@pytest.mark.parametrize(
    ("result", "read", "status"),
    [
        (found(), {1: {0}}, AbsenceStatus.CONFIRMED),
        (found(hit(2, 0), hit(1, 5)), {1: {0, 1}}, AbsenceStatus.ELSEWHERE),
        (found(hit(1, 0), complete=False), {}, AbsenceStatus.ELSEWHERE),
        (found(hit(1, 0)), {1: {0}}, AbsenceStatus.CONTRADICTED),  # by the one that reports it
        (None, {}, AbsenceStatus.UNCHECKED),
        (found(searched=0), {}, AbsenceStatus.UNCHECKED),
        (found(complete=False), {}, AbsenceStatus.UNCHECKED),
    ],
)
def test_an_absence_is_judged_by_where_its_words_are(result, read, status):
    hits = {search_terms("No ammonia"): result} if result else {}
    judged = judge("No ammonia", hits, {number: frozenset(ranks) for number, ranks in read.items()})
    assert (judged.status, judged.partitions) == (status, (1,))
    if result and result.searched:
        assert (judged.terms, judged.searched, judged.method) == (("ammonia",), 100, "scan")
    seen = [(s.partition, s.rank, s.node, s.title) for s in judged.sightings]
    assert seen == [(h.partition, h.rank, h.key, h.title) for h in (result.hits if result else ())]
    assert judged.count == len(seen)


def test_sightings_that_were_read_come_first_and_any_text_of_a_group_decides():
    hits = {search_terms("No ammonia"): found(*(hit(2, rank) for rank in range(8)))}
    judged = judge("No ammonia", hits, {2: frozenset({6})})
    assert judged.status is AbsenceStatus.CONTRADICTED
    assert [s.rank for s in judged.sightings] == [6, 0, 1, 2, 3]
    assert [s.read for s in judged.sightings] == [True, False, False, False, False]
    assert judged.count == 8
    assert judged.sightings[0].alias == "n7"
    first, other = "No toxicity of ammonia", "No ammonia toxicity in people"
    groups = group_absences([swept(1, absences=[first]), swept(2, absences=[other])])
    (judged,) = check_absences(groups, {search_terms(other): found(hit(1, 0))}, {})
    assert judged.text == first
    assert judged.terms == search_terms(other).terms
    assert judged.status is AbsenceStatus.ELSEWHERE
    assert judge("Nothing.", {}, {}).status is AbsenceStatus.UNCHECKED


# Flags
def test_a_flag_is_answered_by_the_three_closest_findings_of_its_target():
    (flag,) = chase_flags(
        [
            swept(1, flags=[("check whether iron catalysts lose activity by sulfur poisoning", 2)]),
            swept(
                2,
                findings=[
                    ("Sulfur poisoning reduces the activity of iron catalysts by half [n1]", [0]),
                    ("Gold prices rose in 1980 [n2]", [1]),
                    ("Sulfur is a poison of catalysts in general [n3]", [2]),
                ],
            ),
        ]
    )
    assert (flag.source, flag.place, flag.target, flag.swept) == (1, 0, 2, True)
    assert [answer.place for answer in flag.answers] == [0, 2]
    assert flag.absent is None
    assert flag.citations == (cited(1, 0),)
    text = "sulfur poisoning of iron"
    findings = [
        (f"sulfur poisoning of iron {'extra words about heat' * (i % 2)}", []) for i in range(6)
    ]
    (flag,) = chase_flags([swept(1, flags=[(text, 2)]), swept(2, findings=findings)])
    assert len(flag.answers) == 3


# Convergences
def test_findings_converge_by_what_they_say_or_by_connected_nodes():
    text = "Sleep consolidates procedural memory in adults"
    sweeps = [
        swept(2, findings=[(f"{text} [n1]", [0]), (text, [])]),
        swept(1, findings=[(f"{text} too [n2]", [1])]),
        swept(3, findings=[("Debris endangers satellites in low orbits [n1]", [0])]),
    ]
    for links in ([], [((1, 1), (2, 0))]):  # links say nothing new of them
        (met,) = find_convergences(sweeps, links)
        assert (met.kind, met.partitions, met.citations) == ("words", (1, 2), ())
    assert find_convergences(sweeps[:1], []) == ()
    sweeps = [
        swept(1, findings=[("Iron binds nitrogen [n1]", [0, 4])]),
        swept(2, findings=[("Prices doubled [n3]", [2]), ("Gold fell [n9]", [8])]),
    ]
    assert cited_places(sweeps) == ((1, 0), (1, 4), (2, 2), (2, 8))
    (met,) = find_convergences(sweeps, [((1, 0), (2, 2))])
    assert met.kind == "neighbors"
    assert [(f.partition, f.place) for f in met.findings] == [(1, 0), (2, 0)]
    assert met.citations == (cited(1, 0), cited(2, 2))


def test_only_valid_citations_connect_and_what_is_told_is_bounded():
    broken = Finding(text="gold", citations=(cited(2, 0, valid=False),))
    report = Report(partition=2, findings=(broken,))
    other = Sweep(partition=2, status=SweepStatus.ACCEPTED, nodes=9, report=report)
    sweeps = [swept(1, findings=[("iron", [0])]), other]
    links = [((1, 0), (2, 0)), ((1, 0), (1, 0)), ((8, 0), (9, 0))]
    assert find_convergences(sweeps, links) == ()
    sweeps = [swept(i, findings=[(f"metal{i} shines{i}", [0])]) for i in range(200)]
    hub = [((0, 0), (i, 0)) for i in range(1, 200)]
    (met,) = find_convergences(sweeps, hub)
    assert len(met.findings) == convergences_module.MOST_FINDINGS
    every = [((i, 0), (j, 0)) for i, j in combinations(range(200), 2)]
    assert len(find_convergences(sweeps, every)) == convergences_module.MOST


places = st.tuples(st.integers(0, 5), st.integers(0, 3))
citing = st.lists(
    st.lists(st.tuples(st.sampled_from(["iron", "gold", "zinc"]), st.lists(st.integers(0, 3)))),
    max_size=6,
)


@settings(max_examples=tries(25, 100))
@given(citing, st.lists(st.tuples(places, places), max_size=30), st.randoms())
def test_convergences_are_of_several_partitions_whatever_the_order(said, links, random):
    sweeps = [
        swept(i, findings=[(f"{text} {i}x{n}y", ranks) for n, (text, ranks) in enumerate(each)])
        for i, each in enumerate(said)
    ]
    met = find_convergences(sweeps, links)
    assert all(len(each.partitions) > 1 for each in met)
    assert all(bool(each.citations) == (each.kind == "neighbors") for each in met)
    breadths = [len(each.partitions) for each in met]
    assert breadths == sorted(breadths, reverse=True)
    told = [
        (each.findings[0], other)
        for each in met
        if each.kind == "neighbors"
        for other in each.findings[1:]
    ]
    assert len({frozenset(pair) for pair in told}) == len(told)
    random.shuffle(sweeps)
    random.shuffle(links)
    assert find_convergences(sweeps, links) == met


FOUND = SearchResult(searched=9, method="scan")


def report(*subjects):
    absences = tuple(Absence(text=f"No data on {subject}.") for subject in subjects)
    return Report(partition=1, absences=absences)


def asked(subject):
    return search_terms(f"No data on {subject}.")


class Graph:
    """A graph that is searched as slowly as it is told to be."""

    def __init__(self, *, error=None):
        self.batches = []
        self.running = 0
        self.go = asyncio.Event()
        self.error = error

    async def look(self, batch):
        batch = list(batch)
        self.batches.append([each.terms[0] for each in batch])
        self.running += 1
        assert self.running == 1
        try:
            await self.go.wait()
            if self.error:
                raise self.error
            return dict.fromkeys(batch, FOUND)
        finally:
            self.running -= 1


def tasks():
    return [task for task in asyncio.all_tasks() if task.get_name() == "lookups"]


@pytest.fixture
def told():
    return []


@timeless
async def test_what_waits_goes_together_one_at_a_time_in_batches_of_a_size(told, monkeypatch):
    monkeypatch.setattr(lookups_module, "BATCH", 2)
    graph = Graph()
    async with Lookups(graph.look, told.append) as lookups:
        lookups.begin(report("iron"))
        await asyncio.sleep(0)
        lookups.begin(report("gold", "iron"))
        lookups.begin(report("zinc", "lead"))
        graph.go.set()
        every = ("iron", "gold", "zinc", "lead")
        assert await lookups.finish(5) == {asked(s): FOUND for s in every}
        lookups.begin(report("coal", "iron"))  # a later one starts again
        assert len(await lookups.finish(5)) == 5
    assert graph.batches == [["iron"], ["gold", "zinc"], ["lead"], ["coal"]]
    assert told == []
    assert tasks() == []


@timeless
async def test_absences_without_words_start_nothing(told):
    lookups = Lookups(Graph().look, told.append)
    lookups.begin(Report(partition=1, absences=(Absence(text="Nothing."),)))
    lookups.begin(Report(partition=2))
    assert tasks() == []
    assert await lookups.finish(5) == {}


@timeless
async def test_what_is_unfinished_in_time_or_at_an_error_is_ended(told):
    graph = Graph()
    lookups = Lookups(graph.look, told.append)
    lookups.begin(report("iron"))
    assert await lookups.finish(0.01) == {}
    assert tasks() == []
    assert graph.running == 0
    await lookups.close()
    graph = Graph()
    with pytest.raises(RuntimeError, match="elsewhere"):
        async with Lookups(graph.look, told.append) as lookups:
            lookups.begin(report("iron"))
            await asyncio.sleep(0)
            raise RuntimeError("elsewhere")
    assert tasks() == []
    assert graph.running == 0


@timeless
async def test_a_database_that_fails_is_told_once(told, monkeypatch):
    monkeypatch.setattr(lookups_module, "BATCH", 1)
    graph = Graph(error=DatabaseTimeoutError("Neo4j did not answer"))
    graph.go.set()
    async with Lookups(graph.look, told.append) as lookups:
        lookups.begin(report("iron", "gold"))
        assert await lookups.finish(5) == {}
    assert len(graph.batches) == 2
    assert told == ["absences could not be looked up in the graph: Neo4j did not answer"]


@timeless
async def test_a_fault_of_ours_is_not_kept_quiet(told):
    graph = Graph(error=KeyError("ours"))
    graph.go.set()
    lookups = Lookups(graph.look, told.append)
    lookups.begin(report("iron"))
    await asyncio.sleep(0.01)
    lookups.begin(report("gold"))
    with pytest.raises(KeyError, match="ours"):
        await lookups.finish(5)
    await lookups.close()
    assert tasks() == []
