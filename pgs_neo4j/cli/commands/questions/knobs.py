"""The knobs that commands which ask a question offer as options."""

LIMITS = ("max_calls", "max_tokens", "max_unmatched_tokens", "max_cost", "run_timeout_s")
ROUTING = (
    "route_by",
    "sweep_fraction",
    "max_sweep_partitions",
    "min_sweep_partitions",
    "partition_relevance_threshold",
)
QUESTION = (
    *LIMITS,
    *ROUTING,
    "max_flag_sweeps",
    "sweep_max_tokens",
    "synthesis_max_tokens",
    "strict",
    "max_concurrent_sweeps",
    "cache",
    "hedge",
    "min_community_size",
    "target_partition_max",
    "max_partition_tokens",
)
