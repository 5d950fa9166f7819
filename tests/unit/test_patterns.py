"""Regular expressions that every supported Python reads the same way, in linear time.

CPython 3.11.0 to 3.11.4, Debian 12's among them, match possessive quantifiers (``a*+``) and
atomic groups (``(?>a)``) wrongly, so no pattern of the package may use them.
"""

import ast
import importlib
import inspect
import re
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import pgs_neo4j
from pgs_neo4j.export import written
from pgs_neo4j.text import invisible, markdown, shown
from pgs_neo4j.text.prose import blocks

parser = importlib.import_module("re._parser")  # not public, but stable since 3.11
constants = importlib.import_module("re._constants")
REFUSED = {
    constants.POSSESSIVE_REPEAT: "a possessive quantifier",
    constants.ATOMIC_GROUP: "an atomic group",
}
FUNCTIONS = ("compile", "match", "fullmatch", "search", "sub", "split", "findall", "finditer")
SIZE = 100_000  # characters
# Modules that need a library at once, which need not be installed.
EXTRAS = {
    "pgs_neo4j.adapters.graphrag": "neo4j_graphrag",
    "pgs_neo4j.adapters.graphrag_findings": "neo4j_graphrag",
    "pgs_neo4j.adapters.langchain": "langchain_core",
    "pgs_neo4j.adapters.notebook": "anywidget",
}


def modules() -> list[str]:
    """The names of all modules of the package."""
    folder = Path(pgs_neo4j.__file__).parent
    files = (path.relative_to(folder.parent).with_suffix("") for path in folder.rglob("*.py"))
    names = sorted(".".join(path.parts).removesuffix(".__init__") for path in files)
    return [name for name in names if name not in EXTRAS or find_spec(EXTRAS[name])]


def patterns(name: str) -> Iterator[str]:
    """The patterns a module holds, and those that its code writes where it uses them."""
    module = importlib.import_module(name)
    for value in vars(module).values():
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
            yield value.pattern
    source = inspect.getsource(module)
    if "import re\n" not in source:
        return
    tree = ast.parse(source)
    elsewhere = [part for part in tree.body if not isinstance(part, ast.Assign)]
    for node in (node for part in elsewhere for node in ast.walk(part)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr in FUNCTIONS and ast.unparse(node.func.value) == "re":
            yield literal(node.args[0], vars(module))


def literal(node: ast.expr, names: dict[str, object]) -> str:
    """The string that an expression stands for; it may name constants of its module."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name) if isinstance(names.get(name), str):
            return str(names[name])
        case ast.FormattedValue(value=ast.Name(id=name)) if name in names:
            return str(names[name])
        case ast.JoinedStr(values=values):
            return "".join(literal(value, names) for value in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return literal(left, names) + literal(right, names)
    pytest.fail(f"make this pattern a constant of its module: {ast.unparse(node)}")


def refused(parsed: object) -> Iterator[str]:
    """What a parsed pattern holds that some Pythons get wrong, nested parts included."""
    if isinstance(parsed, parser.SubPattern | list | tuple):
        for part in parsed:
            yield from (syntax for operator, syntax in REFUSED.items() if part is operator)
            yield from refused(part)


def test_no_pattern_needs_a_newer_python():
    wrong = [
        f"{name}: {text!r} uses {syntax}"
        for name in modules()
        if not name.endswith("__main__")
        for text in patterns(name)
        for syntax in set(refused(parser.parse(text)))
    ]
    assert not wrong, (
        "Python 3.11.0 to 3.11.4 match these patterns wrongly. Write each so that no two of its "
        "parts can match the same characters; then a plain quantifier takes linear time as well.\n"
        + "\n".join(wrong)
    )


@pytest.mark.parametrize(
    "text", ["a*+", "(?:ab)++", "[a-z]?+x", "(b(?>a|ab)c|d)", "(?=(?:a{2,3}+))"]
)
def test_the_syntax_is_recognized_wherever_it_stands(text):
    assert list(refused(parser.parse(text)))


@pytest.mark.parametrize("text", [r"\++", r"[*+]+", r"a+\+", "a+?"])
def test_plain_syntax_is_not_refused(text):
    assert not list(refused(parser.parse(text)))


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
        (blocks._RULE.fullmatch, "", "- "),
        (blocks._FENCE.fullmatch, "```", " "),
        (blocks._ENTRY.fullmatch, "", " "),
        (blocks._ENTRY.fullmatch, "-", " "),
        (blocks._MARKED.fullmatch, "", "|-"),
        (blocks._HEADING.fullmatch, "#", " "),
        (invisible.INVISIBLE.search, "", "中\u200d"),
    ],
)  # fmt: skip
def test_matching_takes_linear_time_even_when_it_fails(match, head, repeated):
    text = head + repeated * (SIZE // len(repeated)) + "!"
    begin = time.process_time()
    match(text)
    assert time.process_time() - begin < 5  # measured: 0.03; in quadratic time it takes minutes
