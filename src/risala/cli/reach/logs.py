"""The log of a command: errors only, on stderr, beside its answer."""

from __future__ import annotations

import logging
import sys


def log_to_stderr() -> None:
    """Keep a command's stdout for its answer; of the engine's log only errors matter here."""
    import structlog

    from risala.app.masking import mask

    structlog.configure(
        processors=[mask, *structlog.get_config()["processors"]],
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
