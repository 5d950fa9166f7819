"""Advice works as it stands: each command that a message quotes is pasted, and it helps."""

from __future__ import annotations

import re
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import catalog
from tests.database import alter, fetch
from tests.graphs import papers
from tests.shells import Done, Shell

QUOTED = re.compile(r"'(pgs [^'\n]*)'")
"""Commands on one line; a shell runs each line by itself."""
ONE_PARTITION = {"PGS_MIN_COMMUNITY_SIZE": "160", "PGS_TARGET_PARTITION_MAX": "200"}
SMALL_PASSES = {"PGS_MAX_PASS_CHARACTERS": "17000"}
LONG = "MATCH (p:Paper) SET p.abstract = p.abstract + reduce(t = '', i IN range(1, 40) | t + ' so')"
HELD = """
MATCH (l:PgsLease {name: 'papers'})
SET l.holder = 'a job elsewhere', l.acquired_at = datetime.realtime('Z'),
    l.expires_at = datetime.realtime('Z') + duration({minutes: 5})
"""


@dataclass(frozen=True)
class Case:
    """A message with commands: what leads to it, and what its advice begins with.

    ``settings`` are variables of both commands, and ``prop`` is what a person writes for PROPERTY.
    """

    words: str
    advice: str
    prepare: Callable[[Shell, Database], Awaitable[object]] | None = None
    settings: dict[str, str] = field(default_factory=dict)
    prop: str = ""


async def run(pgs: Shell, words: str, **settings: str) -> Done:
    done = await pgs(*shlex.split(words), **settings)
    assert done.code == 0, (words, done.err)
    return done


def quoted(done: Done) -> list[str]:
    return list(dict.fromkeys(QUOTED.findall(f"{done.out}\n{done.err}")))


async def paste(pgs: Shell, command: str, case: Case) -> Done:
    """Run a command as it stands, with its placeholders filled in."""
    filled = {"NAME": "papers", "PROPERTY": case.prop}
    words = [filled.get(word, word) for word in shlex.split(command)]
    assert words[0] == "pgs"
    return await run(pgs, shlex.join(words[1:]), **case.settings)


async def make_long_partition(pgs: Shell, db: Database) -> None:
    await alter(db, LONG)
    await run(pgs, "partition --graph papers", **ONE_PARTITION)


async def partition(pgs: Shell, db: Database) -> None:
    del db
    await run(pgs, "partition --graph papers")


async def damage_generation(pgs: Shell, db: Database) -> None:
    await partition(pgs, db)
    await alter(db, "MATCH (g:PgsGeneration) SET g.issues = 'x'")


async def damage_index(pgs: Shell, db: Database) -> None:
    await partition(pgs, db)
    found = await fetch(
        db,
        "MATCH (c) WHERE c.data IS NOT NULL AND any(l IN labels(c) WHERE l STARTS WITH 'Pgs') "
        "RETURN count(c) AS count",
    )
    assert found[0]["count"] > 0
    await alter(
        db,
        "MATCH (c) WHERE c.data IS NOT NULL AND any(l IN labels(c) WHERE l STARTS WITH 'Pgs') "
        "SET c.data = $data",
        data=b"damaged",
    )


async def damage_mapping(pgs: Shell, db: Database) -> None:
    del pgs
    await alter(db, "MATCH (g:PgsGraph {name: 'papers'}) SET g.mapping = '{}'")


async def lose_texts(pgs: Shell, db: Database) -> None:
    await alter(db, "MATCH (p:Paper) SET p.body = p.abstract, p.abstract = null")
    del pgs


async def hold_lease(pgs: Shell, db: Database) -> None:
    await partition(pgs, db)
    await alter(db, HELD)


async def configure_otherwise(pgs: Shell, db: Database) -> None:
    del db
    for tokens in ("5000", "6000"):
        await run(pgs, "partition --graph papers", PGS_MAX_PARTITION_TOKENS=tokens)


async def remove_graphs(pgs: Shell, db: Database) -> None:
    del db
    for name in ("papers", "other"):
        await run(pgs, f"graph remove {name} --yes")


async def lose_answer(pgs: Shell, db: Database) -> None:
    await run(pgs, "ask --graph papers 'What is fact5?'")
    await alter(db, "MATCH (r:PgsRun) SET r.id = 'lost-run', r.status = 'failed' REMOVE r.details")


async def redefine(pgs: Shell, db: Database) -> None:
    """The graph is partitioned with texts, and then defined without."""
    await partition(pgs, db)
    await run(pgs, "graph add papers --replace --label Paper --relationship-type CITES")


PLAN = "plan --graph papers 'What is fact5?'"
REMEDIES = [
    Case(
        PLAN,
        "pgs partition --graph papers --force --max-partition-tokens 3000",
        make_long_partition,
        SMALL_PASSES,
    ),
    Case(
        "doctor",
        "pgs partition --graph papers --force --max-partition-tokens 3000",
        make_long_partition,
        SMALL_PASSES,
    ),
    Case("partitions --graph papers", "pgs partition --graph papers"),
    Case("partitions --graph papers --check", "pgs partition --graph papers"),
    Case(PLAN, "pgs partition --graph papers --force", damage_generation),
    Case("search --graph papers fact5", "pgs partition --graph NAME --force", damage_index),
    Case("graph show papers", "pgs graph add papers --replace", damage_mapping),
    Case(PLAN, "pgs graph add papers --replace --label Paper", lose_texts, prop="body"),
    Case(PLAN, "pgs graph add papers --replace --label Paper", redefine, prop="abstract"),
    Case("export lost-run --to - --format md", "pgs resume lost-run", lose_answer),
    Case("partition --graph papers --force", "pgs jobs release papers", hold_lease),
    Case(
        PLAN,
        "pgs partition --graph papers --max-partition-tokens 5000",
        configure_otherwise,
        {"PGS_MAX_PARTITION_TOKENS": "5000"},
    ),
]
LISTS = [
    Case("show nothing-of-this-id", "pgs runs"),
    Case("jobs show nothing-of-this-id", "pgs jobs list"),
    Case("documents show --graph papers none", "pgs documents list --graph papers"),
    Case(f"{PLAN} --mode continue --session none", "pgs sessions list --graph papers"),
    Case("graph list", "pgs inspect", remove_graphs),
    Case("partitions --graph papers", "pgs inspect", remove_graphs),
]


@pytest.fixture
async def pgs(shell: Shell, db: Database) -> Shell:
    """Runs ``pgs`` beside two graphs, so that a command has to name one."""
    mapping = await papers(db)
    for name in ("papers", "other"):
        await catalog.add(db, name, mapping)
    return shell


@pytest.mark.parametrize("case", REMEDIES, ids=lambda case: f"{case.words}: {case.advice}")
async def test_pasted_advice_ends_what_it_is_about(pgs: Shell, db: Database, case: Case) -> None:
    if case.prepare is not None:
        await case.prepare(pgs, db)
    first = await pgs(*shlex.split(case.words), **case.settings)
    advice = quoted(first)
    found = [one for one in advice if one.startswith(case.advice)]
    assert len(found) == 1, (advice, first.out, first.err)
    (command,) = found
    await paste(pgs, command, case)
    again = await pgs(*shlex.split(case.words), **case.settings)
    assert again.code == 0, again.err
    assert command not in quoted(again)


@pytest.mark.parametrize("case", LISTS, ids=lambda case: f"{case.words}: {case.advice}")
async def test_pasted_advice_lists_what_there_is(pgs: Shell, db: Database, case: Case) -> None:
    if case.prepare is not None:
        await case.prepare(pgs, db)
    advice = quoted(await pgs(*shlex.split(case.words), **case.settings))
    assert case.advice in advice
    await paste(pgs, case.advice, case)
