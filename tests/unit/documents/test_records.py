"""Records of tables and JSON: each is a document, and each fault is told by its line."""

from __future__ import annotations

import io
import json
import sys
import tracemalloc
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.documents.read import records
from pgs_neo4j.documents.read.records import lines, objects, read_records, record
from pgs_neo4j.documents.read.text import read_text
from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import DocumentSource, RecordColumns, RefusedDocument

PEOPLE = RecordColumns(entities=(("author", "Person"),))
CITIES = RecordColumns(entities=(("city", "Location"),))
BY_BODY = RecordColumns(text="body", title="head", key="no")


def read(
    data: str | bytes, ending: str, columns: RecordColumns | None = None, most: int = 10_000
) -> list[Any]:
    raw = data.encode() if isinstance(data, str) else data
    return [*read_records(io.BytesIO(raw), "f", ending, columns or RecordColumns(), most)]


def texts(records: list[Any]) -> dict[str, str]:
    """The texts of records, and the reasons of those without."""
    return {
        one.id: one.reason if isinstance(one, RefusedDocument) else one.text.text for one in records
    }


def test_rows_become_documents_with_the_usual_columns() -> None:
    table = 'ID,Title,author,Text\n7,Rivers,Ann,The Seine flows.\n8,,Bob,"Two\nlines, ""here"""\n'
    first, second = read(table, ".csv", PEOPLE)
    assert (first.id, first.name, first.size) == ("f#7", "Rivers", len(first.text.text))
    assert first.text.text == "# Rivers\n\nauthor: Ann\n\nThe Seine flows.\n"
    assert second.text.text == 'author: Bob\n\nTwo\nlines, "here"\n'
    for one in (first, second):
        (given,) = one.text.given
        assert (given.type, one.text.text[given.start : given.end]) == ("Person", given.name)


def test_named_columns_win_and_the_others_are_lines_without_a_text() -> None:
    table = "no,head,body,text\na,H,B,T\n"
    assert texts(read(table, ".csv", BY_BODY)) == {"f#a": "# H\n\nB\n"}
    assert texts(read("no\tcolor\tage\n1\tred\t\n", ".tsv", RecordColumns(key="no"))) == {
        "f#1": "color: red\n"
    }


def test_the_delimiter_is_that_of_the_first_line() -> None:
    for mark in ",;|\t":
        assert texts(read(f"id{mark}text\n1{mark}a\n", ".csv")) == {"f#1": "a\n"}


def test_records_without_a_key_have_that_of_their_text() -> None:
    first, second = (
        texts(read(f"a,b\n{rows}", ".csv")) for rows in ("1,2\n3,4\n", "5,6\n3,4\n1,2\n")
    )
    assert len(first) == 2
    assert first.items() < second.items()


def test_each_fault_of_a_row_is_told_by_its_line_and_the_rest_is_read() -> None:
    table = 'id,text\n1,a\n2\n1,again\n,"x\ny"\n\n3,\n4,d,\n'
    found = texts(read(table, ".csv", RecordColumns(key="id", text="text")))
    assert found == {
        "f#1": "a\n",
        "f#line 3": "it has 1 cell for 2 columns",
        "f#line 4": "an earlier record also has the key '1'",
        "f#line 5": "it has nothing in the column 'id'",
        "f#line 8": "it has nothing in the column 'text'",
        "f#line 9": "it has 3 cells for 2 columns",
    }


@pytest.mark.parametrize(
    ("data", "ending", "said"),
    [
        ("", ".csv", "it is empty"),
        (" \n", ".jsonl", "it is empty"),
        ("id,id\n", ".csv", "has the column 'id' twice"),
        ("id,words\n1,a\n", ".csv", "it has no column 'body'; it has id, words"),
        ('no,head,body\n1,"a,b\n2,c,d\n', ".csv", "from line 2 on it is not CSV"),
        ("no,head,body\n1,a," + "x" * 20_000, ".csv", "line 2 is longer than 0.01 million"),
        ('[{"body": "' + "x" * 2_000_000 + '"}]', ".json", "larger than allowed"),
        ('[{"body": 1', ".json", "after record 0 it is not JSON"),
        (b"no,head,body\n1,2,\x81\x8d\x8f", ".csv", "is not UTF-8"),
        (b"\0\1\2\3", ".csv", "it is not text"),
    ],
)
def test_a_file_that_cannot_be_read_on_is_told(data: str | bytes, ending: str, said: str) -> None:
    with pytest.raises(InputFileError, match=said):
        read(data, ending, BY_BODY)


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_letters_of_several_bytes_count_once(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "MOST_VALUES", 10)  # more commas: the line is read as a stream
    text = f"{'Река, и снова река. ' * 120_000}"
    data = json.dumps({"id": 1, "text": text}, ensure_ascii=False)
    assert len(data.encode()) > len(data) + 2**20 > 2_000_000
    most = len(data) + 9
    assert texts(read(data, ending, most=most))["f#1"].strip() == text.strip()


def test_a_line_of_json_that_is_too_long_is_refused_alone() -> None:
    records = [{"id": 1, "text": "a"}, {"id": 2, "text": "x" * 30_000}, {"id": 3, "text": "b"}]
    assert texts(read("\n".join(map(json.dumps, records)), ".jsonl")) == {
        "f#1": "a\n",
        "f#line 2": "it is longer than 0.01 million characters; raise max_document_mb, or split it",
        "f#3": "b\n",
    }
    last = read('{"id": 1, "text": "a"}\n{"a": "' + "x" * 20_000, ".jsonl")
    assert [*texts(last)] == ["f#1", "f#line 2"]


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv"])
def test_no_setting_lets_a_record_take_all_memory(
    ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (lines, records):
        monkeypatch.setattr(module, "MOST_RECORD", 5_000)
    words = "x" * 2_000_000
    data = f'id,text\n1,"{words}"\n' if ending == ".csv" else f'{{"id": 1, "text": "{words}"}}\n'
    try:
        said = [*texts(read(data, ending, most=10**8)).values()]
    except InputFileError as error:
        said = [str(error)]
    assert len(said) == 1
    assert said[0].endswith("; split it")


def test_a_long_line_is_parsed_in_pieces_of_its_own_text() -> None:
    line = objects._Line("né" * 10)
    assert [line.read(6), line.read(0), line.read(20), line.read()] == ["nénéné", "", "né" * 7, ""]
    assert objects._Line("né").read() == "né"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_blanks_of_a_value_are_joined_alike_in_pieces_of_any_size(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    value = "  The \n\t Seine   is long.    It   ends in the sea \u2003 .  "
    monkeypatch.setattr(record, "LINE_PIECE", size)
    (made,) = read(json.dumps([{"river": value}]), ".json")
    assert made.text.text.strip() == "river: The Seine is long. It ends in the sea ."


def test_a_long_text_is_not_split_into_words_for_the_name_of_its_record() -> None:
    data = json.dumps([{"text": "word " * 1_000_000}])
    tracemalloc.start()
    (made,) = read(data, ".json", most=10**8)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert made.name.startswith("word word")
    assert peak < 12 * len(data)


def test_a_byte_that_is_wrong_far_into_the_file_is_told_by_its_line() -> None:
    rows = "".join(f"{n},{'plain words ' * 10}\n" for n in range(11_000))
    data = f"id,text\n{rows}".encode() + b"x,caf\xe9\n"
    with pytest.raises(InputFileError, match=r"near line \d\d,\d\d\d it is not UTF-8"):
        read(data, ".csv")


def test_a_table_in_another_encoding_is_read_and_told() -> None:
    words = "Die Straße führt über die Brücke. Wir möchten schöne Grüße schicken."
    (one,) = read(f"id,text\n1,{words}\n".encode("cp1252"), ".csv")
    assert (one.text.text, one.note) == (f"{words}\n", "it is not UTF-8; it was read as cp1252")
    assert texts(read("id,text\n1,é\n".encode("utf-16"), ".csv")) == {"f#1": "é\n"}


@pytest.mark.parametrize(
    "data",
    [
        '[{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]',
        '{"count": 2, "rows": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]}',
        '{"id": 1, "text": "a", "links": [{"to": 2}]}\n{"id": 2, "text": "b"}',
        '\ufeff[{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]',
    ],
)
def test_json_is_a_list_an_object_with_a_list_or_objects(data: str) -> None:
    assert texts(read(data, ".json")) == {"f#1": "a\n", "f#2": "b\n"}


def test_lines_of_json_are_read_one_by_one() -> None:
    deep = "[" * 100_000
    lines = f'{{"id": 1, "text": "a"}}\n\nno\n[1]\n{deep}\n{{"id": 2, "text": "b\\ud800"}}\n'
    found = texts(read(lines, ".jsonl", most=200_000))
    assert found == {
        "f#1": "a\n",
        "f#line 3": "it is not JSON (Expecting value)",
        "f#line 4": "it is not an object with names and values",
        "f#line 5": "it is not JSON (nested too deeply)",
        "f#2": "b\ufffd\n",
    }


def test_nested_values_are_columns_with_dots_and_lists_several_values() -> None:
    record = {
        "id": "x", "who": {"name": "Ann", "age": 7}, "city": ["Paris", "Lyon\n am Ort"],
        "ok": True, "none": None, "parts": [{"n": 1}, [2]],
    }  # fmt: skip
    (one,) = read(json.dumps([record]), ".json", CITIES)
    text = one.text.text
    assert text == (
        "who.name: Ann\nwho.age: 7\ncity: Paris, Lyon am Ort\nok: true\nparts.1.n: 1\nparts.2: 2\n"
    )
    assert [text[given.start : given.end] for given in one.text.given] == ["Paris", "Lyon am Ort"]
    deep: object = "x"
    for _ in range(30):
        deep = {"a": deep}
    (refused,) = read(json.dumps([deep]), ".json")
    assert "nested more than 20 levels" in refused.reason


def test_long_keys_are_refused_and_long_names_are_no_entities() -> None:
    table = f"id,author,text\n{'k' * 201},A,t\n2,{'n' * 201},t\n3,...,t\n"
    long, unnamed, marks = read(table, ".csv", PEOPLE)
    assert "its key has more than 200 characters" in long.reason
    assert unnamed.text.given == marks.text.given == ()


def test_without_the_extra_json_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ijson", None)
    with pytest.raises(InputFileError, match="reading JSON needs the package ijson"):
        read("[]", ".json")
    assert texts(read('{"id": 1, "text": "a"}', ".jsonl")) == {"f#1": "a\n"}


@pytest.mark.parametrize("ending", [".csv", ".json", ".jsonl"])
def test_a_file_is_read_as_a_stream(ending: str, tmp_path: Path) -> None:
    words = "word " * 1900
    with (tmp_path / "f").open("w") as file:
        file.write({".csv": "id,text\n", ".json": "["}.get(ending, ""))
        for n in range(900):
            row = {".csv": f"{n},{words}\n"}.get(ending, f'{{"id": {n}, "text": "{words}"}}')
            between = {".json": "," if n < 899 else "]", ".jsonl": "\n"}.get(ending, "")
            file.write(row + between)
    with (tmp_path / "f").open("rb") as opened:
        tracemalloc.start()
        count = sum(1 for _ in read_records(opened, "f", ending, RecordColumns(), 10_000))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert (count, peak < 5_000_000) == (900, True)


async def test_a_file_of_records_may_be_larger_than_a_document(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n" + "1234,words of it\n5678,others\n" * 1)
    source = DocumentSource(id="a.csv", path=tmp_path / "a.csv")
    loader = FileLoader(20)
    assert [one.id async for one in loader.load(source)] == ["a.csv#1234", "a.csv#5678"]
    with pytest.raises(InputFileError, match="line 2 is longer"):
        _ = [one async for one in FileLoader(10).load(source)]
    text = replace(source, id="notes.jsonl", path=None, data='{"id": 1, "text": "é"}')
    (one,) = [one async for one in FileLoader().load(text)]
    assert one.id == "notes.jsonl#1"


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize(
    ("data", "ending", "found"),
    [
        (nested(8000), ".json", {"f#record 1": "it is nested more than 20 levels deep"}),
        (
            f'[{{"id": 1, "text": "a"}}, {nested(8000)}, {{"id": 2, "text": "b"}}]',
            ".json",
            {"f#1": "a\n", "f#record 2": "it is nested more than 20 levels deep", "f#2": "b\n"},
        ),
        (
            f'{{"about": {nested(8000)}, "rows": [{{"id": 1, "text": "a"}}]}}',
            ".json",
            {"f#1": "a\n"},
        ),
        (
            json.dumps([dict.fromkeys(map(str, range(200_001)), 1)]),
            ".json",
            {"f#record 1": "it has more than 200,000 values"},
        ),
        (
            '{"a": [' + "{}," * 200_000 + '{}]}\n{"id": 1, "text": "a"}',
            ".jsonl",
            {"f#line 1": "it has more than 200,000 values", "f#1": "a\n"},
        ),
        (
            '{"id": 1, "text": "' + "a, " * 200_000 + '"}',
            ".jsonl",
            {"f#1": ("a, " * 200_000).strip() + "\n"},
        ),
    ],
    ids=["deep", "one-deep", "deep-beside", "wide", "wide-line", "commas"],
)
def test_a_value_that_is_too_deep_or_wide_is_refused_in_little_memory(
    data: str, ending: str, found: dict[str, str]
) -> None:
    tracemalloc.start()
    read_there = texts(read(data, ending, most=10_000_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert read_there == found
    assert peak < 60_000_000  # the paths of 8,000 levels alone would be 70 MB


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_a_number_of_many_digits_is_a_fault_of_its_record_or_file(ending: str) -> None:
    data = '{"a": ' + "9" * 10_000 + "}\n"
    try:
        (reason,) = texts(read(data, ending, most=100_000)).values()
    except InputFileError as error:
        reason = str(error)
    assert "it is not JSON" in reason


def test_a_wide_table_is_read_up_to_the_width_of_a_sheet() -> None:
    def table(columns: int) -> str:
        names = ",".join(f"c{number}" for number in range(columns))
        return f"{names}\n{','.join('1' * columns)}\n"

    (one,) = read(table(16_384), ".csv", most=1_000_000)
    assert one.text.text.splitlines()[-1] == "c16383: 1"
    with pytest.raises(InputFileError, match="it has 16,385 columns; at most 16,384 are read"):
        read(table(16_385), ".csv", most=1_000_000)


def test_only_the_first_refused_records_of_a_file_are_named() -> None:
    found = texts(read("a,b\n" + "1\n" * 1500 + "1,2\n", ".csv"))
    assert len(found) == 1002
    assert found["f#line 1,001"] == "it has 1 cell for 2 columns"
    assert found["f#more"] == "500 more of its records cannot be read"


def test_names_of_columns_make_no_file_a_hundred_times_as_large() -> None:
    names = ",".join(f"{'n' * 900}{number}" for number in range(1000))
    rows = "\n".join(f"{number}{',1' * 999}" for number in range(300))
    with pytest.raises(InputFileError, match="repeated in each record, take over 100 times"):
        read(f"{names}\n{rows}", ".csv", most=1_000_000)


def test_a_title_of_any_length_stays_in_the_text_and_makes_a_short_name() -> None:
    (one,) = read(f"id,title,text\n1,{'long ' * 1000},t\n", ".csv")
    assert one.text.text == f"# {' '.join(['long'] * 1000)}\n\nt\n"
    assert one.name == " ".join(["long"] * 40)


def test_marks_that_no_script_piles_up_are_left_out() -> None:
    few, many = "a\u0323\u0300" * 3, "o" + "\u0300\u0323" * 40_000
    text = read_text(f"{few} {many} e\u0301".encode())[0].text
    assert text == unicodedata.normalize("NFC", f"{few} {'o' + many[1:31]} e\u0301")
