"""Messages that a restore holds back: show, release or end them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from risala.engine.features.backup.feature import END, LIST, RELEASE, Decided, HeldMessages
from risala.engine.features.backup.stored.held import HeldRepository
from risala.engine.kernel.arguments import NoArguments
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.records.messages import Change, Stamp
from risala.engine.rules.roles import OPERATORS, READERS

AT_ONCE: Final = 64
"""Messages in one unit of work: sends wait for no more than that."""


OPERATIONS: Final = Operations()


@OPERATIONS(LIST, roles=OPERATORS, operators=READERS)
async def _list(call: Call[NoArguments]) -> HeldMessages:
    held = call.stored(HeldRepository)
    return HeldMessages(await held.count(), tuple(await held.held()))


@OPERATIONS(RELEASE, roles=OPERATORS, changes=Decided)
async def _release(call: Call[NoArguments]) -> Decided:
    return await _decide(call, call.stored(HeldRepository).release)


@OPERATIONS(END, roles=OPERATORS, changes=Decided)
async def _end(call: Call[NoArguments]) -> Decided:
    return await _decide(call, call.stored(HeldRepository).end)


async def _decide(
    call: Call[NoArguments], some: Callable[[Sequence[Stamp]], Awaitable[tuple[Change, ...]]]
) -> Decided:
    """Decide on all held messages, one unit after another; call it again if it is interrupted."""
    recorder, done = call.services.recorder, 0
    details = {"held": await call.stored(HeldRepository).count()}
    # The audit entry comes first, because the work takes several units.
    await call.note(call.audit(details=details, always=True))
    while changes := await some([recorder.stamp() for _ in range(AT_ONCE)]):
        recorder.tell(changes)
        done += len(changes)
    return Decided(done)
