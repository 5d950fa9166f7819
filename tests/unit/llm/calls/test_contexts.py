"""What is learned of a context, and what takes it back."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pgs_neo4j.llm.context import ASK_AGAIN_S, Contexts, ModelContext
from tests.timeless import Clock

CUT = ModelContext(3_000, "cut", prompt=2_000)
REFUSED = ModelContext(4_096, "refusal", refuses=True)
SAID = ModelContext(8_192, "server")


@dataclass
class Server:
    """A model whose server says what it takes; ``asked`` counts how often."""

    said: ModelContext | None
    name: str = "m"
    refuses_long_prompts: bool = False
    asked: int = 0

    async def read_context(self) -> ModelContext | None:
        self.asked += 1
        return self.said


@pytest.mark.parametrize(
    ("known", "counted", "risen"),
    [
        (CUT, 2_000, CUT),
        (CUT, 2_500, ModelContext(3_500, "cut", prompt=2_500)),
        (REFUSED, 4_000, REFUSED),
        (REFUSED, 6_000, ModelContext(6_000, "refusal", refuses=True)),
        (SAID, 9_000, SAID),
    ],
)
def test_a_longer_prompt_that_was_read_raises_what_was_learned(known, counted, risen):
    contexts = Contexts({}, {"m": known})
    contexts.learn_whole("m", counted)
    assert contexts.of("m") == risen


async def test_a_server_that_says_something_else_is_another_one(clock: Clock):
    contexts, server = Contexts({}), Server(SAID)
    assert await contexts.ask(server) == SAID
    contexts.learn_cut("m", 2_000, 500)
    server.said = ModelContext(32_768, "server")
    assert not await contexts.ask_again(server)
    assert server.asked == 1  # no more often than once a minute
    clock.forward(ASK_AGAIN_S)
    assert await contexts.ask_again(server)
    assert contexts.of("m") == server.said


@pytest.mark.parametrize("said", [SAID, None])
async def test_a_server_that_says_the_same_keeps_its_lessons(clock: Clock, said):
    contexts, server = Contexts({}), Server(SAID)
    await contexts.ask(server)
    contexts.learn_cut("m", 2_000, 500)
    learned = contexts.of("m")
    server.said = said
    clock.forward(ASK_AGAIN_S)
    assert not await contexts.ask_again(server)
    assert (server.asked, contexts.of("m")) == (2, learned)


async def test_a_server_that_said_nothing_is_asked_again(clock: Clock):
    contexts, server = Contexts({}), Server(None)
    assert await contexts.ask(server) is None
    server.said = SAID
    clock.forward(ASK_AGAIN_S)
    assert await contexts.ask(server) == SAID


def test_a_name_in_replies_is_new_once():
    contexts = Contexts({})
    reported = ["m", "m-1", "m-1", "m", "m-2", "m-1", "m-2"]
    assert [contexts.is_new_model("m", one) for one in reported] == [
        *(False, False, False, False),
        *(True, False, False),
    ]
