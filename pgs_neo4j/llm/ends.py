"""Why a model stopped writing, in the words of all vendors.

Only a reply that its model ended is whole. What was cut at the token limit may be asked for with
more room. Anything else (a gateway's error, an abort, a word nobody knows) is broken, whatever text
came with it.
"""

from __future__ import annotations

from typing import Literal

End = Literal["whole", "cut", "refused", "broken"]

WHOLE = frozenset(
    ("stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete", "completed", "end")
)
CUT = frozenset(
    (
        *("length", "max_tokens", "model_length", "max_output_tokens", "max_length"),
        "model_context_window_exceeded",
    )
)
REFUSED = frozenset(
    (
        *("content_filter", "content_filtered", "refusal", "safety", "recitation", "blocklist"),
        *("prohibited_content", "spii", "guardrail_intervened", "sensitive"),
    )
)


def classify_end(reason: str | None, *, delivered: bool) -> End:
    """Return the kind of an end; ``delivered``: the transport says that all of it arrived.

    Some servers give no reason at all. Their reply is whole once all of it is there: a closed JSON
    object, or a stream with its ``[DONE]``.
    """
    if reason is None or not reason.strip():
        return "whole" if delivered else "broken"
    word = reason.strip().lower()
    if word in WHOLE:
        return "whole"
    if word in CUT:
        return "cut"
    return "refused" if word in REFUSED else "broken"
