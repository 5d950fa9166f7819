"""Models that extract what a planted text states, at once and from the prompt alone."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterable
from time import perf_counter

from pgs_neo4j.llm.extractive.reader import local_completion
from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.model import Completion, Effort, Prompt
from pgs_neo4j.text.extraction.records import COMPLETE, DELIMITER
from tests.bench.ingestion.corpus import Fact, facts_in, type_of

LINE = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
INPUT = re.compile(r"---Input Text---\n```\n(.*?)\n```", re.DOTALL)


class FaithfulLLM:
    """Extracts every planted relation of a prompt, and answers other prompts as the contract asks.

    ``seconds`` is its own time. ``calls`` counts extractions, ``gleaned`` what was asked again.
    """

    name = "faithful"

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = self.gleaned = 0

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """A whole reply; no other task runs while it is made."""
        began = perf_counter()
        if prompt.task == "extraction":
            self.calls += 1
            reply = self.extract(prompt)
        elif prompt.task == "gleaning":
            self.gleaned += 1
            reply = f"{COMPLETE}\n"
        else:
            reply = contract_reply(prompt)
        done = local_completion(prompt, reply, self.name)
        self.seconds += perf_counter() - began
        return done

    def extract(self, prompt: Prompt) -> str:
        """Return the records of a prompt."""
        return records(
            (fact, number) for number, text in LINE.findall(prompt.user) for fact in facts_in(text)
        )

    async def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """The same in one piece."""
        reply = await self.complete(prompt, max_tokens=max_tokens, effort=effort)
        yield reply.text
        yield reply

    async def close(self) -> None:
        """Nothing is open."""


def records(stated: Iterable[tuple[Fact, str]]) -> str:
    """Return relations and their ends as records, each with the number of its sentence."""
    lines: list[str] = []
    for fact, number in stated:
        for name in (fact.source, fact.target):
            about = f"{name} is named in a sentence."
            lines.append(DELIMITER.join(("entity", name, type_of(name), about, number)))
        said = f"{fact.source} {fact.verb} {fact.target}."
        ends = (fact.source, fact.target, fact.verb, said, number)
        lines.append(DELIMITER.join(("relation", *ends)))
    return "\n".join((*dict.fromkeys(lines), COMPLETE, ""))


def lightrag_records(prompt: str) -> str:
    """Return the same in LightRAG's form, which has no numbers."""
    text = INPUT.search(prompt)
    if text is None:
        return "It is named in several sentences."
    lines = records((fact, "") for fact in facts_in(text[1])).split("\n")
    return "\n".join(line.removesuffix(DELIMITER) for line in lines)


def graphrag_json(prompt: str) -> str:
    """Return the same as the JSON that SimpleKGPipeline asks for."""
    facts = facts_in(prompt.rpartition("Input text:")[2])
    ids: dict[str, str] = {}
    for fact in facts:
        for name in (fact.source, fact.target):
            ids.setdefault(name, str(len(ids)))
    nodes = [
        {
            "id": id_,
            "label": type_of(name),
            "properties": {"name": name, "description": f"{name} is named in a sentence."},
        }
        for name, id_ in ids.items()
    ]
    relations = [
        {
            "type": fact.verb.upper(),
            "start_node_id": ids[fact.source],
            "end_node_id": ids[fact.target],
            "properties": {"details": f"{fact.source} {fact.verb} {fact.target}."},
        }
        for fact in facts
    ]
    return json.dumps({"nodes": nodes, "relationships": relations})
