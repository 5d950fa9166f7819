"""The state of a run: its order, and the results of its phases so far."""

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
    """A run in progress. Each phase uses the results of earlier phases and adds its own.

    ``read`` is what the session has read; routing sets it, and it is read again after the sweeps.
    ``earlier`` are reports of runs that ended without an answer. ``results`` are in the order of
    ``sweeps`` and can still be settled. ``stopped`` names the limit that ended the run early. The
    attributes without a default do not exist before their phase sets them.
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
        """All sweeps; the sweeps of earlier runs come last."""
        return (*self.sweeps, *(recovered.sweep for recovered in self.earlier))
