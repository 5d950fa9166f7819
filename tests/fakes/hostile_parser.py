"""A parser that misbehaves as a request's kind says, for tests of the process that runs it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable

from pgs_neo4j.documents.read import child
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import DocumentText

REPLIES = 3  # the file descriptor with the copy of stdout
Read = tuple[DocumentText, str]


def hang(data: bytes) -> Read:
    time.sleep(600)
    return say(data)


def spin(data: bytes) -> Read:
    while True:
        pass


def crash(data: bytes) -> Read:
    os.kill(os.getpid(), signal.SIGSEGV)
    return say(data)


def abort(data: bytes) -> Read:
    os.abort()


def grow(data: bytes) -> Read:
    return DocumentText(text=str(bytearray(2**40))), ""


def talk(data: bytes) -> Read:
    sys.stdout.write("a library prints this")
    os.write(1, b"and this")
    return say(data)


def lie(data: bytes) -> Read:
    os.write(REPLIES, (2**60).to_bytes(8, "big"))
    return say(data)


def say(data: bytes) -> Read:
    """The text of a document, with the process and the names of its variables."""
    return DocumentText(text=f"{data.decode()} {os.getpid()}"), " ".join(os.environ)


def refuse(data: bytes) -> Read:
    raise InputFileError("it is not for me")


KINDS: tuple[Callable[[bytes], Read], ...] = (
    hang, spin, crash, abort, grow, talk, lie, say, refuse,
)  # fmt: skip

if __name__ == "__main__":
    child.PARSERS = {kind.__name__: kind for kind in KINDS}
    sys.exit(child.main())  # type: ignore[func-returns-value]
