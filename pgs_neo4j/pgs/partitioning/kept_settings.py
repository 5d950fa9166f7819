"""The settings of partitioning stay with a graph's partitions until a person changes them.

A generation records what it was made with, and the values that files and variables have set since
the first one. A later question, plan, or job keeps its settings, unless its own call passes one, or
a file or variable sets a value that was never set there before. So partitions that one command made
are not replaced by the next.

A value that was configured earlier, before another one, is ambiguous: a person may have set it
back, or a process with a configuration of its own may be asking. Only a command that is given to
partition takes it up, and not if a call has passed another value since. Questions keep the
partitions and say so; otherwise two processes that are configured differently would replace each
other's partitions with every question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.model import Generation
from pgs_neo4j.text.commands import command_line

PARTITIONING = (
    "min_community_size",
    "target_partition_max",
    "max_partition_tokens",
    "algorithm",
    "random_seed",
    "centroid",
)
"""The settings that decide how a graph is divided."""
MOST_STANDING = 20  # configured values of one setting that a generation remembers, the latest


@dataclass(frozen=True, slots=True)
class ChosenSettings:
    """Who set what: ``called`` are names that a call passed; ``standing`` values are configured.

    Files and variables configure them. ``partitions``: the call was given to partition a graph, so
    a value that was configured before counts again.
    """

    called: frozenset[str] = frozenset()
    standing: Mapping[str, object] = field(default_factory=dict)
    partitions: bool = False

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
    # Stored values were checked when they were read. Building it again would read files, which
    # may have changed since.
    return config.model_copy(update=kept) if kept else config


def remember_standing(
    chosen: ChosenSettings | None, current: Generation | None
) -> dict[str, list[object]]:
    """Return the configured values that the next generation records by name, the latest last."""
    before = {} if current is None else current.standing
    after = {name: list(values) for name, values in before.items()}
    if chosen is None:
        return after
    for name in PARTITIONING:
        if name not in chosen.standing:
            continue
        value, known = chosen.standing[name], after.get(name, [])
        if value not in known or chosen.partitions:
            after[name] = [*(one for one in known if one != value), value][-MOST_STANDING:]
    return after


def describe_ignored(chosen: ChosenSettings | None, current: Generation) -> str:
    """Return which configured values do not count, because others were configured after them.

    Empty if there are none.
    """
    if chosen is None:
        return ""
    ignored = [
        name
        for name in current.knobs
        if name not in chosen.called
        and not _is_changed(name, chosen, current)
        and _was_set_before(name, chosen, current)
    ]
    if not ignored:
        return ""
    differing = ", ".join(
        f"{name} {current.knobs[name]} (configured here: {chosen.standing[name]})"
        for name in ignored
    )
    words = ["pgs", "partition", "--graph", current.graph]
    for name in ignored:
        words += [f"--{name.replace('_', '-')}", str(chosen.standing[name])]
    return (
        f"graph {current.graph} keeps {differing}, because another configuration came later; "
        f"'{command_line(words)}' changes that"
    )


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
    if name not in chosen.standing:
        return False
    known: Sequence[object] = current.standing.get(name, ())
    if chosen.standing[name] not in known:
        return True
    return chosen.partitions and _was_set_before(name, chosen, current)


def _was_set_before(name: str, chosen: ChosenSettings, current: Generation) -> bool:
    """Return whether a configured value was configured before the one that now counts.

    What a call passed counts against all values that were configured until then.
    """
    known: Sequence[object] = current.standing.get(name, ())
    if name not in chosen.standing or not known or current.knobs.get(name) != known[-1]:
        return False
    return chosen.standing[name] in known[:-1]
