"""Messages stay one readable sentence, however much has failed."""

from pgs_neo4j.errors import AllSweepsFailedError


def test_one_sweep_is_told_as_one():
    said = str(AllSweepsFailedError({4: "the key was refused"}))
    assert said.startswith("the only sweep failed (P4: the key was refused), so nothing was read")


def test_what_failed_for_the_same_reason_is_told_once():
    said = str(AllSweepsFailedError(dict.fromkeys(range(1, 601), "the key was refused")))
    assert "all 600 sweeps failed (P1, P2, P3 and 597 more: the key was refused)" in said
    assert len(said) < 200


def test_the_most_frequent_reasons_come_first_and_the_rest_is_counted():
    reasons = {1: "a", 2: "b", 3: "b", 4: "c", 5: "d", 6: "e"}
    error = AllSweepsFailedError(reasons)
    assert "(P2, P3: b; P1: a; P4: c; 2 more for other reasons)" in str(error)
    assert error.reasons == reasons
