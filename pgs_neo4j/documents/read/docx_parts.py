"""Collects all text of a docx file in blocks, in forms that mammoth reads.

mammoth reads the body and its notes. It leaves out drawings (text boxes, equations, and alternative
texts of pictures), headers and footers, comments, and tracked deletions. This module turns all of
these into paragraphs, and counts the parts that have no text.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from xml.etree.ElementTree import Element, SubElement

from pgs_neo4j.documents.read.docx_stream import local, read_tree, stream_blocks

VML = "urn:schemas-microsoft-com:vml"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SPACE = "{http://www.w3.org/XML/1998/namespace}space"
LONGEST_ANCHOR = 200
"""Maximum characters of the commented text to show before a comment."""
PAGE_DIGITS = 4
"""Maximum digits of a page number. A header with only a page number is left out."""
ROOT_RELATIONS = "_rels/.rels"
READ = frozenset(
    (
        *("p", "pPr", "pStyle", "numPr", "ilvl", "numId", "rPr", "del", "r", "t", "tab", "br"),
        *("noBreakHyphen", "softHyphen", "sym", "tbl", "tr", "trPr", "tc", "tcPr", "gridSpan"),
        *("vMerge", "ins", "moveTo", "sdt", "sdtContent", "pict", "textbox", "txbxContent"),
        *("footnote", "endnote", "comment"),
    )
)
"""Elements that mammoth turns into text, the properties that it needs for this, and elements with
notes."""
TRANSPARENT = frozenset(("fldSimple", "dir", "bdo", "hyperlink", "smartTag", "customXml"))
"""Elements that are replaced by their children. mammoth drops the first three of them, and a link
in a header names a target that the body does not have."""
DROPPED = frozenset(("moveFrom", "commentReference", "annotationRef"))
"""Elements that are removed. Moved text is read at its new place."""
DRAWN = frozenset(("drawing", "pict", "object"))
NAMES = {
    "picture": ("picture without a description", "pictures without a description"),
    "chart": ("chart", "charts"),
    "object": ("embedded object", "embedded objects"),
    "document": ("embedded document", "embedded documents"),
    "ink": ("piece of handwriting", "pieces of handwriting"),
}
"""Names of the parts without readable text, in singular and plural."""
_EQUATION = {"sSup": ("^",), "sSub": ("_",), "sSubSup": ("_", "^"), "f": ("/",)}
"""Signs between the parts of an equation."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the file; ``targets`` maps its relationships' ids to the target's kind and path."""

    name: str
    targets: Mapping[str, tuple[str, str]]
    nameless: Iterator[int] = field(default_factory=count)


Note = tuple[str, str]
"""The kind of a note, ``footnote`` or ``endnote``, and its id."""


@dataclass(slots=True)
class Seen:
    """Facts that are found while the blocks are read.

    ``deleted`` has the deleted texts by paragraph and author. ``anchors`` has the commented text of
    each comment, and ``open`` has the comments whose commented text is being read. ``notes`` has
    the notes that the text refers to, in order. ``wordless`` has each picture or object without
    text only once, even if headers repeat it.
    """

    deleted: dict[tuple[int, str], str] = field(default_factory=dict)
    anchors: dict[str, str] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    notes: list[Note] = field(default_factory=list)
    wordless: set[tuple[str, str]] = field(default_factory=set)
    paragraphs: int = 0

    @property
    def unread(self) -> tuple[str, ...]:
        """Phrases that name the kinds of parts without readable text, and count them."""
        counts = Counter(kind for kind, _ in self.wordless)
        return tuple(
            f"{counts[kind]:,} {words[counts[kind] > 1]}"
            for kind, words in NAMES.items()
            if counts[kind]
        )


@dataclass(slots=True)
class GatheredText:
    """The text of a docx as blocks. ``blocks`` can be read only once.

    ``notes`` has the notes in the order of their references, but only after ``blocks`` has been
    read. ``styles`` has the parts that define headings and list items.
    """

    blocks: Iterator[Element]
    styles: Mapping[str, Element]
    seen: Seen
    notes: list[Sequence[Element]] = field(default_factory=list)


def gather_text(archive: zipfile.ZipFile) -> GatheredText:
    """Return all text of a docx.

    Both this function and reading the blocks raise InputFileError, KeyError for a document without
    a body, and ParseError.
    """
    names = set(archive.namelist())
    main = next(
        (
            path
            for kind, path in _read_targets(archive, names, "").values()
            if kind == "officeDocument"
        ),
        "word/document.xml",
    )
    part = _Part(main, _read_targets(archive, names, main))
    found = {kind: _find(part, names, kind) for kind in ("styles", "numbering")}
    styles = {kind: read_tree(archive, path) for kind, path in found.items() if path in names}
    gathered = GatheredText(iter(()), styles, Seen())
    gathered.blocks = _stream_all_blocks(archive, names, part, gathered)
    return gathered


def _stream_all_blocks(
    archive: zipfile.ZipFile, names: set[str], part: _Part, gathered: GatheredText
) -> Iterator[Element]:
    """Yield the blocks of the body, and then sections for all text outside the body."""
    seen = gathered.seen
    for block in stream_blocks(archive, part.name):
        yield from _read_block(block, part, archive, seen)
    referred, added = [*seen.notes], list[Element]()
    found: dict[Note, Sequence[Element]] = {}
    for kind in ("footnote", "endnote"):
        path = _find(part, names, f"{kind}s")
        if path in names:
            root, notes = _open_part(archive, names, path)
            _rewrite(root, notes, archive, seen)
            added += _find_unreferenced(root, kind, {*referred})
            found |= {(kind, _get(note, "id")): [*note] for note in root if local(note) == kind}
    gathered.notes += (found[note] for note in referred)
    headers = [*_read_headers(archive, names, part, seen)]
    comments = [*_read_comments(archive, names, part, seen)]
    for title, section in (
        ("Notes", added),
        ("Headers and footers", headers),
        ("Comments", comments),
        ("Deleted text", [*_write_deletions(seen)]),
    ):
        if section:
            yield make_paragraph(title, style="Heading1")
            yield from section


def _read_block(
    block: Element, part: _Part, archive: zipfile.ZipFile, seen: Seen
) -> Iterator[Element]:
    """Yield the replacement of a block of the body; empty paragraphs are left out."""
    for one in _replace(block, part, archive, seen):
        if local(one) != "p" or any(local(child) != "pPr" for child in one):
            yield one


def _open_part(archive: zipfile.ZipFile, names: set[str], name: str) -> tuple[Element, _Part]:
    """Return a part of the file as a tree, and its relationships.

    The tree is safe to parse, because files that define XML entities were refused before.
    """
    return read_tree(archive, name), _Part(name, _read_targets(archive, names, name))


def _relations_of(name: str) -> str:
    folder, _, base = name.rpartition("/")
    return posixpath.join(folder, "_rels", f"{base}.rels")


def _read_targets(
    archive: zipfile.ZipFile, names: set[str], name: str
) -> dict[str, tuple[str, str]]:
    """Return the kinds and paths of a part's targets within the file, by relationship id."""
    path = _relations_of(name) if name else ROOT_RELATIONS
    if path not in names:
        return {}
    folder = posixpath.dirname(name)
    return {
        one.get("Id", ""): (
            one.get("Type", "").rpartition("/")[2],
            posixpath.normpath(posixpath.join("/", folder, one.get("Target", ""))).lstrip("/"),
        )
        for one in read_tree(archive, path)
        if one.get("TargetMode") != "External"
    }


def _find(part: _Part, names: set[str], kind: str) -> str:
    """Return the path of the related part of a kind, or the usual path of this kind."""
    found = (path for own, path in part.targets.values() if own == kind and path in names)
    return next(found, f"word/{kind}.xml")


def _rewrite(parent: Element, part: _Part, archive: zipfile.ZipFile, seen: Seen) -> None:
    """Replace all elements below ``parent`` by elements that mammoth reads."""
    if local(parent) == "p":
        seen.paragraphs += 1
    replaced = (new for old in parent for new in _replace(old, part, archive, seen))
    parent[:] = [*_join_adjacent(one for one in replaced if local(one) in READ)]


def _join_adjacent(children: Iterable[Element]) -> Iterator[Element]:
    """Yield elements; adjacent runs are joined into one run, and so are adjacent texts in a run.

    Word begins a new run at each change of format, and with each editing session.
    """
    for name, group in groupby(children, key=local):
        if name == "r":
            runs = [*group]
            runs[0][:] = [*_join_adjacent([inner for run in runs for inner in run])]
            if len(runs[0]):
                yield runs[0]
        elif name == "t":
            first, *more = group
            if more:
                first.text = "".join(one.text or "" for one in (first, *more))
            yield first
        else:
            yield from group


def _replace(one: Element, part: _Part, archive: zipfile.ZipFile, seen: Seen) -> Sequence[Element]:
    """Return the elements that replace an element, and record facts about it in ``seen``."""
    name = local(one)
    if name == "AlternateContent":
        return _replace_by_form(one, part, archive, seen)
    if name in DRAWN:
        return [*_replace_drawing(one, part, archive, seen)]
    if name in DROPPED:
        return ()
    # ``del`` without children means that the mark of a paragraph or a row is deleted.
    if name == "del" and len(one):
        _record_deletion(one, seen, _get(one, "author"))
        return ()
    if name == "tr" and (author := _find_row_deleter(one)) is not None:
        _record_deletion(one, seen, author)
        return ()
    if name in ("oMath", "ruby"):
        text = _write_equation(one) if name == "oMath" else _write_ruby(one)
        return [_make_run(text)] if name == "oMath" else [_make_text(text)]
    if name in ("altChunk", "subDoc"):
        seen.wordless.add(("document", _find_target(one, part)))
        return ()
    if name == "contentPart":
        seen.wordless.add(("ink", _find_target(one, part)))
        return ()
    if name == "t":
        for id_ in seen.open:
            anchor = seen.anchors.get(id_, "")
            if len(anchor) <= LONGEST_ANCHOR:
                seen.anchors[id_] = anchor + (one.text or "")
    elif name in ("commentRangeStart", "commentRangeEnd"):
        (seen.open.add if name.endswith("Start") else seen.open.discard)(_get(one, "id"))
    elif name in ("footnoteReference", "endnoteReference"):
        seen.notes.append((name.removesuffix("Reference"), _get(one, "id")))
        return [_make_text(f"[{len(seen.notes)}]")]
    elif name == "fldChar":
        return [*_read_form_value(one)]
    _rewrite(one, part, archive, seen)
    return [*one] if name in TRANSPARENT or name == "oMathPara" else [one]


def _replace_by_form(
    one: Element, part: _Part, archive: zipfile.ZipFile, seen: Seen
) -> Sequence[Element]:
    """Return the replacement of an element with several alternative forms."""
    chosen = _find_richest(one)
    _rewrite(chosen, part, archive, seen)
    return [*chosen]


def _find_richest(one: Element) -> Element:
    """Return the first alternative form with text, or the first form if none has text."""
    forms = [form for form in one if local(form) in ("Choice", "Fallback")]
    return next((form for form in forms if _has_text(form)), (forms or [Element("none")])[0])


def _has_text(form: Element) -> bool:
    return any(
        (local(one) == "t" and (one.text or "").strip()) or _find_description(one)
        for one in form.iter()
    )


def _replace_drawing(
    one: Element, part: _Part, archive: zipfile.ZipFile, seen: Seen
) -> Iterator[Element]:
    """Yield the text in a drawing, and the descriptions of its pictures."""
    boxes: list[Element] = []
    words: list[str] = []
    pictures: list[str] = []
    said: dict[str, None] = {}
    explained = False
    for inner in _within_drawing(one):
        name = local(inner)
        if name == "txbxContent":
            _rewrite(inner, part, archive, seen)
            boxes.append(inner)
        elif name in ("blip", "imagedata"):
            pictures.append(_find_target(inner, part))
        elif name == "chart":
            seen.wordless.add(("chart", _find_target(inner, part)))
        elif name in ("OLEObject", "control"):
            seen.wordless.add(("object", _find_target(inner, part)))
            explained = True  # The picture shows the object, and the object is counted.
        elif name == "contentPart":
            seen.wordless.add(("ink", _find_target(inner, part)))
        elif name == "relIds":
            words += _read_diagram(inner, part, archive)
        elif name == "t" and inner.text:
            words.append(inner.text)
        elif name == "textpath" and inner.get("string"):
            words.append(inner.get("string", ""))
        elif name == "decorative" and inner.get("val") != "0":
            explained = True
        if description := _find_description(inner):
            said[description] = None
    if not said and not explained:
        seen.wordless |= {("picture", path) for path in pictures}
    if said:
        yield _make_text(f" ({'; '.join(' '.join(text.split()) for text in said)}) ")
    if words:
        yield _make_text(f" {' '.join(words)} ")
    for box in boxes:
        # mammoth reads a text box only in this old form, and puts the box after its paragraph.
        pict = Element(f"{{{WORD}}}pict")
        box.tag = f"{{{WORD}}}txbxContent"
        SubElement(pict, f"{{{VML}}}textbox").append(box)
        yield pict


def _within_drawing(one: Element) -> Iterator[Element]:
    """Yield the elements of a drawing in order, except those within a text box."""
    for inner in one:
        chosen = _find_richest(inner) if local(inner) == "AlternateContent" else inner
        yield chosen
        if local(chosen) != "txbxContent":
            yield from _within_drawing(chosen)


def _find_description(one: Element) -> str:
    """Return the description of the picture in an element, empty without one."""
    name = local(one)
    if name == "docPr":
        return (one.get("descr") or one.get("title") or "").strip()
    if name in ("shape", "rect", "roundrect", "oval"):
        return (one.get("alt") or "").strip()
    return ""


def _read_diagram(one: Element, part: _Part, archive: zipfile.ZipFile) -> list[str]:
    """Return the texts of a diagram, which are in a separate part."""
    path = part.targets.get(_get(one, "dm"), ("", ""))[1]
    if path not in archive.namelist():
        return []
    root = read_tree(archive, path)
    paragraphs = (node for node in root.iter() if local(node) == "p")
    texts = ("".join(_texts(paragraph)).strip() for paragraph in paragraphs)
    return [f"{text};" for text in texts if text]


def _find_row_deleter(row: Element) -> str | None:
    """Return the author who deleted a row of a table, None if it was not deleted."""
    marks = (mark for inner in row if local(inner) == "trPr" for mark in inner)
    return next((_get(mark, "author") for mark in marks), None)


def _record_deletion(one: Element, seen: Seen, author: str) -> None:
    text = " ".join("".join(_texts(part, "delText", "t")) for part in _find_paragraphs(one))
    if text:
        place = seen.paragraphs, author
        seen.deleted[place] = seen.deleted.get(place, "") + text


def _find_paragraphs(one: Element) -> Sequence[Element]:
    """Return the paragraphs within an element, or the element itself if it has none."""
    return [inner for inner in one.iter() if local(inner) == "p"] or [one]


def _write_deletions(seen: Seen) -> Iterator[Element]:
    for (_, author), text in seen.deleted.items():
        if text.strip():
            by = f" by {author}" if author else ""
            yield make_paragraph(f"Deleted{by}: {text.strip()}")


def _find_unreferenced(root: Element, kind: str, referred: Container[Note]) -> Iterator[Element]:
    """Yield the paragraphs of notes that no reference leads to anymore."""
    for note in root:
        known = (kind, _get(note, "id")) in referred
        if not known and local(note) == kind and _get(note, "type") in ("", "normal"):
            yield from note


def _read_headers(
    archive: zipfile.ZipFile, names: set[str], main: _Part, seen: Seen
) -> Iterator[Element]:
    """Yield the content of headers and footers, each text once."""
    known: set[str] = set()
    # Sections share headers, so several relationships may lead to the same header.
    found = (path for kind, path in main.targets.values() if kind in ("header", "footer"))
    for path in dict.fromkeys(path for path in found if path in names):
        root, part = _open_part(archive, names, path)
        _rewrite(root, part, archive, seen)
        text = " ".join("".join(_texts(root)).split())
        letters = [letter for letter in text if letter.isalnum()]
        says = len(letters) > PAGE_DIGITS or any(map(str.isalpha, letters))
        if says and text not in known:
            known.add(text)
            yield from root


def _read_comments(
    archive: zipfile.ZipFile, names: set[str], main: _Part, seen: Seen
) -> Iterator[Element]:
    """Yield the paragraphs of comments, each with its author and the commented text."""
    path = _find(main, names, "comments")
    if path not in names:
        return
    root, part = _open_part(archive, names, path)
    for comment in root:
        _rewrite(comment, part, archive, seen)
        if not "".join(_texts(comment)).strip():
            continue
        author, anchor = _get(comment, "author"), seen.anchors.get(_get(comment, "id"), "")
        about = " ".join(anchor.split())
        about = f"{about[:LONGEST_ANCHOR]}…" if len(about) > LONGEST_ANCHOR else about
        by = f" by {author}" if author else ""
        on = f" on “{about}”" if about else ""
        first = next((one for one in comment if local(one) == "p"), None)
        lead = _make_run(f"Comment{by}{on}: ")
        if first is None:
            yield make_paragraph(f"Comment{by}{on}:")
        else:
            at = 1 if len(first) and local(first[0]) == "pPr" else 0
            first.insert(at, lead)
        yield from comment


def _read_form_value(one: Element) -> Iterator[Element]:
    """Yield the value of a form field without text: a ticked box, or a chosen entry."""
    for data in (child for child in one if local(child) == "ffData"):
        for control in data:
            values = {local(child): _get(child, "val") for child in control}
            if local(control) == "checkBox":
                ticked = values.get("checked", values.get("default", "0"))
                yield _make_text("[ ]" if ticked in ("0", "false") else "[x]")
            elif local(control) == "ddList":
                entries = [_get(child, "val") for child in control if local(child) == "listEntry"]
                place = values.get("result") or values.get("default") or "0"
                if place.isdecimal() and int(place) < len(entries):
                    yield _make_text(entries[int(place)])


def _write_equation(one: Element) -> str:
    """Return an equation as one line of text: ``(a+b)/(2)``, ``x^(2)``, ``sqrt(x)``."""
    name = local(one)
    if name == "t":
        return one.text or ""
    if name == "chr":  # A sign such as the sum sign.
        return _get(one, "val")
    inner = [
        _write_equation(child) for child in one if not local(child).endswith("Pr") or name == "nary"
    ]
    if name in _EQUATION and inner:
        first = f"({inner[0]})" if name == "f" else inner[0]
        rest = zip(_EQUATION[name], inner[1:], strict=False)
        return first + "".join(f"{sign}({text})" for sign, text in rest)
    text = "".join(inner)
    if name == "rad":
        return f"sqrt({text})"
    return f"({text})" if name == "d" else text


def _write_ruby(one: Element) -> str:
    """Return a word with its pronunciation in parentheses."""
    base, reading = (
        "".join(text for child in one if local(child) == name for text in _texts(child))
        for name in ("rubyBase", "rt")
    )
    return f"{base}({reading})" if reading else base


def _texts(one: Element, *names: str) -> Iterator[str]:
    wanted = names or ("t",)
    return (node.text or "" for node in one.iter() if local(node) in wanted)


def _find_target(one: Element, part: _Part) -> str:
    """Return the path of an element's target, so that a repeated picture counts only once.

    For an element without a target, return a unique name instead.
    """
    ids: Iterable[str] = (value for key, value in one.attrib.items() if value in part.targets)
    return next((part.targets[id_][1] for id_ in ids), f"{part.name} {next(part.nameless)}")


def _get(one: Element, name: str) -> str:
    """Return an attribute in either of Word's two namespaces, empty without the attribute."""
    return next((value for key, value in one.attrib.items() if key.endswith(f"}}{name}")), "")


def _make_text(text: str) -> Element:
    element = Element(f"{{{WORD}}}t", {SPACE: "preserve"})
    element.text = text
    return element


def _make_run(text: str) -> Element:
    run = Element(f"{{{WORD}}}r")
    run.append(_make_text(text))
    return run


def make_paragraph(text: str, *, style: str = "") -> Element:
    """Return a paragraph with a single run."""
    paragraph = Element(f"{{{WORD}}}p")
    if style:
        properties = SubElement(paragraph, f"{{{WORD}}}pPr")
        SubElement(properties, f"{{{WORD}}}pStyle", {f"{{{WORD}}}val": style})
    paragraph.append(_make_run(text))
    return paragraph
