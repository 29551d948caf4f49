"""What runs for hooks: their uses are written down, and windows of alerts end: what a storm held
becomes one message."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import structlog

from risala.engine.actors.retrying import retry_until_committed
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.features.hooks.receiving import HookReceiver
from risala.engine.features.hooks.records import Storm
from risala.engine.features.hooks.registry import HookRegistry
from risala.engine.features.hooks.rules.answers import HookOutcome
from risala.engine.features.hooks.stored import HookRepository
from risala.engine.model.clock import Clock
from risala.engine.model.features import Task
from risala.engine.services import Services

log = structlog.get_logger(__name__)

AGAIN_MS: Final = 60_000
"""Between two tries to send a storm's message that is refused, such as for want of balance."""
KEPT_MS: Final = 3_600_000
"""A message of alerts that is refused for so long is dropped: nobody acts by it any more."""


async def end_due(
    receiver: HookReceiver, stored: HookRepository, clock: Clock, items: ItemLoop
) -> int | None:
    """Send what is due; returns when to look again (UTC epoch milliseconds; None: when a new window
    opens).

    A kill between the message and the end of its window sends it once: the message has the
    window's key.

    Raises:
        Unavailable: the disk did not take it.
    """
    times: list[int] = []
    for storm in items.free(stored.storms(), lambda each: each.hook):
        now_ms = clock.now_ms()
        if storm.ends_at > now_ms:
            times.append(storm.ends_at)
            continue
        with items.item(storm.hook):
            if await _is_over(receiver, storm, now_ms):
                await stored.end_storm(storm)
            else:
                times.append(now_ms + AGAIN_MS)
    return min(times, default=None)


async def _is_over(receiver: HookReceiver, storm: Storm, now_ms: int) -> bool:
    if not storm.held:
        return True
    result = await receiver.end_storm(storm)
    if result is None:
        log.error("hooks.alerts_lost", hook=storm.hook, held=storm.held, reason="It may not send.")
        return True
    if result.outcome is HookOutcome.ACCEPTED:
        return True
    is_late = now_ms - storm.ends_at >= KEPT_MS
    if is_late:
        log.error("hooks.alerts_lost", hook=storm.hook, held=storm.held, reason=result.sentence)
    return is_late


async def _keep_ending(services: Services) -> None:
    """End windows on time, until cancelled; one task for all hooks."""
    receiver, stored = services.part(HookReceiver), services.repositories.part(HookRepository)
    items = services.set_aside.loop("hook_alerts")
    end = partial(end_due, receiver, stored, services.recorder.clock, items)
    while True:
        await receiver.alarm.wait(await retry_until_committed("hooks", end))


def tasks(services: Services) -> Sequence[Task]:
    uses = services.part(HookRegistry).uses
    return (
        ("hooks", uses.keep_writing, False),
        ("storms", partial(_keep_ending, services), False),
    )


async def write_uses(services: Services) -> None:
    """Write when hooks were used last: the service ends."""
    await services.part(HookRegistry).uses.write()


def forget(services: Services, organization_id: str) -> None:
    """Forget an organization's hooks: they are read again, or deleted."""
    services.part(HookRegistry).organization_changed(organization_id)
