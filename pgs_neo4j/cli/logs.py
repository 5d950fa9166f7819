"""Log records on stderr: JSON records with ``--log-format json``, and the lines of libraries.

JSON logs take everything that would be written to stderr as text. Without them, libraries write
nothing, except their warnings where PGS_DEBUG is set.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import TracebackType

from pgs_neo4j.cli import output
from pgs_neo4j.text.shown import one_line

TALKATIVE = ("pgs_neo4j", "uvicorn")
"""Loggers whose records of level INFO are written, besides warnings."""
# What these report as warnings are retries, which events and typed errors report in words.
LIBRARIES = ("graphdatascience", "httpcore2", "httpx2", "mcp", "neo4j", "openai", "stamina")
_chosen: str | None = None  # by the option or the variable
_handler: logging.Handler | None = None


def choose(form: str | None) -> None:
    """Take the form that the command line or the environment names; None leaves it open."""
    global _chosen  # noqa: PLW0603 - there is but one stderr
    _chosen = form
    if form == "json":
        start()


def apply_settings(overrides: Mapping[str, object] | None = None) -> None:
    """Start JSON logs if the settings want them, unless an option says otherwise.

    Their secrets are masked from then on.
    """
    if _chosen == "text" or (_chosen is None and _handler is not None):
        return
    from pgs_neo4j import config
    from pgs_neo4j.errors import ConfigError
    from pgs_neo4j.telemetry.redaction import hide

    try:
        settings = config.load(overrides).settings
    except ConfigError:
        return  # reported where the settings are needed
    if "json" in (_chosen, settings.log_format):
        hide(config.secrets(settings))
        start()


def is_on() -> bool:
    """Return whether stderr has JSON records."""
    return _handler is not None


def start() -> None:
    """Send all records, and all lines for stderr, through one handler."""
    global _handler  # noqa: PLW0603 - there is but one stderr
    if _handler is not None:
        return
    from pgs_neo4j.telemetry.logs import JsonLines

    _handler = _Records()
    _handler.setFormatter(JsonLines())
    logging.getLogger().addHandler(_handler)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.INFO)
    logging.captureWarnings(True)
    output.log_through(_log)


def stop() -> None:
    """Write text again."""
    global _handler, _chosen  # noqa: PLW0603 - there is but one stderr
    _chosen = None
    if _handler is None:
        return
    output.log_through(None)
    logging.captureWarnings(False)
    logging.getLogger().removeHandler(_handler)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.NOTSET)
    _handler = None


def log_fault(error: BaseException, trace: TracebackType | None) -> None:
    """Record an unexpected error with its traceback."""
    logger = logging.getLogger("pgs_neo4j.cli")
    logger.critical("unexpected error", exc_info=(type(error), error, trace))


def _log(level: int, message: str, fields: Mapping[str, object]) -> None:
    logging.getLogger("pgs_neo4j.cli").log(level, message, extra={"fields": dict(fields)})


class _Records(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Write a record on one line of stderr; never raises."""
        try:
            output.write_record(self.format(record))
        except Exception:  # noqa: BLE001 - logging must not end a run
            self.handleError(record)


def catch_library_logs(*, write: bool) -> None:
    """Give each library a handler, so that Python prints none of its lines itself."""
    handler = _Lines(write=write)
    for name in LIBRARIES:
        logger = logging.getLogger(name)
        logger.handlers = [other for other in logger.handlers if not isinstance(other, _Lines)]
        logger.addHandler(handler)


class _Lines(logging.Handler):
    """Writes records as lines on stderr, or nowhere."""

    def __init__(self, *, write: bool) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record above the display; never raises."""
        if self._write and not is_on() and record.levelno >= logging.WARNING:
            output.say(f"{record.name}: {one_line(record.getMessage())}")
