"""The log of a command: errors only, on stderr, separate from its answer."""

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
    """Masks whole phone numbers. Imported at the first line, which most runs never write: it
    imports the whole service."""
    from risala.app.masking import mask

    return mask(logger, method, event)
