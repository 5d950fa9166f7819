"""Recognizes sentences of an answer that only repeat the instructions of its prompt.

A model of less than about a billion parameters may answer with its instructions. Such a sentence
says nothing about the graph, and as an absence it would even be confirmed, since no node has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from pgs_neo4j.export.counts import EXTRACTIVE
from pgs_neo4j.llm.calls.receipts import REQUEST
from pgs_neo4j.llm.protocol import Named
from pgs_neo4j.model import Prompt
from pgs_neo4j.pgs.sweeping.short_report import Echoes
from pgs_neo4j.pgs.sweeping.strict import AGAIN
from pgs_neo4j.text.aliases import GROUP
from pgs_neo4j.text.normal_form import find_words, fold_case

Repeats = Callable[[str], bool]
"""Returns whether a text only repeats instructions."""

ECHOED = "The model only repeated its instructions here, so nothing is said."
LEAST_WORDS = 3  # of a short instruction that is recognized by all of its words
_END = re.compile(r"[.:;\n]+")


def find_echoes_of(reader: Named, prompt: Prompt) -> Repeats | None:
    """Return what recognizes the instructions in a reader's reply; None if it follows none."""
    return None if reader.name == EXTRACTIVE else find_echoes(prompt)


def find_echoes(prompt: Prompt) -> Repeats:
    """Return what recognizes the instructions of a prompt in its reply.

    What stands in the data of the prompt as well is no echo: a graph may be about instructions.
    """
    instructions = prompt.system, AGAIN, REQUEST
    echoes = Echoes(*instructions)
    short = {_flat(part) for text in instructions for part in _END.split(text)}

    @cache
    def data() -> str:
        return _flat((prompt.content or prompt.user).partition(AGAIN)[0])

    def repeats(text: str) -> bool:
        said = _flat(text)
        whole = said in short and len(said.split()) >= LEAST_WORDS
        return (whole or echoes.is_echo(text)) and (not said.strip() or said not in data())

    return repeats


def _flat(text: str) -> str:
    return f" {' '.join(find_words(fold_case(GROUP.sub(' ', text))))} "
