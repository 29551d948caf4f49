"""Everything that a person may do, by name: one table for the API, the pages and the commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Any, Final, TypeVar

import trio

from risala.engine.journal.store.watched import telling
from risala.engine.kernel.arguments import Arguments, Json, parse
from risala.engine.kernel.operation import Call, Operation
from risala.engine.model.audit import family_of
from risala.engine.model.callers import Caller
from risala.engine.model.errors import UNCONFIRMED, NotFound, OutcomeUnknown, StorageFailed
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import features, required
from risala.engine.model.money import minor_units
from risala.engine.model.records.asks import Ask, Versioned
from risala.engine.operations import (
    account,
    carriers,
    countries,
    deliveries,
    inbound,
    keys,
    message_lists,
    messages,
    money,
    organizations,
    security,
    senders,
    system,
    trail,
    users,
    verify,
    webhooks,
)
from risala.engine.services import Services

__all__ = ["OPERATIONS", "answer", "perform", "perform_typed"]

A = TypeVar("A", bound=Arguments)
R = TypeVar("R")

_CORE: Final = (
    *(organizations, keys, countries, money, senders, messages, message_lists),
    *(system, security, verify, trail, carriers, webhooks, deliveries, inbound, account, users),
)
"""The modules with the operations of the core."""


def _all() -> Iterator[Operation[Any, Any]]:
    for module in _CORE:
        yield from module.OPERATIONS
    for feature in features():
        for declared in feature.operations:
            yield from declared()


OPERATIONS: Final[dict[str, Operation[Any, Any]]] = {each.name: each for each in _all()}


def permitted(caller: Caller) -> frozenset[str]:
    """The names of the operations that are for the caller's role."""
    return frozenset(name for name, each in OPERATIONS.items() if each.allows(caller))


async def perform(services: Services, caller: Caller, name: str, arguments: Json) -> Json:
    """Do one operation, JSON in and out. See :meth:`Gateway.perform`."""
    operation = OPERATIONS.get(name)
    if operation is None:
        raise NotFound(f"There is no operation {name!r}.")
    value, version = await _answer(services, caller, operation, arguments)
    wire = operation.wire(value)
    return wire if operation.versioned_by is None else {**wire, "version": version}


async def answer(services: Services, caller: Caller, ask: Ask[R], arguments: Json) -> Versioned[R]:
    """Do one operation, with JSON arguments and a typed answer. See :meth:`Gateway.ask`."""
    return await _answer(services, caller, OPERATIONS[ask.name], arguments)


async def _answer(
    services: Services, caller: Caller, operation: Operation[A, R], arguments: Json
) -> Versioned[R]:
    parsed = parse(operation.arguments, arguments, services.settings.plan)
    # A read takes the version before the values. Otherwise the version could include a change that
    # the values lack, and an edit with that version would undo the change unseen.
    seen = None if operation.writes(parsed) else _version(services, operation, parsed)
    value = await perform_typed(services, caller, operation, parsed, arguments)
    return Versioned(value, _version(services, operation, parsed) if seen is None else seen)


def _version(
    services: Services, operation: Operation[Any, Any], arguments: Arguments
) -> int | None:
    """The version of the thing that the arguments name; None: the operation edits nothing."""
    if operation.versioned_by is None:
        return None
    subject: str = getattr(arguments, operation.versioned_by)
    return services.repositories.audit.version_of(subject, family_of(operation.name))


async def perform_typed(
    services: Services, caller: Caller, operation: Operation[A, R], parsed: A, arguments: Json
) -> R:
    """Do one operation.

    Args:
        arguments: those that ``parsed`` was made of.

    Raises:
        NotFound: the named thing does not exist, or this caller may not see it.
        Forbidden: the operation is not for the caller's role.
        Refusal: it cannot be done; ``str()`` says why in one sentence.
        Unavailable: it cannot be done now.
    """
    condition = services.recorder.journal.condition
    call = Call(services, caller, operation.name, parsed)
    # Shielded: where the caller hangs up after the commit, the caches must still be brought up to
    # date with the journal.
    with trio.CancelScope(shield=True):
        try:
            with telling(condition.meet):
                operation.refuse(services, caller, parsed)
                if operation.shows_all(parsed):
                    await call.note(call.audit(always=True))
                async with _watched(call, operation, arguments):
                    return await _handled(services, operation, call)
        except StorageFailed as error:
            if isinstance(error, OutcomeUnknown) or condition.ailment is None:
                raise
            # The operator is told in full what is wrong with the storage, and what to do.
            raise StorageFailed(condition.ailment.sentence) from error
    raise AssertionError("a shield lets nothing be cancelled")


def _watched(
    call: Call[Any], operation: Operation[Any, Any], arguments: Json
) -> AbstractAsyncContextManager[None]:
    """Around the handler of an operation: what four eyes watch is not done without them."""
    weight = None if operation.four_eyes is None else operation.four_eyes(call)
    written = call.services.settings.people.four_eyes_from
    limit = None if written is None else minor_units(written)
    if weight is None or not weight.is_watched(limit, call.caller):
        return nullcontext()
    watching: AbstractAsyncContextManager[None] = required(Duty.FOUR_EYES)(
        call, operation, arguments, weight, limit
    )
    return watching


async def _handled(services: Services, operation: Operation[A, R], call: Call[A]) -> R:
    """What the operation returns; a change does not wait long for the second machine."""
    work = partial(operation.handler, call)
    if operation.works_without_standby or not operation.writes(call.arguments):
        return await work()
    return await services.recorder.answers.within(work, partial(OutcomeUnknown, UNCONFIRMED))
