"""A message shows the same text at once and while it arrives, and no mark of others."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.export import Document
from pgs_neo4j.model import Citation, Synthesis
from pgs_neo4j.web.chat.endpoints import REVISED_NOTE, UNREAD_TEXTS_NOTE, MessageStream, to_message
from tests.fakes.records import answered
from tests.thorough import tries
from tests.unit.text.test_headings import FAKES, ranks

TEXT = """## Thesis
Owls hunt by ear [P1:n1], and mice hide [P1:n1, P2:n2].

## Connections
- **Sound** leads
  - to owls
- `quiet` wings

| a | b |
|---|---|
| 1 | 2 |

1. first
2. second

```
code
```
The end."""


def document(text: str = TEXT, **more: Any) -> Document:
    citations = (
        Citation(alias="n1", partition=1, title="Owls", element_id="4:a:1", rank=0),
        Citation(alias="n2", partition=2, title="Mice", element_id="4:a:2", rank=1),
    )
    synthesis = Synthesis(text=text, citations=citations)
    answer = answered(graph="birds", run="r9", cost=None, synthesis=synthesis, **more)
    return Document(answer=answer, asked_at="2026-01-01")


def streamed(pieces: list[str], end: Document) -> list[str]:
    stream = MessageStream()
    return [*map(stream.add, pieces), stream.end(end)]


@pytest.mark.parametrize("fake", FAKES)
def test_no_heading_of_a_model_stands_above_the_sources(fake: str) -> None:
    for text in (to_message(document(fake)), "".join(streamed([*fake], document(fake)))):
        assert ranks(text).count(2) == 1
        assert ranks(text)[-1] == 2
        assert 1 not in ranks(text)


def test_a_message_names_the_nodes_that_it_cites() -> None:
    text = to_message(document())
    assert text.startswith("### Thesis\n\nOwls hunt by ear [P1:n1], and mice hide [P1:n1, P2:n2].")
    assert "\n\n## Sources\n\n- P1:n1  Owls\n- P2:n2  Mice\n\n" in text
    assert text.endswith("Run r9.")
    assert to_message(document("")).startswith("There is no synthesis.")
    assert "a limit was reached" in to_message(document(stopped="a limit was reached"))


@settings(max_examples=tries(20, 100))
@given(st.lists(st.integers(1, len(TEXT)), max_size=30))
def test_the_same_message_arrives_whatever_the_pieces(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(TEXT)]
    pieces = [TEXT[a:b] for a, b in pairwise(places)]
    assert "".join(streamed(pieces, document())) == to_message(document())


LINES = st.sampled_from(
    ["# a", "b", "- c", "  - d", "1. e", "| f | g |", "|---|---|", "```", "", "> h", "    i",
     "===", "---", "![x](http://evil/)", "[P1:n1]: http://evil", "<img src=x>", "**j", "[x] k"]
)  # fmt: skip


@settings(max_examples=tries(20, 100))
@given(st.lists(LINES, min_size=1, max_size=12))
def test_what_was_shown_is_never_taken_back_in_silence(lines: list[str]) -> None:
    end = document("\n".join(lines))
    whole = "".join(streamed([f"{line}\n" for line in lines], end))
    assert whole == to_message(end) or whole.endswith(f"{REVISED_NOTE}\n\n{to_message(end)}")


def test_a_line_waits_and_a_text_that_became_another_follows_as_a_whole() -> None:
    assert [MessageStream().add(text) for text in ("Owls", "Owls\nhunt", "- one")] == [""] * 3
    shown = streamed(["One.\n\nTwo.\n\nThree.\n"], document("Four."))
    assert shown[0].startswith("One.\n\n")
    assert REVISED_NOTE in shown[1]
    assert shown[1].endswith(to_message(document("Four.")))


def test_a_model_can_show_no_picture_and_no_link() -> None:
    hostile = "![x](http://evil/?q=1)\n\n<img src=http://evil/>\n\n[P1:n1]: http://evil/"
    for text in (to_message(document(hostile)), "".join(streamed([hostile], document(hostile)))):
        assert "](" not in text
        assert "<" not in text
        assert "]: " not in text


def test_a_message_says_that_what_came_beside_the_question_was_not_read() -> None:
    assert UNREAD_TEXTS_NOTE not in to_message(document())
    whole = to_message(document(), has_other_texts=True)
    assert whole.endswith(UNREAD_TEXTS_NOTE)
    stream = MessageStream(has_other_texts=True)
    assert "".join([stream.add(TEXT), stream.end(document())]) == whole
