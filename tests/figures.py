"""Figures of a package's source: names, sizes, docstrings, and repetition."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path

GENERIC_NAMES = frozenset(
    ("found", "made", "each", "given", "kept", "known", "shown", "told", "said", "held")
)
ARRAY_TYPES = re.compile(r"\b(NDArray|Floats|Ints|Bools|np\.ndarray|Vector|Matrix|Array)\b")
SHAPE = re.compile(r"``\([^)]*\)|\((n|m|k|d|p|e)[,)]")
# Endings that make another form of the same word, longest first.
SUFFIXES = (
    *("ization", "isation", "ations", "ation", "ments", "ition", "izers", "izer", "ized", "izes"),
    *("ment", "ness", "ings", "ions", "able", "ers", "ors", "ing", "ion", "ize", "ies", "ity"),
    *("ed", "er", "or", "es", "ly", "al", "e", "s", "y"),
)
RUN_LINES = 6
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One source file: its path in the package and its text."""

    path: str
    text: str

    @property
    def folder(self) -> str:
        """Path of the folder, empty for the package itself."""
        return self.path.rpartition("/")[0]

    @property
    def stem(self) -> str:
        """Name of the module."""
        return self.path.rpartition("/")[2].removesuffix(".py")

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the file."""
        return self.text.splitlines()

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the syntax tree."""
        return list(ast.walk(ast.parse(self.text)))

    def functions(self) -> Iterator[Function]:
        """Every function and method, inner ones included."""
        return (node for node in self.nodes if isinstance(node, Function))


def read_modules(package: Path) -> list[Module]:
    """All modules of a package, by path."""
    return [
        Module(path.relative_to(package).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(package.rglob("*.py"))
    ]


def names_stored(module: Module) -> Iterator[str]:
    """Every parameter and every name that is assigned, loops and comprehensions included."""
    for node in module.nodes:
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def generic_share(modules: list[Module]) -> float:
    """Share of the stored names that say nothing about the thing."""
    names = [name for module in modules for name in names_stored(module)]
    return sum(name in GENERIC_NAMES for name in names) / len(names)


def repeated_classes(modules: list[Module]) -> dict[str, list[str]]:
    """Class names that occur more than once, with the modules that define them."""
    places = defaultdict(list)
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module.path)
    return {name: paths for name, paths in places.items() if len(paths) > 1}


def near_pairs(modules: list[Module]) -> set[tuple[str, str]]:
    """Modules and folders side by side whose names are forms of one word."""
    children = defaultdict(set)
    for module in modules:
        *folders, _ = module.path.split("/")
        for depth, name in enumerate((*folders, module.stem)):
            if not name.startswith("_"):
                children["/".join(folders[:depth])].add(name)
    return {
        (f"{folder}/{one}".lstrip("/"), other)
        for folder, names in children.items()
        for one, other in combinations(sorted(names), 2)
        if _is_near(one, other)
    }


def _is_near(one: str, other: str) -> bool:
    if other.startswith(one) and other[len(one) :].isalpha():
        return True
    return bool(_roots(one) & _roots(other))


def _roots(name: str) -> set[str]:
    """The name and what is left of it without one ending, at least three letters."""
    cut = (name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix))
    return {name, *(root for root in cut if len(root) >= 3)}


def wing_shares(modules: list[Module]) -> dict[str, float]:
    """Each top folder's share of all lines."""
    lines: Counter[str] = Counter()
    for module in modules:
        wing, separator, _ = module.path.partition("/")
        lines[wing if separator else ""] += len(module.lines)
    return {wing: count / lines.total() for wing, count in lines.items()}


def files_per_folder(modules: list[Module]) -> Counter[str]:
    """Number of modules directly in each folder."""
    return Counter(module.folder for module in modules)


def long_functions(modules: list[Module], limit: int) -> dict[str, int]:
    """Functions of more than ``limit`` lines."""
    return {
        f"{module.path}:{node.name}": length
        for module in modules
        for node in module.functions()
        if (length := (node.end_lineno or 0) - node.lineno + 1) > limit
    }


def undocumented_shapes(modules: list[Module]) -> list[str]:
    """Public functions on arrays whose docstrings give no shape."""
    return [
        f"{module.path}:{node.name}"
        for module in modules
        for node in module.functions()
        if not node.name.startswith("_")
        and ARRAY_TYPES.search(_signature(node))
        and not SHAPE.search(ast.get_docstring(node) or "")
    ]


def _signature(node: Function) -> str:
    returned = ast.unparse(node.returns) if node.returns else ""
    return f"{ast.unparse(node.args)} -> {returned}"


def repeated_share(modules: list[Module]) -> float:
    """Share of the lines that are in runs of six identical lines, blank ones aside."""
    places: dict[tuple[str, ...], set[tuple[str, int]]] = defaultdict(set)
    starts: Counter[tuple[str, ...]] = Counter()
    for module in modules:
        full = [(at, line.strip()) for at, line in enumerate(module.lines) if line.strip()]
        for first in range(len(full) - RUN_LINES + 1):
            window = full[first : first + RUN_LINES]
            run = tuple(line for _, line in window)
            starts[run] += 1
            places[run].update((module.path, at) for at, _ in window)
    repeated = set().union(*(places[run] for run, count in starts.items() if count > 1))
    return len(repeated) / sum(len(module.lines) for module in modules)


def tests_without_assertion(modules: list[Module]) -> list[str]:
    """Test functions that neither assert nor expect an error."""
    return [
        f"{module.path}:{node.name}"
        for module in modules
        for node in module.functions()
        if node.name.startswith("test_") and not _asserts(node)
    ]


def _asserts(function: Function) -> bool:
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    names = {ast.unparse(call).rpartition(".")[2] for call in calls}
    return any(isinstance(node, ast.Assert) for node in ast.walk(function)) or any(
        name in ("raises", "warns", "fail") or name.startswith("assert_") for name in names
    )
