"""A run looks absences up, chases flags, finds convergences, and writes it all as a graph."""

import pytest

from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.model import AbsenceStatus
from pgs_neo4j.pgs.runs.session import delete_session
from tests.database import alter, fetch
from tests.engines import answering
from tests.graphs import checksum, count, home


def missing(*absences, findings="", flags="None."):
    """A reader that misses these things in every partition."""
    listed = "\n".join(f"- {absence}" for absence in absences)

    def answer(prompt):
        if prompt.task != "sweep":
            return contract_reply(prompt)
        found = findings or f"- {prompt.nodes[0].title} is here [n1]."
        return (
            f"## Domain State\nRead.\n\n## Findings\n{found}\n\n"
            f"## Outbound Flags\n{flags}\n\n## Absences\n{listed}\n"
        )

    return answer


async def test_absences_are_looked_for_in_all_that_was_and_was_not_read(pgs, db):
    answering(
        pgs,
        missing(
            "Nothing on the migration of unicorns.",
            "No node mentions fact3.",
            "The token fact45 is missing.",
            "Nothing at all was found",
        ),
    )
    await pgs.partitions.build()
    first, second = await home(db, "doi/3"), await home(db, "doi/45")
    assert first != second
    answer = await pgs.execute("Why?", max_sweep_partitions=1)
    (swept,) = [s.partition for s in answer.sweeps]
    found = {each.text: each for each in answer.crosscheck.absences}
    unicorns = found["Nothing on the migration of unicorns."]
    assert unicorns.status is AbsenceStatus.CONFIRMED
    assert (unicorns.searched, unicorns.sightings) == (160, ())
    for text, place in (
        ("No node mentions fact3.", first),
        ("The token fact45 is missing.", second),
    ):
        status = found[text].status
        expected = AbsenceStatus.CONTRADICTED if place == swept else AbsenceStatus.ELSEWHERE
        assert status is expected
        (seen,) = found[text].sightings
        assert seen.partition == place
        assert seen.read == (place == swept)
    told = pgs.synthesis_llm.prompts[-1].user
    assert "confirmed, in none of 160 nodes" in told
    assert "# Checked" in told
    whole = await pgs.execute("Why?", full_sweep=True)
    found = {each.text: each for each in whole.crosscheck.absences}
    assert found["No node mentions fact3."].status is AbsenceStatus.CONTRADICTED
    assert found["No node mentions fact3."].partitions == (1, 2, 3, 4)
    assert found["Nothing on the migration of unicorns."].partitions == (1, 2, 3, 4)


async def test_flags_are_a_second_wave_or_an_opportunity(pgs):
    def answer(prompt):
        flags = "- P3: look there [n1]\n- P2: and there\n- P3: really\n- P99: nowhere"
        return missing("Nothing on unicorns", flags=flags)(prompt)

    answering(pgs, answer)
    none = await pgs.execute("Why?", max_sweep_partitions=1)
    assert [(s.partition, s.wave) for s in none.sweeps] == [(1, 1)]
    one = await pgs.execute("Why?", max_sweep_partitions=1, max_flag_sweeps=1)
    assert [(s.partition, s.wave) for s in one.sweeps] == [(1, 1), (3, 2)]
    more = await pgs.execute("Why?", max_sweep_partitions=1, max_flag_sweeps=9)
    assert [(s.partition, s.wave) for s in more.sweeps] == [(1, 1), (3, 2), (2, 2)]
    flags = {(f.source, f.target): f for f in more.crosscheck.flags}
    assert flags[1, 3].swept
    assert [f.target for f in more.crosscheck.flags if f.source == 1].count(None) == 1
    stored = (await pgs.runs.answer(more.run)).sweeps
    assert {(s.partition, s.wave): s.report for s in stored} == {
        (s.partition, s.wave): s.report for s in more.sweeps
    }
    bounded = await pgs.execute("Why else?", max_sweep_partitions=1, max_flag_sweeps=9, max_calls=2)
    assert bounded.usage.calls == 2
    assert "max_calls" in bounded.stopped

    flag = "- P2: the cost of ruthenium catalysts may be there [n1]"
    answering(pgs, missing("Nothing on the cost of ruthenium catalysts", flags=flag))
    opportune = await pgs.execute("What then?", full_sweep=True)
    assert {one.target for one in opportune.crosscheck.opportunities} == {2}
    told = pgs.synthesis_llm.prompts[-1].user
    assert "P2 reports this absent, an opportunity" in told


async def test_findings_that_meet_are_found_without_a_model(pgs, db):
    await pgs.partitions.build()
    query = (
        "MATCH (a:Paper)-[:PGS_IN]->(p:PgsPartition), (b:Paper)-[:PGS_IN]->(q:PgsPartition) "
        "WHERE p.id < q.id AND EXISTS { (a)-[:CITES]-(b) } "
        "MATCH (a)-[m:PGS_IN]->(p), (b)-[n:PGS_IN]->(q) "
        "RETURN p.id AS p, m.rank AS a, q.id AS q, n.rank AS b LIMIT 1"
    )
    rows = await fetch(db, query)
    bridge = rows[0]

    def answer(prompt):
        number = prompt.partition or 0
        ranks = {bridge["p"]: bridge["a"], bridge["q"]: bridge["b"]}
        rank = ranks.get(number, 5)
        own = f"- Only this one studies {('', 'cats', 'dogs', 'ships', 'tea')[number]}"
        same = "- Promoters lower the activation energy of dinitrogen [n2]" * (number > 2)
        return missing("Nothing on unicorns", findings=f"{own} [n{rank + 1}]\n{same}")(prompt)

    answering(pgs, answer)
    result = await pgs.execute("Why?")
    kinds = {each.kind: each for each in result.crosscheck.convergences}
    assert set(kinds["neighbors"].partitions) == {bridge["p"], bridge["q"]}
    assert kinds["words"].partitions == (3, 4)
    joined = "(:PgsConvergence {kind: 'words'})-[:PGS_JOINS]->(x:PgsFinding)"
    assert await count(db, joined) == 2


@pytest.mark.schema
async def test_an_answer_is_a_graph_one_can_query(pgs, db):
    before = await checksum(db)
    answering(pgs, missing("Nothing on the migration of unicorns.", "No node mentions fact3."))
    result = await pgs.execute("Why?")
    rows = await fetch(
        db, "MATCH (f:PgsFinding)-[:PGS_CITES]->(n:Paper) RETURN f.text AS text, n.title AS title"
    )
    assert len(rows) == 4
    assert all(row["text"].startswith(row["title"]) for row in rows)
    rows = await fetch(
        db,
        "MATCH (t:PgsThesis)-[:PGS_FROM]->(r:PgsRun {id: $run}) "
        "MATCH (t)-[:PGS_CITES]->(n:Paper) RETURN t.text AS text, count(DISTINCT n) AS cited",
        run=result.run,
    )
    assert rows[0]["text"] == result.synthesis.thesis
    assert rows[0]["cited"] == len({c.node for c in result.synthesis.citations})
    assert await count(db, "(x:PgsAbsence {status: 'confirmed'})") == 4
    seen = "(x:PgsAbsence {status: 'contradicted'})-[:PGS_SEEN_IN]->(n:Paper {doi: 'doi/3'})"
    assert await count(db, seen) == 4
    assert await count(db, "(x:PgsConnection)-[:PGS_FROM]->(r:PgsRun)") == len(
        result.synthesis.connections
    )
    await pgs.purge()
    assert await checksum(db) == before
    rows = await fetch(
        db, "MATCH (n) WHERE any(l IN labels(n) WHERE l STARTS WITH 'Pgs') RETURN count(n) AS n"
    )
    assert rows[0]["n"] == 0


@pytest.mark.thorough
async def test_a_node_that_is_deleted_during_a_run_loses_its_element_id_everywhere(pgs, db):
    async def answer(prompt):
        if prompt.task == "synthesis":
            await alter(db, "MATCH (p:Paper {doi: 'doi/0'}) DETACH DELETE p")
        return missing("No node mentions fact0.", "No node mentions fact3.")(prompt)

    answering(pgs, answer)
    given = await pgs.execute("Why?")
    for cited in (
        given.synthesis.citations,
        [citation for sweep in given.sweeps for citation in sweep.report.citations],
        [seen for absence in given.crosscheck.absences for seen in absence.sightings],
    ):
        gone = {one.node: one.element_id is None for one in cited}
        assert len(gone) > 1
        assert gone == {node: node == "doi/0" for node in gone}
        assert gone["doi/0"]


@pytest.mark.thorough
async def test_deleting_a_session_takes_its_answers_along(pgs, db):
    await pgs.execute("Why?", session_id="s")
    await pgs.execute("How?", session_id="s", cache=False)
    await pgs.clear_cache()
    answering(pgs, lambda p: "no report" if p.partition == 1 else contract_reply(p))
    assert (await pgs.execute("When?", session_id="s", cache=False)).partial
    assert (
        await count(db, "(x:PgsReply WHERE x.error IS NULL)") == 4
    )  # of the run that can be resumed
    await delete_session(pgs.db, "papers", "s")
    answers = "PgsThesis|PgsConnection|PgsConvergence"
    left = f"(x:PgsRun|PgsSweep|PgsFinding|PgsFlag|PgsAbsence|PgsReply|{answers})"
    assert await count(db, left) == 0


async def test_unsupported_and_misquoted_findings_are_marked_for_the_synthesis(pgs, db):
    findings = (
        "- Gold is iron [n999]\n- Paper 0 says “its token is fact0 and nothing else at all” [n1]\n"
        "- All is well [n2]"
    )
    answering(pgs, missing("Nothing on unicorns", findings=findings))
    result = await pgs.execute("Why?", max_sweep_partitions=1)
    assert result.coverage.partitions_swept == 1
    report = result.sweeps[0].report
    (invented,) = [citation for citation in report.citations if not citation.valid]
    assert (invented.alias, invented.node) == ("n999", None)
    assert await count(db, "()-[x:PGS_CITES {alias: 'n999'}]->()") == 0
    assert [f.supported for f in report.findings] == [False, True, True]
    assert [q.found for f in report.findings for q in f.quotes] == [False]
    told = pgs.synthesis_llm.prompts[-1].user
    assert "Gold is iron [P1:n999] (unsupported: it cites no node that was shown)" in told
    assert "(misquoted: its nodes do not say it in these words)" in told
    assert await count(db, "(x:PgsFinding {supported: false})") == 1
    assert await count(db, "(x:PgsFinding {misquoted: 1})") == 1
    assert (await pgs.runs.answer(result.run)).sweeps[0].report == report
