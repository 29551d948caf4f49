"""The log of a command: errors only, on stderr, beside its answer."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any


def log_to_stderr() -> None:
    """Keep a command's stdout for its answer; of the engine's log only errors matter here."""
    import structlog

    processors = [each for each in structlog.get_config()["processors"] if each is not _mask]
    structlog.configure(
        processors=[_mask, *processors],
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )


def _mask(logger: object, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Whole phone numbers are in no line. Imported at the first line, of which there mostly is
    none: the whole service comes with it."""
    from risala.app.masking import mask

    return mask(logger, method, event)
