"""Messages that a driver would not take now: no attempt is spent on them.

A driver with a quota says so beforehand (:class:`~risala.plugins.contract.Choosy`). The message
goes to a carrier that takes it, or waits and is checked again.
"""

from __future__ import annotations

from typing import Final

import structlog

from risala.engine.delivery.worker.parts import Job, WorkerHooks
from risala.engine.journal.recorder import Recorder
from risala.engine.model.records.attempts import Declining
from risala.plugins.contract import Choosy, Declined, Driver

log = structlog.get_logger(__name__)

LOOK_AGAIN_MS: Final = 600_000
"""How often a message that waits for a quota is checked: another carrier may have come up."""


def declines(
    carrier: str, driver: Driver, recipient: str, segments: int, *, is_next: bool = False
) -> Declined | None:
    """The driver's reason; None if it has no reason, or fails to give one."""
    # One name first: checking the whole protocol takes 10 µs for each message.
    if not hasattr(driver, "declines") or not isinstance(driver, Choosy):
        return None
    if driver.capabilities.takes_whole:  # one submit, whatever its length
        segments = 1
    try:
        answer: object = driver.declines(recipient, segments, is_next=is_next)
    except Exception:  # its bug must not hold a message back: the submit shows it
        log.exception("driver.declines_failed", carrier=carrier)
        return None
    return answer if isinstance(answer, Declined) else None


async def let_wait(
    carrier: str, job: Job, declined: Declined, recorder: Recorder, hooks: WorkerHooks
) -> None:
    """Write down that the driver would not take the message: it goes elsewhere, or waits.

    Raises:
        Unavailable: that could not be written down.
    """
    row, segments = job.row, len(job.parts.texts)
    now_ms = recorder.clock.now_ms()
    route = hooks.willing_route(row.recipient, (*row.tried_carriers, carrier), segments)
    due_at = now_ms if route else _look_again_at_ms(declined, now_ms)
    await recorder.decline(Declining(row.id, carrier, declined.text, due_at, route))


def _look_again_at_ms(declined: Declined, now_ms: int) -> int:
    return max(now_ms + 1, min(declined.until_ms, now_ms + LOOK_AGAIN_MS))
