"""What must be written down, and is tried until it holds, however long the disk is ill."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog
import trio

from risala.engine.model.errors import Draining, Unavailable

T = TypeVar("T")

log = structlog.get_logger(__name__)


async def patiently(what: str, attempt: Callable[[], Awaitable[T]], *, again_s: float = 1.0) -> T:
    """What an attempt comes to, once the storage takes it.

    After a commit of which nobody knows whether it holds it is attempted again: the unit must find
    by the row that it was done.

    Args:
        what: who is held up, for the log: ``<what>.storage``.
        again_s: the pause after each refusal, in seconds.

    Raises:
        Draining: the service stops; whatever this is, the next start must find it.
    """
    while True:
        try:
            return await attempt()
        except Draining:
            raise
        except Unavailable as error:
            log.warning(f"{what}.storage", reason=str(error))
            await trio.sleep(again_s)
