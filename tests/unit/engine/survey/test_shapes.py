"""What kind of content a value is."""

import pytest

from pgs_neo4j.engine.survey.shapes import Shape, count_shapes, shape_of

SHAPES: dict[Shape, tuple[str, ...]] = {
    "blank": ("", "  ", "NULL", "n/a", "Unknown"),
    "link": (
        "https://t.co/x",
        "www.example.org/a",
        "ann@example.org",
        "/rhIRbceoE9lR4.jpg",
        "images/a b.png".replace(" ", "%20"),
    ),
    "moment": (
        "1996-07-04 00:00:00.000",
        "2020-06-05T16:57:19Z",
        "18-FEB-2013",
        "Mar 25, 2015",
        "1/2/2020",
        "10:30",
    ),
    "number": ("1984", "32.38", "3.7E8", "(171) 555-2222", "030-0074321", "$ 1,200.50", "7 %"),
    "code": (
        "ALFKI",
        "tt0114709",
        "EC1 4SD",
        "0x151C2F00020000000D",
        "27490cf6-22eb-495d-9dd6-902c0f89c627",
        "snake_case",
        '{"a": 1, "b": "some words of text here"}',
    ),
    "amount": ("10 boxes x 20 bags", "24 - 12 oz bottles", "1 kg pkg.", "12 - 550 ml bottles"),
    "word": ("Chai", "Meat/Poultry", "the-bank", "naïve"),
    "phrase": ("Keanu Reeves", "12 Angry Men", "301 E 4 St 7 9 11"),
    "prose": (
        "Soft drinks, coffees, teas, beers, and ales",
        "Pretty funny at times",
        "8 days of rain were too much for them",
        "名前は漢字で書きます",
        "Основы теории графов сегодня",
    ),
}


@pytest.mark.parametrize(
    ("value", "shape"), [(value, shape) for shape, values in SHAPES.items() for value in values]
)
def test_a_value_has_the_shape_of_its_content(value: str, shape: Shape) -> None:
    assert shape_of(value) == shape


def test_shapes_are_counted_and_the_most_frequent_comes_first() -> None:
    assert count_shapes(["a", "b", "1", "c d", "2"]) == (("number", 2), ("word", 2), ("phrase", 1))
    assert count_shapes([]) == ()
