"""The comparison of values with the types of headers can fail."""

import pytest

from pgs_neo4j.database import queries
from tests.typed_rows import check, fits

QUERY = queries.parse(
    "test/count",
    "// Count.\n// returns: count: int\n// mode: read\nRETURN 1 AS count\n",
)


@pytest.mark.parametrize(
    ("value", "type_name", "expected"),
    [
        (True, "int", False),
        (1, "float", False),
        (1, "number", True),
        (None, "str", False),
        (None, "str?", True),
        (["a", None], "list[str?]", True),
        ([[1], [2.0]], "list[list[int]]", False),
        ("ab", "list[str]", False),
    ],
)
def test_a_value_fits_its_type_or_not(value, type_name, expected):
    assert fits(value, type_name) is expected


def test_a_row_of_another_type_is_named():
    with pytest.raises(AssertionError, match=r"test/count: count is not int but '1'"):
        check(QUERY, QUERY.columns, [{"count": "1"}])
