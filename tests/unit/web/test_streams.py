"""Streams whose readers have gone."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from pgs_neo4j.web.runs.stream import CutStreams


def raising(error: BaseException) -> CutStreams:
    async def app(*_: Any) -> None:
        raise error

    return CutStreams(app)


async def call(app: CutStreams) -> str:
    await app({"type": "http"}, _never, _never)  # type: ignore[arg-type]
    return "ended"


async def _never(*_: Any) -> Any:
    raise AssertionError("nothing is sent or received")


@pytest.mark.parametrize(
    "error",
    [
        anyio.BrokenResourceError(),
        ExceptionGroup("streams", [anyio.BrokenResourceError(), anyio.BrokenResourceError()]),
    ],
)
async def test_a_reader_that_has_gone_is_no_fault(error: Exception) -> None:
    assert await call(raising(error)) == "ended"


async def test_every_other_error_stays() -> None:
    both = ExceptionGroup("streams", [anyio.BrokenResourceError(), KeyError("fault")])
    with pytest.raises(ExceptionGroup) as raised:
        await call(raising(both))
    assert [type(one) for one in raised.value.exceptions] == [KeyError]
