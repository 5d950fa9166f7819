"""Regular expressions that every supported Python reads the same way, in linear time.

CPython 3.11.0 to 3.11.4, Debian 12's among them, match possessive quantifiers (``a*+``) and
atomic groups (``(?>a)``) wrongly, so no pattern of the package may use them.
"""

import ast
import importlib
import re
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import pgs_neo4j
from pgs_neo4j.export import written
from pgs_neo4j.text import invisible, markdown, prose, shown

parser = importlib.import_module("re._parser")  # not public, but stable since 3.11
constants = importlib.import_module("re._constants")
REFUSED = (constants.POSSESSIVE_REPEAT, constants.ATOMIC_GROUP)
CHARACTERS = {"-*+•>", " \t-*+•\"'`(.)0123456789"}  # sets of them, which are no patterns
SIZE = 100_000  # characters
PACKAGE = Path(pgs_neo4j.__file__).parent


def strings(source: str) -> Iterator[str]:
    """All strings of a module that uses patterns, but for its docstrings."""
    tree = ast.parse(source)
    alone = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in alone:
            yield node.value


def is_refused(text: str) -> bool:
    """Whether a text is a pattern with syntax that must not be used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is no pattern
        try:
            return has_refused(parser.parse(text))
        except (re.error, OverflowError):
            return False


def has_refused(parsed: object) -> bool:
    """Whether refused syntax stands anywhere in a parsed pattern."""
    if isinstance(parsed, parser.SubPattern):
        return any(has_refused(part) for part in parsed.data)
    if isinstance(parsed, tuple | list):
        return any(has_refused(part) for part in parsed)
    return any(parsed is one for one in REFUSED)


def test_no_pattern_needs_a_newer_python():
    """Write each so that no two of its parts can match the same characters.

    Then a plain quantifier takes linear time as well.
    """
    sources = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    users = {path: source for path, source in sources.items() if "import re\n" in source}
    assert len(users) > 20
    found = [(path, text) for path, source in users.items() for text in strings(source)]
    wrong = [(path, text) for path, text in found if is_refused(text)]
    assert {text for _, text in wrong} == CHARACTERS, wrong


@pytest.mark.parametrize(
    ("texts", "wrong"),
    [
        (["a*+", "(?:ab)++", "[a-z]?+x", "(b(?>a|ab)c|d)", "(?=(?:a{2,3}+))"], True),
        ([r"\++", r"[*+]+", r"a+\+", "a+?"], False),
    ],
)
def test_the_syntax_is_recognized_wherever_it_stands(texts, wrong):
    assert [is_refused(text) for text in texts] == [wrong] * len(texts)


@pytest.mark.parametrize(
    ("match", "head", "repeated"),
    [
        (shown._SEQUENCE.search, "\x1b[", "0"),
        (shown._SEQUENCE.search, "\x1b[0", " "),
        (shown._SEQUENCE.search, "\x1b]", "0"),
        (markdown._RULE.fullmatch, "-", " -"),
        (markdown._NOTHING.fullmatch, "none", " report to"),
        (written._WORD.search, "", "&a"),
        (written._LINKED.search, "", "a"),
        (written._LINKED.search, "", "data"),
        (written._MARK.search, "", "~1"),
        (prose._RULE.fullmatch, "", "- "),
        (prose._FENCE.fullmatch, "```", " "),
        (prose._ENTRY.fullmatch, "", " "),
        (prose._ENTRY.fullmatch, "-", " "),
        (prose._MARKED.fullmatch, "", "|-"),
        (prose._HEADING.fullmatch, "#", " "),
        (invisible.INVISIBLE.search, "", "中\u200d"),
    ],
)  # fmt: skip
def test_matching_takes_linear_time_even_when_it_fails(match, head, repeated):
    text = head + repeated * (SIZE // len(repeated)) + "!"
    begin = time.process_time()
    match(text)
    assert time.process_time() - begin < 5  # measured: 0.03; in quadratic time it takes minutes
