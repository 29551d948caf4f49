"""Messages that a restore holds back: show, release or end them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from risala.engine.model.records.messages import Change, Stamp
from risala.engine.model.records.upkeep.restored import END, LIST, RELEASE, Decided, HeldMessages
from risala.engine.operations.arguments import NoArguments
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import OPERATORS, READERS

AT_ONCE: Final = 64
"""Messages in one unit of work: sends wait for no more than that."""


async def _list(call: Call[NoArguments]) -> HeldMessages:
    queue = call.services.repositories.queue
    return HeldMessages(await queue.held_count(), tuple(await queue.held()))


async def _release(call: Call[NoArguments]) -> Decided:
    return await _decide(call, call.services.repositories.queue.release_held)


async def _end(call: Call[NoArguments]) -> Decided:
    return await _decide(call, call.services.repositories.queue.end_held)


async def _decide(
    call: Call[NoArguments], some: Callable[[Sequence[Stamp]], Awaitable[tuple[Change, ...]]]
) -> Decided:
    """Decide on all held messages, one unit after another; call it again if it is interrupted."""
    recorder, done = call.services.recorder, 0
    said = {"held": await call.services.repositories.queue.held_count()}
    # The audit entry comes first, because the work takes several units.
    await call.note(call.audit(said=said, always=True))
    while changes := await some([recorder.stamp() for _ in range(AT_ONCE)]):
        recorder.tell(changes)
        done += len(changes)
    return Decided(done)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(LIST, NoArguments, _list, roles=OPERATORS, operators=READERS),
    operation(RELEASE, NoArguments, _release, roles=OPERATORS, changes=Decided),
    operation(END, NoArguments, _end, roles=OPERATORS, changes=Decided),
)
