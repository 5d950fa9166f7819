"""A new password after a failed start, and what an interruption leaves."""

import pytest

from pgs_neo4j.database.local import credentials, renewal
from pgs_neo4j.database.local.renewal import renew, wait_with_password
from pgs_neo4j.database.probe import Readiness
from pgs_neo4j.errors import DatabaseError, ServerStartError

READY = Readiness(neo4j="5.26.30", gds="2.13.9", nodes=0)


@pytest.fixture
def server(paths, monkeypatch):
    """A server with one password; ``refuses`` makes it take no other."""
    credentials.write_private(paths.password, "first")
    state = {"password": "first", "refuses": False}

    def change(uri, user, old, new):
        assert (uri, user, old) == ("bolt://127.0.0.1:7687", "neo4j", state["password"])
        assert credentials.read_next_password(paths) == new  # stored before it is set
        if state["refuses"]:
            raise DatabaseError("no")
        state["password"] = new

    def wait(password):
        if password != state["password"]:
            raise ServerStartError("refused")
        return READY

    monkeypatch.setattr(renewal, "change_password", change)
    state["wait"] = wait
    return state


def test_a_refused_renewal_keeps_the_former_password(paths, server):
    server["refuses"] = True
    with pytest.raises(ServerStartError, match="no; start the local server again") as caught:
        renew(paths, 7687, "first")
    following = credentials.read_next_password(paths)
    assert following is not None
    assert following not in str(caught.value)
    assert wait_with_password(paths, "first", server["wait"]) == (READY, "first")


def test_a_renewal_that_was_cut_off_is_finished_by_the_next_start(paths, server):
    credentials.write_private(paths.next_password, "second")
    server["password"] = "second"
    assert wait_with_password(paths, "first", server["wait"]) == (READY, "second")
    assert credentials.read_password(paths) == "second"
    assert not paths.next_password.exists()


def test_a_password_that_nobody_knows_is_an_error(paths, server):
    server["password"] = "another"
    with pytest.raises(ServerStartError, match="refused"):
        wait_with_password(paths, "first", server["wait"])
    credentials.write_private(paths.next_password, "second")
    with pytest.raises(ServerStartError, match="refused"):
        wait_with_password(paths, "first", server["wait"])
    assert credentials.read_password(paths) == "first"
