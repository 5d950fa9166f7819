"""The description of the API as validators and generators of clients read it."""

from __future__ import annotations

import pytest

from pgs_neo4j.web.access.guard import OPEN
from pgs_neo4j.web.description import TOPICS, iter_objects
from tests.openapi import DESCRIBED, operations


def test_it_is_valid() -> None:
    validator = pytest.importorskip(
        "openapi_spec_validator", reason="openapi-spec-validator is not installed (extra suites)"
    )
    assert DESCRIBED["openapi"].startswith("3.1.")
    errors = validator.OpenAPIV31SpecValidator(DESCRIBED).iter_errors()
    assert [(list(error.absolute_path), error.message) for error in errors] == []


def test_what_the_rules_of_spectral_and_redocly_ask_for_is_there() -> None:
    assert DESCRIBED["servers"] == [{"url": "/", "description": "the server that sent this"}]
    assert {"contact", "license"} <= {*DESCRIBED["info"]}
    used = {tag for _, _, told in operations() for tag in told["tags"]}
    assert [one["name"] for one in DESCRIBED["tags"]] == [*TOPICS]
    assert used == {*TOPICS}
    ids = [told["operationId"] for _, _, told in operations()]
    assert len(ids) == len({*ids})
    for _, path, told in operations():
        assert (told["security"] == []) == (path in OPEN), path
        assert {"description", "summary"} <= {*told}, path


def test_each_list_says_what_is_in_it_and_no_part_is_of_a_later_version() -> None:
    parts = [*iter_objects(DESCRIBED)]
    assert len(parts) > 1000
    for part in parts:
        assert part.get("type") != "array" or "items" in part, part
        assert not {"itemSchema", "prefixEncoding", "itemEncoding"} & {*part}, part
