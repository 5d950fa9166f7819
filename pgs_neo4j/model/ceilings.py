"""Upper limits on waits, sizes, and numbers from outside, each with its reason.

A value above a limit raises a typed error with one sentence. Everything read before stays recorded.
"""

from __future__ import annotations

KB = 1_000
MB = 1_000_000

# Waits. A quota per minute is full again after a minute, and a crowded endpoint recovers within a
# few. Longer waits mean a daily quota or a wrong clock, which people want to know about.
LONGEST_WAIT_S = 300.0
# Longer waits are reported; shorter waits pass unnoticed between two lines of progress.
QUIET_WAIT_S = 10.0
# A search has its results before the reranker orders them, so it does not wait long for the order.
RERANK_S = 10.0

# Replies. A token has about 4 bytes of text and rarely more than 8, and `max_tokens` limits the
# tokens. FRAME_BYTES is for the rest of a reply.
TOKEN_BYTES = 8
FRAME_BYTES = 64 * KB
# JSON may write one byte of text as six, and an endpoint may repeat the model's reasoning.
ESCAPED = 4
# Each event of a stream repeats a frame of a few hundred bytes around one token.
EVENT_BYTES = 1_000
# Of an error, pgs reads only one code and one sentence.
ERROR_BYTES = 64 * KB
# The largest public list of models has about 1 MB.
MODEL_LIST_BYTES = 8 * MB
# A vector has at most some 4,000 numbers, of up to 16 bytes each as text.
VECTOR_BYTES = 64 * KB
VECTORS_BYTES = 64 * MB
# A reranker returns a place and a score for each text, and it may repeat the text.
RESULT_BYTES = 1 * KB
# A reply that breaks the contract is requested this many times in total: a model that was wrong
# three times will be wrong again.
MALFORMED_TRIES = 3
# A report at the default room has at most a few hundred bullets. Each becomes a node.
BULLETS_PER_SECTION = 500
# The database and its driver take integers of 64 bits.
INT64 = 2**63 - 1
# No call has this many tokens, and the sum of a million calls of this size still fits into 64 bits.
CALL_TOKENS = 10**12
# Byte-pair tokens have 3 to 5 bytes, and tokens of blanks up to 16. An endpoint that reports fewer
# than one token for every 20 bytes has not really counted.
BYTES_PER_TOKEN = 20

# Maximum of any float setting: seconds, megabytes, prices. It still fits into 64 bits as
# milliseconds or bytes.
FRACTION = 10**12

# Files. A file is read as a stream, and only its graph stays in memory.
FILE_BYTES = 1 << 30
# One object of a file, such as a node with an embedding and a long text: it is parsed in memory.
ITEM_BYTES = 16 * MB
# Lists and objects within one such object. Each takes at least 60 bytes of memory, and no real node
# has even a hundred.
ITEM_PARTS = 200_000
# Ignored keys that are counted by name. Real files have only a few.
IGNORED_KEYS = 1_000
# Compression makes text about 10 times smaller, repetitive graphs perhaps 50 times, and zeros 1,000
# times.
PACKED_RATIO = 200
# Files below this size are safe at any ratio.
PACKED_FREE_BYTES = 16 * MB


def check_number(value: object) -> object:
    """Return the value of a setting unchanged.

    Raises ValueError for a number that is too large for timers or for the database.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    most = FRACTION if isinstance(value, float) else INT64
    if not -most <= value <= most:
        raise ValueError(f"a number must be at most {most:,}")
    return value


def text_bytes(room: int) -> int:
    """Return the size limit of the text in a reply of ``room`` tokens, in bytes."""
    return TOKEN_BYTES * room + FRAME_BYTES


def reply_bytes(room: int) -> int:
    """Return the size limit of a complete reply of ``room`` tokens, in decompressed bytes."""
    return ESCAPED * text_bytes(room)


def stream_bytes(room: int) -> int:
    """Return the size limit of a streamed reply of ``room`` tokens, in decompressed bytes."""
    return EVENT_BYTES * room + ESCAPED * FRAME_BYTES


def vectors_bytes(texts: int) -> int:
    """Return the size limit of a reply with a vector per text, in decompressed bytes."""
    return min(VECTOR_BYTES * texts, VECTORS_BYTES) + FRAME_BYTES


def ranking_bytes(texts: int, size: int) -> int:
    """Return the size limit of a ranking of ``size`` bytes of text, in decompressed bytes."""
    return RESULT_BYTES * texts + ESCAPED * size + FRAME_BYTES


def longest_wait_s(timeout_s: float) -> float:
    """Return the longest wait that an endpoint may request of a call with this deadline."""
    return min(LONGEST_WAIT_S, timeout_s)
