"""Reads definitions from Python source, with their places and docstrings.

Files are parsed with ``ast``, one at a time, and never imported.
"""

from __future__ import annotations

import ast
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["module", "class", "function", "method"]

# Tests, programs, generated tables, and deprecated modules: they say nothing about what the library
# offers.
SKIPPED = frozenset(
    {
        "__main__",
        "__phello__",
        "__pycache__",
        "_bundled",
        "_pyrepl",
        "antigravity",
        "dist-packages",
        "distutils",
        "idlelib",
        "lib-dynload",
        "lib2to3",
        "pydoc_data",
        "site-packages",
        "test",
        "tests",
        "this",
        "turtledemo",
    }
)
GENERATED = ("_sysconfigdata", "config-")  # how the names of generated files begin
TABLES = frozenset({"encodings"})  # packages whose submodules are code tables
REEXPORTS = 6  # hops followed from an imported name to where it is defined

Described = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A module, class, function, or method; ``id`` is its qualified name."""

    id: str
    kind: Kind
    name: str
    module: str
    parent: str | None
    signature: str
    doc: str
    bases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """One module: its definitions, and its imports as ``{name: qualified name}``."""

    definitions: tuple[Definition, ...]
    aliases: dict[str, str]
    imports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """All definitions by id and all modules by name."""

    definitions: dict[str, Definition]
    sources: dict[str, Source]

    def resolve(self, module: str, name: str, hops: int = REEXPORTS) -> str | None:
        """Return the id of ``name`` in ``module``, following imports and re-exports."""
        local = f"{module}.{name}"
        if local in self.definitions:
            return local
        first, _, rest = name.partition(".")
        source = self.sources.get(module)
        if source is None or first not in source.aliases or not hops:
            return None
        full = f"{source.aliases[first]}.{rest}" if rest else source.aliases[first]
        if full in self.definitions:
            return full
        origin, _, member = full.rpartition(".")
        return self.resolve(origin, member, hops - 1)


def read_library(folder: Path) -> Library:
    """Read every useful Python file below ``folder``.

    Files that do not parse are skipped. If one name has several definitions (overloads, setters,
    fallbacks), the first documented one represents all. A definition inside a module never replaces
    a module.
    """
    definitions: dict[str, Definition] = {}
    sources: dict[str, Source] = {}
    for path in _list_files(folder) if folder.is_dir() else ():
        tree = _parse(path)
        if tree is None:
            continue
        module, is_package = _name_module(path.relative_to(folder))
        sources[module] = _make_source(tree, module, is_package)
        for definition in sources[module].definitions:
            if _takes_precedence(definition, definitions.get(definition.id)):
                definitions[definition.id] = definition
    return Library(definitions, sources)


def _takes_precedence(definition: Definition, known: Definition | None) -> bool:
    if known is None or definition.kind == "module":
        return True
    return known.kind != "module" and bool(definition.doc) and not known.doc


def _list_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.stem in SKIPPED or path.name.startswith(GENERATED) or "." in path.stem:
            continue
        if path.is_dir() and path.name in TABLES:
            yield path / "__init__.py"
        elif path.is_dir():
            yield from _list_files(path)
        elif path.suffix == ".py":
            yield path


def _name_module(relative: Path) -> tuple[str, bool]:
    parts = relative.with_suffix("").parts
    is_package = parts[-1] == "__init__" and len(parts) > 1
    return ".".join(parts[:-1] if is_package else parts), is_package


def _parse(path: Path) -> ast.Module | None:
    try:
        with tokenize.open(path) as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def _make_source(tree: ast.Module, module: str, is_package: bool) -> Source:
    parent, _, name = module.rpartition(".")
    described = Definition(
        id=module,
        kind="module",
        name=name,
        module=module,
        parent=parent or None,
        signature=f"module {module}",
        doc=ast.get_docstring(tree) or "",
    )
    aliases: dict[str, str] = {}
    imports: set[str] = set()
    for bound, imported, full in _list_imports(tree, module if is_package else parent):
        imports.add(full)
        aliases.setdefault(bound, imported)
    members = tuple(_list_members(tree.body, module, module))
    return Source((described, *members), aliases, tuple(sorted(imports)))


def _list_imports(tree: ast.Module, package: str) -> Iterator[tuple[str, str, str]]:
    """Yield each import: the bound name, the full name it is bound to, and the imported name."""
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                top = alias.name.partition(".")[0]
                yield alias.asname or top, alias.name if alias.asname else top, alias.name
        elif isinstance(statement, ast.ImportFrom):
            origin = _find_origin(statement, package)
            for alias in statement.names:
                full = f"{origin}.{alias.name}"
                yield alias.asname or alias.name, full, full


def _find_origin(statement: ast.ImportFrom, package: str) -> str:
    """Return the absolute name of the module from which a statement imports."""
    if not statement.level:
        return statement.module or ""
    parts = package.split(".")
    above = parts[: len(parts) - statement.level + 1]
    return ".".join((*above, statement.module) if statement.module else above)


def _list_members(body: list[ast.stmt], owner: str, module: str) -> Iterator[Definition]:
    """Yield definitions of a module or class, including conditional ones.

    Definitions under ``if``, ``try``, and ``with`` count. Private names without a docstring are
    left out, since nothing can be learned from them.
    """
    for statement in body:
        if isinstance(statement, Described):
            doc = ast.get_docstring(statement) or ""
            if statement.name.startswith("_") and not doc:
                continue
            definition = _make_definition(statement, owner, module, doc)
            yield definition
            if isinstance(statement, ast.ClassDef):
                yield from _list_members(statement.body, definition.id, module)
        elif isinstance(statement, ast.If | ast.Try | ast.With):
            for block in _list_blocks(statement):
                yield from _list_members(block, owner, module)


def _list_blocks(statement: ast.If | ast.Try | ast.With) -> Iterator[list[ast.stmt]]:
    yield statement.body
    if isinstance(statement, ast.Try):
        yield from (handler.body for handler in statement.handlers)
        yield statement.finalbody
    if not isinstance(statement, ast.With):
        yield statement.orelse


def _make_definition(statement: Described, owner: str, module: str, doc: str) -> Definition:
    bases: tuple[str, ...] = ()
    kind: Kind = "function" if owner == module else "method"
    if isinstance(statement, ast.ClassDef):
        kind, bases = "class", tuple(ast.unparse(base) for base in statement.bases)
        signature = f"class {statement.name}" + (f"({', '.join(bases)})" if bases else "")
    else:
        keyword = "async def" if isinstance(statement, ast.AsyncFunctionDef) else "def"
        returns = f" -> {ast.unparse(statement.returns)}" if statement.returns else ""
        signature = f"{keyword} {statement.name}({ast.unparse(statement.args)}){returns}"
    return Definition(
        id=f"{owner}.{statement.name}",
        kind=kind,
        name=statement.name,
        module=module,
        parent=owner,
        signature=signature,
        doc=doc,
        bases=bases,
    )
