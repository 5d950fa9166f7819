"""Text of a document beside its body is read; what cannot be read is named with its page."""

from __future__ import annotations

import pytest

from pgs_neo4j.documents.read.columns import Word, join_lines, order_columns
from pgs_neo4j.documents.read.pdf import list_pages, read_pdf
from pgs_neo4j.errors import InputFileError
from tests.papers_by_hand import PageDrawing, draw_pdf, rows

WIDE = [(50, 700, "This page has real text about kilns and ash glazes in the north.")]
LEFT = [
    *("The left column of it", "tells of kilns that were", "heated with oak and the"),
    *("temperature rose to nine", "hundred degrees, so tem-", "pered glass is easy. End"),
]
RIGHT = [
    *("Begin of the right one,", "tells of glazes and the", "cobalt they contain. The"),
    *("potters bought it from", "traders at the port and", "ground it to powder."),
]
MIDDLE = [
    *("Another column stands", "between these two and it", "speaks of rivers and of"),
    *("boats that sail to the", "sea with loads of wool", "and come back with salt."),
]
SCAN = (0.0, 0.0, 600.0, 800.0)


def text_column(lines: list[str]) -> str:
    """The lines of a column as they are read."""
    return "\n".join(lines).replace("tem-\npered", "tempered")


@pytest.mark.parametrize(
    ("pages", "unread"),
    [
        # An image-only page among others, and three of its kind.
        (
            [PageDrawing(WIDE), PageDrawing(pictures=[SCAN]), PageDrawing(WIDE)],
            ["page 2 is a picture"],
        ),
        (
            [PageDrawing(WIDE), *[PageDrawing([(300, 20, "- 7 -")], [SCAN])] * 3],
            ["pages 2 to 4 are pictures"],
        ),
        (
            [PageDrawing(WIDE), PageDrawing(pictures=[(0, 80 * n, 600, 80) for n in range(10)])],
            ["page 2 is a picture"],
        ),
        (
            [PageDrawing(WIDE, pictures=[(0, 0, 600, 650)]), PageDrawing(paths=60)],
            ["page 1 is mostly a picture", "page 2 is drawn without text"],
        ),
        # No text is lost on a blank page, beside a logo, or below the layer of text recognition.
        ([PageDrawing(WIDE), PageDrawing(), PageDrawing(paths=3)], []),
        ([PageDrawing(WIDE, pictures=[(500, 700, 60, 60)])], []),
        ([PageDrawing(WIDE, pictures=[SCAN])], []),
        ([PageDrawing([(50, 400, "Part II")], pictures=[(500, 700, 40, 40)])], []),
    ],
)  # fmt: skip
def test_pages_whose_words_may_be_in_pictures_are_named(
    pages: list[PageDrawing], unread: list[str]
) -> None:
    text, _ = read_pdf(draw_pdf(pages))
    assert [*text.unread] == unread
    assert len(text.page_starts) == len(pages)


def test_a_pdf_of_pictures_only_is_refused() -> None:
    with pytest.raises(InputFileError, match="its pages have no text, as if scanned"):
        read_pdf(draw_pdf([PageDrawing(pictures=[SCAN])] * 2))


FIELD = "/Subtype /Widget /FT /Tx"


@pytest.mark.parametrize(
    ("annotations", "read", "unread"),
    [
        # Fields and remarks as in a filled form, and more of their kinds.
        (
            [
                f"{FIELD} /T (f1) /V (a value)",
                "/Subtype /Widget /FT /Btn /T (c1) /V /Yes /AS /Yes",
                "/Subtype /Text /Contents (a remark)",
            ],
            "- f1: a value\n- [x] c1\n- Remark: a remark",
            [],
        ),
        (
            [
                f"{FIELD} /T (a) /TU (Full name) /V (Ada) /Ff 4096",
                f"{FIELD} /T (b)",
                f"{FIELD} /T (c) /V <FEFF00E9> /F 2",
                f"{FIELD} /T (d) /V (one\\rtwo)",
            ],
            "- Full name: Ada\n- d: one\ntwo",
            [],
        ),
        (
            [
                "/Subtype /Widget /FT /Ch /Ff 131072 /T (Land) /V (it)"
                " /Opt [[(fr) (France)] [(it) (Italy)]]",
                "/Subtype /Widget /FT /Ch /Ff 2097152 /T (Days) /Opt [(Mon) (Tue) (Wed)]"
                " /V [(Mon) (Wed)]",
                "/Subtype /Widget /FT /Btn /T (Agreed) /V /Off /AS /Off",
                "/Subtype /Widget /FT /Btn /Ff 32768 /T (Color) /V /Blue /AS /Blue"
                " /AP << /N << /Blue 4 0 R /Off 4 0 R >> >>",
            ],
            "- Land: Italy\n- Days: Mon, Wed\n- [ ] Agreed\n- Color: Blue",
            [],
        ),
        (
            [
                "/Subtype /Highlight /T (Ann) /Contents (check this)"
                " /QuadPoints [50 700 90 700 50 712 90 712]",
                "/Subtype /FreeText /Contents (in the margin)",
                "/Subtype /Link /Contents (a link)",
                "/Subtype /Popup /Contents (a window)",
            ],
            "- Remark by Ann: check this\n- Remark: in the margin",
            [],
        ),
        (
            [
                "/Subtype /Stamp",
                "/Subtype /Ink /InkList [[50 50 60 60]]",
                f"{FIELD} /T (key) /V (secret) /Ff 8192",
                "/Subtype /Widget /FT /Sig /T (s) /V << /Type /Sig >>",
                "/Subtype /Widget /FT /Sig /T (unsigned)",
            ],
            "",
            [
                "page 1 has a stamp",
                "page 1 has handwriting",
                "page 1 has a password",
                "page 1 has a signature",
            ],
        ),
    ],
)
def test_values_of_forms_and_remarks_are_read_after_their_page(
    annotations: list[str], read: str, unread: list[str]
) -> None:
    pages = [PageDrawing(WIDE, annotations=annotations), PageDrawing(WIDE)]
    text, _ = read_pdf(draw_pdf(pages))
    first = text.text[: text.page_starts[1]].strip().split("\n\n", 1)
    assert first == [WIDE[0][2], *filter(None, [read])]
    assert [*text.unread] == unread


def test_the_fields_of_a_form_in_xml_are_named() -> None:
    fields, xfa = b"/AcroForm << /Fields", b"/NeedsRendering true /AcroForm << /XFA [] /Fields"
    text, _ = read_pdf(draw_pdf([PageDrawing(WIDE)]).replace(fields, xfa))
    assert text.unread == ("the fields of its XFA form",)


def test_a_form_without_other_text_is_read_and_files_it_holds_are_named() -> None:
    form = [PageDrawing(annotations=[f"{FIELD} /T (f) /V (v)"], pictures=[SCAN])]
    text, _ = read_pdf(draw_pdf(form, files=["data.csv", "b.docx"]))
    assert text.text == "- f: v"
    assert text.unread == (
        "page 1 is a picture",
        "the attached file data.csv",
        "the attached file b.docx",
    )


HEAD = (60.0, 730.0, "A heading that runs across both of the columns of this page")
FOOT = (60.0, 560.0, "And a line below them, which is as wide as the whole page is.")


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        # Two columns, and three of their kind.
        (rows(LEFT, RIGHT), [text_column(LEFT), *RIGHT]),
        (
            [HEAD, *rows(LEFT, RIGHT), FOOT],
            [HEAD[2], text_column(LEFT), *RIGHT, FOOT[2]],
        ),
        (
            rows(LEFT, MIDDLE, RIGHT, lefts=(30, 220, 410)),
            [text_column(LEFT), *MIDDLE, *RIGHT],
        ),
        (
            [
                one
                for left, right in zip(
                    rows(LEFT, lefts=(60,)), rows(RIGHT, lefts=(320,), top=693), strict=True
                )
                for one in (left, right)
            ],
            [text_column(LEFT), *RIGHT],
        ),
    ],
)
def test_columns_that_are_drawn_row_by_row_are_read_one_after_the_other(
    drawn: list[tuple[float, float, str]], read: list[str]
) -> None:
    text, _ = read_pdf(draw_pdf([PageDrawing(drawn)]))
    assert text.text == "\n".join(read)


NAMES = ["Seine", "Loire", "Rhine", "Danube", "Volga", "Po"]
FACTS = [
    *("Flows through Paris", "Is the longest in France", "Comes from the Alps"),
    *("Ends in the Black Sea", "Freezes in the winter", "Waters a wide plain"),
]
NUMBERS = ["777", "1,006", "1,233", "2,850", "3,531", "652"]


@pytest.mark.parametrize(
    "columns",
    [
        (NAMES, NUMBERS),
        (NAMES, FACTS),
        (FACTS, NUMBERS),
        (FACTS, [f"It is {number} km long" for number in NUMBERS]),
        (MIDDLE, NUMBERS),
        (NUMBERS, MIDDLE),
        (LEFT[:3], RIGHT[:3]),
    ],
)
def test_tables_and_numbered_lines_stay_rows(columns: tuple[list[str], list[str]]) -> None:
    text, _ = read_pdf(draw_pdf([PageDrawing(rows(*columns))]))
    assert text.text.split("\n") == [" ".join(row) for row in zip(*columns, strict=True)]


def words(*drawn: tuple[float, float, str], letter: float = 6) -> list[Word]:
    """The words of some strings, of letters as wide as each other."""
    found = []
    for x, y, text in drawn:
        left = x
        for word in text.split(" "):
            found.append(Word(word, left, left + letter * len(word), y, y + 12))
            left += letter * (len(word) + 1)
    return found


def test_pages_of_one_column_and_columns_drawn_one_by_one_are_left_as_they_are() -> None:
    assert order_columns([]) is None
    one = rows([f"{left} {right}" for left, right in zip(LEFT, RIGHT, strict=True)], lefts=(60,))
    assert order_columns(words(*one)) is None
    apart = [*rows(LEFT, lefts=(60,)), *rows(RIGHT, lefts=(320,))]
    assert order_columns(words(*apart)) is None
    drawn = order_columns(words(*rows(LEFT, RIGHT)))
    assert drawn == "\n".join([text_column(LEFT), *RIGHT])


def test_the_right_column_comes_first_where_the_script_runs_to_the_left() -> None:
    first = [f"שלום עולם טוב מאוד {n}" for n in "אבגדה"]
    second = [f"יום חדש בא אלינו {n}" for n in "אבגדה"]
    drawn = words(*rows(second, first))
    assert order_columns(drawn) == "\n".join([*first, *second])


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["tem-", "pered"], "tempered"),
        (["tem\u2010", "pered"], "tempered"),
        (["Anna-", "Lena"], "Anna-Lena"),
        (["1990-", "year"], "1990-\nyear"),
        (["so -", "he said"], "so -\nhe said"),
        ([], ""),
    ],
)
def test_a_word_is_joined_where_a_line_divides_it(lines: list[str], joined: str) -> None:
    assert join_lines(lines) == joined


def test_a_word_of_a_page_is_joined_but_keeps_a_hyphen_of_its_own() -> None:
    drawn = rows(["It is tem-", "pered after Covid-", "19 by Anna-", "Lena."], lefts=(60,))
    text, _ = read_pdf(draw_pdf([PageDrawing(drawn)]))
    assert text.text.replace("\n", "") == "It is tempered after Covid-19 by Anna-Lena."


def test_stretches_of_pages_are_shortened() -> None:
    assert list_pages([1, 3, 4, 6, 7, 8, 12]) == "1, 3, 4, 6 to 8, 12"
