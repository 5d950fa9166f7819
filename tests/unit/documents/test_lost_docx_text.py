"""All that a docx file holds beside its body is read, or named if it has no text."""

from __future__ import annotations

from itertools import repeat

import pytest

from pgs_neo4j.documents.read.docx import read_docx
from tests.papers_by_hand import make_docx_of_parts, paragraph

BODY = paragraph("The body.")
BOX = "<w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent>"
SHAPE = f"<wps:wsp><wps:txbx>{BOX}</wps:txbx></wps:wsp>"
OLD_SHAPE = f"<w:pict><v:shape><v:textbox>{BOX}</v:textbox></v:shape></w:pict>"


def run(inner: str) -> str:
    """A paragraph of one run with a text before something else."""
    return f"<w:p><w:r><w:t>Text</w:t></w:r><w:r>{inner}</w:r></w:p>"


def drawing(inner: str, about: str = "") -> str:
    """A drawing in a line of text, with what is said about it."""
    return (
        f'<w:drawing><wp:inline><wp:docPr id="1" name="Drawing 1" {about}/><a:graphic>'
        f"<a:graphicData>{inner}</a:graphicData></a:graphic></wp:inline></w:drawing>"
    )


def picture(part: str) -> str:
    """A picture that is a part of the file."""
    blip = f'<pic:blipFill><a:blip r:embed="{part}"/></pic:blipFill>'
    return f"<pic:pic>{blip}</pic:pic>"


def field(data: str, instruction: str) -> str:
    """A form field of old documents: what it holds is no text."""
    return (
        f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r><w:r>'
        f"<w:instrText>{instruction}</w:instrText></w:r>"
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def note(kind: str, text: str, id_: str = "1") -> str:
    """A footnote or an endnote."""
    return f'<w:{kind} w:id="{id_}">{paragraph(text)}</w:{kind}>'


ANCHORED = (
    '<w:p><w:r><w:t xml:space="preserve">The </w:t></w:r><w:commentRangeStart w:id="7"/><w:r>'
    '<w:t>body</w:t></w:r><w:commentRangeEnd w:id="7"/><w:r><w:commentReference w:id="7"/></w:r>'
    "<w:r><w:t>.</w:t></w:r></w:p>"
)
COMMENT = f'<w:comment w:id="7" w:author="Ann">{paragraph("Is it?")}{paragraph("No.")}</w:comment>'
CHANGED = (
    '<w:p><w:r><w:t xml:space="preserve">It costs </w:t></w:r>'
    '<w:del w:author="Bob"><w:r><w:delText>fi</w:delText></w:r></w:del>'
    '<w:del w:author="Bob"><w:r><w:delText>ve</w:delText></w:r></w:del>'
    '<w:ins w:author="Bob"><w:r><w:t>six</w:t></w:r></w:ins>'
    "<w:moveFrom><w:r><w:t> moved</w:t></w:r></w:moveFrom><w:r><w:t>.</w:t></w:r></w:p>"
    "<w:p><w:moveTo><w:r><w:t>moved</w:t></w:r></w:moveTo>"
    "</w:p>"
)


@pytest.mark.parametrize(
    ("body", "parts", "read"),
    [
        (
            BODY,
            {"header": paragraph("ACME 12"), "header2": paragraph("ACME 12"), "footer": BODY},
            "The body.\n\n# Headers and footers\n\nACME 12\n\nThe body.",
        ),
        (BODY, {"header": "<w:p/>", "footer": paragraph("12")}, "The body."),
        (
            run('<w:footnoteReference w:id="1"/>') + run('<w:endnoteReference w:id="1"/>'),
            {
                "footnotes": note("footnote", "Below.") + note("footnote", "Orphan.", "2"),
                "endnotes": note("endnote", "At the end."),
            },
            "Text[1]\n\nText[2]\n\n# Notes\n\nOrphan.\n\n1. Below. ↑\n2. At the end. ↑",
        ),
        (
            ANCHORED,
            {"comments": COMMENT},
            "The body.\n\n# Comments\n\nComment by Ann on “body”: Is it?\n\nNo.",
        ),
        (CHANGED, {}, "It costs six.\n\nmoved\n\n# Deleted text\n\nDeleted by Bob: five"),
        (run(drawing(SHAPE)), {}, "Text\n\nIn a box."),
        (run(OLD_SHAPE), {}, "Text\n\nIn a box."),
        (
            run(
                f'<mc:AlternateContent><mc:Choice Requires="wps">{drawing(SHAPE)}</mc:Choice>'
                f"<mc:Fallback>{OLD_SHAPE}</mc:Fallback></mc:AlternateContent>"
            ),
            {},
            "Text\n\nIn a box.",
        ),
        (
            BODY,
            {"header": run(drawing(SHAPE)) + run('<w:pict><v:shape><v:textpath string="DRAFT"/>'
                                                 "</v:shape></w:pict>")},
            "The body.\n\n# Headers and footers\n\nText\n\nIn a box.\n\nText DRAFT",
        ),
        (run(drawing(picture("image"), 'descr="A  kiln"')), {"image": b"0"}, "Text (A kiln)"),
        (
            run(drawing('<dgm:relIds r:dm="diagramData"/>')),
            {"diagramData": "<a:p><a:r><a:t>First</a:t></a:r></a:p><a:p><a:t>Then</a:t></a:p>"},
            "Text First; Then;",
        ),
        (
            '<w:p><m:oMath><m:f><m:fPr/><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2'
            "</m:t></m:r></m:den></m:f><m:r><m:t>=</m:t></m:r><m:sSup><m:e><m:r><m:t>x</m:t></m:r>"
            "</m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></w:p>",
            {},
            "(a+b)/(2)=x^(2)",
        ),
        (
            "<w:p><w:r><w:ruby><w:rt><w:r><w:t>かん</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t>"
            '</w:r></w:rubyBase></w:ruby></w:r><w:fldSimple w:instr="DATE"><w:r><w:t> 1 May</w:t>'
            "</w:r></w:fldSimple></w:p>",
            {},
            "漢(かん) 1 May",
        ),
        (
            "<w:p>"
            + field("<w:checkBox><w:checked/></w:checkBox>", "FORMCHECKBOX")
            + '<w:r><w:t xml:space="preserve"> agreed, </w:t></w:r>'
            + field(
                '<w:ddList><w:result w:val="1"/><w:listEntry w:val="red"/>'
                '<w:listEntry w:val="blue"/></w:ddList>',
                "FORMDROPDOWN",
            )
            + "</w:p>",
            {},
            "[x] agreed, blue",
        ),
        (
            "<w:sdt><w:sdtPr><w14:checkbox xmlns:w14="
            '"http://schemas.microsoft.com/office/word/2010/wordml"/></w:sdtPr><w:sdtContent><w:p>'
            "<w:r><w:t>☒ yes</w:t></w:r></w:p></w:sdtContent></w:sdt>",
            {},
            "☒ yes",
        ),
        (
            '<w:p><w:hyperlink r:id="gone"><w:r><w:t>a link</w:t></w:r></w:hyperlink></w:p>',
            {},
            "a link",
        ),
    ],
)  # fmt: skip
def test_what_stands_beside_the_body_is_read(
    body: str, parts: dict[str, str | bytes], read: str
) -> None:
    text, _ = read_docx(make_docx_of_parts(body, **parts))
    assert (text.text, text.unread) == (read, ())


@pytest.mark.parametrize(
    ("body", "parts", "unread"),
    [
        (BODY + run(drawing(picture("image"))), {"image": b"0"}, "1 picture without a description"),
        (
            BODY + run(drawing(picture("image"))) * 3 + run(drawing(picture("image2"))),
            {"image": b"0", "image2": b"1"},
            "2 pictures without a description",
        ),
        (BODY + run(drawing('<c:chart r:id="chart"/>')), {"chart": ""}, "1 chart"),
        (
            BODY + run('<w:object><v:shape><v:imagedata r:id="image"/></v:shape>'
                       '<o:OLEObject r:id="ole"/></w:object>'),
            {"image": b"0", "ole": b"1"},
            "1 embedded object",
        ),
        (BODY + '<w:altChunk r:id="aFChunk"/>', {"aFChunk": "text"}, "1 embedded document"),
        (
            BODY,
            {"header": run('<w:pict><v:shape><v:imagedata r:id="x"/></v:shape></w:pict>')},
            "1 picture without a description",
        ),
    ],
)  # fmt: skip
def test_what_has_no_text_is_named(body: str, parts: dict[str, str | bytes], unread: str) -> None:
    text, _ = read_docx(make_docx_of_parts(body, **parts))
    assert text.text.startswith("The body.")
    assert text.unread == (unread,)


def test_a_deep_and_wide_document_is_read_in_the_order_of_its_parts() -> None:
    cell = f"<w:tbl><w:tr><w:tc>{run(drawing(SHAPE))}</w:tc><w:tc>{BODY}</w:tc></w:tr></w:tbl>"
    text, _ = read_docx(make_docx_of_parts("".join(repeat(cell, 50))))
    assert text.text.count("In a box.") == 50
    assert text.text.splitlines()[0] == "| Text In a box. | The body. |"
