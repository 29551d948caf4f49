"""Logs: structured, to standard error; readable in a terminal, JSON lines elsewhere."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

from risala.config.model import LogFormat, LogSection


def configure_logs(section: LogSection, *, quiet: bool = False) -> None:
    """Set up logging for the process; ``quiet`` leaves only warnings and worse."""
    level = logging.WARNING if quiet else logging.getLevelNamesMapping()[section.level.upper()]
    readable = section.format is LogFormat.CONSOLE or (
        section.format is LogFormat.AUTO and sys.stderr.isatty()
    )
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # Tracebacks without local variables: those hold message texts, keys and passwords.
    if readable:
        renderer: Any = structlog.dev.ConsoleRenderer(
            exception_formatter=structlog.dev.plain_traceback
        )
    else:
        shared.append(structlog.processors.format_exc_info)
        renderer = structlog.processors.JSONRenderer(ensure_ascii=False)
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(processor=renderer, foreign_pre_chain=shared)
    )
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[handler], force=True)
