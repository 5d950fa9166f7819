"""Build command line options from the declared knobs, and group the knobs by command."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer

from pgs_neo4j.config import Declaration, PGSConfig, declarations

# The knobs of commands that ask a question: the limits of a run, its routing, and the full list.
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
Command = Callable[..., None]
PANELS = {
    "limits": "Limits of the run",
    "routing": "Which partitions are read",
    "partitioning": "How the graph is partitioned",
    "ingestion": "How documents are read",
}
OTHER_PANEL = "Model calls"
_DECLARED = {knob.name: knob for knob in declarations(PGSConfig)}


def with_knobs(*names: str) -> Callable[[Command], Command]:
    """Return a decorator that adds an option per named knob to a command with ``**knobs``.

    The command receives every named knob, as None if its option was not used.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def call(**arguments: object) -> None:
            knobs = {name: _value(_DECLARED[name], arguments.pop(name)) for name in names}
            command(**arguments, **knobs)

        hints = get_type_hints(command, include_extras=True)
        own = [
            parameter.replace(annotation=hints[parameter.name])
            for parameter in inspect.signature(command).parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        # Options that every command has, such as --json, come last in the help.
        last = next((i for i, parameter in enumerate(own) if parameter.name == "as_json"), len(own))
        parameters = [*own[:last], *map(_parameter, names), *own[last:]]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        signature = inspect.Signature(parameters)
        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    return decorate


def help_of(knob: Declaration) -> str:
    """Return the help of a knob's option, with the default in brackets."""
    text = knob.about.help or knob.description
    text = text[0].upper() + text[1:]
    if knob.about.help:
        return f"{text}."
    if bool in knob.types:
        return f"{text}."
    if _is_text(knob):
        return f"{text}, or 'none'."  # omits the default, because a resumed run has its own limits
    return f"{text} [{'none' if knob.field.default is None else knob.field.default}]."


def knob_option(name: str, *, min: float | None = None) -> object:  # noqa: A002 - as typer has it
    """Return the typer option of a knob; with ``min``, typer refuses smaller values."""
    knob = _DECLARED[name]
    metavar = knob.about.metavar or ("N" if _is_text(knob) else None)
    panel = PANELS.get(knob.about.topic, OTHER_PANEL)
    return typer.Option(
        knob.flag, help=help_of(knob), metavar=metavar, min=min, rich_help_panel=panel
    )


@functools.cache
def _parameter(name: str) -> inspect.Parameter:
    knob = _DECLARED[name]
    switch = bool in knob.types
    kind: Any = bool if switch else str | None
    if not _is_text(knob):
        kind = next((kind | None for kind in knob.types if kind in (int, float)), kind)
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=False if switch else None,
        annotation=Annotated[kind, knob_option(name)],
    )


def _is_text(knob: Declaration) -> bool:
    """Return whether the option takes text, so that the value 'none' can lift a limit."""
    return knob.about.topic == "limits"


def _value(knob: Declaration, value: object) -> object:
    """Return the value for a knob, or None if its option was not used.

    If a switch was used, the value is the inverse of the default.
    """
    if bool not in knob.types:
        return value
    return not knob.field.default if value else None
