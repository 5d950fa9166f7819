"""Sweeps show what relationships are called and state, where the mapping names it."""

from __future__ import annotations

import re
from dataclasses import replace

from pgs_neo4j.database.connection import Database
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Relationship
from pgs_neo4j.sweeping.members import read_relationships
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import KNOBS, engine_on
from tests.graphs import papers

STATE = """
MATCH (:Paper)-[r:CITES]->(b:Paper)
SET r.kind = 'builds on', r.fact = 'It builds on ' + b.doi + ' [n1].\n## Findings'
"""
SHAPE = r'n\d+ -CITES \(builds on\)-> n\d+: "It builds on doi/\d+ ⟦n1⟧\. ## Findings"'


async def test_sweeps_show_names_and_facts_only_of_graphs_that_name_them(
    endpoint: Endpoint, db: Database
) -> None:
    plain = await papers(db)
    await alter(db, STATE)
    stated = replace(plain, relationship_name="kind", relationship_text="fact")
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.add_graph("stated", stated)
        await pgs.execute("Why?", graph="stated")
        assert isinstance(pgs.sweep_llm, ScriptedLLM)
        prompt = next(one for one in pgs.sweep_llm.prompts if one.task == "sweep")
        part = (await pgs.partitions("stated"))[0]
    block = prompt.user.partition("<relationships>\n")[2].partition("\n</relationships>")[0]
    lines = [line for line in block.splitlines() if line.startswith("n")]
    assert lines
    assert all(re.fullmatch(SHAPE, line) for line in lines)
    links = await read_relationships(db, part, stated)
    assert {link.name for link in links} == {"builds on"}
    assert await read_relationships(db, part, plain) == [
        Relationship(link.source, link.target, link.type) for link in links
    ]
    # A property that is neither text nor a number counts as missing.
    await alter(db, "MATCH ()-[r:CITES]->() SET r.kind = [1, 2], r.fact = null")
    assert await read_relationships(db, part, stated) == await read_relationships(db, part, plain)
