"""Parses a ``[models.NAME]`` table of ``pgs.toml``: a model's endpoint, prices, and context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    JsonValue,
    SecretStr,
    ValidationError,
    field_serializer,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from pgs_neo4j.config.addresses import masked_address
from pgs_neo4j.config.declaration import TABLE
from pgs_neo4j.config.providers import PromptCache, ProviderName
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.model.ceilings import check_number
from pgs_neo4j.text.invalid_values import describe_invalid, name_place

MILLION = 1_000_000


RESERVED = frozenset(
    (
        *("model", "messages", "system", "stream", "stream_options", "max_tokens"),
        *("max_completion_tokens", "temperature", "truncate", "shift", "n"),
    )
)
"""Properties that ``extra_body`` may not set, because counts and checks depend on them."""
# Special prices, each with the base price that it replaces for some tokens.
_BASES = {
    "cached_input_price": "input_price",
    "cache_write_price": "input_price",
    "long_input_price": "input_price",
    "long_output_price": "output_price",
}

Price = Annotated[float | None, Field(ge=0.0, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class _Rates:
    """The prices of a million tokens.

    Input is ``cached`` if the provider reads it from its prompt cache, ``stored`` if the provider
    writes it to the cache, and else ``plain``.
    """

    plain: float
    cached: float
    stored: float
    output: float

    @property
    def dearest(self) -> float:
        """The highest price of an input token."""
        return max(self.plain, self.cached, self.stored)

    @property
    def cheapest(self) -> float:
        """The lowest price of an input token."""
        return min(self.plain, self.cached, self.stored)


class ModelEntry(BaseModel):
    """Where a model is, its prices, and its context.

    Without ``provider`` and ``base_url``, it is at the endpoint of all models. Prices are per
    million tokens, in any currency, the same for all models. A call whose prompt has more than
    ``long_prompt_tokens`` is billed at the long prices as a whole; cached input and cache writes
    then rise in proportion to the input price. ``context`` is the maximum number of tokens of a
    prompt and its reply together.
    """

    model_config = TABLE

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
    input_price: Annotated[Price, Field(description="price of a million input tokens")] = None
    output_price: Annotated[Price, Field(description="price of a million output tokens")] = None
    cached_input_price: Annotated[
        Price,
        Field(
            description="price of a million input tokens from the provider's prompt cache; unset: "
            "the input price"
        ),
    ] = None
    cache_write_price: Annotated[
        Price,
        Field(
            description="price of a million input tokens that the provider stores in its prompt "
            "cache; unset: the input price"
        ),
    ] = None
    long_prompt_tokens: Annotated[
        int | None,
        Field(ge=1, description="a call with more input tokens is billed at the long prices"),
    ] = None
    long_input_price: Annotated[
        Price,
        Field(
            description="input price of such a call; the prices of cached input and cache writes "
            "rise in proportion; unset: the input price"
        ),
    ] = None
    long_output_price: Annotated[
        Price, Field(description="output price of such a call; unset: the output price")
    ] = None
    prompt_cache: Annotated[
        PromptCache,
        Field(
            description="what a provider that needs to be told (Claude, also through OpenRouter) "
            "puts into its prompt cache: nothing, the instructions, or also the text of nodes"
        ),
    ] = "instructions"
    context: Annotated[
        int | None, Field(ge=256, description="tokens the model can take, its reply included")
    ] = None
    temperature: Annotated[
        float | None,
        Field(ge=0, le=2, description="temperature of this model; unset: the setting temperature"),
    ] = None
    extra_body: Annotated[
        dict[str, JsonValue],
        Field(
            description="extra properties of each request, such as a server's own parameters "
            "top_k and chat_template_kwargs, or keep_alive and options for Ollama"
        ),
    ] = Field(default_factory=dict)

    @field_validator("*", mode="after")
    @classmethod
    def check_numbers(cls, value: object) -> object:
        """Refuse prices, sizes, and other numbers that no model can have."""
        return check_number(value)

    @field_validator("extra_body", mode="after")
    @classmethod
    def check_extra(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Refuse properties that every request sets itself."""
        if named := sorted(RESERVED & value.keys()):
            raise PydanticCustomError(
                "value_error",
                "requests set {names} themselves; leave it out",
                {"names": ", ".join(named)},
            )
        return value

    @field_serializer("base_url", when_used="unless-none")
    def _address(self, address: str) -> str:
        return masked_address(address)

    @property
    def has_endpoint(self) -> bool:
        """Whether the table names an endpoint."""
        return self.provider is not None or self.base_url is not None

    @model_validator(mode="after")
    def check_prices(self) -> ModelEntry:
        """Refuse prices without their base price, and a limit that changes no price."""
        for name, base in _BASES.items():
            if getattr(self, name) is None:
                continue
            if getattr(self, base) is None:
                raise ValueError(f"{name} needs {base}")
            if name.startswith("long_") and self.long_prompt_tokens is None:
                raise ValueError(
                    f"{name} needs long_prompt_tokens, the input tokens above which it counts"
                )
        prices = (self.long_input_price, self.long_output_price)
        if self.long_prompt_tokens is not None and prices == (None, None):
            raise ValueError("long_prompt_tokens needs long_input_price or long_output_price")
        return self

    def cost(
        self,
        input_tokens: float,
        output_tokens: float,
        *,
        cached: float = 0,
        stored: float = 0,
        calls: int = 1,
    ) -> float | None:
        """Return the cost of calls of equal size; None if a price is unknown.

        ``cached`` input tokens were read from the provider's prompt cache, and ``stored`` input
        tokens were written to it. If they exceed all input tokens together, the surplus is ignored.
        """
        short = self._short_rates()
        if short is None:
            return None
        rates = self._long_rates(short) if self._is_long(input_tokens / max(calls, 1)) else short
        cached = min(max(cached, 0), input_tokens)
        stored = min(max(stored, 0), input_tokens - cached)
        plain = input_tokens - cached - stored
        read = plain * rates.plain + cached * rates.cached + stored * rates.stored
        return (read + output_tokens * rates.output) / MILLION

    def dearest(
        self, input_tokens: float, output_tokens: float, longest: float | None = None
    ) -> float | None:
        """Return the maximum cost of these tokens; None if a price is unknown.

        ``longest`` is the length of the longest prompt, by default all input tokens.
        """
        rates = self._possible_rates(
            long=self._is_long(input_tokens if longest is None else longest)
        )
        if not rates:
            return None
        read, written = max(one.dearest for one in rates), max(one.output for one in rates)
        return (input_tokens * read + output_tokens * written) / MILLION

    def cheapest(
        self, input_tokens: float, output_tokens: float, *, may_be_cached: bool = True
    ) -> float | None:
        """Return the minimum cost of these tokens; None if a price is unknown."""
        rates = self._possible_rates(long=self.long_prompt_tokens is not None)
        if not rates:
            return None
        read = min(one.cheapest if may_be_cached else one.plain for one in rates)
        written = min(one.output for one in rates)
        return (input_tokens * read + output_tokens * written) / MILLION

    def affordable_tokens(self, money: float) -> float | None:
        """Return the maximum number of tokens of a call that certainly costs at most ``money``.

        Returns None if there is no limit, or if a price is unknown.
        """
        prices = [max(one.dearest, one.output) for one in self._possible_rates(long=True)]
        if not any(prices):
            return None
        limit, dearest = self.long_prompt_tokens, money * MILLION / max(prices)
        if limit is None:
            return dearest
        # A call of at most ``limit`` tokens has no long prompt, so the short prices apply.
        within = money * MILLION / prices[0] if prices[0] else limit
        return max(dearest, min(within, limit))

    def _short_rates(self) -> _Rates | None:
        """Return the rates of calls without a long prompt; None if a price is unknown."""
        plain, output = self.input_price, self.output_price
        if plain is None or output is None:
            return None
        cached, stored = self.cached_input_price, self.cache_write_price
        return _Rates(
            plain,
            plain if cached is None else cached,
            plain if stored is None else stored,
            output,
        )

    def _long_rates(self, short: _Rates) -> _Rates:
        """Return the rates of calls with a long prompt.

        The prices of cached and stored input rise in proportion to the input price.
        """
        plain = short.plain if self.long_input_price is None else self.long_input_price
        output = short.output if self.long_output_price is None else self.long_output_price
        if not short.plain:
            return _Rates(plain, short.cached or plain, short.stored or plain, output)
        rise = plain / short.plain
        return _Rates(plain, rise * short.cached, rise * short.stored, output)

    def _possible_rates(self, *, long: bool) -> list[_Rates]:
        """Return the rates that may apply to calls; empty if a price is unknown."""
        short = self._short_rates()
        if short is None:
            return []
        return [short, self._long_rates(short)] if long else [short]

    def _is_long(self, prompt_tokens: float) -> bool:
        return self.long_prompt_tokens is not None and prompt_tokens > self.long_prompt_tokens


def entries(values: object) -> dict[str, ModelEntry]:
    """Return the entries by model name. Raises ConfigError, naming the model."""
    if not isinstance(values, Mapping):
        raise ConfigError("models is not a table; write each model under [models.NAME]")
    return {str(name): _parse_entry(str(name), value) for name, value in values.items()}


# This is the type of a settings field. Its errors name the entry, unlike pydantic's errors.
Models = Annotated[dict[str, ModelEntry], BeforeValidator(entries)]


def _parse_entry(name: str, value: Any) -> ModelEntry:
    if isinstance(value, ModelEntry):
        return value
    if not isinstance(value, Mapping):
        raise ConfigError(f"models.{name} is not a table; write it under [models.{name}]")
    try:
        return ModelEntry(**value)
    except ValidationError as error:
        detail = error.errors()[0]
        where = name_place(("models", name, *detail["loc"]))
        raise ConfigError(describe_invalid(where, detail, ModelEntry.model_fields)) from None
