"""Replies made in this process: pieces that join to the text, and an estimated usage."""

import pytest

from pgs_neo4j.llm.local_reply import DELTA_CHARACTERS, local_completion, split_reply
from pgs_neo4j.model import Prompt
from pgs_neo4j.text.tokens import estimate


@pytest.mark.parametrize("text", ["", "short", "word " * 50, "a\n\nb\n" * 30, "x" * 500, " \n "])
def test_pieces_join_to_the_text_and_end_after_white_space(text: str) -> None:
    pieces = split_reply(text)
    assert "".join(pieces) == text
    assert all(len(piece) > DELTA_CHARACTERS for piece in pieces[:-1])
    assert all(piece[-1].isspace() for piece in pieces[:-1])


def test_the_usage_of_a_local_completion_is_estimated() -> None:
    prompt = Prompt(task="sweep", system="system", user="user text", question="q")
    completion = local_completion(prompt, "the reply", "reader")
    assert (completion.text, completion.model) == ("the reply", "reader")
    assert completion.usage.estimated
    assert completion.usage.calls == 1
    assert completion.usage.input_tokens == estimate("system") + estimate("user text")
    assert completion.usage.output_tokens == estimate("the reply")
