"""Names of a database as people read them."""

from pgs_neo4j.survey.wording import quote_name


def test_hostile_names_are_quoted_and_cut():
    assert quote_name("plain_name2") == "plain_name2"
    assert quote_name("a`b") == "'a`b'"
    assert quote_name("line\nbreak") == "'line\\nbreak'"
    assert len(quote_name("x" * 5000)) < 80
