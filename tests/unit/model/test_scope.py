"""Scopes: their values, their names of graphs, and what is refused."""

from __future__ import annotations

import pytest

from pgs_neo4j.engine.catalog import check_name
from pgs_neo4j.errors import MappingError, ScopeError
from pgs_neo4j.model.scope import NO_SCOPE, Scope, make_scope


def test_without_values_there_is_no_scope() -> None:
    for none in (None, {}):
        scope = make_scope(none)
        assert not scope
        assert scope == NO_SCOPE
        assert scope.qualify("papers") == "papers"
        assert scope.unqualify("papers") == "papers"
        assert scope.digest == ""


def test_names_of_graphs_are_qualified_and_back() -> None:
    scope = make_scope({"org_id": 7})
    stored = scope.qualify("papers")
    assert stored == f"papers~{scope.digest}"
    assert scope.unqualify(stored) == "papers"
    assert scope.unqualify("papers") is None
    assert NO_SCOPE.unqualify(stored) is None
    assert make_scope({"org_id": 8}).unqualify(stored) is None
    assert scope.qualify("") == ""
    with pytest.raises(MappingError):  # so that no graph can have the name of a scope's graph
        check_name(stored)


def test_the_order_of_properties_does_not_matter() -> None:
    assert make_scope({"a": 1, "b": 2}) == make_scope({"b": 2, "a": 1})


def test_what_neo4j_compares_as_equal_is_one_scope_and_nothing_else() -> None:
    same = {make_scope({"org": 7}).suffix, make_scope({"org": 7.0}).suffix}
    assert len(same) == 1
    different = [7, "7", True, 1, "true", 7.5]
    assert len({make_scope({"org": value}).suffix for value in different}) == len(different)
    assert make_scope({"a": "b"}).suffix != make_scope({"b": "a"}).suffix


def test_no_value_is_shown() -> None:
    scope = make_scope({"customer": "Acme"})
    assert "Acme" not in repr(scope) + scope.suffix
    with pytest.raises(ScopeError) as refused:
        make_scope({"customer": ["Acme"]})
    assert "Acme" not in str(refused.value)


def test_scopes_are_joined_unless_they_contradict() -> None:
    org, project = make_scope({"org": 7}), make_scope({"project": "x"})
    assert org.join(project) == project.join(org) == make_scope({"org": 7, "project": "x"})
    assert org.join(org) == org == org.join(NO_SCOPE)
    with pytest.raises(ScopeError, match="another value for org"):
        org.join(make_scope({"org": 8}))


def test_equal_scopes_are_one_key() -> None:
    assert {make_scope({"org": 7}): "x"}[Scope((("org", 7),))] == "x"
