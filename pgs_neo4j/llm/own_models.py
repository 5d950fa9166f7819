"""What models, embedders, and parts that people have written return, checked, and their faults.

Whatever they do becomes a typed error that names the object and what to write instead.
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
        raise _no_coroutine("complete", f"the model {name}", reply)
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
        raise _no_coroutine("embed", name, vectors)
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
            raise _no_coroutine("divide", f"the chunker {chunker}", ends)
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
            raise _no_coroutine("extract", f"the extractor {extractor}", said)
        returned = await said
        listed = [*returned] if isinstance(returned, Iterable) else []
        others = [one for one in listed if not isinstance(one, Extraction)]
        if len(listed) == chunks and not others:
            for one in listed:
                _check_extraction(extractor, one)
            return listed
        wrong = f"a list with {_kind(others[0])}" if others else None
        wrong = wrong or (f"{len(listed):,} of them" if listed else _kind(returned))
        raise ModelError(
            f"extract of the extractor {extractor} returned {wrong}; return a list with an "
            f"Extraction for each chunk, here {chunks:,}, {PAGE}"
        )


def _check_extraction(extractor: str, said: Extraction) -> None:
    """Raise ModelError if a value in an extraction is not of its type."""
    for entity in _each(extractor, "entities", said.entities, ExtractedEntity):
        values: dict[str, object] = {"name": entity.name, "type": entity.type}
        _check_texts(extractor, entity, values | {"description": entity.description})
        _check_sentences(extractor, entity)
    for relation in _each(extractor, "relations", said.relations, ExtractedRelation):
        values = {"source": relation.source, "target": relation.target}
        _check_texts(extractor, relation, values | {"description": relation.description})
        _check_sentences(extractor, relation)
        keywords: object = relation.keywords
        if isinstance(keywords, str) or not _are(str, keywords):
            raise _wrong_value(extractor, relation, "keywords", keywords, "a tuple of texts")
        weight: object = relation.weight
        if not isinstance(weight, Real) or isinstance(weight, bool) or not isfinite(weight):
            raise _wrong_value(extractor, relation, "weight", weight, "a number")
    for name, value, kind in (
        ("proven", said.proven, bool),
        ("dropped", said.dropped, Mapping),
    ):
        if not isinstance(value, kind):
            words = "True or False" if kind is bool else "a dict of counts by reason"
            raise _wrong_value(extractor, said, name, value, words)


Record = TypeVar("Record", ExtractedEntity, ExtractedRelation)


def _each(extractor: str, name: str, records: object, kind: type[Record]) -> Iterable[Record]:
    """Return the records of an extraction. Raises ModelError if they are none of a kind."""
    if not isinstance(records, tuple | list):
        raise _wrong_value(extractor, Extraction(), name, records, f"a tuple of {kind.__name__}")
    for one in records:
        if not isinstance(one, kind):
            raise ModelError(
                f"extract of the extractor {extractor} returned an Extraction whose {name} have "
                f"{_kind(one)}; let each be an {kind.__name__}, {PAGE}"
            )
    return records


def _check_texts(extractor: str, record: object, values: Mapping[str, object]) -> None:
    """Raise ModelError if a value is no text, or a name is blank."""
    for name, value in values.items():
        if not isinstance(value, str):
            raise _wrong_value(extractor, record, name, value, "a text")
        if not value.strip() and name in ("name", "source", "target"):
            raise _wrong_value(extractor, record, name, value, "a text that is not empty")


def _check_sentences(extractor: str, record: ExtractedEntity | ExtractedRelation) -> None:
    sentences: object = record.sentences
    if not isinstance(sentences, tuple | list) or not all(map(is_whole, sentences)):
        words = "a tuple of whole numbers, from 1"
        raise _wrong_value(extractor, record, "sentences", sentences, words)


def _are(kind: type, values: object) -> bool:
    return isinstance(values, tuple | list) and all(isinstance(one, kind) for one in values)


def _wrong_value(
    extractor: str, record: object, name: str, value: object, wanted: str
) -> ModelError:
    return ModelError(
        f"extract of the extractor {extractor} returned an {type(record).__name__} whose {name} is "
        f"{one_line(repr(value), 60)}; let it be {wanted}, {PAGE}"
    )


async def await_forecast(extractor: str, said: object) -> ExtractionForecast:
    """Return what ``forecast`` of an extractor returns. Raises ModelError for anything else."""
    with said_by(extractor, "extractor"):
        returned: object = await said if inspect.isawaitable(said) else said
    if not isinstance(returned, ExtractionForecast):
        raise ModelError(
            f"forecast of the extractor {extractor} returned {_kind(returned)}; return an "
            f"ExtractionForecast, an empty one if nothing has to be paid, {PAGE}"
        )
    return returned


async def checked_documents(
    loader: str, source: str, loading: object
) -> AsyncGenerator[LoadedDocument | RefusedDocument]:
    """Yield what ``load`` of a loader yields for the source with an id.

    Raises ModelError for anything but documents of this source.
    """
    if not isinstance(loading, AsyncIterator):
        if inspect.iscoroutine(loading):
            loading.close()
        raise ModelError(
            f"load of the loader {loader} returned {_kind(loading)}; write it as 'async def load' "
            f"that yields documents, {PAGE}"
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
    """Return a document of a source. Raises ModelError for anything else.

    Whether a document is still there is only known of those whose id is that of their source, or
    begins with it and a ``#``.
    """
    if isinstance(loaded, RefusedDocument):
        values: dict[str, object] = {"id": loaded.id, "reason": loaded.reason}
    elif isinstance(loaded, LoadedDocument):
        values = {name: getattr(loaded, name) for name in ("id", "name", "note", "media_type")}
        text: object = loaded.text
        if not isinstance(text, DocumentText):
            raise _wrong_document(loader, source, "text", _kind(text), "DocumentText(text=…)")
        values["text"] = text.text
        size: object = loaded.size
        if not is_whole(size) or loaded.size < 0:
            number = one_line(repr(size), 40)
            raise _wrong_document(loader, source, "size", number, "the number of bytes")
    else:
        raise ModelError(
            f"load of the loader {loader} yielded {_kind(loaded)} for {source}; yield a "
            f"LoadedDocument, or a RefusedDocument with the reason, {PAGE}"
        )
    for name, value in values.items():
        if not isinstance(value, str):
            raise _wrong_document(loader, source, name, _kind(value), "a text")
    if isinstance(loaded, LoadedDocument):
        if loaded.id != source and not loaded.id.startswith(f"{source}#"):
            wanted = f"{source!r}, or begin with '{source}#' if it has several"
            raise _wrong_document(loader, source, "id", one_line(repr(loaded.id), 80), wanted)
        _check_places(loader, source, loaded.text)
    return loaded


def _check_places(loader: str, source: str, text: DocumentText) -> None:
    """Raise ModelError unless all places that come with a text lie in it."""
    length = len(text.text)
    titles = [one.start for one in text.outline]
    given = [place for one in text.given for place in (one.start, one.end)]
    for name, places in (("page_starts", text.page_starts), ("outline", titles), ("given", given)):
        ascend = name == "given" or [*places] == sorted(places)
        if not ascend or not all(is_whole(one) and 0 <= one <= length for one in places):
            what = f"a text whose {name} are not places in it"
            wanted = f"positions that ascend, whole numbers of characters to {length:,}"
            raise _wrong_document(loader, source, "text", what, wanted)


def _wrong_document(loader: str, source: str, name: str, value: str, wanted: str) -> ModelError:
    return ModelError(
        f"load of the loader {loader} yielded a document of {source} whose {name} is {value}; let "
        f"it be {wanted}, {PAGE}"
    )


def checked_description(describer: str, said: object, entity: str) -> str:
    """Return what ``describe`` of a describer returned for an entity.

    Raises ModelError for what is no text, and ModelOutputError for an empty one: others may have
    one.
    """
    if not isinstance(said, str):
        raise ModelError(
            f"describe of the describer {describer} returned {_kind(said)}; return a text, {PAGE}"
        )
    if not said.strip():
        raise ModelOutputError(
            f"describe of the describer {describer} returned an empty text; return one description "
            f"of {entity}, {PAGE}"
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


def _no_coroutine(method: str, owner: str, returned: object) -> ModelError:
    return ModelError(
        f"{method} of {owner} is no coroutine, it returned {_kind(returned)}; write it as "
        f"'async def {method}', {PAGE}"
    )


def _no_reply(name: str, reply: object) -> ModelError:
    return ModelError(
        f"the model {name} returned {_kind(reply)} instead of a Completion with text and usage; "
        f"{PAGE}"
    )


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of the type {type(value).__name__}"
