"""What models that people have written return, checked, and their faults as typed errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.errors import EmbeddingError, ModelError, PGSError
from pgs_neo4j.model import Completion

PAGE = "see 'pgs help extending'"


@contextmanager
def said_by(name: str) -> Iterator[None]:
    """Turn an exception that no model may raise into a ModelError with its kind.

    Its text is left out, since libraries write addresses and keys into theirs. It is the cause of
    the new one.
    """
    try:
        yield
    except (PGSError, TimeoutError):  # a time limit of the caller comes as the latter
        raise
    except Exception as error:
        raise ModelError(
            f"the model {name} failed with {type(error).__name__}; a model of your own says with "
            f"a ModelError what went wrong, {PAGE}"
        ) from error


def checked_reply(name: str, reply: object) -> Completion:
    """Return a reply. Raises ModelError for anything else."""
    if not isinstance(reply, Completion):
        raise _no_reply(name, reply)
    return reply


async def checked_pieces(name: str, pieces: object) -> AsyncGenerator[str | Completion, None]:
    """Yield the pieces of a reply. Raises ModelError for anything that is no piece."""
    if not isinstance(pieces, AsyncGenerator):
        raise ModelError(
            f"stream of the model {name} returned {_kind(pieces)}; let it yield pieces of text and "
            f"last the Completion, {PAGE}"
        )
    with said_by(name):
        async with aclosing(pieces):
            async for piece in pieces:
                if not isinstance(piece, (str, Completion)):
                    raise _no_reply(name, piece)
                yield piece


def checked_vectors(name: str, vectors: object) -> NDArray[np.float32]:
    """Return vectors ``(n, d)``; who asked counts them. Raises EmbeddingError for anything else."""
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2:
        shape = getattr(vectors, "shape", None)
        what = _kind(vectors) if shape is None else f"an array of the shape {shape}"
        raise EmbeddingError(
            f"embed of {name} returned {what}; return an array of numpy with a row for each text, "
            f"{PAGE}"
        )
    return vectors


def _no_reply(name: str, reply: object) -> ModelError:
    return ModelError(
        f"the model {name} returned {_kind(reply)} instead of a Completion with text and usage; "
        f"{PAGE}"
    )


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of the type {type(value).__name__}"
