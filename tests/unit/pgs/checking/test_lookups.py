"""Absences are looked up behind the sweeps: in batches, one at a time, never in the way."""

import asyncio

import pytest

from pgs_neo4j.errors import DatabaseTimeoutError
from pgs_neo4j.model import Absence, Report
from pgs_neo4j.pgs.checking import lookups as lookups_module
from pgs_neo4j.pgs.checking.lookups import Lookups
from pgs_neo4j.text.gist import search_terms
from pgs_neo4j.text.matching import SearchResult
from tests.timeless import timeless

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
