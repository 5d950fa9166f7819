"""Chunks end where neighboring sentences differ most, and an edit moves few ends."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from pgs_neo4j.documents import semantic
from pgs_neo4j.documents.semantic import DivisionEstimate, SemanticChunker, sentence_batches
from pgs_neo4j.llm.calls.embedding import EmbeddingModel
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.model.documents import Chunk, DocumentText
from pgs_neo4j.text.chunking import ChunkRules, chunk_document, chunks_ending
from pgs_neo4j.text.sentences import split_sentences

MODEL = EmbeddingModel("hashing", free=True)
RULES = ChunkRules(strategy="semantic", size=100, overlap=0)
SUBJECTS = (
    "cat purr whisker paw fur tail claw nap milk mouse",
    "steel furnace melt alloy forge anvil iron slag hammer rivet",
    "river delta flood bank stream tide silt ford bridge current",
    "violin chord tempo string bow melody sonata rest note scale",
)


def chunker(embed: semantic.Embed | None = None, rules: ChunkRules = RULES) -> SemanticChunker:
    return SemanticChunker(rules, "hashing", embed or HashingEmbedder(256).embed, MODEL)


def prose(seed: int, paragraphs: int) -> list[str]:
    """Sentences, several of each subject in a row."""
    chance = random.Random(seed)
    return [
        f"The {' '.join(chance.choices(words, k=6))} {number}{place}. "
        for number in range(paragraphs)
        for words in [chance.choice(SUBJECTS).split()]
        for place in range(chance.randint(3, 7))
    ]


async def chunks(text: str, by: SemanticChunker | DivisionEstimate | None = None) -> list[Chunk]:
    document = DocumentText(text=text)
    return [*chunks_ending(document, await (by or chunker()).divide(document), RULES)]


async def test_a_small_document_needs_no_vectors() -> None:
    async def refuse(texts: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError(texts)

    (chunk,) = await chunks("One is here. Two is there.", chunker(refuse))
    assert chunk.text == "One is here. Two is there."
    assert await chunks("", chunker(refuse)) == []


@pytest.mark.parametrize("at_once", [1, 2, 100])
async def test_vectors_in_parts_divide_as_all_of_them_do(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    text = "".join(prose(1, 60))
    monkeypatch.setattr(semantic, "BATCH_TEXTS", 9)
    monkeypatch.setattr(semantic, "CALLS_AT_ONCE", at_once)
    document, embedder = DocumentText(text=text), HashingEmbedder(256)
    sentences = [text[one.start : one.end].strip() for one in split_sentences(text)]
    whole = chunk_document(document, RULES, await embedder.embed(sentences))
    assert await chunks(text) == [*whole]


async def test_a_sentence_inserted_early_moves_few_ends() -> None:
    changed = []
    for seed in range(6):
        sentences = prose(seed, 150)
        before = {chunk.text for chunk in await chunks("".join(sentences))}
        place = random.Random(seed).randrange(len(sentences) // 10)
        sentences.insert(place, "An old harbor master wrote of lamps and of fog. ")
        after = {chunk.text for chunk in await chunks("".join(sentences))}
        assert len(before) > 40
        changed.append(len(after - before))
    assert sum(changed) / len(changed) <= 2
    assert max(changed) <= 4


async def test_an_estimate_counts_calls_and_makes_none() -> None:
    text = "".join(prose(2, 100))
    calls: list[int] = []

    async def count(texts: Sequence[str]) -> NDArray[np.float32]:
        calls.append(len(texts))
        return await HashingEmbedder(256).embed(texts)

    estimate = DivisionEstimate(chunker(count))
    likely = await chunks(text, estimate)
    await chunks("One is here.", estimate)
    assert calls == []
    made = await chunks(text, chunker(count))
    assert (estimate.calls.calls, estimate.signature) == (len(calls), chunker().signature)
    assert estimate.calls.input_tokens > len(text) / 6
    assert abs(len(likely) - len(made)) <= len(made) / 3


def test_calls_are_bounded_in_sentences() -> None:
    text = "".join(prose(3, 100))
    sentences = [*split_sentences(text)]
    parts = [*sentence_batches(text, sentences)]
    assert max(map(len, parts)) <= semantic.BATCH_TEXTS
    assert sum(map(len, parts)) == len(sentences)


def test_the_signature_is_of_the_sizes_and_the_space() -> None:
    other = SemanticChunker(RULES, "openai/small", HashingEmbedder().embed, MODEL)
    sizes = chunker(rules=ChunkRules(strategy="semantic", size=200))
    assert len({one.signature for one in (chunker(), other, sizes)}) == 3
