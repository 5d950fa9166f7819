"""What is read of PDF, docx, and HTML, and what is said of those that cannot be read."""

from __future__ import annotations

import io
import sys
import zipfile
from itertools import pairwise

import pytest

from pgs_neo4j.documents.read import docx
from pgs_neo4j.documents.read.docx import read_docx
from pgs_neo4j.documents.read.html import plain_text, read_html
from pgs_neo4j.documents.read.pdf import read_pdf
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import OutlineEntry
from pgs_neo4j.text.chunking import ChunkRules, chunk_document
from tests.papers_by_hand import WORD, make_docx, make_pdf, paragraph

SMALL = ChunkRules(size=20, overlap=0)
STYLES = (
    f'<w:styles xmlns:w="{WORD}"><w:style w:type="paragraph" w:styleId="Heading2">'
    '<w:name w:val="heading 2"/></w:style><w:style w:type="paragraph" w:styleId="Title">'
    '<w:name w:val="Title"/></w:style></w:styles>'
)


def test_chunks_of_a_pdf_know_their_page_and_the_titles_above_them() -> None:
    pages = ["Rivers\nThe Seine flows through Paris and to the sea."]
    pages += [f"Page {n} tells of boats.\nThere are {n} boats on it." for n in range(2, 6)]
    pages.append("Cities\nParis is a city. It is large and old, as cities are.\nSmall ones\nNone.")
    titles = [("Rivers", 0), ("Cities", 5), ("Not there", 5)]
    text, note = read_pdf(make_pdf(pages, titles))
    assert note == ""
    assert [text.text[a:b].strip() for a, b in pairwise((*text.page_starts, None))] == pages
    assert [entry.title for entry in text.outline] == ["Rivers", "Cities", "Not there"]
    chunks = [*chunk_document(text, SMALL)]
    assert "".join(chunk.text for chunk in chunks) == text.text
    starts = text.page_starts
    assert [one.page for one in chunks] == [sum(a <= one.start for a in starts) for one in chunks]
    assert {one.page for one in chunks} >= {1, 2, 5}
    assert {one.path for one in chunks[1:]} == {("Rivers",)}


def test_a_title_that_stands_on_its_page_begins_there() -> None:
    text, _ = read_pdf(make_pdf(["Some words.\nTHE  END of it"], [("The end", 0)]))
    at = text.text.index("THE")
    assert text.outline == (OutlineEntry(at, 1, "The end"),)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (make_pdf(["x"], encrypted=True), "it is encrypted; save it without a password"),
        (make_pdf(["", ""]), "its pages have no text, as if scanned; run text recognition"),
        (b"%PDF-1.7\ngarbage", "it is broken, or not a PDF"),
        (make_pdf(["text"])[:150], "it is broken, or not a PDF"),
        (b"plain words", "it is broken, or not a PDF"),
    ],
)
def test_a_pdf_without_readable_text_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(InputFileError, match=said):
        read_pdf(data)


def test_a_docx_has_headings_lists_and_tables() -> None:
    cells = "".join(f"<w:tc>{paragraph(word)}</w:tc>" for word in ("Seine", "777 km"))
    body = paragraph("Rivers", "Title") + paragraph("In France", "Heading2")
    body += paragraph("The Loire is é long.") + f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
        'relationships/styles" Target="styles.xml"/></Relationships>'
    )
    more = {"word/styles.xml": STYLES, "word/_rels/document.xml.rels": relations}
    text, _ = read_docx(make_docx(body, more))
    assert text.text == "# Rivers\n\n## In France\n\nThe Loire is é long.\n\n| Seine | 777 km |"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04 cut off", "it is broken, or not docx"),
        (make_docx("<w:p>"), "it is broken, or not docx"),
        (make_docx("", {"word/document.xml": "<a/>"}), "it is broken, or not docx"),
        (make_docx(""), "it has no text"),
        (make_docx("", {f"part{n}": "" for n in range(10_001)}), "it has 10,004 parts"),
        (make_docx("", {"zeros": b"0" * 3_000_000}), "it unpacks to over 100 times its size"),
        (
            make_docx("", {"word/document.xml": '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'}),
            "it defines XML entities",
        ),
        (
            make_docx("", {"word/x.xml": '<!DOCTYPE a [<!ENTITY x "y">]><a/>'.encode("utf-16")}),
            "it defines XML entities",
        ),
    ],
)
def test_a_docx_that_is_broken_or_a_bomb_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(InputFileError, match=said):
        read_docx(data)


@pytest.mark.parametrize("damage", ["packed", "method", "end"])
def test_a_docx_that_was_damaged_on_its_way_is_broken(damage: str) -> None:
    """Its parser would end with an error of its own, which tells a user nothing."""
    data = bytearray(make_docx("".join(map(paragraph, map(str, range(3000))))))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        part = archive.getinfo("word/document.xml")
    if damage == "packed":
        middle = part.header_offset + part.compress_size // 2
        data[middle : middle + 9] = b"\xff" * 9
    elif damage == "method":  # of the directory, where it stands ten bytes after its signature
        data[data.rindex(b"PK\x01\x02", 0, data.rindex(b"word/document.xml")) + 10] = 99
    else:
        place = data.rindex(b"PK\x01\x02", 0, data.rindex(b"word/document.xml")) + 20
        data[place : place + 4] = (2**30).to_bytes(4, "little")
    with pytest.raises(InputFileError, match="it is broken, or not docx"):
        read_docx(bytes(data))


def test_a_docx_that_would_unpack_to_too_much_is_not_unpacked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(docx, "MOST_UNPACKED", 1000)
    with pytest.raises(InputFileError, match="it unpacks to 1 MiB; at most 0 are read"):
        read_docx(make_docx("", {"words": b"0123456789" * 104_858}))


PAGE = """
<html><head><title>Rivers &amp; seas</title><style>p {}</style></head><body>
<nav><ul><li>Home</li><li>About <b>us</b></li></ul></nav>
<h2>The   Seine</h2><p>It flows<em> through</em> Paris.<br>It is long.</p>
<script>alert("x")</script><p hidden>a</p><p style="color: red; DISPLAY : none">b</p>
<p aria-hidden="true">c</p><template><p>d</p></template><select><option>e</option></select>
<ol><li>First<ul><li>Inner</li></ul></li><li><p>Second</p></li></ol>
<table><tr><th>River</th><th>km</th></tr>
<tr><td>Seine<p>in France</p></td><td><table><tr><td>777</td></tr></table></td></tr></table>
<pre>
a =  1
b = 2</pre>The &lt;end&gt;.</body></html>
"""
READ = """\
# Rivers & seas

- Home
- About us

## The Seine

It flows through Paris.
It is long.

1. First
  - Inner
2. Second

| River | km |
| Seine in France | 777 |

```
a =  1
b = 2
```

The <end>."""


def test_a_page_is_read_in_blocks_without_what_is_hidden() -> None:
    text, note = read_html(PAGE.encode())
    assert (text.text, note) == (READ, "")
    kinds = [s.kind for chunk in chunk_document(text) for s in chunk.sentences]
    assert kinds.count("heading") == 2
    assert kinds.count("row") == 2


def test_a_title_is_left_out_if_the_page_has_a_heading_of_its_own() -> None:
    assert plain_text("<title>Site - A</title><h1>A</h1>b") == "# A\n\nb"


@pytest.mark.parametrize(
    ("html", "read", "unread"),
    [
        ("<p>See <img src=a.png alt='A  kiln'> here", "See (A kiln) here", ()),
        ("<p>See<img src=a.png><img src=b.png alt=''>", "See", ()),
        ("<svg><title>Icon</title><text>Ash</text><g><text>Oak</text></g></svg>", "Ash Oak", ()),
        ("<label>Name <input value=Ada></label><input type=hidden value=x>", "Name Ada", ()),
        (
            "<input type=password value=x>a<input type=radio checked>b<input type=radio>c",
            "a [x] bc",
            (),
        ),
        ("<select><option>a<option selected>b</select> <textarea>c\nd</textarea>", "b c d", ()),
        (
            f"a<img src='data:image/png;base64,{'A' * 3000}'><img src='data:image/gif;base64,AA'>",
            "a",
            ("1 picture without a description",),
        ),
    ],
)
def test_words_of_pictures_and_forms_are_read(
    html: str, read: str, unread: tuple[str, ...]
) -> None:
    text, _ = read_html(html.encode())
    assert (text.text, text.unread) == (read, unread)


@pytest.mark.parametrize("html", ["", "<title>", "<p hidden>x", "<!-- x -->", "<td>", "</p></td>"])
def test_a_page_without_text_is_refused(html: str) -> None:
    with pytest.raises(InputFileError, match="it has no text"):
        read_html(html.encode())


def test_formats_within_words_of_a_nested_table_divide_none() -> None:
    inner = "<table><tr><td><b>Sei</b>ne<td>777 km</table>"
    assert plain_text(f"<table><tr><td>{inner}<td>France</table>") == "| Seine 777 km | France |"


def test_unbalanced_and_deeply_nested_elements_are_read() -> None:
    assert plain_text("<b><i>a</b>b</i><li>c</ol></table>d<tr><td>e") == "ab\n\n- cde"
    assert plain_text("<div>" * 3000 + "deep") == "deep"
    assert plain_text("<ul>" * 300 + "<li>deep").strip() == "- deep"


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("<meta charset=windows-1251>Москва".encode("cp1251"), "", "Москва"),
        (
            '<meta http-equiv=a content="text/html; charset=koi8-r">Москва'.encode("koi8-r"),
            "",
            "Москва",
        ),
        ("<meta charset=utf-8>Москва".encode("cp1251"), "windows-1251", "Москва"),
        ("<meta charset=iso-8859-1>“é”".encode("cp1252"), "", "“é”"),
        ("<meta charset=nonsense>é".encode(), "", "é"),
        ("<meta charset=utf-16>é".encode(), "", "é"),
        ("é".encode("utf-16"), "", "é"),
    ],
)
def test_a_page_says_how_it_is_encoded(data: bytes, charset: str, text: str) -> None:
    assert read_html(data, charset)[0].text == text


@pytest.mark.parametrize(
    ("library", "read", "data"),
    [
        ("selectolax.lexbor", read_html, b"a"),
        ("pypdfium2", read_pdf, make_pdf(["a"])),
        ("mammoth", read_docx, make_docx(paragraph("a"))),
    ],
)
def test_without_the_extra_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, library: str, read: object, data: bytes
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    assert callable(read)
    with pytest.raises(InputFileError, match=rf"needs the package {library}; .*\[documents\]"):
        read(data)
