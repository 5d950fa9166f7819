"""A full sweep of hundreds of partitions ends in one answer."""

from tests.engines import engine_on
from tests.graphs import papers
from tests.thorough import tries

TOPICS = tries(150, 600)


async def test_hundreds_of_partitions_end_in_one_answer(endpoint, db):
    mapping = await papers(db, topics=TOPICS, size=8)
    async with engine_on(
        endpoint,
        min_community_size=5,
        target_partition_max=10,
        embedder="none",
        max_flag_sweeps=0,
        max_pass_characters=40_000,
    ) as engine:
        await engine.add_graph("papers", mapping)
        answer = await engine.execute("Why?", full_sweep=True)
        assert len(answer.sweeps) >= 0.9 * TOPICS
        assert answer.coverage.exhausted
        assert not answer.partial
        assert answer.synthesis.reductions > 1
        prompts = [*engine.sweep_llm.prompts, *engine.synthesis_llm.prompts]  # type: ignore[attr-defined]
        assert all(len(p.system) + len(p.user) <= 40_000 for p in prompts)
        (synthesis,) = engine.synthesis_llm.prompts  # type: ignore[attr-defined]
        assert "condensed" in synthesis.user
        assert all(citation.valid for citation in answer.synthesis.citations)
        assert any("reports exceed one prompt" in warning for warning in answer.warnings)
        (absence,) = answer.crosscheck.absences
        assert len(absence.partitions) == len(answer.sweeps)
