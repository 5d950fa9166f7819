"""Loads ``cypher/*.cypher``: one statement per file, described by its header.

A file begins with comment lines that state its purpose, parameters, and columns::

    // Members of one partition, heaviest first.
    // params: partition: str, first: int, last: int
    // returns: rank: int, title: str?, text: list[str?]
    // mode: read

A statement without parameters has no ``params:`` line, and a statement without columns has no
``returns:`` line. Three blanks of indentation continue a long line. The types are those of Python:
``bool``, ``int``, ``float``, ``number`` (``int`` or ``float``), ``str``, ``bytes``, ``datetime``,
``dict``, ``list[...]``, and ``any`` for values of the user. A question mark after a type says that
the value may be null. In a column without a question mark, a null means that another transaction
deleted something while the statement ran, and the statement runs again. So write ``any?`` and
``list[any?]`` for properties that a node may lack. The test suite compares the types with the
values that it sends and receives. A ``graph`` is a ``str`` that names a graph. The database
replaces it by the graph's name within its scope, and leaves out rows about graphs of other scopes.
The modes are:

- ``read``: reads only.
- ``write``: writes data of the package.
- ``data``: writes the user's own data at the user's request.
- ``batch``: commits in batches, so it runs outside a managed transaction.
- ``schema``: changes the schema.

By default, a statement means the same in Cypher 5 and Cypher 25. It is sent as Cypher 5, the only
language that all supported releases understand: Neo4j 5.26 does not know Cypher 25. A prefix names
the language, so that the default language of the database does not matter. A line ``language:``
marks the exceptions:

- ``5``: the statement needs something that Cypher 25 lacks.
- ``any``: the statement is sent without a prefix, for servers that are too old to accept a prefix.

A line ``sees:`` says how the statement touches nodes of the user; without it, it touches none.

- ``nodes``: it reads them. So it takes ``$scope`` and ``$view``, which the database adds, and
  requires of each node ``all(k IN keys($scope) WHERE n[k] = $scope[k])`` and a relationship to the
  view. If it reads relationships of the user, it also takes ``$valid``, and requires of each
  relationship that it was valid at the date of the view. Without a scope and a view, all of this is
  always true.
- ``documents``: it reads or writes only what ingestion and loading wrote for ``$graph``. With
  ``$scope``, it sets the values of the scope on nodes that it creates.
- ``links``: it finds them by ids or relationships that another statement has read within the scope,
  and returns nothing of them.
- ``everything``: it reads the whole database. A database with a scope refuses it.

A line ``plan: once`` is for a statement that finds everything by keys, so that its plan for an
empty database is just as good for a full one. Without the line, the server plans the statement
again whenever the database has grown a lot, and planning takes longer than even a large statement
runs.

A line ``locks: graph`` is for a statement that locks nodes of the user, so that it may have to wait
for another program. A transaction holds the lock on the node that counts its commit while it waits.
So a separate node counts the commits of these statements, because leases and signs of life must not
wait for them.

Loading a file fails if its header does not match the parameters of its statement.

Cypher allows no parameter in the place of a label, a type, or a property. Only ``fill_names``
writes these names into a statement. It quotes them, so that no character can end a name early.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

QueryMode = Literal["read", "write", "data", "batch", "schema"]
Sight = Literal["nothing", "nodes", "documents", "links", "everything"]
Language = Literal["5", "25"]
Row = dict[str, Any]
"""The values of one record, by column."""
BOTH: tuple[Language, ...] = ("5", "25")
LANGUAGES: Mapping[str, tuple[Language, ...]] = MappingProxyType({"5": ("5",), "any": ()})
"""The languages in which a statement may be sent, by the value of ``language:`` in its header."""
# The language of the prefix if a statement means the same in several languages.
PREFERRED: Language = "5"
SCOPE, VIEW, VALID = "scope", "view", "valid"
BOUND = (SCOPE, VIEW, VALID)
"""The parameters that the database adds to statements that see nodes of the user."""
GRAPH_NAME = "graph"
"""The type of parameters and columns that name a graph."""
ONCE = "once"
# Ids of the two nodes that count commits. GRAPH is for statements that lock nodes of the user. All
# other statements use COMMITS, so they never wait for a statement that locks nodes of the user.
GRAPH = "graph"
COMMITS = "pgs"
_HEADER = re.compile(r"//\s?(?:(params|returns|mode|language|plan|locks|sees):)?(.*)")
_CONTINUED = "//   "
_PARAMETER = re.compile(r"\$(?!any\(|all\()([A-Za-z_]\w*)")
_TYPE = re.compile(
    r"(?:bool|int|float|number|str|bytes|datetime|dict|any|graph|list\[(?P<item>.+)\])\??"
)
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_COMMENT = re.compile(r"^//.*$", re.MULTILINE)
# A placeholder in a statement: n:`{labels}` or n.`{properties}`, which is valid Cypher even before
# it is filled.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACE = re.compile(r"(\w+\.)?`\{(\w+)\}`")


@dataclass(frozen=True, slots=True)
class Query:
    """One statement: its name (``folder/file``), text, mode, parameters, and columns.

    ``text`` goes to the server unchanged; its first line is the prefix with the language.
    ``params`` and ``columns`` map names to types. ``languages`` is empty if the text has no prefix.
    ``counter`` is the id of the node that counts the statement's commits. ``sees`` says how the
    statement touches nodes of the user.
    """

    name: str
    text: str
    purpose: str
    mode: QueryMode
    languages: tuple[Language, ...]
    params: Mapping[str, str]
    columns: Mapping[str, str]
    counter: str = COMMITS
    sees: Sight = "nothing"

    def check(self, params: Mapping[str, object], modes: Sequence[QueryMode]) -> None:
        """Raise ValueError unless the mode is one of ``modes`` and the parameter names match."""
        if self.mode not in modes:
            raise ValueError(
                f"{self.name} is a {self.mode} query, but was run as a {modes[0]} query"
            )
        needed = self.params.keys() - set(BOUND)
        if params.keys() != needed:
            wrong = ", ".join(sorted(params.keys() ^ needed))
            raise ValueError(f"{self.name} was run with the wrong parameters: {wrong}")

    @property
    def statement(self) -> str:
        """The statement without prefix and comments, on one line."""
        lines = self.text.splitlines()[1 if self.languages else 0 :]
        return " ".join(line for line in lines if not line.startswith("//"))


def folder() -> Path:
    """Return the folder of the statements, in an installation or a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "_cypher"
    return installed if installed.is_dir() else package.parent / "cypher"


def names() -> tuple[str, ...]:
    """Return the names of all statements, sorted."""
    root = folder()
    paths = root.rglob("*.cypher")
    return tuple(sorted(path.relative_to(root).with_suffix("").as_posix() for path in paths))


@cache
def get(name: str) -> Query:
    """Return the named statement. Raises ValueError if it is missing or malformed."""
    path = folder() / f"{name}.cypher"
    if not path.is_file():
        raise ValueError(f"there is no statement {name} in {folder()}")
    return parse(name, path.read_text(encoding="utf-8"))


def parse(name: str, text: str) -> Query:
    """Parse a statement and check its header. Raises ValueError if something is wrong."""
    purpose, header = _read_header(name, text)
    if header.get("mode") not in get_args(QueryMode):
        reason = f"mode is {header['mode']!r}" if "mode" in header else "the header has no mode"
        raise ValueError(f"{name}: {reason}; it is one of {get_args(QueryMode)}")
    languages = LANGUAGES.get(header["language"]) if "language" in header else BOTH
    if languages is None:
        allowed = ", ".join(map(repr, LANGUAGES))
        raise ValueError(f"{name}: language is {header['language']!r}, not one of {allowed}")
    if not purpose:
        raise ValueError(f"{name}: the header does not say what the statement is for")
    if header.get("plan", ONCE) != ONCE:
        raise ValueError(f"{name}: plan is {header['plan']!r}; it can only be {ONCE!r}")
    if header.get("locks", GRAPH) != GRAPH:
        raise ValueError(f"{name}: locks is {header['locks']!r}; it can only be {GRAPH!r}")
    if "locks" in header and header["mode"] != "write":
        raise ValueError(f"{name}: only a statement of mode write says that it locks the graph")
    sees = header.get("sees", "nothing")
    if sees not in get_args(Sight):
        raise ValueError(f"{name}: sees is {sees!r}, not one of {get_args(Sight)}")
    if "plan" in header and not languages:
        raise ValueError(f"{name}: a statement without a prefix cannot be planned {ONCE}")
    query = Query(
        name=name,
        text=prefix(text, languages, once="plan" in header),
        purpose=purpose,
        mode=cast("QueryMode", header["mode"]),
        languages=languages,
        params=_read_types(name, header.get("params", "")),
        columns=_read_types(name, header.get("returns", "")),
        counter=GRAPH if "locks" in header else COMMITS,
        sees=cast("Sight", sees),
    )
    _check_statement(query, text)
    return query


def prefix(text: str, languages: Sequence[Language] = (PREFERRED,), *, once: bool = False) -> str:
    """Put a prefix with the language before a statement; of several, the preferred language.

    Without languages, returns the statement unchanged. With ``once``, the server never plans the
    statement again.
    """
    if not languages:
        return text
    option = " replan=skip" if once else ""
    return f"CYPHER {PREFERRED if PREFERRED in languages else languages[0]}{option}\n{text}"


def explained(text: str) -> str:
    """Return a statement that asks for the plan of a statement, and does not run it."""
    return f"EXPLAIN {text}"


def _read_header(statement: str, text: str) -> tuple[str, dict[str, str]]:
    """Return the purpose and the fields of a header."""
    header: dict[str, str] = {}
    purpose: list[str] = []
    latest = ""
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        field, value = cast("re.Match[str]", _HEADER.match(line)).groups()
        if field is None and latest and line.startswith(_CONTINUED):
            header[latest] += value
        elif field is None:
            purpose.append(value.strip())
        elif field in header:
            raise ValueError(f"{statement}: the header has two lines '{field}:'")
        else:
            header[field], latest = value.strip(), field
    return " ".join(purpose), header


def _read_types(statement: str, value: str) -> Mapping[str, str]:
    types: dict[str, str] = {}
    for part in filter(None, value.split(",")):
        name, _, type_name = (piece.strip() for piece in part.partition(":"))
        if not is_type(type_name):
            raise ValueError(f"{statement}: {name} has the type {type_name!r}, which is unknown")
        types[name] = type_name
    return MappingProxyType(types)


def is_type(text: str) -> bool:
    """Return whether headers may name ``text`` as a type."""
    match = _TYPE.fullmatch(text)
    return match is not None and (match["item"] is None or is_type(match["item"]))


def _check_statement(query: Query, text: str) -> None:
    statement = _STRING.sub("''", _COMMENT.sub("", text)).strip()
    if not statement:
        raise ValueError(f"{query.name}: there is no statement below the header")
    if ";" in statement.rstrip(";"):
        raise ValueError(f"{query.name}: there is more than one statement")
    used = set(_PARAMETER.findall(statement))
    if used != set(query.params):
        wrong = ", ".join(sorted(used ^ set(query.params)))
        raise ValueError(f"{query.name}: header and statement disagree on the parameters {wrong}")
    _check_bound(query)


def _check_bound(query: Query) -> None:
    """Raise ValueError unless a statement takes the parameters that its sight demands."""
    taken = [name for name in BOUND if name in query.params]
    allowed: dict[Sight, tuple[list[str], ...]] = {
        "nodes": ([SCOPE, VIEW], [SCOPE, VIEW, VALID]),
        "documents": ([], [SCOPE]),
    }
    if taken not in allowed.get(query.sees, ([],)):
        raise ValueError(
            f"{query.name}: a statement that sees nodes takes ${SCOPE} and ${VIEW}, and may take "
            f"${VALID}; one that sees documents may take ${SCOPE}; no other takes any of them"
        )


def fill_names(query: Query, **names: Sequence[str]) -> Query:
    """Return a statement whose placeholders are replaced by quoted names.

    Each keyword argument is a placeholder. Several labels are joined by ``|``, several properties
    by commas. Raises ValueError unless the arguments are exactly the placeholders of the statement
    and each has at least one name.
    """
    places = {place for _, place in _PLACE.findall(query.text)}
    if places != names.keys() or not all(names.values()):
        raise ValueError(f"{query.name} has places for {', '.join(sorted(places))}")

    def fill(match: re.Match[str]) -> str:
        owner = match[1] or ""
        return (", " if owner else "|").join(f"{owner}{quote(name)}" for name in names[match[2]])

    return replace(query, text=_PLACE.sub(fill, query.text))


def quote_odd(name: str) -> str:
    """Return a name as a statement has it: in back-ticks only if it has other than plain signs."""
    return name if _PLAIN.fullmatch(name) else quote(name)


def quote(name: str) -> str:
    r"""Return a name in back-ticks.

    The server decodes ``\uXXXX`` before it looks for the closing back-tick. So each backslash is
    replaced by its own code, and no text in a name can decode to a back-tick.
    """
    escaped = name.replace("\\", "\\u005C").replace("`", "``")
    return f"`{escaped}`"
