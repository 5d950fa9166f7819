"""PDF and docx files made by hand, for tests of their readers."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

DOCX_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    'content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
    'relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.'
    'openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
DOCX_RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    'relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/'
    '2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
)
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SPACES = " ".join(
    f'xmlns:{prefix}="{space}"'
    for prefix, space in {
        "w": WORD,
        "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
        "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
        "v": "urn:schemas-microsoft-com:vml",
        "o": "urn:schemas-microsoft-com:office:office",
    }.items()
)
"""The XML namespaces of a docx file."""


def make_pdf(
    pages: Sequence[str], titles: Sequence[tuple[str, int]] = (), *, encrypted: bool = False
) -> bytes:
    """Return a PDF with these lines of text on its pages, and titles that lead to pages, from 0."""
    first = 4 + 2 * len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    outlines = f"/Outlines {first} 0 R" if titles else ""
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {outlines} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, page in enumerate(pages):
        drawn = "".join(f"({line}) Tj 0 -14 Td " for line in page.split("\n") if line)
        content = f"BT /F1 12 Tf 20 700 Td {drawn}ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    if titles:
        last = first + len(titles)
        objects.append(f"<< /First {first + 1} 0 R /Last {last} 0 R /Count {len(titles)} >>")
        for place, (title, page_index) in enumerate(titles, start=first + 1):
            after = f"/Next {place + 1} 0 R" if place < last else ""
            target = f"[{4 + 2 * page_index} 0 R /Fit]"
            objects.append(f"<< /Title ({title}) /Parent {first} 0 R /Dest {target} {after} >>")
    trailer = f"/Size {len(objects) + 1} /Root 1 0 R"
    if encrypted:
        key = "00" * 32
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >>")
        trailer += f" /Encrypt {len(objects)} 0 R /ID [<00> <00>]"
    return _joined(objects, trailer)


@dataclass(frozen=True, slots=True)
class PageDrawing:
    """What is drawn on a page of 600 by 800 units, and the annotations on top of it.

    ``texts`` are strings with the positions of their first letters, in the order of drawing.
    ``pictures`` are boxes: left, bottom, width, and height. ``paths`` counts short lines.
    ``annotations`` are entries of their dictionaries; an entry with ``/T`` and ``/FT`` is a form
    field.
    """

    texts: Sequence[tuple[float, float, str]] = ()
    pictures: Sequence[tuple[float, float, float, float]] = ()
    paths: int = 0
    annotations: Sequence[str] = ()


def draw_pdf(pages: Sequence[PageDrawing], files: Sequence[str] = ()) -> bytes:
    """Return a PDF of these pages, with attached files of these names."""
    objects = [
        "",
        "",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray "
        "/BitsPerComponent 8 /Length 1 >>\nstream\n0\nendstream",
    ]

    def add(content: str) -> str:
        objects.append(content)
        return f"{len(objects)} 0 R"

    kids, fields = [], []
    for page in pages:
        over = [add(f"<< /Type /Annot /Rect [50 50 90 90] {one} >>") for one in page.annotations]
        pairs = zip(over, page.annotations, strict=True)
        fields += [ref for ref, one in pairs if "/FT" in one or "/Subtype /Widget" in one]
        contents = add(_stream(_drawn(page)))
        kids.append(
            add(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {contents} "
                f"/Annots [{' '.join(over)}] /Resources << /Font << /F1 3 0 R >> "
                "/XObject << /Im 4 0 R >> >> >>"
            )
        )
    held = [f"({name}) {add(_attached(name, add(_stream('data'))))}" for name in files]
    objects[0] = (
        f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{' '.join(fields)}] >> "
        f"/Names << /EmbeddedFiles << /Names [{' '.join(held)}] >> >> >>"
    )
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    return _joined(objects, f"/Size {len(objects) + 1} /Root 1 0 R")


def _drawn(page: PageDrawing) -> str:
    texts = (f"BT /F1 12 Tf {x} {y} Td ({text}) Tj ET" for x, y, text in page.texts)
    pictures = (f"q {w} 0 0 {h} {x} {y} cm /Im Do Q" for x, y, w, h in page.pictures)
    paths = (f"{20 + n} 100 m {20 + n} 110 l S" for n in range(page.paths))
    return "\n".join((*texts, *pictures, *paths))


def _stream(content: str) -> str:
    return f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"


def _attached(name: str, stream: str) -> str:
    return f"<< /Type /Filespec /F ({name}) /UF ({name}) /EF << /F {stream} >> >>"


def rows(
    *columns: Iterable[str], lefts: Sequence[float] = (60, 320), top: float = 700
) -> list[tuple[float, float, str]]:
    """Return columns of lines, drawn row by row."""
    return [
        (left, top - 14 * place, line)
        for place, row in enumerate(zip(*columns, strict=True))
        for left, line in zip(lefts, row, strict=True)
        if line
    ]


def _joined(objects: Sequence[str], trailer: str) -> bytes:
    file = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(file))
        file += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start = len(file)
    file += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    return bytes(file + f"trailer\n<< {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode())


def pdf_of_objects(objects: Sequence[str]) -> bytes:
    """Return a PDF of these objects, numbered from 1; the first one is its catalog."""
    return _joined(objects, f"/Size {len(objects) + 1} /Root 1 0 R")


def make_docx(body: str, more: Mapping[str, str | bytes] | None = None) -> bytes:
    """Return a docx file with this markup in its body, and with additional or replaced parts."""
    document = (
        f'<?xml version="1.0"?><w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    )
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": DOCX_TYPES,
        "_rels/.rels": DOCX_RELATIONS,
        "word/document.xml": document,
        **(more or {}),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return packed.getvalue()


def make_docx_of_parts(body: str, **parts: str | bytes) -> bytes:
    """Return a docx file with parts, each named by its kind, such as ``header`` or ``header2``.

    The name is also the id of the relationship. Markup is wrapped in the root element of its kind.
    """
    roots = {"header": "hdr", "footer": "ftr"}
    relations, more = [], dict[str, str | bytes]()
    for name, content in parts.items():
        kind = name.rstrip("0123456789")
        path = f"{name}.xml" if isinstance(content, str) else f"media/{name}.png"
        relations.append(
            f'<Relationship Id="{name}" Target="{path}" Type="http://schemas.openxmlformats.org/'
            f'officeDocument/2006/relationships/{kind}"/>'
        )
        root = roots.get(kind, kind)
        more[f"word/{path}"] = (
            f"<w:{root} {SPACES}>{content}</w:{root}>" if isinstance(content, str) else content
        )
    more["word/_rels/document.xml.rels"] = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f"{''.join(relations)}</Relationships>"
    )
    document = f"<w:document {SPACES}><w:body>{body}</w:body></w:document>"
    return make_docx("", {**more, "word/document.xml": document})


def paragraph(text: str, style: str = "") -> str:
    """Return the markup of a paragraph with a style such as ``Heading1``."""
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t>{text}</w:t></w:r></w:p>"
