"""What a restore holds: shown, let go, ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from risala.engine.model.records.messages import Change, Stamp
from risala.engine.model.records.upkeep.restored import END, LIST, RELEASE, Decided, HeldMessages
from risala.engine.operations.arguments import NoArguments
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import OPERATORS

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
    """See to all that are held, one unit after the other; interrupted, it is called once more."""
    recorder, done = call.services.recorder, 0
    said = {"held": await call.services.repositories.queue.held_count()}
    # Written before it is done, for it is done in several units.
    await call.note(call.audit(said=said, always=True))
    while changes := await some([recorder.stamp() for _ in range(AT_ONCE)]):
        recorder.tell(changes)
        done += len(changes)
    return Decided(done)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(LIST, NoArguments, _list, roles=OPERATORS),
    operation(RELEASE, NoArguments, _release, roles=OPERATORS, changes=Decided),
    operation(END, NoArguments, _end, roles=OPERATORS, changes=Decided),
)
