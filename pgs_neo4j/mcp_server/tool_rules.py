"""The rules that every tool keeps: it refuses unknown arguments, fails in a sentence, and is brief.

A reply fits into its tokens, and says what was left out.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Awaitable, Callable, Sequence
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar, cast

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import BaseModel, ValidationError

from pgs_neo4j.errors import (
    PGSError,
    UnknownGraphError,
    UnknownNodeError,
    UnknownPartitionError,
    UnknownRunError,
    UnknownSessionError,
)
from pgs_neo4j.text.invalid_values import describe_invalid, name_place
from pgs_neo4j.text.shown import one_line
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN, estimate

Taken = ParamSpec("Taken")
Given = TypeVar("Given")
Item = TypeVar("Item", bound=BaseModel)
logger = logging.getLogger(__name__)
MISSING = (
    UnknownGraphError,
    UnknownNodeError,
    UnknownPartitionError,
    UnknownRunError,
    UnknownSessionError,
)
LONGEST = 1000  # characters of a sentence


class CheckedTool(Tool):
    """Refuses arguments that it does not know.

    Otherwise an agent would trust in a limit that it misspelled, and that does not hold.
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
    """Return the first thing that is wrong with arguments, without quoting them."""
    first = error.errors(include_url=False)[0]
    return describe_invalid(name_place(first["loc"], "the call"), first, known)


def tool_errors(
    tool: Callable[Taken, Awaitable[Given]],
) -> Callable[Taken, Awaitable[Given]]:
    """Make a tool raise one sentence, and no cause, where the package raises an error."""

    @functools.wraps(tool)
    async def call(*args: Taken.args, **kwargs: Taken.kwargs) -> Given:
        try:
            return await tool(*args, **kwargs)
        except PGSError as error:
            raise ToolError(_sentence(error)) from None
        except Exception as error:
            kind = type(error).__name__
            logger.error("the tool %s failed unexpectedly: %s: %s", tool.__name__, kind, error)
            raise

    return call


def resource_errors(
    resource: Callable[Taken, Awaitable[Given]],
) -> Callable[Taken, Awaitable[Given]]:
    """Do the same for a resource; something that does not exist has an error of its own."""

    @functools.wraps(resource)
    async def read(*args: Taken.args, **kwargs: Taken.kwargs) -> Given:
        try:
            return await resource(*args, **kwargs)
        except MISSING as error:
            raise ResourceNotFoundError(_sentence(error)) from None
        except PGSError as error:
            raise ResourceError(_sentence(error)) from None

    return read


def _sentence(error: PGSError) -> str:
    notes: list[str] = getattr(error, "__notes__", [])
    return one_line("; ".join((str(error), *notes)), LONGEST)


def cut_text(text: str, offset: int, tokens: int) -> tuple[str, int | None]:
    """Return a piece of a text from ``offset`` on, and where the next piece begins.

    It is cut at the end of a line or a word, if one ends in its second half. None: nothing is left.
    """
    offset = min(max(offset, 0), len(text))
    if estimate(text[offset:]) <= tokens:
        return text[offset:], None
    size = max(int(tokens * BYTES_PER_TOKEN), 4)
    piece = text[offset : offset + size].encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
    for mark in ("\n", " "):
        at = piece.rfind(mark)
        if at > len(piece) // 2:
            piece = piece[: at + 1]
            break
    return piece, offset + len(piece)


def fit_items(items: Sequence[Item], tokens: int) -> list[Item]:
    """Return the first items whose JSON takes at most so many tokens; one at least."""
    fitting: list[Item] = []
    for item in items:
        tokens -= estimate(item.model_dump_json())
        if tokens < 0 and fitting:
            break
        fitting.append(item)
    return fitting
