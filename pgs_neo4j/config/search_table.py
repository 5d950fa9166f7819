"""Parses the ``[search]`` table of ``pgs.toml``: the defaults of searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, field_validator

from pgs_neo4j.config.declaration import LIST, TABLE
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.model import KeywordSource, RerankerName, SearchMode
from pgs_neo4j.model.ceilings import check_number
from pgs_neo4j.text.invalid_values import describe_invalid, name_place

CONTEXT_TOKENS = 12_000
"""The length of a context if neither a call nor the table sets it."""

Share = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class SearchDefaults(BaseModel):
    """Defaults for the options of a search. Each field declares everything about its key."""

    model_config = TABLE

    mode: Annotated[SearchMode, Field(description="what a search compares")] = "hybrid"
    top_k: Annotated[int, Field(ge=1, le=200, description="number of nodes to return")] = 10
    weights: Annotated[
        tuple[Share, Share, Share],
        LIST,
        Field(description="weights of local, global, and naive in the mode mix"),
    ] = (1.0, 1.0, 1.0)
    rerank: Annotated[
        RerankerName | None,
        Field(description="how to order the best nodes once more; unset: the mode decides"),
    ] = None
    keywords: Annotated[
        KeywordSource,
        Field(description="who names the keywords of an answer: a model, or the question's words"),
    ] = "model"
    max_context_tokens: Annotated[
        int | None,
        Field(
            ge=200,
            description="length of the text that a prompt would show; unset: 12,000, and "
            "none in Python",
        ),
    ] = None

    def chosen(self, **call: object) -> SearchDefaults:
        """Replace these values by the values of a call that are not None.

        The call's values are not checked here; the search checks them.
        """
        given = {name: value for name, value in call.items() if value is not None}
        return self.model_copy(update=given)

    @field_validator("*", mode="after")
    @classmethod
    def check_numbers(cls, value: object) -> object:
        """Refuse numbers that the database cannot handle."""
        return check_number(value)


SEARCH_KEYS = tuple(f"search.{key}" for key in SearchDefaults.model_fields)
"""The keys of the table, by their names in messages and in ``pgs config show``."""


def entry(values: object) -> SearchDefaults:
    """Return the table. Raises ConfigError, naming the key."""
    if isinstance(values, SearchDefaults):
        return values
    if not isinstance(values, Mapping):
        raise ConfigError("search is not a table; write its keys under [search]")
    try:
        return SearchDefaults(**values)
    except ValidationError as error:
        raise ConfigError(_describe_error(error.errors()[0])) from None


# This is the type of a settings field. Its errors name the key, unlike pydantic's errors.
Search = Annotated[SearchDefaults, BeforeValidator(entry)]


def _describe_error(detail: Any) -> str:
    where = name_place(("search", *detail["loc"]))
    return describe_invalid(where, detail, SearchDefaults.model_fields)
