"""Columns that no one names: titles and keys by their names and values, and what is no content."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest

from pgs_neo4j.documents.read.records import read_records
from pgs_neo4j.model.documents import LoadedDocument, RecordColumns, RefusedDocument
from pgs_neo4j.text.chunking import ChunkRules, chunk_document
from pgs_neo4j.text.local_extraction import extract_terms

PRODUCTS = (
    "supplierID,productID,productName,unitPrice,homePage\n"
    "1,11,Chai Latte,18,NULL\n"
    "1,12,Chang,19,NULL\n"
    "2,13,Aniseed Syrup,10,NULL\n"
)
SUPPLIERS = (
    "supplierID,companyName,contactName\n"
    "1,Exotic Liquids,Charlotte Cooper\n"
    "2,New Orleans Cajun Delights,Shelley Burke\n"
)
DETAILS = "orderID,productID,unitPrice\n1,11,18\n1,12,19\n2,13,10\n"


def read(file: str, data: str) -> list[LoadedDocument]:
    ending = file[file.rindex(".") :]
    found = [*read_records(io.BytesIO(data.encode()), file, ending, RecordColumns(), 100_000)]
    assert not [one for one in found if isinstance(one, RefusedDocument)]
    return [one for one in found if isinstance(one, LoadedDocument)]


def listed(file: str, data: str) -> list[tuple[str, str]]:
    return [(one.id.removeprefix(f"{file}#"), one.name) for one in read(file, data)]


@pytest.mark.parametrize(
    ("file", "data", "expected"),
    [
        (
            "products.csv",
            PRODUCTS,
            [("11", "Chai Latte"), ("12", "Chang"), ("13", "Aniseed Syrup")],
        ),
        (
            "suppliers.csv",
            SUPPLIERS,
            [("1", "Exotic Liquids"), ("2", "New Orleans Cajun Delights")],
        ),
        (
            "categories.json",
            '[{"parentID": 7, "categoryID": 1, "categoryName": "Tea"},'
            ' {"parentID": 8, "categoryID": 2, "categoryName": "Coffee"}]',
            [("1", "Tea"), ("2", "Coffee")],
        ),
        ("people.jsonl", '{"person_id": 4, "display_name": "Ann"}\n', [("4", "Ann")]),
        # An order is not called by the name of its recipient.
        ("orders.csv", "orderID,shipName\n1,Vins\n2,Toms\n", [("1", ""), ("2", "")]),
        # The usual names still come first.
        ("products.csv", "productID,id,productName,title\n1,a,P,T\n", [("a", "T")]),
    ],
)
def test_a_files_own_key_and_name_are_found(
    file: str, data: str, expected: Sequence[tuple[str, str]]
) -> None:
    assert listed(file, data) == expected


def test_a_foreign_key_with_different_values_in_a_short_sample_is_no_key() -> None:
    ids = [id_ for id_, _ in listed("visits.csv", "city,customerID\nOslo,1\nRome,2\n")]
    assert all(len(id_) == 16 for id_ in ids)
    assert len({*ids}) == 2


def test_a_repeated_value_makes_no_key_and_records_are_called_by_their_values() -> None:
    assert [name for _, name in listed("order-details.csv", DETAILS)] == [
        "orderID 1, productID 11, unitPrice 18",
        "orderID 1, productID 12, unitPrice 19",
        "orderID 2, productID 13, unitPrice 10",
    ]


def test_no_record_is_lost_if_a_chosen_key_repeats_after_the_sample() -> None:
    rows = [f"{number},w{number}" for number in range(1_500)]
    rows.append("7,again")
    found = listed("words.csv", "wordID,note\n" + "\n".join(rows) + "\n")
    assert len(found) == len({id_ for id_, _ in found}) == 1_501
    assert found[7][0] == "7"
    assert found[-1][0].startswith("7 ")


def test_a_chosen_key_stays_in_the_text() -> None:
    (first, *_) = read("products.csv", PRODUCTS)
    assert "productID: 11\n" in first.text.text


def test_cells_without_a_value_are_left_out() -> None:
    texts = [one.text.text for one in read("products.csv", PRODUCTS)]
    assert not [text for text in texts if "NULL" in text or "homePage" in text]
    (person,) = read("people.csv", "id,surname,answer\n1,Null,None\n")
    assert person.text.text == "# Null\n\nanswer: None\n"


def test_names_of_columns_are_no_terms() -> None:
    table = "id,home page,reorderLevel,note: inner\n1,Port of Oslo,Chai Latte,Deep Water\n"
    (record,) = read("list.csv", table)
    (chunk,) = chunk_document(record.text, ChunkRules())
    names = {one.name.lower() for one in extract_terms(chunk).entities}
    assert {"port of oslo", "chai latte", "deep water"} <= names
    assert not {word for word in names if "home" in word or "reorder" in word or "inner" in word}


def test_lines_of_other_texts_keep_their_words() -> None:
    (record,) = read("list.csv", "id,note\n1,x\n")
    assert record.text.labels == ("note",)
    prose = type(record.text)(text="Tungsten: a metal.\nTungsten: heavy.\n")
    (chunk,) = chunk_document(prose, ChunkRules())
    assert "Tungsten" in {one.name for one in extract_terms(chunk).entities}
