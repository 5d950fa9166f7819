"""The route that reads the database by a Cypher statement, which can only read."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.web.routes.router import BODY, WHOLE, api_router
from pgs_neo4j.web.shared import CallerNow, ServingNow

router = api_router("search")


class Statement(BaseModel):
    """A Cypher statement with its parameters and limits."""

    model_config = BODY

    statement: Annotated[str, Field(min_length=1, max_length=20_000)]
    parameters: dict[str, Any] = Field(default_factory=dict, max_length=100)
    max_rows: Annotated[int, Field(ge=1, le=10_000), WHOLE] = 200
    timeout_s: Annotated[float, Field(gt=0, le=60)] = 10.0


@router.post("/cypher")
async def read_cypher(body: Statement, serving: ServingNow, caller: CallerNow) -> Json:
    """Return the rows of a Cypher statement that is one plain read; any other is refused.

    A refusal says why, and what would pass. The statement reads the whole database of the graphs,
    so a token that is limited to some graphs cannot send one.
    """
    caller.require_all_graphs()
    read = await serving.pgs.gate(
        body.statement, body.parameters, max_rows=body.max_rows, timeout_s=body.timeout_s
    )
    data: Json = plain_data(read)
    return data
