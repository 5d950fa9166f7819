"""A docx is converted in pieces, and its text is the same as that of the whole."""

from __future__ import annotations

import io
import zipfile

import pytest

from pgs_neo4j.documents.read import docx, docx_stream
from pgs_neo4j.documents.read.docx import read_docx
from pgs_neo4j.documents.read.docx_parts import gather_text
from pgs_neo4j.errors import InputFileError
from tests.papers_by_hand import WORD, make_docx, paragraph

LEVELS = "".join(
    f'<w:lvl w:ilvl="{level}"><w:numFmt w:val="decimal"/></w:lvl>' for level in range(3)
)
NUMBERS = (
    f'<w:numbering xmlns:w="{WORD}"><w:abstractNum w:abstractNumId="0">{LEVELS}</w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
)
NOTES = "".join(
    f'<w:footnote w:id="{n}"><w:p><w:r><w:t>note {n}</w:t></w:r></w:p></w:footnote>'
    for n in range(12)
)
PARTS = {
    "word/numbering.xml": NUMBERS,
    "word/footnotes.xml": f'<w:footnotes xmlns:w="{WORD}">{NOTES}</w:footnotes>',
}


def item(text: str, level: int = 0) -> str:
    """The markup of an item of a numbered list."""
    return (
        f'<w:p><w:pPr><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr></w:pPr>'
        f"<w:r><w:t>{text}</w:t></w:r></w:p>"
    )


def reference(number: int) -> str:
    """The markup of a paragraph that refers to a note."""
    return f'<w:p><w:r><w:t>see</w:t></w:r><w:r><w:footnoteReference w:id="{number}"/></w:r></w:p>'


def marked(text: str, mark: str) -> str:
    """The markup of a paragraph whose end is marked."""
    return f"<w:p><w:pPr><w:rPr>{mark}</w:rPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def table(rows: int) -> str:
    """The markup of a table of two columns."""
    cells = (
        f"<w:tr><w:tc>{paragraph(f'a{n}')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr>"
        for n in range(rows)
    )
    return f"<w:tbl><w:tblPr/>{''.join(cells)}</w:tbl>"


BODY = (
    paragraph("Rivers", "Heading1"),
    *(item(f"item {n}") + item("inner", 1) for n in range(8)),
    table(9),
    *map(reference, range(11, -1, -1)),
    marked("first half, ", "<w:del/>") + paragraph("second half"),
    "<w:p/>",
    *(item(f"more {n}") for n in range(3)),
)


def read(*blocks: str) -> str:
    """The text of a document."""
    return read_docx(make_docx("".join(blocks), PARTS))[0].text


@pytest.mark.parametrize("size", [1, 5, 12, 40, 100])
def test_pieces_of_any_size_make_the_same_text(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    whole = read(*BODY)
    monkeypatch.setattr(docx, "PIECE", size)
    assert read(*BODY) == whole
    assert "8. item 7\n  1. inner\n\n| a0 | b |\n| a1 | b |" in whole
    assert "see[1]\n\nsee[2]" in whole
    assert "first half, second half" in whole
    assert whole.endswith(
        "1. more 0\n2. more 1\n3. more 2\n1. note 11 ↑\n"
        + "\n".join(f"{12 - n}. note {n} ↑" for n in range(10, -1, -1))
    )


def test_a_document_within_a_content_control_is_read_block_by_block() -> None:
    inner = (
        f"<w:sdt><w:sdtPr/><w:sdtContent>{paragraph('a')}{paragraph('b')}</w:sdtContent></w:sdt>"
    )
    data = make_docx(f"<w:sdt><w:sdtContent>{inner}{table(1)}</w:sdtContent></w:sdt>")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [docx_stream.local(block) for block in gather_text(archive).blocks]
    assert names == ["p", "p", "tbl"]
    assert read_docx(data)[0].text == "a\n\nb\n\n| a0 | b |"


def test_formats_never_become_part_of_a_tree() -> None:
    formats = '<w:rPr><w:b/><w:sz w:val="24"/></w:rPr>'
    runs = "".join(
        f'<w:r w:rsidR="00A1">{formats}<w:t xml:space="preserve">{word} </w:t></w:r>'
        for word in ["The", "Seine", "is", "long"]
    )
    data = make_docx(f'<w:p w:rsidR="1"><w:pPr><w:jc w:val="both"/></w:pPr>{runs}</w:p><w:p/>')
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        (block,) = gather_text(archive).blocks
    assert [docx_stream.local(one) for one in block.iter()] == ["p", "pPr", "r", "t"]
    assert "".join(block.itertext()) == "The Seine is long "


@pytest.mark.parametrize(
    ("limit", "module", "said"),
    [
        ("MOST_BLOCK", docx, "one of its paragraphs or rows has more than 30 elements"),
        ("MOST_CONVERTED", docx, "its text has more than 30 elements"),
        ("MOST_ELEMENTS", docx_stream, "one of its tables or other parts has more than 30"),
    ],
)
def test_a_document_of_more_elements_than_its_limits_is_refused(
    monkeypatch: pytest.MonkeyPatch, limit: str, module: object, said: str
) -> None:
    monkeypatch.setattr(module, limit, 30)
    breaks = f"<w:p><w:r>{'<w:br/>' * 40}</w:r></w:p>"
    body = paragraph("a") * 40 if limit == "MOST_CONVERTED" else breaks
    with pytest.raises(InputFileError, match=said):
        read_docx(make_docx(body))
    assert read_docx(make_docx(paragraph("a") * 5))[0].text == "a\n\na\n\na\n\na\n\na"


def test_what_a_deleted_row_says_stands_with_other_deleted_text() -> None:
    deleted = (
        f'<w:tr><w:trPr><w:del w:author="Ann"/></w:trPr><w:tc>{paragraph("old")}</w:tc>'
        f"<w:tc>{paragraph('row')}</w:tc></w:tr>"
    )
    body = table(1).replace("</w:tbl>", f"{deleted}</w:tbl>")
    text = read_docx(make_docx(body))[0].text
    assert text == "| a0 | b |\n\n# Deleted text\n\nDeleted by Ann: old row"


def test_a_note_whose_last_paragraph_was_deleted_ends_before_the_next_one() -> None:
    deleted = '<w:del w:id="1" w:author="Ann"/>'
    notes = "".join(
        f'<w:footnote w:id="{n}">{marked(f"note {n}", deleted)}</w:footnote>' for n in range(2)
    )
    body = reference(0) + reference(1) + marked("last", deleted)
    part = f'<w:footnotes xmlns:w="{WORD}">{notes}</w:footnotes>'
    text, _ = read_docx(make_docx(body, {"word/footnotes.xml": part}))
    assert text.text.split("\n\n") == [
        "see[1]",
        "see[2]",
        "last",
        "1. note 0 \u2191\n2. note 1 \u2191",
    ]
