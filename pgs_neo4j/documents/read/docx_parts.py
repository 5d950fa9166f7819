"""Brings all text of a docx file into blocks, in forms that mammoth reads.

mammoth reads the body and its notes. It leaves out what is drawn (text boxes, equations, and the
alternative texts of pictures), what surrounds the body (headers, footers), and what is said about
it (comments, tracked deletions). Here all of that becomes paragraphs. What has no text is counted.
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
"""Characters of the text that a comment is about, as they stand before it."""
PAGE_DIGITS = 4
"""Digits that a page number may have; a header without more says nothing."""
ROOT_RELATIONS = "_rels/.rels"
READ = frozenset(
    (
        *("p", "pPr", "pStyle", "numPr", "ilvl", "numId", "rPr", "del", "r", "t", "tab", "br"),
        *("noBreakHyphen", "softHyphen", "sym", "tbl", "tr", "trPr", "tc", "tcPr", "gridSpan"),
        *("vMerge", "ins", "moveTo", "sdt", "sdtContent", "pict", "textbox", "txbxContent"),
        *("footnote", "endnote", "comment"),
    )
)
"""Elements of which mammoth makes text, what it needs to know about them, and what holds notes."""
TRANSPARENT = frozenset(("fldSimple", "dir", "bdo", "hyperlink", "smartTag", "customXml"))
"""Elements whose children stand for them; mammoth drops the first three, and a link of a header
names a target that the body does not have."""
DROPPED = frozenset(("moveFrom", "commentReference", "annotationRef"))
"""What is moved stands where it was moved to."""
DRAWN = frozenset(("drawing", "pict", "object"))
NAMES = {
    "picture": ("picture without a description", "pictures without a description"),
    "chart": ("chart", "charts"),
    "object": ("embedded object", "embedded objects"),
    "document": ("embedded document", "embedded documents"),
    "ink": ("piece of handwriting", "pieces of handwriting"),
}
"""What has no text that is read, one and several of it."""
_EQUATION = {"sSup": ("^",), "sSub": ("_",), "sSubSup": ("_", "^"), "f": ("/",)}
"""Signs between the parts of an equation."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the file, with what its relationships lead to: kind and path by id."""

    name: str
    targets: Mapping[str, tuple[str, str]]
    nameless: Iterator[int] = field(default_factory=count)


Note = tuple[str, str]
"""What a reference leads to: ``footnote`` or ``endnote``, and its id."""


@dataclass(slots=True)
class Seen:
    """What was met on the way. ``deleted`` are authors and texts, by paragraph.

    ``anchors`` are the texts that comments are about, and ``open`` the comments whose text has
    begun. ``notes`` are those that the text refers to, in their order. ``wordless`` holds each
    picture or object once, however often a header repeats it.
    """

    deleted: dict[tuple[int, str], str] = field(default_factory=dict)
    anchors: dict[str, str] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    notes: list[Note] = field(default_factory=list)
    wordless: set[tuple[str, str]] = field(default_factory=set)
    paragraphs: int = 0

    @property
    def unread(self) -> tuple[str, ...]:
        """What is not read, in words."""
        counts = Counter(kind for kind, _ in self.wordless)
        return tuple(
            f"{counts[kind]:,} {words[counts[kind] > 1]}"
            for kind, words in NAMES.items()
            if counts[kind]
        )


@dataclass(slots=True)
class GatheredText:
    """The text of a docx as blocks. ``blocks`` are read once, and only then ``notes`` are known.

    ``notes`` are those that the text refers to, in the order of their references. ``styles`` are
    the parts that say which paragraphs are headings, and which are items of lists.
    """

    blocks: Iterator[Element]
    styles: Mapping[str, Element]
    seen: Seen
    notes: list[Sequence[Element]] = field(default_factory=list)


def gather_text(archive: zipfile.ZipFile) -> GatheredText:
    """Return all text of a docx.

    This and its blocks raise InputFileError, KeyError for a document without a body, and
    ParseError.
    """
    names = set(archive.namelist())
    main = next(
        (path for kind, path in _targets(archive, names, "").values() if kind == "officeDocument"),
        "word/document.xml",
    )
    part = _Part(main, _targets(archive, names, main))
    found = {kind: _find(part, names, kind) for kind in ("styles", "numbering")}
    styles = {kind: read_tree(archive, path) for kind, path in found.items() if path in names}
    gathered = GatheredText(iter(()), styles, Seen())
    gathered.blocks = _blocks(archive, names, part, gathered)
    return gathered


def _blocks(
    archive: zipfile.ZipFile, names: set[str], part: _Part, gathered: GatheredText
) -> Iterator[Element]:
    """Yield the blocks of the body, and after them those of what is beside it."""
    seen = gathered.seen
    for block in stream_blocks(archive, part.name):
        yield from _read_block(block, part, archive, seen)
    referred, added = [*seen.notes], list[Element]()
    found: dict[Note, Sequence[Element]] = {}
    for kind in ("footnote", "endnote"):
        path = _find(part, names, f"{kind}s")
        if path in names:
            root, notes = _open(archive, names, path)
            _rewrite(root, notes, archive, seen)
            added += _unreferenced(root, kind, {*referred})
            found |= {(kind, _get(note, "id")): [*note] for note in root if local(note) == kind}
    gathered.notes += (found[note] for note in referred)
    around = [*_around(archive, names, part, seen)]
    comments = [*_comments(archive, names, part, seen)]
    for title, section in (
        ("Notes", added),
        ("Headers and footers", around),
        ("Comments", comments),
        ("Deleted text", [*_deleted(seen)]),
    ):
        if section:
            yield make_paragraph(title, style="Heading1")
            yield from section


def _read_block(
    block: Element, part: _Part, archive: zipfile.ZipFile, seen: Seen
) -> Iterator[Element]:
    """Yield what stands for a block of the body, unless that is an empty paragraph."""
    for one in _replace(block, part, archive, seen):
        if local(one) != "p" or any(local(child) != "pPr" for child in one):
            yield one


def _open(archive: zipfile.ZipFile, names: set[str], name: str) -> tuple[Element, _Part]:
    """Return a part of the file, which defines no entities: such a file was refused before."""
    return read_tree(archive, name), _Part(name, _targets(archive, names, name))


def _relations_of(name: str) -> str:
    folder, _, base = name.rpartition("/")
    return posixpath.join(folder, "_rels", f"{base}.rels")


def _targets(archive: zipfile.ZipFile, names: set[str], name: str) -> dict[str, tuple[str, str]]:
    """Return what the relationships of a part lead to within the file, by id."""
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
    """Return the path of the part of a kind, or the one that such a part has by custom."""
    found = (path for own, path in part.targets.values() if own == kind and path in names)
    return next(found, f"word/{kind}.xml")


def _rewrite(parent: Element, part: _Part, archive: zipfile.ZipFile, seen: Seen) -> None:
    """Put what mammoth reads in place of what it does not, in all that is below an element."""
    if local(parent) == "p":
        seen.paragraphs += 1
    replaced = (new for old in parent for new in _replace(old, part, archive, seen))
    parent[:] = [*_joined(one for one in replaced if local(one) in READ)]


def _joined(children: Iterable[Element]) -> Iterator[Element]:
    """Yield elements, of which runs side by side are one, and texts side by side as well.

    Word begins a run at each change of format, and with each session of writing.
    """
    for name, group in groupby(children, key=local):
        if name == "r":
            runs = [*group]
            runs[0][:] = [*_joined([inner for run in runs for inner in run])]
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
    """Return what stands for an element."""
    name = local(one)
    if name == "AlternateContent":
        return _choose(one, part, archive, seen)
    if name in DRAWN:
        return [*_drawn(one, part, archive, seen)]
    if name in DROPPED:
        return ()
    if name == "del" and len(one):  # else it says that the mark of a paragraph or a row is deleted
        _note_deletion(one, seen, _get(one, "author"))
        return ()
    if name == "tr" and (author := _deleting(one)) is not None:
        _note_deletion(one, seen, author)
        return ()
    if name in ("oMath", "ruby"):
        text = _linear(one) if name == "oMath" else _ruby(one)
        return [_run(text)] if name == "oMath" else [_text(text)]
    if name in ("altChunk", "subDoc"):
        seen.wordless.add(("document", _any_target(one, part)))
        return ()
    if name == "contentPart":
        seen.wordless.add(("ink", _any_target(one, part)))
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
        return [_text(f"[{len(seen.notes)}]")]
    elif name == "fldChar":
        return [*_form_value(one)]
    _rewrite(one, part, archive, seen)
    return [*one] if name in TRANSPARENT or name == "oMathPara" else [one]


def _choose(one: Element, part: _Part, archive: zipfile.ZipFile, seen: Seen) -> Sequence[Element]:
    """Return what stands for several forms of the same."""
    chosen = _richest(one)
    _rewrite(chosen, part, archive, seen)
    return [*chosen]


def _richest(one: Element) -> Element:
    """Return the first of several forms of the same that has text, else the first one."""
    forms = [form for form in one if local(form) in ("Choice", "Fallback")]
    return next((form for form in forms if _has_text(form)), (forms or [Element("none")])[0])


def _has_text(form: Element) -> bool:
    return any(
        (local(one) == "t" and (one.text or "").strip()) or _description(one) for one in form.iter()
    )


def _drawn(one: Element, part: _Part, archive: zipfile.ZipFile, seen: Seen) -> Iterator[Element]:
    """Yield what is written in a drawing, and what is said of its pictures."""
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
            pictures.append(_any_target(inner, part))
        elif name == "chart":
            seen.wordless.add(("chart", _any_target(inner, part)))
        elif name in ("OLEObject", "control"):
            seen.wordless.add(("object", _any_target(inner, part)))
            explained = True  # the picture is that of the object
        elif name == "contentPart":
            seen.wordless.add(("ink", _any_target(inner, part)))
        elif name == "relIds":
            words += _diagram(inner, part, archive)
        elif name == "t" and inner.text:
            words.append(inner.text)
        elif name == "textpath" and inner.get("string"):
            words.append(inner.get("string", ""))
        elif name == "decorative" and inner.get("val") != "0":
            explained = True
        if description := _description(inner):
            said[description] = None
    if not said and not explained:
        seen.wordless |= {("picture", path) for path in pictures}
    if said:
        yield _text(f" ({'; '.join(' '.join(text.split()) for text in said)}) ")
    if words:
        yield _text(f" {' '.join(words)} ")
    for box in boxes:
        # In this old form, mammoth reads a box, after the paragraph that it is anchored in.
        pict = Element(f"{{{WORD}}}pict")
        box.tag = f"{{{WORD}}}txbxContent"
        SubElement(pict, f"{{{VML}}}textbox").append(box)
        yield pict


def _within_drawing(one: Element) -> Iterator[Element]:
    """Yield the elements of a drawing in their order, but not those within a text box."""
    for inner in one:
        chosen = _richest(inner) if local(inner) == "AlternateContent" else inner
        yield chosen
        if local(chosen) != "txbxContent":
            yield from _within_drawing(chosen)


def _description(one: Element) -> str:
    """Return what an element says in words about a picture, empty if it says nothing."""
    name = local(one)
    if name == "docPr":
        return (one.get("descr") or one.get("title") or "").strip()
    if name in ("shape", "rect", "roundrect", "oval"):
        return (one.get("alt") or "").strip()
    return ""


def _diagram(one: Element, part: _Part, archive: zipfile.ZipFile) -> list[str]:
    """Return the texts of a diagram, whose data are a part of their own."""
    path = part.targets.get(_get(one, "dm"), ("", ""))[1]
    if path not in archive.namelist():
        return []
    root = read_tree(archive, path)
    paragraphs = (node for node in root.iter() if local(node) == "p")
    texts = ("".join(_texts(paragraph)).strip() for paragraph in paragraphs)
    return [f"{text};" for text in texts if text]


def _deleting(row: Element) -> str | None:
    """Return who deleted a row of a table, None if it was not deleted."""
    marks = (mark for inner in row if local(inner) == "trPr" for mark in inner)
    return next((_get(mark, "author") for mark in marks), None)


def _note_deletion(one: Element, seen: Seen, author: str) -> None:
    text = " ".join("".join(_texts(part, "delText", "t")) for part in _paragraphs(one))
    if text:
        place = seen.paragraphs, author
        seen.deleted[place] = seen.deleted.get(place, "") + text


def _paragraphs(one: Element) -> Sequence[Element]:
    """Return the paragraphs within an element, or what is within one itself."""
    return [inner for inner in one.iter() if local(inner) == "p"] or [one]


def _deleted(seen: Seen) -> Iterator[Element]:
    for (_, author), text in seen.deleted.items():
        if text.strip():
            by = f" by {author}" if author else ""
            yield make_paragraph(f"Deleted{by}: {text.strip()}")


def _unreferenced(root: Element, kind: str, referred: Container[Note]) -> Iterator[Element]:
    """Yield the paragraphs of notes to which no reference leads any more."""
    for note in root:
        known = (kind, _get(note, "id")) in referred
        if not known and local(note) == kind and _get(note, "type") in ("", "normal"):
            yield from note


def _around(
    archive: zipfile.ZipFile, names: set[str], main: _Part, seen: Seen
) -> Iterator[Element]:
    """Yield the content of headers and footers, each text once."""
    known: set[str] = set()
    # Sections share headers, so that many relationships may lead to the same one.
    found = (path for kind, path in main.targets.values() if kind in ("header", "footer"))
    for path in dict.fromkeys(path for path in found if path in names):
        root, part = _open(archive, names, path)
        _rewrite(root, part, archive, seen)
        text = " ".join("".join(_texts(root)).split())
        letters = [letter for letter in text if letter.isalnum()]
        says = len(letters) > PAGE_DIGITS or any(map(str.isalpha, letters))
        if says and text not in known:
            known.add(text)
            yield from root


def _comments(
    archive: zipfile.ZipFile, names: set[str], main: _Part, seen: Seen
) -> Iterator[Element]:
    """Yield the paragraphs of comments, with who made each, and about what."""
    path = _find(main, names, "comments")
    if path not in names:
        return
    root, part = _open(archive, names, path)
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
        lead = _run(f"Comment{by}{on}: ")
        if first is None:
            yield make_paragraph(f"Comment{by}{on}:")
        else:
            at = 1 if len(first) and local(first[0]) == "pPr" else 0
            first.insert(at, lead)
        yield from comment


def _form_value(one: Element) -> Iterator[Element]:
    """Yield the value of a form field that no text shows: a ticked box, or the chosen entry."""
    for data in (child for child in one if local(child) == "ffData"):
        for control in data:
            values = {local(child): _get(child, "val") for child in control}
            if local(control) == "checkBox":
                ticked = values.get("checked", values.get("default", "0"))
                yield _text("[ ]" if ticked in ("0", "false") else "[x]")
            elif local(control) == "ddList":
                entries = [_get(child, "val") for child in control if local(child) == "listEntry"]
                place = values.get("result") or values.get("default") or "0"
                if place.isdecimal() and int(place) < len(entries):
                    yield _text(entries[int(place)])


def _linear(one: Element) -> str:
    """Return an equation in one line: ``(a+b)/(2)``, ``x^(2)``, ``sqrt(x)``."""
    name = local(one)
    if name == "t":
        return one.text or ""
    if name == "chr":  # such as the sign of a sum
        return _get(one, "val")
    inner = [_linear(child) for child in one if not local(child).endswith("Pr") or name == "nary"]
    if name in _EQUATION and inner:
        first = f"({inner[0]})" if name == "f" else inner[0]
        rest = zip(_EQUATION[name], inner[1:], strict=False)
        return first + "".join(f"{sign}({text})" for sign, text in rest)
    text = "".join(inner)
    if name == "rad":
        return f"sqrt({text})"
    return f"({text})" if name == "d" else text


def _ruby(one: Element) -> str:
    """Return a word with how it is read in parentheses."""
    base, reading = (
        "".join(text for child in one if local(child) == name for text in _texts(child))
        for name in ("rubyBase", "rt")
    )
    return f"{base}({reading})" if reading else base


def _texts(one: Element, *names: str) -> Iterator[str]:
    wanted = names or ("t",)
    return (node.text or "" for node in one.iter() if local(node) in wanted)


def _any_target(one: Element, part: _Part) -> str:
    """Return what an element's relationship leads to, so that what is shown twice counts once."""
    ids: Iterable[str] = (value for key, value in one.attrib.items() if value in part.targets)
    return next((part.targets[id_][1] for id_ in ids), f"{part.name} {next(part.nameless)}")


def _get(one: Element, name: str) -> str:
    """Return an attribute, whichever of the two namespaces of Word it has."""
    return next((value for key, value in one.attrib.items() if key.endswith(f"}}{name}")), "")


def _text(text: str) -> Element:
    element = Element(f"{{{WORD}}}t", {SPACE: "preserve"})
    element.text = text
    return element


def _run(text: str) -> Element:
    run = Element(f"{{{WORD}}}r")
    run.append(_text(text))
    return run


def make_paragraph(text: str, *, style: str = "") -> Element:
    """Return a paragraph of one run."""
    paragraph = Element(f"{{{WORD}}}p")
    if style:
        properties = SubElement(paragraph, f"{{{WORD}}}pPr")
        SubElement(properties, f"{{{WORD}}}pStyle", {f"{{{WORD}}}val": style})
    paragraph.append(_run(text))
    return paragraph
