"""Makes foreign text safe to show, formats figures, and sorts names by their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgs_neo4j.text.invisible import INVISIBLE, is_plainly_visible

if TYPE_CHECKING:
    from pgs_neo4j.model import Usage

# A terminal that shows a file obeys escape sequences, so a file must not contain any from a node.
# An unfinished sequence is not matched, so that it removes nothing after it.
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_BREAK = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_DIGITS = re.compile(r"([0-9]{1,30})")
_HASH = re.compile(r"(?<=#)[0-9a-f]{16}\Z")
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")


def plain(text: str) -> str:
    """Return the text without invisible characters except tab.

    Every line break becomes ``\\n``.
    """
    if is_plainly_visible(text):
        return text
    return INVISIBLE.sub("", _BREAK.sub("\n", _SEQUENCE.sub("", text)))


def one_line(text: str, limit: int | None = None) -> str:
    """Return the text on one safe line of at most ``limit`` characters."""
    line = " ".join(plain(text).split())
    return line if limit is None or len(line) <= limit else f"{line[: max(limit - 1, 0)]}…"


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun: ``1 node``, ``1,200 nodes``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def partition_names(partition_ids: Sequence[int], limit: int | None = None) -> str:
    """Return the names of partitions as a list in words, at most ``limit`` of them.

    Examples: ``P1``, ``P1 and P2``, ``P1, P2, and P3``, ``P1, P2, and 3 more``.
    """
    names = [f"P{number}" for number in partition_ids]
    if limit is not None and len(names) > limit:
        names = [*names[:limit], f"{len(names) - limit:,} more"]
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"


def tokens(read: int, written: int, *, estimated: bool) -> str:
    """Return token counts: ``about 24,000 tokens in, 4,000 out``."""
    return f"{'about ' if estimated else ''}{read:,} tokens in, {written:,} out"


def used_tokens(usage: Usage) -> str:
    """Return the tokens of calls in words, with the share of a provider's prompt cache.

    Example: ``24,000 tokens in (9,000 from the provider's cache, 2,000 written to it), 4,000 out``
    """
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    where = "it" if read else "the provider's cache"
    parts = [f"{read:,} from the provider's cache"] if read else []
    parts += [f"{written:,} written to {where}"] if written else []
    cache = f" ({', '.join(parts)})" if parts else ""
    about = "about " if usage.estimated else ""
    return f"{about}{usage.input_tokens:,} tokens in{cache}, {usage.output_tokens:,} out"


def percent(share: float) -> str:
    """Return a share from 0 to 1 in whole percent; only exactly 0 and 1 give 0 % and 100 %."""
    if 0 < share < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.99 < share < 1 else f"{share * 100:.0f} %"


def seconds(value: float) -> str:
    """Return a duration, such as ``0.8 s``, ``45 s``, or ``3 min 05 s``."""
    if value < 10:
        return f"{value:.1f} s"
    whole = round(value)
    return f"{whole} s" if whole < 120 else f"{whole // 60} min {whole % 60:02d} s"


def duration(value: float) -> str:
    """Return a duration that may be long.

    Examples: ``45 s``, ``3 min 05 s``, ``27 h 46 min``, ``12 days``, ``31 years``.
    """
    if value < 7_200:
        return seconds(value)
    if value < 172_800:
        return f"{value // 3600:.0f} h {value % 3600 // 60:02.0f} min"
    if value < 63_072_000:
        return f"{value // 86_400:.0f} days"
    return f"{value // 31_536_000:,.0f} years" if value < 1e12 else "forever"


def money(value: float) -> str:
    """Return a cost without its unit, such as ``12.30`` or ``0.0042``.

    Costs below 1 have up to four decimals.
    """
    return f"{value:,.2f}" if value >= 1 else f"{value:.4f}".rstrip("0").rstrip(".")


def texts_note(nodes: int, texts: int) -> str:
    """Return a note to add to a number of nodes that were read: ``, 12 of them with text``.

    It is empty if all nodes have text.
    """
    if texts >= nodes:
        return ""
    return f", {texts:,} of them with text" if texts else ", none of them with text"


def unproven_prompts(count: int) -> str:
    """Return a note that ``count`` prompts may not have been read in full, with advice.

    It is empty for 0.
    """
    if not count:
        return ""
    return (
        f"nothing proves that the model was given all of {counted(count, 'prompt')}; use an "
        "endpoint that reports its usage, and write the model's context into pgs.toml"
    )


def unproven_chunks(count: int) -> str:
    """Return a note that ``count`` chunks may not have been read in full; empty for 0."""
    chunks = counted(count, "chunk")
    return f"{chunks} shown to the model, unproven" if count else ""


def unproven_note(nodes: int) -> str:
    """Return a note about nodes shown without proof, to add to a number of nodes; empty for 0."""
    return f", {nodes:,} shown, unproven" if nodes else ""


def natural_key(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """Return a sort key for names that puts their numbers in order of value.

    ``line 1,015`` has one number. Names that differ only in zeros before a number are ordered as
    text, so that a set of names is always listed in the same order.
    """
    pieces = _DIGITS.split(_THOUSANDS.sub("", name))
    key = tuple(
        (0, int(piece), "") if place % 2 else (1, 0, piece)
        for place, piece in enumerate(pieces)
        if piece
    )
    return key, name


def document_key(id_: str, title: str) -> tuple[tuple[tuple[tuple[int, int, str], ...], str], str]:
    """Return a sort key for documents by id, with numbers in order of value.

    A record without a key has the hash of its text in its id. The digits of a hash mean nothing, so
    the record is sorted by its title within its file.
    """
    return natural_key(_HASH.sub(lambda _: title, id_)), id_
