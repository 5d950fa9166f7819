"""`pgs doctor --call`: each model is called once, and what comes back is told."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.engine.doctor import Check
from pgs_neo4j.engine.doctor.models import call_models
from tests.fakes.openai_server import Answer, FakeOpenAI, Status

pytestmark = pytest.mark.usefixtures("no_waits")
KEY = "key-of-a-server-9876"
REPORT = (
    "## Domain State\nShips are warned.\n## Findings\n- A light warns of rocks [n1]\n"
    "## Outbound Flags\nNone\n## Absences\nNone"
)
PRICES = {"input_price": 1.0, "output_price": 2.0}


async def called(fake: FakeOpenAI, config: PGSConfig | None = None, **settings: Any) -> list[Check]:
    made = Settings.model_validate(
        {
            "llm_provider": "openai",
            "llm_base_url": fake.base_url,
            "llm_api_key": KEY,
            "sweep_model": "reader",
            "synthesis_model": "reader",
            **settings,
        }
    )
    checks = await call_models(made, config or PGSConfig())
    assert KEY not in str(checks)
    return list(checks)


async def test_a_report_is_accepted_and_has_its_price(fake: FakeOpenAI) -> None:
    fake.default = Answer(REPORT)
    [check] = await called(fake, models={"reader": PRICES})
    assert (check.name, check.status) == ("model call", "ok")
    assert "its report is accepted" in check.detail
    assert "; cost 0.0" in check.detail
    assert len(fake.chats) == 1
    [check] = await called(fake)
    assert "no price is set" in check.detail


async def test_prose_is_a_warning_and_shown(fake: FakeOpenAI) -> None:
    fake.default = Answer("I like \x1b[31mturtles\x1b[0m.")
    [check] = await called(fake)
    assert check.status == "warning"
    assert "it begins: I like turtles." in check.detail
    assert check.fix


async def test_each_model_is_called_once(fake: FakeOpenAI) -> None:
    fake.default = Answer(REPORT)
    checks = await called(fake, synthesis_model="writer")
    assert [check.name for check in checks] == ["sweep model call", "synthesis model call"]
    assert {chat.body["model"] for chat in fake.chats} == {"reader", "writer"}


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (Status(500, message=f"CUDA out of memory, key={KEY}"), "CUDA out of memory"),
        (Status(404, message="try pulling it first"), "try pulling it first"),
        (Status(400, message="no slot free"), "no slot free"),
    ],
)
async def test_what_the_server_says_is_shown(fake: FakeOpenAI, status: Status, said: str) -> None:
    fake.default = status
    [check] = await called(fake)
    assert check.status == "failed"
    assert said in check.detail


async def test_limits_hold_and_no_model_is_no_failure(fake: FakeOpenAI) -> None:
    fake.default = Answer(REPORT)
    [check] = await called(fake, PGSConfig(max_cost=1e-9), models={"reader": PRICES})
    assert check.status == "failed"
    assert fake.chats == []
    [check] = await call_models(Settings(llm_provider="extractive"), PGSConfig())
    assert check.status == "skipped"
