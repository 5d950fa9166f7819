"""Places receipts in a prompt: short codes that its reader repeats.

Only a reader that was given a code can repeat it, because the code is a hash of the whole prompt
and occurs nowhere else. One code is before the first text, one is after the last text, and the
others are at most 2,000 tokens apart, also inside long texts. So any part that a server cuts off
contains a code. Receipts are used if nothing else can show that a server cut a prompt.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Completion, Effort, Prompt
from pgs_neo4j.text.prompt_text import chunks
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN, estimate

if TYPE_CHECKING:
    from pgs_neo4j.llm.calls.calls import Calls

APART_TOKENS = 2000
LEAST_APART_TOKENS = 250
FEWEST = 4  # codes in a short prompt, so that a cut in its middle removes one
LENGTH = 5  # characters of a code; a guess is right once in 33 million
MARGIN = "| "  # before each line of a node
REQUEST = (
    "Codes such as ~{example}~ stand among the {among}. Before anything else, write one line that "
    "repeats all of them in their order: Codes: ..."
)
OPENING = "codes"
FRAME_CHARACTERS = len(REQUEST) + 40  # characters of the request, the first code, and the last code
CODE_CHARACTERS = LENGTH + 3


async def complete_coded(
    calls: Calls,
    llm: LLM,
    prompt: Prompt,
    among: str,
    *,
    room: int,
    effort: Effort | None,
    priority: float | None = None,
    last: bool = False,
    repeat_malformed: bool = True,
    then: Callable[[Completion], Awaitable[None]] | None = None,
) -> Completion:
    """Complete a prompt like ``Calls.complete``, with receipts if its server needs them.

    The returned reply contains no codes. ``among`` names the lines of the prompt, such as
    sentences. Raises the errors of ``Calls.complete``, among them PromptCutError.
    """
    asked = prompt
    if await calls.lacks_counts(llm, prompt):
        asked = with_receipts(prompt, among)

    def bare(reply: Completion) -> Completion:
        return replace(reply, text=without_receipts(reply.text, asked.receipts))

    async def take(reply: Completion) -> None:
        if then is not None:
            await then(bare(reply))

    reply = await calls.complete(
        llm,
        asked,
        room=room,
        effort=effort,
        priority=priority,
        last=last,
        repeat_malformed=repeat_malformed,
        then=take,
    )
    return bare(reply)


def with_receipts(prompt: Prompt, among: str) -> Prompt:
    """Return a prompt with codes between its lines; its key in the reply cache stays the same."""
    lines = prompt.user.split("\n")
    text, codes = place_receipts(lines, [estimate(line) for line in lines])
    user = f"{text}\n\n{request_receipts(codes, among)}"
    return replace(prompt, user=user, content=prompt.content or prompt.user, receipts=codes)


def without_receipts(text: str, codes: Sequence[str]) -> str:
    """Return a reply without the lines that repeat codes."""
    receipts = ReceiptFilter(codes)
    return (receipts.pass_on(text) + receipts.end()).lstrip("\n") if codes else text


def place_receipts(texts: Sequence[str], tokens: Sequence[int]) -> tuple[str, tuple[str, ...]]:
    """Join the texts of nodes with codes between them; return the text and the codes in order.

    ``tokens`` are the tokens of each text. No two codes are more than ``APART_TOKENS`` apart: a
    longer text is divided at the end of a line, or between two words of a longer line.
    """
    apart = max(LEAST_APART_TOKENS, min(APART_TOKENS, sum(tokens) // FEWEST))
    joined = "\n".join(texts)
    seed = blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    said = joined.lower()
    codes = [_code(seed, 0, said)]
    lines = [f"~{codes[0]}~"]
    since = 0
    for text, count in zip(texts, tokens, strict=True):
        parts = [(text, count)] if count <= APART_TOKENS else _divide_text(text)
        for part, length in parts:
            if since and since + length > apart:
                codes.append(_code(seed, len(codes), said))
                lines.append(f"~{codes[-1]}~")
                since = 0
            lines.append(part)
            since += length
    codes.append(_code(seed, len(codes), said))
    lines.append(f"~{codes[-1]}~")
    return "\n".join(lines), tuple(codes)


def _divide_text(text: str) -> Iterator[tuple[str, int]]:
    """Yield the parts of a long text, each with its tokens.

    If a part begins within a line that has a margin, the part also gets the margin.
    """
    room = int((APART_TOKENS - 1) * BYTES_PER_TOKEN) - len(MARGIN)
    inside = behind_margin = False
    for part in chunks(text, (room, room)):
        shown = MARGIN + part if inside and behind_margin else part
        inside = not part.endswith("\n")
        behind_margin = shown.rsplit("\n", 1)[-1].startswith(MARGIN) if inside else False
        yield shown.removesuffix("\n"), estimate(shown)


def _code(seed: bytes, number: int, said: str) -> str:
    """Return a code in lower case that does not occur in the text ``said``."""
    while True:
        digest = blake2b(number.to_bytes(4), key=seed, digest_size=8).digest()
        code = b32encode(digest).decode()[:LENGTH].lower()
        if code not in said:
            return code
        seed = blake2b(seed, digest_size=16).digest()


def request_receipts(codes: Sequence[str], among: str = "nodes") -> str:
    """Return the sentence that asks the reader to repeat the codes; empty without codes."""
    return REQUEST.format(example="ab3de", among=among) if codes else ""


def receipt_characters(tokens: int) -> int:
    """Return the maximum characters that codes and their request add to a text of ``tokens``.

    Of two neighboring stretches between codes, one is longer than half of ``APART_TOKENS``.
    """
    stretches = 2 * max(FEWEST, tokens // APART_TOKENS + 1)
    return FRAME_CHARACTERS + (CODE_CHARACTERS + len(MARGIN)) * stretches


class ReceiptFilter:
    """Removes the lines that repeat the codes of a prompt from a streamed reply.

    Blank lines before the first text are also removed.
    """

    def __init__(self, codes: Sequence[str]) -> None:
        self._codes = codes
        self._line = ""  # the beginning of a line that may repeat codes
        self._begun = False

    def pass_on(self, piece: str) -> str:
        """Receive the next piece of the reply; return the text that may be shown now."""
        if not self._codes:
            return piece
        *lines, self._line = (self._line + piece).split("\n")
        shown = "".join(f"{line}\n" for line in lines if not self._repeats(line))
        if not _may_repeat(self._line):
            shown, self._line = shown + self._line, ""
        return self._without_blank(shown)

    def end(self) -> str:
        """Return the rest of the text at the end of the reply."""
        line, self._line = self._line, ""
        return self._without_blank("" if self._repeats(line) else line)

    def _without_blank(self, shown: str) -> str:
        if not self._begun:
            shown = shown.lstrip("\n")
            self._begun = bool(shown)
        return shown

    def _repeats(self, line: str) -> bool:
        said = line.lower()
        return _may_repeat(line) and any(code in said for code in self._codes)


def _may_repeat(line: str) -> bool:
    start = line.lstrip(" *_`>#-").lower()[: len(OPENING)]
    return OPENING.startswith(start) or start.startswith("~")
