"""A tool that takes what it knows, and says in one sentence what is wrong with anything else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from typing import Any, cast

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import ValidationError

from pgs_neo4j.text.invalid_values import describe_invalid, name_place


class CheckedTool(Tool):
    """Refuses arguments that it does not know.

    An agent whose limit is ignored believes in a limit that does not hold.
    """

    async def run(self, arguments: dict[str, Any], *given: Any, **options: Any) -> Any:
        """Run the tool. Raises ToolError with one sentence for arguments that it does not take."""
        known = self.parameters.get("properties", {})
        for name in arguments:
            if name not in known:
                raise ToolError(_unknown(self.name, name, [*known]))
        try:
            return await super().run(arguments, *given, **options)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_invalid(error.__cause__, [*known])) from None
            raise


def checked_tool(work: Callable[..., Awaitable[Any]], annotations: ToolAnnotations) -> CheckedTool:
    """Return a tool of a function, whose schema says that there are no other arguments."""
    tool = cast(CheckedTool, CheckedTool.from_function(work, annotations=annotations))
    tool.parameters["additionalProperties"] = False
    return tool


def _unknown(tool: str, name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    listed = f"it takes {', '.join(known)}" if known else "it takes none"
    hint = f"did you mean {near[0]}?" if near else listed
    return f"{tool} has no argument {name[:60]!r}; {hint}"


def _invalid(error: ValidationError, known: list[str]) -> str:
    """Return the first thing that is wrong with arguments, without what was sent."""
    first = error.errors(include_url=False)[0]
    return describe_invalid(name_place(first["loc"], "the call"), first, known)
