"""How bytes become text: marks, UTF-8, and guesses that are sure."""

from __future__ import annotations

import io
import random
import sys

import pytest

from pgs_neo4j.documents.read import text as encodings
from pgs_neo4j.documents.read.records import lines
from pgs_neo4j.documents.read.text import decode, normalize, read_text
from pgs_neo4j.errors import InputFileError

FRENCH = "Le café est fermé. Les élèves ont été très déçus, où est passé l'été? "
GERMAN = "Die Straße führt über die Brücke. Wir möchten schöne Grüße schicken. "
RUSSIAN = "Москва является столицей России. Это большой город на реке Москва. "
JAPANESE = "東京は日本の首都です。人口は約千四百万人で、多くの会社があります。"
QUOTED = "The \u201cquoted\u201d words \u2013 and it\u2019s fine. More plain text follows here."
POLISH = "Zażółć gęślą jaźń. Wisła płynie przez Warszawę i Kraków. "


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", [RUSSIAN, JAPANESE, "שלום עולם\u200f", "a\u200bb", "\U0001d4b3"])
def test_a_mark_or_utf_8_is_no_guess(encoding: str, text: str) -> None:
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.guessed, decoded.note) == (text, False, "")


@pytest.mark.parametrize(
    ("text", "encoding", "name"),
    [
        (FRENCH, "cp1252", "cp1252"),
        (GERMAN, "latin-1", "cp1252"),
        (QUOTED, "cp1252", "cp1252"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8-r", "koi8_r"),
        (POLISH, "cp1250", "cp1250"),
        (JAPANESE, "shift_jis", "cp932"),
        ("Plain words come first. " * 5000 + GERMAN, "cp1252", "cp1252"),
    ],
)
def test_another_encoding_is_guessed_and_told(text: str, encoding: str, name: str) -> None:
    read, note = read_text(text.encode(encoding))
    assert (read.text, note) == (text, f"it is not UTF-8; it was read as {name}")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"caf\xe9", "its byte 4 is not UTF-8, and its encoding cannot be determined"),
        ("ירושלים היא עיר".encode("cp1255"), "its encoding cannot be determined"),
        (
            random.Random(1).randbytes(2000).replace(b"\0", b"x"),
            "its encoding cannot be determined",
        ),
        (FRENCH.encode() + GERMAN.encode("cp1252"), "a part of it is UTF-8, but its byte 92"),
        (
            GERMAN.encode("cp1252") * 30 + b"Caf\xc3\xa9 is one",
            "a part of it is UTF-8, but its byte 9",
        ),
        (b"\xef\xbb\xbfcaf\xe9", "its byte 4 is not UTF-8; save it as UTF-8"),
        ("caf".encode("utf-16") + b"\xd8", "is not UTF-16"),
        (b"PK\x03\x04\0\0", "it is not text"),
    ],
)
def test_what_is_not_sure_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(InputFileError, match=said):
        decode(data)


def test_without_the_extra_it_is_said_how_to_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    with pytest.raises(InputFileError, match=r"pip install 'pgs-neo4j\[documents\]'"):
        decode(FRENCH.encode("cp1252"))
    assert decode(FRENCH.encode()).text == FRENCH


def test_half_of_a_pair_is_replaced_and_other_scripts_stay() -> None:
    assert normalize("a\ud800b\0") == "a\ufffdb"
    assert normalize(RUSSIAN + JAPANESE + "\u200f\u200b") == RUSSIAN + JAPANESE + "\u200f\u200b"


@pytest.mark.parametrize("more", range(4))
@pytest.mark.parametrize("encoding", ["cp932", "euc_jp", "gb18030", "cp1251"])
def test_a_guess_looks_at_no_part_of_a_letter(
    encoding: str, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a letter that is cut, no encoding seems possible."""
    monkeypatch.setattr(encodings, "GUESSED_BYTES", 3000 + more)
    text = f"{RUSSIAN if encoding == 'cp1251' else JAPANESE}\n" * 90
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize("more", range(4))
def test_the_encoding_of_one_long_line_of_json_is_told(
    more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs write all of a file in one line, so that a sample of it ends anywhere."""
    monkeypatch.setattr(lines, "SAMPLE_BYTES", 1000 + more)
    for letters in ("吾輩は猫である", "Дождь", "é\U0001f989"):
        for data in (f'{{"text": "{letters * 900}"}}', letters * 900):
            file, note = lines.open_text(io.BytesIO(data.encode()))
            assert (file.read(), note) == (data, "")
