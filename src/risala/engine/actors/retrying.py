"""Repeats a write until it succeeds, however long the disk fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import structlog
import trio

from risala.engine.model.errors import Draining, Unavailable

T = TypeVar("T")

AGAIN_FIRST_S: Final = 0.2
AGAIN_MAX_S: Final = 5.0
"""Each pause is twice the one before: a short fault costs little; a dead disk is not hammered."""

log = structlog.get_logger(__name__)


async def retry_until_committed(
    what: str, attempt: Callable[[], Awaitable[T]], *, again_max_s: float = AGAIN_MAX_S
) -> T:
    """The result of an attempt, once the storage accepts it.

    After a commit with an unknown outcome it is attempted again: its unit must see in the rows that
    it was done.

    Args:
        what: the name of the caller, for the log: ``<what>.storage``.
        again_max_s: the longest pause between two attempts.

    Raises:
        Draining: the service stops; the next start sees in the rows what is left to do.
    """
    wait_s = AGAIN_FIRST_S
    while True:
        try:
            return await attempt()
        except Draining:
            raise
        except Unavailable as error:
            log.warning(f"{what}.storage", reason=str(error), again_in_s=wait_s)
            await trio.sleep(wait_s)
            wait_s = min(2 * wait_s, again_max_s)
