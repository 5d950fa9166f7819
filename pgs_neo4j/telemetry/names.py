"""The names of all spans and attributes.

Those of OpenTelemetry's conventions still change for models, so they stand here alone.
"""

from __future__ import annotations

RUN = "pgs.run"
PASS = "pgs.pass"
INGEST = "pgs.ingest"
GDS = "gds"

GRAPH = "pgs.graph"
RUN_ID = "pgs.run.id"
RESUMED = "pgs.run.resumed"
MODE = "pgs.mode"
QUESTION = "pgs.question"
PARTITION = "pgs.partition"
PASS_NUMBER = "pgs.pass.number"
NODES = "pgs.nodes"
TASK = "pgs.task"
JOB_ID = "pgs.job.id"
DOCUMENTS = "pgs.documents"
ENTITIES = "pgs.entities"
TEXTS = "pgs.texts"

ERROR_TYPE = "error.type"

OPERATION = "gen_ai.operation.name"
REQUEST_MODEL = "gen_ai.request.model"
MAX_TOKENS = "gen_ai.request.max_tokens"
RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS = "gen_ai.usage.cache_creation.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
PROVIDER = "gen_ai.provider.name"
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"
DIMENSIONS = "gen_ai.embeddings.dimension.count"

DATABASE_SYSTEM = "db.system.name"
DATABASE_NAMESPACE = "db.namespace"
QUERY_SUMMARY = "db.query.summary"

CHAT = "chat"
EMBEDDINGS = "embeddings"
NEO4J = "neo4j"


def phase_name(phase: str) -> str:
    """Return the name of the span of a phase."""
    return f"pgs.{phase}"


def step_name(step: str) -> str:
    """Return the name of the span of a step of an ingestion."""
    return f"{INGEST}.{step}"


def embeddings_name(model: str) -> str:
    """Return the name of the span of a call for vectors."""
    return f"{EMBEDDINGS} {model}"


def chat_name(model: str) -> str:
    """Return the name of the span of a call."""
    return f"{CHAT} {model}"
