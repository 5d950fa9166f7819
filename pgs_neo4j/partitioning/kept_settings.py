"""The settings of partitioning stay with a graph's partitions until a person changes them.

A generation records what it was made with, and what files and variables set at that time. A later
question, plan, or job keeps both, unless its own call passes a setting, or a file or variable sets
one that it did not set then. So partitions that one command made are not replaced by the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pgs_neo4j.config import PGSConfig, with_overrides
from pgs_neo4j.model import Generation

PARTITIONING = (
    "min_community_size",
    "target_partition_max",
    "max_partition_tokens",
    "algorithm",
    "random_seed",
    "centroid",
)
"""The settings that decide how a graph is divided."""


@dataclass(frozen=True, slots=True)
class ChosenSettings:
    """Who set what: ``called`` are names that a call passed; ``standing`` values are configured.

    Files and variables configure them.
    """

    called: frozenset[str] = frozenset()
    standing: Mapping[str, object] = field(default_factory=dict)

    def of_call(self, names: Mapping[str, object]) -> ChosenSettings:
        """Return these settings with those that one more call passes; None passes nothing."""
        passed = {name for name, value in names.items() if value is not None}
        return replace(self, called=self.called | passed)


def settings_of(config: PGSConfig) -> dict[str, object]:
    """Return the settings of partitioning by name."""
    return {name: getattr(config, name) for name in PARTITIONING}


def keep_settings(
    config: PGSConfig, chosen: ChosenSettings | None, current: Generation | None
) -> PGSConfig:
    """Return settings with those of the current generation where nobody changed them.

    Without ``chosen``, or before the first generation, they stay as they are.
    """
    if chosen is None or current is None:
        return config
    kept = {
        name: value
        for name, value in current.knobs.items()
        if not _is_changed(name, chosen, current) and getattr(config, name) != value
    }
    return with_overrides(config, kept)


def describe_changes(config: PGSConfig, current: Generation) -> str:
    """Return which settings differ from those of a generation.

    ``max_partition_tokens is 5000 and was 2000``; empty if none does.
    """
    asked = settings_of(config)
    return ", ".join(
        f"{name} is {asked[name]} and was {value}"
        for name, value in current.knobs.items()
        if asked[name] != value
    )


def _is_changed(name: str, chosen: ChosenSettings, current: Generation) -> bool:
    if name in chosen.called:
        return True
    return name in chosen.standing and chosen.standing[name] != current.standing.get(name)
