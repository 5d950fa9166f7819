"""One ``[models.NAME]`` table of ``pgs.toml``: where a model is, its prices, and its context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_serializer,
    field_validator,
)

from pgs_neo4j.config.addresses import masked_address
from pgs_neo4j.config.providers import ProviderName
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.model.ceilings import check_number

MILLION = 1_000_000


class ModelEntry(BaseModel):
    """Where a model is, its prices, and its context.

    Without ``provider`` and ``base_url``, it is at the endpoint of all models. Prices are per
    million tokens, in any currency, the same for all models. ``context`` counts the tokens the
    model can take, its reply included.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    model: Annotated[
        str | None,
        Field(min_length=1, description="name of the model at its endpoint; unset: the table's"),
    ] = None
    provider: Annotated[
        ProviderName | None, Field(description="provider of this model, with its address")
    ] = None
    base_url: Annotated[
        str | None, Field(description="endpoint of this model; unset: that of its provider")
    ] = None
    api_key: Annotated[
        SecretStr | None,
        Field(description="key of this endpoint; unset: the customary variable of its provider"),
    ] = None
    input_price: Annotated[
        float | None,
        Field(ge=0.0, allow_inf_nan=False, description="price of a million input tokens"),
    ] = None
    output_price: Annotated[
        float | None,
        Field(ge=0.0, allow_inf_nan=False, description="price of a million output tokens"),
    ] = None
    context: Annotated[
        int | None, Field(ge=256, description="tokens the model can take, its reply included")
    ] = None

    @field_validator("*", mode="after")
    @classmethod
    def check_numbers(cls, value: object) -> object:
        """Refuse numbers that no model has."""
        return check_number(value)

    @field_serializer("base_url", when_used="unless-none")
    def _address(self, address: str) -> str:
        return masked_address(address)

    @property
    def has_endpoint(self) -> bool:
        """Whether the table says where the model is."""
        return self.provider is not None or self.base_url is not None

    def cost(self, input_tokens: float, output_tokens: float) -> float | None:
        """Return the cost of these tokens; None when a price is unknown."""
        if self.input_price is None or self.output_price is None:
            return None
        return (input_tokens * self.input_price + output_tokens * self.output_price) / MILLION


def entries(values: object) -> dict[str, ModelEntry]:
    """Return the entries by model name. Raises ConfigError naming the model."""
    if not isinstance(values, Mapping):
        raise ConfigError("models is not a table; write each model under [models.NAME]")
    return {str(name): _entry(str(name), value) for name, value in values.items()}


# The type of a settings field. The error names the entry; pydantic's would not.
Models = Annotated[dict[str, ModelEntry], BeforeValidator(entries)]


def _entry(name: str, value: Any) -> ModelEntry:
    if isinstance(value, ModelEntry):
        return value
    if not isinstance(value, Mapping):
        raise ConfigError(f"models.{name} is not a table; write it under [models.{name}]")
    try:
        return ModelEntry(**value)
    except ValidationError as error:
        detail = error.errors()[0]
        where = ".".join(map(str, detail["loc"]))
        names = ", ".join(ModelEntry.model_fields)
        raise ConfigError(
            f"models.{name}.{where} is wrong ({detail['msg'].lower()}); a model has {names}"
        ) from None
