"""The log of a command: errors only, on stderr, separate from its answer."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, MutableMapping
from functools import cache
from typing import TYPE_CHECKING, Any

from risala.sms.numbering.plan import DEFAULT, NumberingPlan

if TYPE_CHECKING:
    from risala.app.masking import Masking


def log_to_stderr(plan: NumberingPlan = DEFAULT) -> None:
    """Keep a command's stdout for its answer; of the engine's log only errors matter here.

    Args:
        plan: whose numbers are masked as people at home write them, too.
    """
    import structlog

    others = [
        each for each in structlog.get_config()["processors"] if not isinstance(each, _Masking)
    ]
    structlog.configure(
        processors=[_Masking(plan), *others],
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )


class _Masking:
    """Masks whole phone numbers. What does it is imported at the first line, which most runs never
    write: it imports the whole service."""

    def __init__(self, plan: NumberingPlan) -> None:
        self._plan = plan

    def __call__(
        self, logger: object, method: str, event: MutableMapping[str, Any]
    ) -> Mapping[str, Any]:
        return _masking_of(self._plan)(logger, method, event)


@cache
def _masking_of(plan: NumberingPlan) -> Masking:
    from risala.app.masking import Masking

    return Masking(plan)
