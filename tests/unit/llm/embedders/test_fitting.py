"""Calls are as large as an endpoint takes them, and texts are read as a whole or in pieces."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from pgs_neo4j.errors import (
    EmbeddingError,
    ModelAuthError,
    ModelError,
    PromptCutError,
    PromptTooLongError,
)
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.llm.embedders.fitting import FittedEmbedding, TextFit, TextVector
from pgs_neo4j.llm.embedders.pieces import divide_text, join_pieces, weigh
from pgs_neo4j.llm.embedders.reading import Then
from pgs_neo4j.llm.protocol import EmbeddedTexts
from pgs_neo4j.model import Usage
from tests.fakes.embedders import ScriptedEmbedder

SHORT = [f"The slip of batch {number} was cone at 900 degrees near heat." for number in range(1000)]
DICE = random.Random(7)
MIXED = ["word " * DICE.randint(3, 150) for _ in range(1000)]
DENSE = [text if number % 2 else "7%" * DICE.randint(20, 300) for number, text in enumerate(MIXED)]
LONG = " ".join(SHORT[:60])
Allowed = Callable[[Sequence[str]], bool]


Count = Callable[[Sequence[str], Sequence[str]], int]


def tokens_of(texts: Sequence[str]) -> int:
    return sum(len(text) // 4 + 2 for text in texts)


# What a server counts of the texts that it was sent, of which it has read some.
RIGHT: dict[str, Count] = {
    "nothing": lambda sent, read: 0,
    "after the cut": lambda sent, read: tokens_of(read),
    "before the cut": lambda sent, read: tokens_of(sent),
}
WRONG: dict[str, Count] = {
    "words": lambda sent, read: sum(len(text.split()) for text in read) * 2 // 3,
    "a third": lambda sent, read: tokens_of(read) // 3,
    "always 300": lambda sent, read: 300,
    "always 1": lambda sent, read: 1,
    "texts": lambda sent, read: len(sent),
}


class Server(ScriptedEmbedder):
    """Reads so many characters of a text, counts tokens or none, and refuses calls and texts.

    ``vouched``: its kind is known to refuse texts that are too long.
    """

    def __init__(
        self,
        *,
        reads: int = 10**9,
        counts: str = "nothing",
        cuts: bool = True,
        vouched: bool = False,
    ) -> None:
        super().__init__(dimensions=32)
        self.reads, self.may_cut = reads, not vouched
        self._count = (RIGHT | WRONG)[counts]
        self.fit = TextFit(refuses=vouched)
        self.refused = 0
        self.allows: Allowed = lambda _: True
        self.given: dict[str, int] = {}
        self._cuts = cuts

    async def ask_limit(self) -> None:
        """It says nothing."""

    async def call(self, texts: Sequence[str], then: Then) -> None:
        await asyncio.sleep(0)
        too_long = not self._cuts and max(map(len, texts)) > self.reads
        if too_long or not self.allows(texts):
            self.refused += 1
            raise PromptTooLongError("too long")
        read = [self.read(text) for text in texts]
        tokens = self._count(texts, read)
        usage = Usage(calls=1, input_tokens=tokens, estimated=not tokens)
        if self.fit.missing(texts, tokens):
            raise PromptCutError("cut")
        self.given |= {text: len(text) for text in read}
        await then(EmbeddedTexts(await self.embed(read), usage))

    def read(self, text: str) -> str:
        """What the model reads of a text."""
        return text[: self.reads]

    async def embed_all(self, texts: Sequence[str]) -> list[TextVector]:
        found: list[TextVector] = []
        failures: list[ModelError] = []

        async def take(vectors: Sequence[TextVector]) -> None:
            found.extend(vectors)

        await FittedEmbedding(
            embedder=self,
            fit=self.fit,
            call=self.call,
            take=take,
            refuse=lambda _, error: failures.append(error),
            most_texts=200,
            most_tokens=20_000,
            workers=4,
        ).embed(texts)
        assert not failures
        assert [*sorted(one.place for one in found)] == [*range(len(texts))]
        return sorted(found, key=lambda one: one.place)


def at_most(texts: int) -> Allowed:
    return lambda sent: len(sent) <= texts


def summing_to(tokens: int) -> Allowed:
    return lambda sent: sum(map(len, sent)) <= 4 * tokens


LIMITS = [*map(at_most, (1, 10, 25, 32, 96)), *map(summing_to, (300, 512, 2_048, 8_000))]


@pytest.mark.parametrize("limit", range(len(LIMITS)))
@pytest.mark.parametrize("texts", [SHORT, MIXED, DENSE], ids=["short", "mixed", "dense"])
async def test_a_limit_on_texts_or_their_sum_is_found_in_few_refusals(limit, texts):
    server = Server()
    server.fit.refuses = True
    server.allows = LIMITS[limit]
    await server.embed_all(texts)
    assert server.refused <= 12  # the logarithm of 200 texts, once to a limit and once around it
    refused, calls = server.refused, len(server.calls)
    await server.embed_all(texts)
    assert server.refused - refused <= 3
    assert len(server.calls) - calls <= 1.3 * calls


@pytest.mark.parametrize("place", [0, 570, 999])
async def test_one_text_that_is_too_long_leaves_calls_as_large_as_they_were(place):
    server = Server(reads=1_200, cuts=False)
    texts = [*SHORT]
    texts[place] = LONG
    assert all(one.proven for one in await server.embed_all(texts))
    assert server.refused <= 25
    assert server.fit.sizes.fits(200, 10_000)


READS = (130, 500, 900, 1_100, 2_048, 3_000)
CUTS = [(reads, counts, False) for reads in READS for counts in (*RIGHT, *WRONG)]
# Of a kind of server that refuses long texts, only too few tokens show that it has cut one.
CUTS += [(reads, "after the cut", True) for reads in READS[:-1]]
CUTS += [(reads, counts, True) for reads in READS for counts in ("words", "a third", "always 300")]


@pytest.mark.parametrize(("reads", "counts", "vouched"), CUTS)
async def test_a_text_that_would_be_cut_is_embedded_in_pieces_that_are_not(reads, counts, vouched):
    server = Server(reads=reads, counts=counts, vouched=vouched)
    made = await server.embed_all([*SHORT[:50], LONG])
    assert all(one.proven for one in made)
    pieces = divide_text(LONG, server.fit.window)
    assert max(map(len, pieces)) <= reads
    assert max(map(len, pieces)) >= min(reads // 4, 90)
    mean = join_pieces([*server.vectors(pieces)], [*map(weigh, pieces)])
    assert np.allclose(made[-1].vector, mean, atol=1e-6)
    (said,) = server.fit.take_lessons("here")
    assert "in pieces" in said
    calls = len(server.calls)
    await server.embed_all([LONG])  # learned once
    assert len(server.calls) == calls + 1


@pytest.mark.parametrize("counts", [*RIGHT, *WRONG])
@pytest.mark.parametrize("vouched", [False, True])
async def test_a_server_that_reads_all_of_a_text_gets_it_whole_whatever_it_counts(counts, vouched):
    server = Server(counts=counts, vouched=vouched)
    (made,) = await server.embed_all([LONG])
    assert made.proven
    assert np.allclose(made.vector, server.vectors([LONG])[0])
    if counts in RIGHT:
        # Two of them a proof, of all texts up to this length.
        assert len(server.calls) == (1 if vouched else 3)
    assert len(await server.embed_all(MIXED)) == len(MIXED)
    assert server.fit.take_lessons("here") == ()


@pytest.mark.parametrize("counts", [*RIGHT, *WRONG])
async def test_a_server_of_one_text_a_call_gets_it_whole_whatever_it_counts(counts):
    server = Server(counts=counts)
    server.allows = at_most(1)
    (made,) = await server.embed_all([LONG])
    assert made.proven
    assert np.allclose(made.vector, server.vectors([LONG])[0])
    assert server.fit.take_lessons("here") == ()


@pytest.mark.parametrize("texts", [1, 2])
async def test_a_cut_in_the_middle_of_a_text_is_found_by_its_count(texts):
    class Middle(Server):
        def read(self, text: str) -> str:
            half = self.reads // 2
            return text if len(text) <= self.reads else text[:half] + text[-half:]

    server = Middle(reads=1_100, counts="after the cut")
    server.allows = at_most(texts)
    (made,) = await server.embed_all([LONG])
    assert made.proven
    assert max(map(len, divide_text(LONG, server.fit.window))) <= server.reads


@pytest.mark.parametrize("counts", ["words", "a third", "always 300"])
async def test_short_texts_are_embedded_whatever_is_counted(counts):
    server = Server(counts=counts)
    assert all(one.proven for one in await server.embed_all(SHORT))
    assert server.fit.miscounts


RUSSIAN = "Обжиг печи начался на рассвете и закончился к вечеру третьего дня. " * 6
THAI = "เตาเผาถูกจุดไฟตอนรุ่งสางและดับลงในตอนเย็นของวันที่สาม" * 6


@pytest.mark.parametrize("text", [RUSSIAN, THAI], ids=["Russian", "Thai"])
async def test_what_is_read_of_english_proves_nothing_of_another_script(text: str) -> None:
    """A model that was made for English takes each letter of another script as a token."""

    class English(Server):
        def read(self, text: str) -> str:
            room, end = 4.0 * self.reads, 0
            for letter in text:
                room -= 1.0 if letter.isascii() else 4.0
                if room < 0:
                    break
                end += 1
            return text[:end]

    server = English(reads=256)
    assert weigh(text) < weigh(LONG[:1000])
    made = await server.embed_all([LONG[:1000], text, "a short one"])
    assert all(one.proven for one in made)
    assert all(server.given[sent] == len(sent) for sent in server.given if sent in text)
    assert sum(sent in text for sent in server.given) > 1


async def test_a_text_that_is_refused_whatever_its_length_divides_no_other():
    server = Server()
    server.allows = lambda sent: not any("slag" in text for text in sent)
    failed: list[int] = []

    async def take(vectors: Sequence[TextVector]) -> None:
        assert all(one.place != 1 for one in vectors)

    texts = [*SHORT[:20], LONG]
    texts[1] = "slag " * 900
    await FittedEmbedding(
        embedder=server, fit=server.fit, call=server.call, take=take, most_texts=200,
        most_tokens=20_000, refuse=lambda place, _: failed.append(place), workers=4,
    ).embed(texts)  # fmt: skip
    assert failed == [1]
    assert server.fit.window is None
    assert LONG in server.given
    assert server.fit.take_lessons("here") == ()


@pytest.mark.parametrize("cuts", [False, True])
@pytest.mark.parametrize("text", ["名前と説明" * 30, "7%" * 90, "kiln " * 36])
async def test_a_text_of_fewer_than_200_characters_is_divided_as_well(text, cuts):
    server = Server(reads=60, cuts=cuts)
    (made,) = await server.embed_all([text])
    assert made.proven
    assert max(server.given.values()) <= 60
    assert "".join(divide_text(text, server.fit.window)) == text


@pytest.mark.parametrize("limit", [16, 128, 256])
def test_a_limit_that_is_known_is_never_raised(limit):
    fit = TextFit()
    fit.limit(limit)
    assert fit.window <= limit
    assert max(map(len, divide_text("7%" * 900, fit.window))) <= limit


async def test_where_nothing_shows_the_end_of_a_text_it_is_unproven():
    class Vague(Server):
        def vectors(self, texts):
            rows = np.array([[1.0, 0.01 * (len(text) > 3_700)] for text in texts])
            return unit(rows.astype(np.float32))

    server = Vague()
    made = await server.embed_all(["clay", LONG])
    assert [one.proven for one in made] == [True, False]
    assert "does not show" in server.fit.take_lessons("here")[0]


async def test_an_error_that_concerns_all_calls_ends_them_and_is_raised():
    class Locked(Server):
        async def call(self, texts, then):
            raise ModelAuthError("no key")

    with pytest.raises(ModelAuthError):
        await Locked().embed_all(SHORT)


async def test_texts_fail_alone():
    class Picky(Server):
        async def call(self, texts, then):
            if SHORT[3] in texts:
                raise EmbeddingError("bad")
            await super().call(texts, then)

    server, failed = Picky(), []

    async def take(vectors):
        assert 3 not in [one.place for one in vectors]

    await FittedEmbedding(
        embedder=server, fit=server.fit, call=server.call, take=take, most_texts=200,
        most_tokens=20_000, refuse=lambda place, _: failed.append(place),
    ).embed(SHORT[:40])  # fmt: skip
    assert failed == [3]
    assert len(server.texts) == 39


@pytest.mark.parametrize(
    "text", [LONG, "名前と説明" * 900, "a1;b2;" * 900, "x" * 9_000, "\ud800 " * 900]
)
def test_pieces_hold_all_of_a_text_and_are_about_equal(text):
    pieces = divide_text(text, 300)
    assert "".join(pieces) == text.encode("utf-8", "replace").decode()
    sizes = [*map(weigh, pieces)]
    assert max(sizes) <= 330
    assert min(sizes) >= 0.6 * max(sizes)


def test_the_vector_of_a_long_text_is_the_mean_of_its_pieces_by_their_length():
    rows = np.eye(3, dtype=np.float32)[:2]
    assert np.allclose(join_pieces([*rows], [3, 1]), np.array([3, 1, 0]) / np.sqrt(10))
    assert np.allclose(join_pieces([rows[0]], [9]), rows[0])
