"""Checks the return values and failures of models, embedders, and parts that users have written.

Every fault becomes a typed error that names the object and what to write instead.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import fields
from math import isfinite
from numbers import Integral, Real
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.errors import (
    EmbeddingError,
    ModelError,
    ModelOutputError,
    ModelTimeoutError,
    PGSError,
)
from pgs_neo4j.model import Completion, Usage
from pgs_neo4j.model.documents import (
    DocumentText,
    ExtractedEntity,
    ExtractedRelation,
    Extraction,
    LoadedDocument,
    RefusedDocument,
)
from pgs_neo4j.model.ingest import ExtractionForecast
from pgs_neo4j.telemetry.redaction import MASK, redacted
from pgs_neo4j.text.shown import counted, one_line

PAGE = "see 'pgs help extending'"
LONGEST_LINE = 200
"""Characters of an exception's text that a sentence quotes."""
SEARCHED_LINE = 2_000
"""Characters of an exception's text that are searched for secrets."""

# Libraries write addresses and keys into the texts of exceptions. These patterns go beyond the
# secrets in the settings, because a user's own object may have any secret.
_SECRETS = re.compile(
    r"(?P<query>(?<=[?&])[\w.-]+=[^\s&'\"]+)"
    r"|(?P<key>\bsk-\S+)"
    r"|(?P<named>(?i:(?:api[-_ ]?key|access[-_ ]?key|token|secret|password|passwd|authorization)"
    r"(?:\s+provided)?['\"]?\s*(?:[:=]|\bis\b|(?=['\"]))\s*)['\"]?[^\s,;'\"]+)"
    r"|(?P<long>(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{20,})"
)


@contextmanager
def said_by(name: str, kind: str = "model") -> Iterator[None]:
    """Turn an exception of a user's own object into a ModelError.

    The error quotes the type and the first line of the exception, with everything masked that looks
    like a secret, and has the exception as its cause. ``kind`` says what ``name`` is: a model, an
    embedder, or a part of an ingestion. A PGSError is raised unchanged.
    """
    try:
        yield
    except PGSError:
        raise
    except Exception as error:
        # A time limit of the caller would cancel this block instead of raising in it. So a
        # TimeoutError comes from the object itself.
        raised = ModelTimeoutError if isinstance(error, TimeoutError) else ModelError
        raise raised(
            f"the {kind} {name} failed with {describe_fault(error)}; raise a ModelError to say it "
            f"in your own words, {PAGE}"
        ) from error


def describe_fault(error: BaseException) -> str:
    """Return the type of an exception and the first line of its text, with secrets masked."""
    kind = type(error).__name__
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # noqa: BLE001
        return kind  # the exception cannot be converted to text
    line = _SECRETS.sub(MASK, redacted(one_line(lines[0], SEARCHED_LINE))) if lines else ""
    return f"{kind}: {one_line(line, LONGEST_LINE)}" if line else kind


async def await_reply(name: str, reply: object) -> Completion:
    """Await the reply of a model's ``complete``, and check it. Raises ModelError for a fault."""
    if not inspect.isawaitable(reply):
        raise _not_awaitable_error("complete", f"the model {name}", reply)
    return checked_reply(name, await reply)


def checked_reply(name: str, reply: object) -> Completion:
    """Return a reply unchanged. Raises ModelError if it is no Completion or has wrong values."""
    if not isinstance(reply, Completion):
        raise _wrong_reply_error(name, reply)
    for field, kind in (("text", str), ("usage", Usage), ("model", str)):
        value = getattr(reply, field)
        if not isinstance(value, kind):
            raise ModelError(
                f"the model {name} returned a Completion whose {field} is {_name_kind(value)}; "
                "give it "
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
    """Yield the pieces of a model's ``stream``. Raises ModelError for anything else."""
    if not isinstance(pieces, AsyncGenerator):
        if inspect.iscoroutine(pieces):
            pieces.close()
        raise ModelError(
            f"stream of the model {name} returned {_name_kind(pieces)}; yield pieces of text, and "
            f"finally the Completion, {PAGE}"
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
    """Await the vectors ``(n, d)`` of an embedder's ``embed``, and check them.

    ``texts`` is the number of texts, and ``dimensions`` the length that the embedder promises.
    Raises ModelError for a fault. For a wrong number of rows, it is an EmbeddingError, after which
    the caller tries halves of the texts.
    """
    if not inspect.isawaitable(vectors):
        raise _not_awaitable_error("embed", name, vectors)
    return checked_vectors(name, await vectors, texts, dimensions)


def checked_vectors(
    name: str, vectors: object, texts: int, dimensions: int | None
) -> NDArray[np.float32]:
    """Return vectors ``(n, d)`` unchanged.

    Raises EmbeddingError for a wrong number of rows, and ModelError for any other fault.
    """
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2:
        shape = getattr(vectors, "shape", None)
        what = _name_kind(vectors) if shape is None else f"an array of the shape {shape}"
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
    """Await the ends of chunks from a chunker's ``divide``, for a text of ``length`` characters.

    Raises ModelError for anything but whole numbers. Their order is not checked.
    """
    with said_by(chunker, "chunker"):
        if inspect.isasyncgen(ends):
            raise ModelError(
                f"divide() of chunker {chunker} yields; return all positions at once, as a list; "
                f"{PAGE}"
            )
        if not inspect.isawaitable(ends):
            raise _not_awaitable_error("divide", f"the chunker {chunker}", ends)
        returned = await ends
        wrong = None
        if isinstance(returned, Iterable) and not isinstance(returned, str):
            listed = [*returned]
            others = [one for one in listed if not is_whole(one)]
            if not others and (listed or not length):
                return [int(one) for one in listed]
            wrong = f"a list with {_name_kind(others[0])}" if others else "an empty list"
        raise ModelError(
            f"divide() of chunker {chunker} returned {wrong or _name_kind(returned)}; return the "
            "positions in the text where chunks end, as increasing numbers of characters, the last "
            f"one {length:,}; {PAGE}"
        )


async def await_extractions(extractor: str, said: object, chunks: int) -> list[Extraction]:
    """Await the extractions of an extractor's ``extract``, and check them.

    Raises ModelError unless there is one valid Extraction for each chunk.
    """
    with said_by(extractor, "extractor"):
        if not inspect.isawaitable(said):
            raise _not_awaitable_error("extract", f"the extractor {extractor}", said)
        returned = await said
        listed = [*returned] if isinstance(returned, Iterable) else []
        others = [one for one in listed if not isinstance(one, Extraction)]
        if len(listed) == chunks and not others:
            for one in listed:
                _check_extraction(extractor, one)
            return listed
        wrong = f"a list with {_name_kind(others[0])}" if others else None
        wrong = wrong or (f"{len(listed):,} of them" if listed else _name_kind(returned))
        raise ModelError(
            f"extract() of extractor {extractor} returned {wrong}; return a list with an "
            f"Extraction for each chunk, here {chunks:,}; {PAGE}"
        )


def _check_extraction(extractor: str, said: Extraction) -> None:
    """Raise ModelError if a value in an extraction is not of its type."""
    for entity in _check_records(extractor, "entities", said.entities, ExtractedEntity):
        values: dict[str, object] = {"name": entity.name, "type": entity.type}
        _check_texts(extractor, entity, values | {"description": entity.description})
        _check_sentences(extractor, entity)
    for relation in _check_records(extractor, "relations", said.relations, ExtractedRelation):
        values = {"source": relation.source, "target": relation.target}
        _check_texts(extractor, relation, values | {"description": relation.description})
        _check_sentences(extractor, relation)
        keywords: object = relation.keywords
        if isinstance(keywords, str) or not _are_all(str, keywords):
            raise _wrong_value_error(extractor, relation, "keywords", keywords, "a tuple of texts")
        weight: object = relation.weight
        if not isinstance(weight, Real) or isinstance(weight, bool) or not isfinite(weight):
            raise _wrong_value_error(extractor, relation, "weight", weight, "a number")
    for name, value, kind in (
        ("proven", said.proven, bool),
        ("dropped", said.dropped, Mapping),
    ):
        if not isinstance(value, kind):
            words = "True or False" if kind is bool else "a dict of counts by reason"
            raise _wrong_value_error(extractor, said, name, value, words)


Record = TypeVar("Record", ExtractedEntity, ExtractedRelation)


def _check_records(
    extractor: str, name: str, records: object, kind: type[Record]
) -> Iterable[Record]:
    """Return the records of an extraction. Raises ModelError if one is not of type ``kind``."""
    if not isinstance(records, tuple | list):
        raise _wrong_value_error(
            extractor, Extraction(), name, records, f"a tuple of {kind.__name__}"
        )
    for one in records:
        if not isinstance(one, kind):
            raise ModelError(
                f"extract() of extractor {extractor} returned an Extraction whose {name} contain "
                f"{_name_kind(one)}; make each an {kind.__name__}; {PAGE}"
            )
    return records


def _check_texts(extractor: str, record: object, values: Mapping[str, object]) -> None:
    """Raise ModelError if a value is not a text, or a name is blank."""
    for name, value in values.items():
        if not isinstance(value, str):
            raise _wrong_value_error(extractor, record, name, value, "a text")
        if not value.strip() and name in ("name", "source", "target"):
            raise _wrong_value_error(extractor, record, name, value, "a text that is not empty")


def _check_sentences(extractor: str, record: ExtractedEntity | ExtractedRelation) -> None:
    sentences: object = record.sentences
    if not isinstance(sentences, tuple | list) or not all(map(is_whole, sentences)):
        words = "a tuple of whole numbers, from 1"
        raise _wrong_value_error(extractor, record, "sentences", sentences, words)


def _are_all(kind: type, values: object) -> bool:
    return isinstance(values, tuple | list) and all(isinstance(one, kind) for one in values)


def _wrong_value_error(
    extractor: str, record: object, name: str, value: object, wanted: str
) -> ModelError:
    return ModelError(
        f"extract() of extractor {extractor} returned an {type(record).__name__} whose {name} is "
        f"{one_line(repr(value), 60)}; make it {wanted}; {PAGE}"
    )


async def await_forecast(extractor: str, said: object) -> ExtractionForecast:
    """Await the result of an extractor's ``forecast``. Raises ModelError for any other type."""
    with said_by(extractor, "extractor"):
        returned: object = await said if inspect.isawaitable(said) else said
    if not isinstance(returned, ExtractionForecast):
        raise ModelError(
            f"forecast() of extractor {extractor} returned {_name_kind(returned)}; return an "
            f"ExtractionForecast (empty if extraction is free); {PAGE}"
        )
    return returned


async def checked_documents(
    loader: str, source: str, loading: object
) -> AsyncGenerator[LoadedDocument | RefusedDocument]:
    """Yield the documents of a loader's ``load`` for a source. ``source`` is the source's id.

    Raises ModelError for anything but documents of this source.
    """
    if not isinstance(loading, AsyncIterator):
        if inspect.iscoroutine(loading):
            loading.close()
        raise ModelError(
            f"load() of loader {loader} returned {_name_kind(loading)}; write it as 'async def "
            "load' "
            f"that yields documents; {PAGE}"
        )
    try:
        while True:
            with said_by(loader, "loader"):
                try:
                    loaded: object = await anext(loading)
                except StopAsyncIteration:
                    return
            yield checked_document(loader, source, loaded)
    finally:
        if isinstance(loading, AsyncGenerator):
            await loading.aclose()


def checked_document(loader: str, source: str, loaded: object) -> LoadedDocument | RefusedDocument:
    """Return a document of a source unchanged. Raises ModelError for anything else.

    Its id must be the id of the source, or begin with the source's id and a ``#``. Otherwise, a
    later run could not find out whether the document still exists.
    """
    if isinstance(loaded, RefusedDocument):
        values: dict[str, object] = {"id": loaded.id, "reason": loaded.reason}
    elif isinstance(loaded, LoadedDocument):
        values = {name: getattr(loaded, name) for name in ("id", "name", "note", "media_type")}
        text: object = loaded.text
        if not isinstance(text, DocumentText):
            raise _wrong_document_error(
                loader, source, "text", _name_kind(text), "DocumentText(text=…)"
            )
        values["text"] = text.text
        size: object = loaded.size
        if not is_whole(size) or loaded.size < 0:
            number = one_line(repr(size), 40)
            raise _wrong_document_error(loader, source, "size", number, "the number of bytes")
    else:
        raise ModelError(
            f"load() of loader {loader} yielded {_name_kind(loaded)} for {source}; yield a "
            f"LoadedDocument, or a RefusedDocument with the reason; {PAGE}"
        )
    for name, value in values.items():
        if not isinstance(value, str):
            raise _wrong_document_error(loader, source, name, _name_kind(value), "a text")
    if isinstance(loaded, LoadedDocument):
        if loaded.id != source and not loaded.id.startswith(f"{source}#"):
            wanted = f"{source!r}, or begin it with '{source}#' if the source has several documents"
            raise _wrong_document_error(loader, source, "id", one_line(repr(loaded.id), 80), wanted)
        _check_places(loader, source, loaded.text)
    return loaded


def _check_places(loader: str, source: str, text: DocumentText) -> None:
    """Raise ModelError unless all places that come with a text lie within the text."""
    length = len(text.text)
    titles = [one.start for one in text.outline]
    given = [place for one in text.given for place in (one.start, one.end)]
    for name, places in (("page_starts", text.page_starts), ("outline", titles), ("given", given)):
        ascend = name == "given" or [*places] == sorted(places)
        if not ascend or not all(is_whole(one) and 0 <= one <= length for one in places):
            what = f"a text whose {name} are not positions in the text"
            wanted = f"a text whose positions ascend, as whole numbers from 0 to {length:,}"
            raise _wrong_document_error(loader, source, "text", what, wanted)


def _wrong_document_error(
    loader: str, source: str, name: str, value: str, wanted: str
) -> ModelError:
    return ModelError(
        f"load() of loader {loader} yielded a document of {source} whose {name} is {value}; make "
        f"it {wanted}; {PAGE}"
    )


def checked_description(describer: str, said: object, entity: str) -> str:
    """Return the description of an entity from a describer's ``describe``.

    Raises ModelError if it is not a text. Raises ModelOutputError if it is empty, because the
    describer may still describe other entities.
    """
    if not isinstance(said, str):
        raise ModelError(
            f"describe() of describer {describer} returned {_name_kind(said)}; return a text; "
            f"{PAGE}"
        )
    if not said.strip():
        raise ModelOutputError(
            f"describe() of describer {describer} returned an empty text; return a description of "
            f"{entity}; {PAGE}"
        )
    return said


def is_whole(value: object) -> bool:
    """Return whether a value is a whole number, of Python or of numpy."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def advise_other(model: object, setting: str, own: str) -> str:
    """Return the advice for a model that fails its task.

    It is ``setting`` for a model that the settings name, and ``own`` for a user's own object.
    """
    configured = type(model).__module__.startswith("pgs_neo4j.llm.")
    return setting if configured else f"{own}, {PAGE}"


def _not_awaitable_error(method: str, owner: str, returned: object) -> ModelError:
    return ModelError(
        f"{method} of {owner} is not a coroutine but returned {_name_kind(returned)}; write it as "
        f"'async def {method}', {PAGE}"
    )


def _wrong_reply_error(name: str, reply: object) -> ModelError:
    return ModelError(
        f"the model {name} returned {_name_kind(reply)} instead of a Completion with text and "
        "usage; "
        f"{PAGE}"
    )


def _name_kind(value: object) -> str:
    return "None" if value is None else f"a value of the type {type(value).__name__}"
