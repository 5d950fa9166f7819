"""The bounds of a lease, and what is said when it is lost."""

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database import lease


def test_the_longest_lease_is_the_longest_that_can_be_set() -> None:
    bounds = [mark.le for mark in PGSConfig.model_fields["lease_s"].metadata if hasattr(mark, "le")]
    assert bounds == [lease.LONGEST_S]


def test_a_lost_generation_says_where_to_look() -> None:
    assert "pgs jobs list" in str(lease.generation_lost("papers"))
