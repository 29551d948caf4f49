"""Clears up at a start: attempts that a crash cut short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import structlog

from risala.config.model import CarrierSection
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.delivery.uncertain import policy_of
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.journal.messages.waiting import QueueRepository
from risala.engine.model.clock import Clock
from risala.engine.rules.repeats import NO_MANNERS, Resolution, resolution

log = structlog.get_logger(__name__)

ROWS_AT_ONCE: Final = 500
"""Rows that a start clears up in one unit."""


async def clear_up(
    queue: QueueRepository,
    clock: Clock,
    carriers: Sequence[CarrierSection],
    lanes: Mapping[str, CarrierWorker],
    items: ItemLoop,
) -> None:
    """Settle the attempts that a crash cut short; from now on the service may send.

    Args:
        items: where a message that breaks is set aside: the service starts without it.
    """
    await queue.note_running()
    by_name = {carrier.name: carrier for carrier in carriers}

    def policy(carrier: str, kind: str) -> Resolution:
        manners = lanes[carrier].manners if carrier in lanes else NO_MANNERS
        return resolution(manners, policy_of(by_name.get(carrier), kind))

    now_ms = clock.now_ms()
    total = 0

    async def recover(some: Sequence[tuple[int, str]]) -> None:
        nonlocal total
        await queue.recover(some, policy, now_ms)
        total += len(some)

    def left() -> list[tuple[int, str]]:
        return items.free(queue.interrupted(ROWS_AT_ONCE + len(items)), _id_of)

    while some := left():
        await items.together(some, _id_of, recover)
    if total:
        log.warning("engine.recovered", messages=total)


def _id_of(message: tuple[int, str]) -> str:
    _, message_id = message
    return message_id
