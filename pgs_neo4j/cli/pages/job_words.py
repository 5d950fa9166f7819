"""The end of a job in one line."""

from __future__ import annotations

from pgs_neo4j.engine import EndedJob, FailedJob
from pgs_neo4j.text.shown import counted, one_line, percent, seconds

WORDS = {
    "running": "running",
    "unchanged": "unchanged",
    "left": "left as it is",
    "refreshed": "refreshed where texts changed",
    "seeded": "repartitioned from its former partitions",
    "repartitioned": "repartitioned",
    "ingested": "ingested",
    "partial": "ingested in part",
    "busy": "another job holds the lock",
    "failed": "failed",
    "interrupted": "interrupted",
    "killed": "killed",
}


def line(ended: EndedJob) -> str:
    """Return a finished job in words."""
    if isinstance(ended, FailedJob):
        outcome = ended.job.outcome if ended.job is not None else "failed"
        target = f"{one_line(ended.graph)}: " if ended.graph else ""
        return f"{target}{WORDS[outcome]}: {one_line(str(ended.error))}"
    figures = ended.figures
    parts = [f"{one_line(ended.graph)}: {WORDS[ended.outcome]}"]
    if "partitions" in figures:
        amount = f"{counted(figures['partitions'], 'partition')} of "
        parts.append(f"{amount}{counted(figures['nodes'], 'node')}")
        parts.append(f"modularity {figures['modularity']:.3f}")
    if ended.drift is not None:
        parts.append(f"drift {percent(ended.drift)}")
    if "seconds" in figures:
        parts.append(seconds(float(figures["seconds"])))
    return f"{', '.join(parts)} (job {ended.id})"
