"""A scripted reader that reports the planted facts in its prompts and counts them.

It reads the prompt as it was sent, not the values beside it. So its counts do not depend on the
records of the engine.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pgs_neo4j.errors import ModelUnavailableError
from pgs_neo4j.llm.extractive.reader import local_completion
from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.model import Completion, Prompt, Usage
from tests.bench.loaded import FACT

NAME = "planted-reader"
HEAD = re.compile(r"^\[(n\d+)\] (.*)$")
PART = re.compile(r"\(part (\d+) of (\d+)\)")
MARGIN = "| "
BEGIN, END = "<nodes>", "</nodes>"


@dataclass(frozen=True, slots=True)
class Shown:
    """A node, or a part of one, as it stands in a prompt."""

    alias: str
    text: str
    part: int = 1
    parts: int = 1


@dataclass(frozen=True, slots=True)
class Faults:
    """Shares: of the partitions whose every call fails, of the replies that are cut off."""

    failing: float = 0.0
    cut: float = 0.0
    seed: int = 1

    def fails(self, partition: int | None) -> bool:
        """Whether no call on this partition brings a reply."""
        return random.Random(f"{self.seed} {partition}").random() < self.failing


class PlantedReader:
    """Answers prompts; ``usage`` sums all replies, those that were cut off as well."""

    def __init__(self, faults: Faults | None = None) -> None:
        self.faults = faults or Faults()
        self.usage = Usage()
        self._chance = random.Random(self.faults.seed)
        self._parts: dict[tuple[int | None, str], set[int]] = defaultdict(set)
        self._whole: set[tuple[int | None, str]] = set()

    @property
    def read(self) -> int:
        """Nodes that stood whole in sweep prompts whose replies came back whole."""
        return len(self._whole)

    def __call__(self, prompt: Prompt) -> Completion | Exception:
        """The facts in a sweep's or a search's prompt; to any other the least that will do."""
        if prompt.task not in ("sweep", "search"):
            return self._counted(prompt, contract_reply(prompt))
        if prompt.task == "sweep" and self.faults.fails(prompt.partition):
            return ModelUnavailableError("the scripted model does not read this partition")
        nodes = list(shown(prompt.user))
        text = report(nodes)
        if prompt.task == "sweep" and self._chance.random() < self.faults.cut:
            reply = self._counted(prompt, text[: len(text) // 2])
            return replace(reply, truncated=True)
        if prompt.task == "sweep":
            self._note(prompt.partition, nodes)
        return self._counted(prompt, text)

    def _note(self, partition: int | None, nodes: list[Shown]) -> None:
        for node in nodes:
            key = partition, node.alias
            self._parts[key].add(node.part)
            if len(self._parts[key]) == node.parts:
                self._whole.add(key)

    def _counted(self, prompt: Prompt, text: str) -> Completion:
        reply = local_completion(prompt, text, NAME)
        self.usage += reply.usage
        return reply


def shown(user: str) -> Iterator[Shown]:
    """The nodes that the text of a prompt shows."""
    lines = user.partition(f"{BEGIN}\n")[2].partition(f"\n{END}")[0].split("\n")
    head: re.Match[str] | None = None
    text: list[str] = []
    for line in [*lines, "[n0] "]:
        heading = HEAD.match(line)
        if heading is None:
            text.append(line.removeprefix(MARGIN))
            continue
        if head is not None:
            yield _node(head, "\n".join(text))
        head, text = heading, []


def report(nodes: list[Shown]) -> str:
    """A report of the facts, each with the alias of the node that states it."""
    facts = [f"- {fact} [{node.alias}]" for node in nodes for fact in FACT.findall(node.text)]
    sections = ("## Domain State", f"{len(nodes)} nodes.", "## Findings", *(facts or ["None."]))
    return "\n".join((*sections, "## Outbound Flags", "None.", "## Absences", "None."))


def _node(head: re.Match[str], text: str) -> Shown:
    alias, title = head.groups()
    parts = PART.findall(title)
    if not parts:
        return Shown(alias, text)
    number, count = parts[-1]
    return Shown(alias, text, int(number), int(count))
