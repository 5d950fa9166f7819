"""A run on its way through the phases: what it was asked, and what it has found by now."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgs_neo4j.model import Crosscheck, Generation, Routing, Sweep, Synthesis
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.record import RunRecord
from pgs_neo4j.pgs.runs.session import Read
from pgs_neo4j.pgs.runs.sweeps import Recovered
from pgs_neo4j.pgs.sweeping.order import SweepResult


@dataclass(slots=True)
class Run:
    """A run under way. Each phase reads what earlier ones have found, and adds to it.

    ``read`` is what the session has read, by routing and again by the end of the sweeps, and
    ``earlier`` are reports of runs that ended without an answer. ``results`` are the sweeps with
    what may still change them, in the order of ``sweeps``. ``stopped`` is the limit that ended the
    run early. A value of a later phase is missing until then.
    """

    order: RunOrder
    tools: RunTools
    record: RunRecord
    earlier: tuple[Recovered, ...] = ()
    stopped: str = ""
    read: Read = field(init=False)
    routing: Routing = field(init=False)
    results: list[SweepResult] = field(init=False)
    sweeps: tuple[Sweep, ...] = field(init=False)
    crosscheck: Crosscheck = field(init=False)
    synthesis: Synthesis = field(init=False)

    @property
    def generation(self) -> Generation:
        """The generation of partitions that the run reads."""
        return self.record.partitioning.generation

    @property
    def reports(self) -> tuple[Sweep, ...]:
        """All sweeps, those of earlier runs last."""
        return (*self.sweeps, *(recovered.sweep for recovered in self.earlier))
