"""Where a model is served, as spans tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pgs_neo4j.llm.protocol import is_free
from pgs_neo4j.telemetry import names

PROVIDERS = {
    "azure": "azure.ai.openai",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""Providers that the conventions for generative AI name otherwise than the settings do."""
OWN, OTHER = "pgs_neo4j", "_OTHER"
"""The provider of what runs in this process, and that of an object that says nothing."""


@dataclass(frozen=True, slots=True)
class ServedAt:
    """The provider, as the settings name it, and the host; no host in this process.

    ``provider`` is the interface where the vendor behind an address is not known.
    """

    provider: str
    address: str | None = None
    port: int | None = None


@runtime_checkable
class Located(Protocol):
    """A model that knows where it is served."""

    @property
    def served_at(self) -> ServedAt:
        """The provider and the host that answer its calls."""
        ...


def served_at(model: object) -> ServedAt:
    """Return where a model is served, as far as it says."""
    if isinstance(model, Located):
        return model.served_at
    return ServedAt(OWN if is_free(model) else OTHER)


def provider_attributes(model: object) -> dict[str, str | int | None]:
    """Return what a span tells of where a model is served."""
    at = served_at(model)
    return {
        names.PROVIDER: PROVIDERS.get(at.provider, at.provider),
        names.SERVER_ADDRESS: at.address,
        names.SERVER_PORT: at.port,
    }
