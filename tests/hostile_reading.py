"""Documents that try to use up all memory or time, and a program that ingests them.

Each document is small, and its name says what it overdoes: depth, width, attributes, entities,
ratios of compression, streams, encodings, or input on which a regular expression is slow. As a
program, ``python -m tests.hostile_reading FILE…`` reads documents one after the other, each
followed by an ordinary document. It divides them into chunks, extracts from the first chunks, and
writes a line of JSON for each document.
"""

from __future__ import annotations

import asyncio
import io
import json
import resource
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from pgs_neo4j.documents.read.worker import ParseWorker
from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import DocumentSource, DocumentText, RefusedDocument
from pgs_neo4j.text.chunking import chunk_document
from pgs_neo4j.text.extraction.ground import ground
from pgs_neo4j.text.local_extraction import extract_terms
from tests.papers_by_hand import WORD, make_docx, make_pdf, paragraph, pdf_of_objects

EXTRACTED = 30
"""Chunks of a document from which terms are extracted, so that large documents do not take minutes.
"""
SECONDS = 2
"""CPU time for documents that would take any amount of it; the product allows more."""
ENDLESS = frozenset(("same-page.pdf",))
ORDINARY = DocumentSource(id="ordinary.csv", data="id,text\n1,The Seine flows through Paris.\n")

Make = Callable[[], bytes]


def _columns(count: int, name: str = "c") -> str:
    return ",".join(f"{name}{number}" for number in range(count)) + "\n"


def _pack(size: int, inner: bytes = b"") -> bytes:
    """Compress so many megabytes of blanks, or data that is already compressed."""
    packing = zlib.compressobj(9)
    pieces = (b" " * 2**20 for _ in range(size))
    return b"".join((*map(packing.compress, pieces), packing.compress(inner), packing.flush()))


def _pdf_of_stream(content: bytes, filters: str = "/FlateDecode") -> bytes:
    """Return a PDF of one page with a compressed stream."""
    packed = content.decode("latin-1")
    return pdf_of_objects(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R "
            "/Resources << /Font << /F1 5 0 R >> >> >>",
            f"<< /Length {len(packed)} /Filter [{filters}] >>\nstream\n{packed}\nendstream",
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
    )


def _drawn(lines: int) -> bytes:
    return b"BT /F1 1 Tf 20 700 Td " + b"(a) Tj 0 -1 Td " * lines + b"ET"


def _nested_pages(depth: int) -> bytes:
    nodes = [
        f"<< /Type /Pages /Kids [{number + 1} 0 R] /Count 1 >>" for number in range(2, depth + 2)
    ]
    page = f"<< /Type /Page /Parent {depth + 1} 0 R /MediaBox [0 0 9 9] >>"
    return pdf_of_objects(["<< /Type /Catalog /Pages 2 0 R >>", *nodes, page])


def _same_page(count: int) -> bytes:
    page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"
    pages = f"<< /Type /Pages /Kids [{'3 0 R ' * count}] /Count {count} >>"
    return pdf_of_objects(["<< /Type /Catalog /Pages 2 0 R >>", pages, page])


def _titles_in_a_circle() -> bytes:
    return pdf_of_objects(
        [
            "<< /Type /Catalog /Pages 2 0 R /Outlines 4 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
            "<< /First 5 0 R /Last 6 0 R >>",
            "<< /Title (a) /Parent 4 0 R /Next 6 0 R /First 6 0 R >>",
            "<< /Title (b) /Parent 5 0 R /Next 5 0 R /First 5 0 R >>",
        ]
    )


def _pages_in_a_circle() -> bytes:
    pages = "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000000 >>"
    return pdf_of_objects(["<< /Type /Catalog /Pages 2 0 R >>", pages])


def _annotated(count: int) -> bytes:
    return pdf_of_objects(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Annots [{'4 0 R ' * count}] >>",
            "<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (a remark) >>",
        ]
    )


def _docx(body: str, **more: str | bytes) -> bytes:
    return make_docx(body, {name.replace("__", "/") + ".xml": part for name, part in more.items()})


def _many_parts() -> bytes:
    return make_docx(paragraph("a"), {f"word/media/{number}": b"" for number in range(20_000)})


def _same_part() -> bytes:
    """Return a docx whose directory lists the same stretch of the file many times."""
    packed = io.BytesIO(make_docx(paragraph("word " * 100_000)))
    with zipfile.ZipFile(packed, "a") as archive:
        (first,) = [one for one in archive.infolist() if one.filename == "word/document.xml"]
        archive.filelist.extend([first] * 5000)
        archive.comment = b"written again"
    return packed.getvalue()


def _entities() -> bytes:
    defined = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    body = f'<!DOCTYPE d [<!ENTITY e0 "ha">{defined}]><w:document xmlns:w="{WORD}">&e9;'
    return make_docx("", {"word/document.xml": f"{body}</w:document>"})


def _relations() -> bytes:
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/header"
    many = "".join(
        f'<Relationship Id="r{number}" Target="header1.xml" Type="{kind}"/>'
        for number in range(50_000)
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    header = f'<w:hdr xmlns:w="{WORD}">{paragraph("a header")}</w:hdr>'
    return make_docx(
        paragraph("a"),
        {
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{space}">{many}'
            "</Relationships>",
            "word/header1.xml": header,
        },
    )


def _stored(packed: bytes) -> bytes:
    """Return an archive without compression, which has no suspicious ratio."""
    again = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(again, "w") as new:
        for member in old.infolist():
            new.writestr(member.filename, old.read(member.filename))
    return again.getvalue()


def _cells(rows: int, columns: int) -> str:
    row = f"<w:tc>{paragraph('a')}</w:tc>" * columns
    return f"<w:tbl>{f'<w:tr>{row}</w:tr>' * rows}</w:tbl>"


def _nested_list(depth: int) -> str:
    return "".join(f"{'  ' * level}- a\n" for level in range(depth))


def _sections(count: int) -> str:
    marks = "=-~^#*+\"'`:._"
    return "".join(f"Part {n}\n{marks[n % len(marks)] * 9}\n\na\n\n" for n in range(count))


def _text(content: str) -> bytes:
    return content.encode()


def _html(body: str) -> bytes:
    return _text(f"<!doctype html><body>{body}")


JSON: Mapping[str, Make] = {
    "deep.json": lambda: b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
    "deep-lists.json": lambda: b"[" * 1_000_000 + b"]" * 1_000_000,
    "deep-open.json": lambda: b'{"a":' * 200_000,
    "deep-beside.json": lambda: b'[{"id":1,"text":"x"},' + b"[" * 400_000 + b"]" * 400_000 + b"]",
    "deep-in-list.json": lambda: b'{"a":[' * 100_000,
    "record.jsonl": lambda: b'{"v":[' + b"[1]," * 11_000_000 + b'[1]]}\n{"text":"a"}\n',
    "wide.json": lambda: json.dumps({f"column {n}": n for n in range(100_000)}).encode(),
    "deep-line.jsonl": lambda: b"[" * 1_000_000 + b"\n",
    "names.json": lambda: json.dumps(dict.fromkeys(map(str, range(400_000)), 1)).encode(),
    "numbers.json": lambda: b'[{"a":[' + b"1," * 3_000_000 + b"1]}]",
    "objects.json": lambda: b"[" + b"{}," * 300_000 + b"{}]",
    "objects-line.jsonl": lambda: b'{"a":[' + b"{}," * 2_000_000 + b"{}]}\n",
    "digits.json": lambda: b'[{"a":' + b"9" * 500_000 + b"}]",
    "digits.jsonl": lambda: b'{"a":' + b"9" * 500_000 + b"}\n",
    "lists.json": lambda: b"[]" * 1_000_000 + b'[{"a":1}]',
    "halves.jsonl": lambda: b'{"text":"' + rb"\ud800" * 500_000 + b'"}\n',
}
TABLES: Mapping[str, Make] = {
    "wide.csv": lambda: _text(_columns(50_000) + ",".join("1" * 50_000) + "\n"),
    "sheet.csv": lambda: _text(_columns(16_384) + (",".join("1" * 16_384) + "\n") * 5),
    "names.csv": lambda: _text(_columns(3000, "n" * 1000) + (",".join("1" * 3000) + "\n") * 20),
    "refused.csv": lambda: b"a,b\n" + b"1\n" * 300_000,
    "quoted.csv": lambda: b'a,b\n1,"' + b"x\n" * 1_000_000,
    "blank.csv": lambda: b"a,b\n" + b"\n" * 1_000_000 + b"1,2\n",
    "rows.tsv": lambda: b"a\n" + b"1\n" * 100_000,
    "marks.csv": lambda: _text("text\n" + "a" + "\u0300\u0323" * 500_000),
    "bytes.csv": lambda: b"a,b\n" + bytes(range(160, 256)) * 20_000,
    "line.csv": lambda: b"a,b\n" + b"x" * 8_000_000 + b",1\n",
}
TEXTS: Mapping[str, Make] = {
    "marks.txt": lambda: _text("a" + "\u0300\u0323" * 1_000_000),
    "line.txt": lambda: _text("x" * 3_000_000),
    "words.txt": lambda: _text("word " * 400_000),
    "ends.txt": lambda: _text("a. " * 300_000),
    "headings.md": lambda: _text("# a\n" * 200_000),
    "underlined.md": lambda: _text("a\n===\n" * 100_000),
    "quotes.md": lambda: _text("> " * 100_000 + "a\n" + ">" * 1_000_000),
    "brackets.md": lambda: _text("[" * 2_000_000),
    "links.md": lambda: _text("[a](" * 500_000),
    "rows.md": lambda: _text("|" * 3_000_000),
    "fences.md": lambda: _text("```\n" * 500_000),
    "parentheses.txt": lambda: _text("(" * 1_000_000 + "Abc (" * 300_000),
    "capitals.txt": lambda: _text("Aa " * 1_000_000),
    "blanks.txt": lambda: _text("a" + " \n" * 500_000 + "b" + " " * 500_000 + "."),
    "bytes.txt": lambda: bytes(range(128, 256)) * 20_000,
    "utf-16.txt": lambda: "\ud83d\ude00".encode("utf-16", "surrogatepass") * 500_000,
}
PAGES: Mapping[str, Make] = {
    "attributes.html": lambda: _html(f"<p {' '.join(f'a{number}' for number in range(300_000))}>a"),
    "many-attributes.html": lambda: _html(f"<p {' '.join(f'a{n}' for n in range(3000))}>a" * 100),
    "deep.html": lambda: _html("<div>" * 500_000 + "a"),
    "formats.html": lambda: _html("<b><i><a>" * 30_000 + "</b>" * 30_000 + "a"),
    "tables.html": lambda: _html("<table><tr><td>" * 50_000 + "a"),
    "lists.html": lambda: _html("<ul><li>a" * 100_000),
    "breaks.html": lambda: _html("a<br>" * 400_000),
    "drawing.html": lambda: _html("<svg>" * 2000 + "<text>a</text>" * 50_000),
    "choices.html": lambda: _html("<select>" + "<option selected>a" * 100_000),
    "menus.html": lambda: _html("<select><option selected>a</option>" * 100_000),
    "labels.html": lambda: _html("<svg>" + "<text>a" * 50_000),
    "unmatched.html": lambda: _html("<svg>" + "<g>" * 50_000 + "</h>" * 50_000),
    "broken-out.html": lambda: _html("<svg><p>" + "<div/>" * 50_000 + "a"),
    "broken-font.html": lambda: _html("<svg><font color=red>" + "<section/>" * 50_000 + "a"),
    "foreign.html": lambda: _html("<svg><foreignObject>" + "<section/>" * 50_000 + "a"),
    "paths.html": lambda: _html("<svg><desc><b>a</b></desc>" + "<path/>" * 100_000 + "</svg>a"),
    "references.html": lambda: _html("&amp;&#x1F600;" * 300_000),
}
PDFS: Mapping[str, Make] = {
    "packed.pdf": lambda: _pdf_of_stream(_pack(400)),
    "twice-packed.pdf": lambda: _pdf_of_stream(_pack(0, _pack(500)), "/FlateDecode /FlateDecode"),
    "lines.pdf": lambda: _pdf_of_stream(zlib.compress(_drawn(300_000))),
    "deep-pages.pdf": lambda: _nested_pages(50_000),
    "same-page.pdf": lambda: _same_page(200_000),
    "page-circle.pdf": _pages_in_a_circle,
    "title-circle.pdf": _titles_in_a_circle,
    "remarks.pdf": lambda: _annotated(200_000),
    "pages.pdf": lambda: make_pdf(["a"] * 5000),
}
OFFICE: Mapping[str, Make] = {
    "packed.docx": lambda: _docx(paragraph("a" * 60_000_000)),
    "ratio.docx": lambda: _docx("".join(paragraph(f"{number:x} word") for number in range(20_000))),
    "parts.docx": _many_parts,
    "same-part.docx": _same_part,
    "entities.docx": _entities,
    "relations.docx": _relations,
    "deep.docx": lambda: _docx("<w:p>" * 100_000 + "</w:p>" * 100_000),
    "deep-tables.docx": lambda: _docx(
        "<w:tbl><w:tr><w:tc>" * 20_000 + paragraph("a") + "</w:tc></w:tr></w:tbl>" * 20_000
    ),
    "attributes.docx": lambda: _docx(
        "<w:p " + " ".join(f'a{number}=""' for number in range(300_000)) + "/>"
    ),
    "runs.docx": lambda: _docx(f"<w:p>{'<w:r><w:t>a</w:t></w:r>' * 300_000}</w:p>"),
}
LARGE: Mapping[str, Make] = {
    "string.json": lambda: b'[{"text":"' + b"word " * 7_000_000 + b'"}]',
    "long-string.json": lambda: b'[{"text":"' + b"word " * 10_000_000 + b'"}]',
    "escapes.json": lambda: b'[{"text":"' + rb"\u0061" * 3_000_000 + b'"}]',
    "long-line.txt": lambda: b"word " * 6_000_000,
    "letters.txt": lambda: b"x" * 30_000_000,
    "spaces.txt": lambda: b" " * 30_000_000 + b"a",
    "spaced.txt": lambda: (b" " * 1000 + b"a\n") * 10_000,
    "sections.rst": lambda: _text(_sections(200_000)),
    "lists.md": lambda: _text(_nested_list(4000)),
    "items.md": lambda: _text("- " * 1_000_000 + "a\n" + "  - a\n" * 500_000),
    "blank.html": lambda: _html("a" + " " * 30_000_000 + "b"),
    "deeper.html": lambda: _html("<div>" * 4_000_000 + "a"),
    "ended.html": lambda: _html("<div>" * 1_500_000 + "a" + "</div>" * 1_500_000),
    "empty.docx": lambda: _stored(_docx("<w:p></w:p>" * 300_000)),
    "short.docx": lambda: _stored(_docx(paragraph("a") * 300_000)),
    "items.docx": lambda: _stored(_docx(paragraph("a", "ListBullet") * 100_000)),
    "cells.docx": lambda: _stored(_docx(_cells(6000, 8))),
    "row.docx": lambda: _stored(_docx(_cells(1, 60_000))),
    "breaks.docx": lambda: _stored(_docx(f"<w:p><w:r>{'<w:br/>' * 400_000}</w:r></w:p>")),
}
"""Documents that take seconds each, as long as all others together."""
GROUPS = {
    "JSON": JSON,
    "tables": TABLES,
    "texts": TEXTS,
    "pages": PAGES,
    "PDFs": PDFS,
    "office": OFFICE,
    "large": LARGE,
}
DOCUMENTS: Mapping[str, Make] = {
    name: make for group in GROUPS.values() for name, make in group.items()
}


def extract_some(text: DocumentText) -> int:
    """Divide a document into chunks, extract from the first chunks, and count all chunks."""
    chunks = chunk_document(text)
    first = [*islice(chunks, EXTRACTED)]
    for chunk in first:
        ground(extract_terms(chunk), chunk)
    return len(first) + sum(1 for _ in chunks)


async def ingest(loader: FileLoader, source: DocumentSource) -> dict[str, Any]:
    """Read a document as an ingestion does, and return what came of it."""
    documents = refused = chunks = 0
    said: list[str] = []
    try:
        async for one in loader.load(source):
            if isinstance(one, RefusedDocument):
                refused += 1
                said = said or [one.reason]
            else:
                documents += 1
                chunks += extract_some(one.text) if documents < EXTRACTED else 0
    except InputFileError as error:
        said.append(str(error))
    return {"documents": documents, "refused": refused, "chunks": chunks, "said": said}


def peaks_mb() -> tuple[int, int]:
    """Return the peak memory of this process, and the largest of its child processes."""
    own, started = (
        resource.getrusage(who).ru_maxrss // 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own, started


async def try_document(path: Path) -> dict[str, Any]:
    """Read a document, then an ordinary one with the same loader, and return what came of both."""
    worker = ParseWorker(seconds=SECONDS) if path.name in ENDLESS else ParseWorker()
    loader = FileLoader(worker=worker)
    result = await ingest(loader, DocumentSource(id=path.name, path=path))
    after = await ingest(loader, ORDINARY)
    await loader.close()
    own, parser = peaks_mb()
    return {"name": path.name, **result, "next": after["documents"], "own": own, "parser": parser}


def write(found: dict[str, Any]) -> None:
    """Write a line of JSON."""
    sys.stdout.write(f"{json.dumps(found)}\n")


async def main(names: list[str]) -> None:
    """Read documents. The first line that it writes says what an ordinary document takes."""
    loader = FileLoader()
    await ingest(loader, ORDINARY)
    await loader.close()
    write(dict(zip(("own", "parser"), peaks_mb(), strict=True)))
    for name in names:
        write(await try_document(Path(name)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
