"""Rules for all tools: refuse unknown arguments, fail with one sentence, and keep replies short.

Each reply stays within its token limit, and names what was left out.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Awaitable, Callable, Sequence
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
from pgs_neo4j.text.invalid_values import describe_invalid, name_place, suggest_similar
from pgs_neo4j.text.shown import one_line
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN, estimate

Params = ParamSpec("Params")
Result = TypeVar("Result")
Item = TypeVar("Item", bound=BaseModel)
logger = logging.getLogger(__name__)
MISSING = (
    UnknownGraphError,
    UnknownNodeError,
    UnknownPartitionError,
    UnknownRunError,
    UnknownSessionError,
)
LONGEST = 1000  # characters of an error message


class CheckedTool(Tool):
    """A tool that refuses unknown arguments.

    If misspelled arguments were ignored, an agent would rely on a limit that does not apply.
    """

    async def run(self, arguments: dict[str, Any], *given: Any, **options: Any) -> Any:
        """Run the tool. Raises ToolError with one sentence for invalid arguments."""
        known = self.parameters.get("properties", {})
        for name in arguments:
            if name not in known:
                raise ToolError(_describe_unknown(self.name, name, [*known]))
        try:
            return await super().run(arguments, *given, **options)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_describe_invalid(error.__cause__, [*known])) from None
            raise


def checked_tool(work: Callable[..., Awaitable[Any]], annotations: ToolAnnotations) -> CheckedTool:
    """Make a tool from a function; its schema allows no additional arguments."""
    tool = cast(CheckedTool, CheckedTool.from_function(work, annotations=annotations))
    tool.parameters["additionalProperties"] = False
    return tool


def _describe_unknown(tool: str, name: str, known: list[str]) -> str:
    listed = f"it takes {', '.join(known)}" if known else "it takes none"
    hint = suggest_similar(name, known, listed)
    return f"{tool} has no argument {name[:60]!r}; {hint}"


def _describe_invalid(error: ValidationError, known: list[str]) -> str:
    """Describe the first invalid argument, without quoting its value."""
    first = error.errors(include_url=False)[0]
    return describe_invalid(name_place(first["loc"], "the call"), first, known)


def tool_errors(
    tool: Callable[Params, Awaitable[Result]],
) -> Callable[Params, Awaitable[Result]]:
    """Make a tool raise ToolError with one sentence, and no cause, for each PGSError."""

    @functools.wraps(tool)
    async def call(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        try:
            return await tool(*args, **kwargs)
        except PGSError as error:
            raise ToolError(_make_sentence(error)) from None
        except Exception as error:
            kind = type(error).__name__
            logger.error("the tool %s failed unexpectedly: %s: %s", tool.__name__, kind, error)
            raise

    return call


def resource_errors(
    resource: Callable[Params, Awaitable[Result]],
) -> Callable[Params, Awaitable[Result]]:
    """Make a resource raise ResourceError with one sentence for each PGSError.

    If something does not exist, it raises ResourceNotFoundError.
    """

    @functools.wraps(resource)
    async def read(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        try:
            return await resource(*args, **kwargs)
        except MISSING as error:
            raise ResourceNotFoundError(_make_sentence(error)) from None
        except PGSError as error:
            raise ResourceError(_make_sentence(error)) from None

    return read


def _make_sentence(error: PGSError) -> str:
    notes: list[str] = getattr(error, "__notes__", [])
    return one_line("; ".join((str(error), *notes)), LONGEST)


def cut_text(text: str, offset: int, tokens: int) -> tuple[str, int | None]:
    """Return a piece of a text from ``offset`` on, and the offset of the next piece.

    A piece ends at the end of a line or word if there is one in its second half. The offset is None
    if no text is left.
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
    """Return the first items that fit into ``tokens`` as JSON, but at least one item."""
    fitting: list[Item] = []
    for item in items:
        tokens -= estimate(item.model_dump_json())
        if tokens < 0 and fitting:
            break
        fitting.append(item)
    return fitting
