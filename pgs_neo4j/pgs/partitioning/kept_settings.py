"""Keeps the partitioning settings of a graph until the user changes them.

A generation records the settings that it was built with, and all values that files and variables
have configured since the first generation. A later question, plan, or job keeps these settings. It
uses another value only if its own call passes one, or if a file or variable configures a value that
is new to the graph. So one command does not replace the partitions of another.

If a file or variable configures a value that was already replaced by another one, the intention is
unclear. The user may have set the value back, or another process may have a different
configuration. Only a command whose purpose is to partition accepts such a value, and only if no
call has passed another value since then. Questions keep the partitions and report the ignored
value. Otherwise two processes with different configurations would replace each other's partitions
with every question.
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
MOST_STANDING = 20  # the latest configured values that a generation remembers for each setting


@dataclass(frozen=True, slots=True)
class ChosenSettings:
    """The origin of settings: names that a call passed, and values that are configured.

    ``called`` are the names that the call passed. ``standing`` has the values that files and
    variables configure, by name. ``partitions`` means that the purpose of the call is to partition,
    so that a value that was configured earlier counts again.
    """

    called: frozenset[str] = frozenset()
    standing: Mapping[str, object] = field(default_factory=dict)
    partitions: bool = False

    def of_call(self, names: Mapping[str, object]) -> ChosenSettings:
        """Add the names that one more call passes. A value of None counts as not passed."""
        passed = {name for name, value in names.items() if value is not None}
        return replace(self, called=self.called | passed)


def settings_of(config: PGSConfig) -> dict[str, object]:
    """Return the settings of partitioning by name."""
    return {name: getattr(config, name) for name in PARTITIONING}


def keep_settings(
    config: PGSConfig, chosen: ChosenSettings | None, current: Generation | None
) -> PGSConfig:
    """Return ``config`` with the values of the current generation for all unchanged settings.

    Without ``chosen``, or before the first generation, returns ``config`` itself.
    """
    if chosen is None or current is None:
        return config
    kept = {
        name: value
        for name, value in current.knobs.items()
        if not _is_changed(name, chosen, current) and getattr(config, name) != value
    }
    # Copy without validation: stored values were checked when they were read, and a new object
    # would read the configuration files again, which may have changed since.
    return config.model_copy(update=kept) if kept else config


def remember_standing(
    chosen: ChosenSettings | None, current: Generation | None
) -> dict[str, list[object]]:
    """Return the configured values to record in the next generation, by name, the latest last."""
    before = {} if current is None else current.standing
    after = {name: list(values) for name, values in before.items()}
    if chosen is None:
        return after
    for name in PARTITIONING:
        if name not in chosen.standing:
            continue
        value, known = chosen.standing[name], after.get(name, [])
        if value not in known or chosen.partitions:
            after[name] = [*(old for old in known if old != value), value][-MOST_STANDING:]
    return after


def describe_ignored(chosen: ChosenSettings | None, current: Generation) -> str:
    """Return a sentence on configured values that are ignored, because others came later.

    Returns an empty text if all configured values count.
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
    """Return in words how the settings differ from those of a generation; empty if equal.

    ``max_partition_tokens is 5000 and was 2000``
    """
    settings = settings_of(config)
    return ", ".join(
        f"{name} is {settings[name]} and was {value}"
        for name, value in current.knobs.items()
        if settings[name] != value
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
    """Return whether a configured value is older than the current one, which was also configured.

    Returns False if the current value came from a call, since that overrides all values that were
    configured until then.
    """
    known: Sequence[object] = current.standing.get(name, ())
    if name not in chosen.standing or not known or current.knobs.get(name) != known[-1]:
        return False
    return chosen.standing[name] in known[:-1]
