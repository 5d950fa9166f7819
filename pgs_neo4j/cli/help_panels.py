"""Help in panels: the options that matter most come first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typer.core import TyperCommand

Click = Any  # typer brings click's classes along, by release under another name
FIRST = "Options"
NAME_WIDTH = 30  # columns at most of the names on the left, as click has it


class PanelCommand(TyperCommand):
    """A command whose options are listed by panel."""

    def format_options(self, ctx: Click, formatter: Click) -> None:
        """Write arguments and options for ``--help``."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], FIRST: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            panel = "Arguments" if parameter.param_type_name == "argument" else _panel(parameter)
            panels.setdefault(panel, []).append(record)
        write_panels(formatter, {name: rows for name, rows in panels.items() if rows})


def write_panels(formatter: Click, panels: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Write rows of names and texts under headings, all texts in one column."""
    names = [len(name) for rows in panels.values() for name, _ in rows]
    width = min(NAME_WIDTH, max(names, default=0))
    for panel, rows in panels.items():
        with formatter.section(panel):
            formatter.write_dl([(f"{name:<{width}}", text) for name, text in rows])


def _panel(option: Click) -> str:
    return str(getattr(option, "rich_help_panel", None) or FIRST)
