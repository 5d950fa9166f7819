"""The lines of an examination, their order, and what a failure or a missing server skips."""

import pytest

from pgs_neo4j.config import PGSConfig, ServerAccess, Settings
from pgs_neo4j.engine.doctor import Check, examination, graphs, report_unreadable, run_check, server
from pgs_neo4j.engine.doctor import server as stages
from pgs_neo4j.engine.doctor.examination import examine
from pgs_neo4j.errors import ConfigError, QueryError

SETTINGS = Settings(llm_provider="extractive", embedder="hashing", graph="papers")


@pytest.fixture
def stub(monkeypatch):
    """A server that opens with the checks it is given."""
    state = {"opened": object(), "server": "ok", "graphs": [], "timeout": None}

    async def connect_in_stages(stack, access, timeout_s):
        state["timeout"] = timeout_s
        return state["opened"], tuple(Check(name, "ok", "") for name in stages.STAGES)

    async def examine_server(db):
        assert db is state["opened"]
        return tuple(Check(name, state["server"], "") for name in server.NAMES)

    async def examine_graphs(db, configured, dimensions, size):
        state["graphs"].append((configured, dimensions))  # type: ignore[attr-defined]
        return (Check("graphs", "ok", ""),)

    monkeypatch.setattr(examination, "connect_in_stages", connect_in_stages)
    monkeypatch.setattr(examination, "examine_server", examine_server)
    monkeypatch.setattr(examination, "examine_graphs", examine_graphs)
    return state


async def test_without_a_server_its_checks_are_skipped_and_the_rest_is_made(stub):
    local = Check("local server", "warning", "it does not run", "run 'pgs local start'")
    found = await examine(SETTINGS, PGSConfig(), None, local=local)
    assert found[1] == local
    checks = {check.name: check for check in found}
    for name in (*stages.STAGES, *server.NAMES, *graphs.NAMES):
        assert checks[name].status == "skipped"
    assert checks["embedder"].status == checks["model"].status == "ok"
    assert stub["graphs"] == []


@pytest.mark.parametrize("found", [True, False])
async def test_the_file_of_the_settings_is_named(stub, monkeypatch, tmp_path, found):
    file = tmp_path / "pgs.toml"
    monkeypatch.setattr(examination, "config_file", lambda: file if found else None)
    (check, *_) = await examine(SETTINGS, PGSConfig(), None)
    told = f"they are from {file}" if found else "there is no pgs.toml here or in "
    assert told in check.detail


async def test_what_fails_skips_what_needs_it(stub):
    stub["server"] = "skipped"
    checks = await examine(SETTINGS, PGSConfig(), ServerAccess(uri="bolt://db"))
    assert {check.name: check.detail for check in checks}["graphs"] == "read failed"
    stub["opened"] = None
    checks = await examine(SETTINGS, PGSConfig(), ServerAccess(uri="bolt://db"))
    skipped = {check.name for check in checks if check.status == "skipped"}
    assert skipped == {*server.NAMES, *graphs.NAMES}
    assert stub["graphs"] == []


@pytest.mark.parametrize(("timeout_s", "used"), [(5.0, 5.0), (3600.0, examination.TIMEOUT_S)])
async def test_an_examination_never_waits_long_for_one_statement(stub, timeout_s, used):
    config = PGSConfig(query_timeout_s=timeout_s)
    await examine(SETTINGS, config, ServerAccess(uri="bolt://db"))
    assert stub["timeout"] == used
    assert stub["graphs"] == [("papers", None)]  # hashing is never compared with stored vectors


async def failing(error: Exception) -> Check:
    raise error


async def test_an_error_of_the_package_becomes_a_failed_check_and_others_are_raised():
    check = await run_check("read", failing(QueryError("refused")), "fix it")
    assert check == Check("read", "failed", "refused", "fix it")
    with pytest.raises(ZeroDivisionError):
        await run_check("read", failing(ZeroDivisionError()), "fix it")


def test_a_configuration_that_cannot_be_loaded_skips_everything_else():
    why = "top_k is out of range"
    first, *rest = report_unreadable(ConfigError(why))
    assert (first.name, first.status, first.detail) == ("configuration", "failed", why)
    assert first.fix
    assert {(check.status, check.detail, check.fix) for check in rest} == {
        ("skipped", "the configuration could not be loaded", "")
    }
