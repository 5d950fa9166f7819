"""What names the nodes of a label, what identifies them, and what there is to read on them."""

from dataclasses import replace

import pytest

from pgs_neo4j.engine.survey import candidates
from pgs_neo4j.engine.survey.shapes import Shape
from pgs_neo4j.text.property_names import names_fact, rank_title
from tests.unit.engine.survey.samples import label, name, number, text


def shaped(called: str, shape: Shape, *, length: float = 20.0, distinct: int = 100):
    """A property whose values all have one shape, as a sample of a real database tells."""
    prose = 100 if shape == "prose" else 0
    return replace(
        text(called, length=length, prose=prose), shapes=((shape, 40),), distinct=distinct
    )


PRODUCT = label(
    "Product",
    shaped("productName", "phrase"),
    # Four words or more each, as the database counts them.
    replace(shaped("quantityPerUnit", "amount"), prose=78),
    replace(shaped("productID", "number"), unique=True),
    shaped("supplierID", "number", distinct=29),
)
ORDER = label(
    "Order",
    replace(shaped("shipName", "prose"), distinct=11),
    shaped("shipAddress", "prose"),
    shaped("orderDate", "moment"),
    shaped("orderID", "number"),
    shaped("customerID", "code", distinct=40),
)
CUSTOMER = label(
    "Customer",
    shaped("companyName", "phrase"),
    shaped("contactName", "phrase"),
    shaped("contactTitle", "phrase", distinct=12),
    shaped("address", "prose"),
    shaped("homePage", "blank"),
)
EMPLOYEE = label(
    "Employee",
    shaped("firstName", "word"),
    shaped("lastName", "word"),
    shaped("title", "phrase", distinct=44),
    shaped("titleOfCourtesy", "word", distinct=30),
    text("notes", length=250.0),
)


@pytest.mark.parametrize(
    ("sample", "title", "texts", "key"),
    [
        (PRODUCT, "productName", ["productName"], "productID"),
        (ORDER, None, [], "orderID"),
        (CUSTOMER, "companyName", ["companyName"], None),
        (EMPLOYEE, "lastName", ["lastName", "notes"], None),
        (label("Keyword", name("keyword"), number("id", 1, 9)), "keyword", ["keyword"], "id"),
        (label("Film", name("film-name"), text("plot")), "film-name", ["film-name", "plot"], None),
        (label("User", name("display_name"), name("name")), "name", ["name"], None),
        (label("User", shaped("name", "blank"), name("nickName")), "nickName", ["nickName"], None),
        (label("Movie", number("imdbId", 1, 9), number("movieId", 1, 9)), None, [], "movieId"),
        (label("Entity", shaped("status_description", "word")), None, [], None),
        (label("Entity", shaped("description", "code")), None, [], None),
        (label("Libro", name("título"), text("descripción")), "título", ["título", "descripción"],
         None),
        (label("Person", name("vorname"), name("nachname"), name("pers_nr")), "nachname",
         ["nachname"], "pers_nr"),
        (label("Sensor", name("serial_no"), shaped("status", "word")), None, [], "serial_no"),
        (label("Flight", name("number"), name("flightId")), None, [], "flightId"),
        (label("Line", replace(name("number"), distinct=99)), None, [], None),
        (label("Page", text("source", length=900.0)), None, ["source"], None),
    ],
)  # fmt: skip
def test_each_label_has_a_title_texts_and_a_key_of_its_own(sample, title, texts, key):
    named, identified = candidates.choose_title(sample), candidates.choose_key(sample)
    assert (named.name if named else None) == title
    assert [item.name for item in candidates.choose_texts(sample, title)] == texts
    assert (identified.name if identified else None) == key


def test_a_name_tells_whose_name_it_is():
    ranks = {"name": 0, "productName": 1, "display_name": 1, "companyName": 2, "lastName": 3}
    for called, rank in (ranks | {"filerName": 4, "shipName": None, "nameId": None}).items():
        assert rank_title("Product", called) == rank
    assert rank_title("ProductionCompany", "company-name") == 1


def test_a_name_says_code_place_date_or_quantity_in_any_spelling():
    for called in (
        "postalCode",
        "valid_until",
        "QuantityPerUnit",
        "home-page",
        "bornIn",
        "sourceID",
    ):
        assert names_fact(called)
    for called in ("productName", "plot", "body_markdown", "jurisdiction_description", "人名"):
        assert not names_fact(called)
