"""The names of all metrics, with their labels and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric by its name; ``labels`` are the names of its labels.

    ``bounds`` are the upper bounds of the buckets of a histogram, which has no others.
    """

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    help: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()


SECONDS = (1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)

# Of a server, since it started.
RUNS = Metric("counter", "pgs_runs", "Runs that ended, by how.", ("graph", "state"))
RUN_SECONDS = Metric(
    "histogram", "pgs_run_seconds", "Seconds of runs that ended.", ("graph",), SECONDS
)
SWEEPS = Metric(
    "counter", "pgs_sweeps", "Partitions that were swept, by how it ended.", ("graph", "status")
)
CALLS = Metric("counter", "pgs_model_calls", "Model calls that were paid for.", ("graph", "model"))
TOKENS = Metric(
    "counter",
    "pgs_model_tokens",
    "Tokens of model calls, by direction: input or output.",
    ("graph", "model", "direction"),
)
CACHE_READ = Metric(
    "counter",
    "pgs_model_cache_read_tokens",
    "Input tokens that came from the provider's prompt cache.",
    ("graph", "model"),
)
CACHE_WRITE = Metric(
    "counter",
    "pgs_model_cache_write_tokens",
    "Input tokens that the provider stored in its prompt cache.",
    ("graph", "model"),
)
COST = Metric(
    "counter",
    "pgs_model_cost",
    "Cost of model calls, in the currency of your prices; those without prices cost nothing.",
    ("graph", "model"),
)
CACHED = Metric(
    "counter", "pgs_cached_replies", "Replies from the cache, which cost nothing.", ("graph",)
)

# Of a server, now.
RUNNING = Metric("gauge", "pgs_runs_running", "Runs in progress.")
WAITING = Metric("gauge", "pgs_runs_waiting", "Runs in the queue.")
STREAMS = Metric("gauge", "pgs_streams", "Open streams of events and chats.")
DATABASE_UP = Metric("gauge", "pgs_database_up", "1 if the database answers in time, else 0.")
INFO = Metric("gauge", "pgs_info", "Always 1; the label is the version of pgs.", ("version",))

# Of graphs, from the database.
GENERATION_AGE = Metric(
    "gauge",
    "pgs_graph_generation_age_seconds",
    "Seconds since the current partitions were made.",
    ("graph",),
)
NODES = Metric("gauge", "pgs_graph_nodes", "Nodes of the current partitions.", ("graph",))
PARTITIONS = Metric("gauge", "pgs_graph_partitions", "Current partitions.", ("graph",))
CHANGED = Metric(
    "gauge",
    "pgs_graph_database_changed",
    "1 if another program has committed since the partitions were last seen to be valid.",
    ("graph",),
)
DRIFT = Metric(
    "gauge",
    "pgs_graph_drift_ratio",
    "Share of the graph that had changed, 0 to 1, when a job last measured it.",
    ("graph",),
)
LEASED = Metric(
    "gauge", "pgs_graph_lease_held", "1 while a job holds the lease of the graph.", ("graph",)
)

# Of `pgs repartition`.
EXIT_CODE = Metric("gauge", "pgs_repartition_exit_code", "Exit code of the command.")
ENDED_AT = Metric("gauge", "pgs_repartition_finished_timestamp_seconds", "When the command ended.")
OUTCOME = Metric(
    "gauge", "pgs_repartition_outcome", "1 for how the job of a graph ended.", ("graph", "outcome")
)
JOB_SECONDS = Metric("gauge", "pgs_repartition_seconds", "Seconds of the job.", ("graph",))
