"""PDF and docx files made by hand, for tests of their readers."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

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


def make_pdf(
    pages: Sequence[str], titles: Sequence[tuple[str, int]] = (), *, encrypted: bool = False
) -> bytes:
    """A PDF with these lines of text on its pages, and titles that lead to pages from 0."""
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


def make_docx(body: str, more: Mapping[str, str | bytes] | None = None) -> bytes:
    """A docx file with this markup in its body, and more parts or others."""
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


def paragraph(text: str, style: str = "") -> str:
    """The markup of a paragraph, of a style such as ``Heading1``."""
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t>{text}</w:t></w:r></w:p>"
