"""What a restore holds: shown, let go, ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from risala.engine.model.records.messages import Change, Stamp
from risala.engine.model.records.upkeep.restored import HeldMessage
from risala.engine.model.times import iso
from risala.engine.operations.arguments import Json, NoArguments
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OPERATORS

AT_ONCE: Final = 64
"""Messages in one unit of work: sends wait for no more than that."""


@dataclass(frozen=True, slots=True)
class HeldMessages:
    count: int
    messages: tuple[HeldMessage, ...]
    """The earliest of them."""


@dataclass(frozen=True, slots=True)
class Decided:
    count: int
    """Messages that were let go, or ended."""


def _held_wire(found: HeldMessages) -> Json:
    return {"count": found.count, "messages": [held_wire(each) for each in found.messages]}


def held_wire(message: HeldMessage) -> Json:
    return {
        "messageId": message.id,
        "organizationId": message.organization_id,
        "to": message.recipient,
        "sendAt": iso(message.send_at),
    }


def _decided_wire(found: Decided) -> Json:
    return {"count": found.count}


async def _list(call: Call[NoArguments]) -> HeldMessages:
    queue = call.services.repositories.queue
    return HeldMessages(queue.held_count(), tuple(queue.held()))


async def _release(call: Call[NoArguments]) -> Decided:
    return await _decide(call, call.services.repositories.queue.release_held)


async def _end(call: Call[NoArguments]) -> Decided:
    return await _decide(call, call.services.repositories.queue.end_held)


async def _decide(
    call: Call[NoArguments], some: Callable[[Sequence[Stamp]], Awaitable[tuple[Change, ...]]]
) -> Decided:
    """See to all that are held, one unit after the other; interrupted, it is called once more."""
    recorder, done = call.services.recorder, 0
    said = {"held": call.services.repositories.queue.held_count()}
    # Written before it is done, for it is done in several units.
    await call.note(call.audit(said=said, always=True))
    while changes := await some([recorder.stamp() for _ in range(AT_ONCE)]):
        recorder.tell(changes)
        done += len(changes)
    return Decided(done)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="restored.list",
        arguments=NoArguments,
        result=HeldMessages,
        wire=_held_wire,
        handler=_list,
        roles=OPERATORS,
    ),
    Operation(
        name="restored.release",
        arguments=NoArguments,
        result=Decided,
        wire=_decided_wire,
        handler=_release,
        roles=OPERATORS,
        changes=True,
    ),
    Operation(
        name="restored.end",
        arguments=NoArguments,
        result=Decided,
        wire=_decided_wire,
        handler=_end,
        roles=OPERATORS,
        changes=True,
    ),
)
