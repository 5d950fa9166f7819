"""Log records on stderr: JSON with ``--log-format json``, and warnings from libraries.

With JSON logs, everything for stderr becomes a record. Without them, libraries print nothing,
except their warnings if PGS_DEBUG is set.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import TracebackType

from pgs_neo4j.cli import output
from pgs_neo4j.text.shown import one_line

INFO_LOGGERS = ("pgs_neo4j", "uvicorn")
"""Loggers that JSON logs record from level INFO; the others start at WARNING."""
# These libraries warn about retries, which events and typed errors already report in plain words.
LIBRARIES = ("graphdatascience", "httpcore2", "httpx2", "mcp", "neo4j", "openai", "stamina")
_chosen_format: str | None = None  # the format that the option or the environment variable names
_handler: logging.Handler | None = None


def choose(form: str | None) -> None:
    """Set the log format that an option or variable names; None leaves it to the settings."""
    global _chosen_format  # noqa: PLW0603 - there is but one stderr
    _chosen_format = form
    if form == "json":
        start()


def apply_settings(overrides: Mapping[str, object] | None = None) -> None:
    """Start JSON logs if the settings ask for them and no option or variable asks for text.

    From then on, logs mask the secrets in the settings.
    """
    if _chosen_format == "text" or (_chosen_format is None and _handler is not None):
        return
    from pgs_neo4j import config
    from pgs_neo4j.errors import ConfigError
    from pgs_neo4j.telemetry.redaction import hide

    try:
        settings = config.load(overrides).settings
    except ConfigError:
        return  # the error is reported when the settings are needed
    if "json" in (_chosen_format, settings.log_format):
        hide(config.secrets(settings))
        start()


def is_on() -> bool:
    """Return whether stderr receives JSON records."""
    return _handler is not None


def start() -> None:
    """Start JSON logs: write all log records and all lines for stderr as JSON."""
    global _handler  # noqa: PLW0603 - there is but one stderr
    if _handler is not None:
        return
    from pgs_neo4j.telemetry.logs import JsonLines

    _handler = _RecordHandler()
    _handler.setFormatter(JsonLines())
    logging.getLogger().addHandler(_handler)
    for name in INFO_LOGGERS:
        logging.getLogger(name).setLevel(logging.INFO)
    logging.captureWarnings(True)
    output.log_through(_log)


def stop() -> None:
    """Stop JSON logs and forget the chosen format; stderr receives plain text again."""
    global _handler, _chosen_format  # noqa: PLW0603 - there is but one stderr
    _chosen_format = None
    if _handler is None:
        return
    output.log_through(None)
    logging.captureWarnings(False)
    logging.getLogger().removeHandler(_handler)
    for name in INFO_LOGGERS:
        logging.getLogger(name).setLevel(logging.NOTSET)
    _handler = None


def log_fault(error: BaseException, trace: TracebackType | None) -> None:
    """Log an unexpected error with its traceback."""
    logger = logging.getLogger("pgs_neo4j.cli")
    logger.critical("unexpected error", exc_info=(type(error), error, trace))


def _log(level: int, message: str, fields: Mapping[str, object]) -> None:
    logging.getLogger("pgs_neo4j.cli").log(level, message, extra={"fields": dict(fields)})


class _RecordHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Write a record as one line on stderr; never raises."""
        try:
            output.write_record(self.format(record))
        except Exception:  # noqa: BLE001 - logging must not end a run
            self.handleError(record)


def catch_library_logs(*, write: bool) -> None:
    """Give each library a handler, so that Python's handler of last resort prints nothing.

    With ``write``, their warnings appear on stderr while JSON logs are off.
    """
    handler = _Lines(write=write)
    for name in LIBRARIES:
        logger = logging.getLogger(name)
        logger.handlers = [other for other in logger.handlers if not isinstance(other, _Lines)]
        logger.addHandler(handler)


class _Lines(logging.Handler):
    """Writes warnings as lines on stderr, or discards all records."""

    def __init__(self, *, write: bool) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Write a warning to stderr, above a progress display; never raises."""
        if self._write and not is_on() and record.levelno >= logging.WARNING:
            output.say(f"{record.name}: {one_line(record.getMessage())}")
