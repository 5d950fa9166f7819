"""Turns errors of the package into tool errors of one sentence."""

from __future__ import annotations

import functools
import logging
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError

from pgs_neo4j.errors import (
    PGSError,
    UnknownGraphError,
    UnknownNodeError,
    UnknownPartitionError,
    UnknownRunError,
    UnknownSessionError,
)
from pgs_neo4j.text.shown import one_line

MISSING = (
    UnknownGraphError,
    UnknownNodeError,
    UnknownPartitionError,
    UnknownRunError,
    UnknownSessionError,
)
LONGEST = 1000  # characters of a sentence

logger = logging.getLogger(__name__)

Taken = ParamSpec("Taken")
Given = TypeVar("Given")


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
    """Do the same for a resource; what does not exist is told apart."""

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
