"""Logs: structured, to standard error; readable in a terminal, JSON lines elsewhere."""

from __future__ import annotations

import logging
import sys
from typing import Any, Final

import structlog

from risala.app import masking, tracebacks
from risala.config.model import LogFormat, LogSection, Settings
from risala.http.common.request import REQUEST_ID
from risala.sms.numbering.plan import DEFAULT, NumberingPlan

_Everything: Any = structlog.make_filtering_bound_logger(logging.DEBUG)


class _Level:
    """The lowest level that is written; may change while the service runs."""

    number: int = logging.INFO


class _Logger(_Everything):  # type: ignore[misc]  # structlog makes its class at run time
    """Reads the level at each line: a logger is kept, and the level may change after that."""

    def is_enabled_for(self, level: int) -> bool:
        """Whether a line of this level is written: for lines whose values are costly to make."""
        return level >= _Level.number

    def debug(self, event: str, *args: Any, **values: Any) -> Any:  # noqa: ANN401
        return super().debug(event, *args, **values) if _Level.number <= logging.DEBUG else None

    def info(self, event: str, *args: Any, **values: Any) -> Any:  # noqa: ANN401
        return super().info(event, *args, **values) if _Level.number <= logging.INFO else None

    def warning(self, event: str, *args: Any, **values: Any) -> Any:  # noqa: ANN401
        return super().warning(event, *args, **values) if _Level.number <= logging.WARNING else None


DEMO_LEVEL: Final = "warning"
"""The log level of a demo, whose screen shows the life of messages: only warnings come between."""


def set_level(section: LogSection, *, quiet: bool = False) -> None:
    """Write lines from the settings' level on.

    Args:
        quiet: write only warnings, unless the settings ask for everything.
    """
    level = DEMO_LEVEL if quiet and section.level == "info" else section.level
    _Level.number = logging.getLevelNamesMapping()[level.upper()]
    logging.getLogger().setLevel(max(_Level.number, logging.WARNING))


def warn_of_old_names(settings: Settings) -> None:
    """Say what to write now, for each setting that was found by its name of before."""
    log = structlog.get_logger(__name__)
    for text in settings.old_names:
        log.warning("settings.old_name", text=text)


def configure_logs(
    section: LogSection, *, quiet: bool = False, plan: NumberingPlan = DEFAULT
) -> None:
    """Set up logging for the process.

    Args:
        plan: whose numbers are masked as people at home write them, too.
    """
    readable = section.format is LogFormat.CONSOLE or (
        section.format is LogFormat.AUTO and sys.stderr.isatty()
    )
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        *([] if section.show_numbers else [masking.Masking(plan)]),
        _add_request_id,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # Tracebacks have neither local variables nor the texts of exceptions, which may contain
    # messages' texts, codes or passwords.
    if readable:
        renderer: Any = structlog.dev.ConsoleRenderer(exception_formatter=tracebacks.render)
    else:
        shared.append(structlog.processors.ExceptionRenderer(tracebacks.rendered))
        renderer = structlog.processors.JSONRenderer(ensure_ascii=False)
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=_Logger,
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(processor=renderer, foreign_pre_chain=shared)
    )
    logging.basicConfig(handlers=[handler], force=True)
    set_level(section, quiet=quiet)


def _add_request_id(_: Any, __: str, event: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    request_id = REQUEST_ID.get()
    if request_id is not None:
        event.setdefault("request_id", request_id)
    return event
