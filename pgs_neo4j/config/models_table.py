"""One ``[models.NAME]`` table of ``pgs.toml``: what a model costs, and how much it can read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pgs_neo4j.errors import ConfigError

MILLION = 1_000_000


class ModelEntry(BaseModel):
    """Prices are per million tokens, in a currency of your choice that is the same for all.

    ``context`` is how many tokens the model can take, its reply included.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    input_price: Annotated[float | None, Field(ge=0.0, allow_inf_nan=False)] = None
    output_price: Annotated[float | None, Field(ge=0.0, allow_inf_nan=False)] = None
    context: Annotated[int | None, Field(ge=2000)] = None

    def cost(self, input_tokens: float, output_tokens: float) -> float | None:
        """What so many tokens cost; None when a price is not known."""
        if self.input_price is None or self.output_price is None:
            return None
        return (input_tokens * self.input_price + output_tokens * self.output_price) / MILLION


def entries(values: object) -> dict[str, ModelEntry]:
    """The entries by model name. Raises ConfigError with a sentence that names the model."""
    if not isinstance(values, Mapping):
        raise ConfigError("models is no table; write each model under [models.NAME]")
    return {str(name): _entry(str(name), value) for name, value in values.items()}


# What a settings class puts on its field: its own error names the entry, pydantic's would not.
Models = Annotated[dict[str, ModelEntry], BeforeValidator(entries)]


def _entry(name: str, value: Any) -> ModelEntry:
    if isinstance(value, ModelEntry):
        return value
    if not isinstance(value, Mapping):
        raise ConfigError(f"models.{name} is no table; write it under [models.{name}]")
    try:
        return ModelEntry(**value)
    except ValidationError as error:
        detail = error.errors()[0]
        where = ".".join(map(str, detail["loc"]))
        known = ", ".join(ModelEntry.model_fields)
        raise ConfigError(
            f"models.{name}.{where} is wrong ({detail['msg'].lower()}); a model has {known}"
        ) from None
