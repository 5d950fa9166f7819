"""What models, embedders, and parts that people have written return, checked, and their faults.

Whatever they do becomes a typed error that names the object and what to write instead.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import fields
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.errors import EmbeddingError, ModelError, ModelTimeoutError, PGSError
from pgs_neo4j.model import Completion, Usage
from pgs_neo4j.model.documents import Extraction
from pgs_neo4j.telemetry.redaction import MASK, redacted
from pgs_neo4j.text.shown import counted, one_line

PAGE = "see 'pgs help extending'"
LONGEST_LINE = 200
"""Characters of an exception's text that a sentence quotes."""
SEARCHED_LINE = 2_000
"""Characters of it that are searched for secrets."""

# Libraries write addresses and keys into their texts. What is hidden here goes beyond the secrets
# that the settings know, since an object of one's own may have any.
_SECRETS = re.compile(
    r"(?P<query>(?<=[?&])[\w.-]+=[^\s&'\"]+)"
    r"|(?P<key>\bsk-\S+)"
    r"|(?P<named>(?i:(?:api[-_ ]?key|access[-_ ]?key|token|secret|password|passwd|authorization)"
    r"(?:\s+provided)?['\"]?\s*(?:[:=]|\bis\b|(?=['\"]))\s*)['\"]?[^\s,;'\"]+)"
    r"|(?P<long>(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{20,})"
)


@contextmanager
def said_by(name: str, kind: str = "model") -> Iterator[None]:
    """Turn an exception that nothing here may raise into a ModelError with its kind and first line.

    ``kind`` is what has the name: a model, an embedder, or a part of an ingestion. What looks like
    a secret in the line is masked. The exception is the cause of the new one.
    """
    try:
        yield
    except PGSError:
        raise
    except Exception as error:
        # A time limit of the caller cancels this, so a TimeoutError is one of the object itself.
        raised = ModelTimeoutError if isinstance(error, TimeoutError) else ModelError
        raise raised(
            f"the {kind} {name} failed with {describe_fault(error)}; raise a ModelError to say it "
            f"in your own words, {PAGE}"
        ) from error


def describe_fault(error: BaseException) -> str:
    """Return the kind of an exception and the first line of its text, with secrets masked."""
    kind = type(error).__name__
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # noqa: BLE001
        return kind  # a text that cannot be made says nothing
    line = _SECRETS.sub(MASK, redacted(one_line(lines[0], SEARCHED_LINE))) if lines else ""
    return f"{kind}: {one_line(line, LONGEST_LINE)}" if line else kind


async def await_reply(name: str, reply: object) -> Completion:
    """Return what ``complete`` of a model returns. Raises ModelError for anything else."""
    if not inspect.isawaitable(reply):
        raise ModelError(
            f"complete of the model {name} is no coroutine, it returned {_kind(reply)}; write it "
            f"as 'async def complete', {PAGE}"
        )
    return checked_reply(name, await reply)


def checked_reply(name: str, reply: object) -> Completion:
    """Return a reply. Raises ModelError for anything else, or one with other values."""
    if not isinstance(reply, Completion):
        raise _no_reply(name, reply)
    for field, kind in (("text", str), ("usage", Usage), ("model", str)):
        value = getattr(reply, field)
        if not isinstance(value, kind):
            raise ModelError(
                f"the model {name} returned a Completion whose {field} is {_kind(value)}; give it "
                f"a value of the type {kind.__name__}, {PAGE}"
            )
    counts = {
        f"usage.{field.name}": getattr(reply.usage, field.name)
        for field in fields(Usage)
        if field.name != "estimated"
    }
    if reply.counted is not None:
        counts["counted"] = reply.counted
    for field, value in counts.items():
        if not isinstance(value, int) or value < 0:
            raise ModelError(
                f"the model {name} returned a Completion with {field}={one_line(repr(value), 40)}; "
                f"give it a whole number from 0, {PAGE}"
            )
    return reply


async def checked_pieces(name: str, pieces: object) -> AsyncGenerator[str | Completion, None]:
    """Yield the pieces of a reply. Raises ModelError for anything that is no piece."""
    if not isinstance(pieces, AsyncGenerator):
        if inspect.iscoroutine(pieces):
            pieces.close()
        raise ModelError(
            f"stream of the model {name} returned {_kind(pieces)}; let it yield pieces of text and "
            f"last the Completion, {PAGE}"
        )
    with said_by(name):
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, str):
                    yield piece
                else:
                    yield checked_reply(name, piece)


async def await_vectors(
    name: str, vectors: object, texts: int, dimensions: int | None
) -> NDArray[np.float32]:
    """Return what ``embed`` of an embedder returns: vectors ``(n, d)`` of so many texts.

    ``dimensions`` is what the embedder says of its vectors. Raises ModelError for anything else.
    Only for a wrong number of rows it is an EmbeddingError, after which halves are tried.
    """
    if not inspect.isawaitable(vectors):
        raise ModelError(
            f"embed of {name} is no coroutine, it returned {_kind(vectors)}; write it as "
            f"'async def embed', {PAGE}"
        )
    return checked_vectors(name, await vectors, texts, dimensions)


def checked_vectors(
    name: str, vectors: object, texts: int, dimensions: int | None
) -> NDArray[np.float32]:
    """Return vectors ``(n, d)``. Raises ModelError for anything else."""
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2:
        shape = getattr(vectors, "shape", None)
        what = _kind(vectors) if shape is None else f"an array of the shape {shape}"
        raise ModelError(
            f"embed of {name} returned {what}; return an array of numpy with a row for each text, "
            f"{PAGE}"
        )
    if not np.issubdtype(vectors.dtype, np.floating):
        raise ModelError(
            f"embed of {name} returned an array of {vectors.dtype}; return float32, {PAGE}"
        )
    if len(vectors) != texts:
        raise EmbeddingError(
            f"embed of {name} returned {counted(len(vectors), 'row')} for "
            f"{counted(texts, 'text')}; return a row for each text, in their order, {PAGE}"
        )
    if dimensions is not None and texts and vectors.shape[1] != dimensions:
        raise ModelError(
            f"embed of {name} returned {vectors.shape[1]:,} numbers a text, but its dimensions "
            f"says {dimensions:,}; make both equal, {PAGE}"
        )
    return vectors


async def await_ends(chunker: str, ends: object, length: int) -> list[int]:
    """Return what ``divide`` of a chunker returns for a text of so many characters.

    Raises ModelError for anything but whole numbers, which may not ascend yet.
    """
    with said_by(chunker, "chunker"):
        if inspect.isasyncgen(ends):
            raise ModelError(
                f"divide of the chunker {chunker} yields; let it return all positions at once, as "
                f"a list, {PAGE}"
            )
        if not inspect.isawaitable(ends):
            raise ModelError(
                f"divide of the chunker {chunker} is no coroutine, it returned {_kind(ends)}; "
                f"write it as 'async def divide', {PAGE}"
            )
        returned = await ends
        wrong = None
        if isinstance(returned, Iterable) and not isinstance(returned, str):
            listed = [*returned]
            others = [one for one in listed if not is_whole(one)]
            if not others and (listed or not length):
                return [int(one) for one in listed]
            wrong = f"a list with {_kind(others[0])}" if others else "an empty list"
        raise ModelError(
            f"divide of the chunker {chunker} returned {wrong or _kind(returned)}; return the "
            "positions in the text where chunks end, whole numbers of characters that ascend, "
            f"here to {length:,}, {PAGE}"
        )


async def await_extractions(extractor: str, said: object, chunks: int) -> list[Extraction]:
    """Return what ``extract`` of an extractor returns for so many chunks.

    Raises ModelError for anything but one Extraction for each.
    """
    with said_by(extractor, "extractor"):
        if not inspect.isawaitable(said):
            raise ModelError(
                f"extract of the extractor {extractor} is no coroutine, it returned {_kind(said)}; "
                f"write it as 'async def extract', {PAGE}"
            )
        returned = await said
        listed = [*returned] if isinstance(returned, Iterable) else []
        others = [one for one in listed if not isinstance(one, Extraction)]
        if len(listed) == chunks and not others:
            return listed
        wrong = f"a list with {_kind(others[0])}" if others else None
        wrong = wrong or (f"{len(listed):,} of them" if listed else _kind(returned))
        raise ModelError(
            f"extract of the extractor {extractor} returned {wrong}; return a list with an "
            f"Extraction for each chunk, here {chunks:,}, {PAGE}"
        )


def checked_description(describer: str, said: object) -> str:
    """Return what ``describe`` of a describer returned. Raises ModelError for no text."""
    if not isinstance(said, str):
        raise ModelError(
            f"describe of the describer {describer} returned {_kind(said)}; return a text, {PAGE}"
        )
    return said


def is_whole(value: object) -> bool:
    """Return whether a value is a whole number, of Python or of numpy."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def advise_other(model: object, setting: str, own: str) -> str:
    """Return what to do where a model does not what it is asked for.

    ``setting`` says it of a model that the settings name, ``own`` of an object that was passed in.
    """
    configured = type(model).__module__.startswith("pgs_neo4j.llm.")
    return setting if configured else f"{own}, {PAGE}"


def _no_reply(name: str, reply: object) -> ModelError:
    return ModelError(
        f"the model {name} returned {_kind(reply)} instead of a Completion with text and usage; "
        f"{PAGE}"
    )


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of the type {type(value).__name__}"
