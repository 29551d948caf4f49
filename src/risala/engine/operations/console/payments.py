"""Payments as operators decide on them: those that are said to be paid, the longest wait first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.model.records.paging import Place, Steps
from risala.engine.model.records.payments import (
    STATES,
    WAITING,
    PaymentFilter,
    StoredPayment,
    Texts,
)
from risala.engine.model.times import maybe_iso
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    Json,
    MaybeText,
    MaybeWhole,
    one_of,
)
from risala.engine.operations.cursors import MaybeIdPlace, written
from risala.engine.operations.operation import Call, Operation
from risala.engine.operations.paying.payments import ShownPayment, payment_wire, shown
from risala.engine.rules.roles import OPERATORS
from risala.plugins.payment import normalised_reference

PAGE_MAX: Final = 200
PAGE_USUAL: Final = 50
_PAYMENT: Final = "pay_"
"""How ids of payments begin."""


_state: Final = one_of("invalid_status", STATES)


class ListClaims(Arguments):
    """A page of payments over all organizations: those that their customers say they paid with the
    oldest first, all others the newest first."""

    status: Annotated[
        str,
        PlainValidator(_state),
        ArgumentKind("`claimed`, `open`, `confirmed`, `refused` or `all`"),
    ] = WAITING
    search: MaybeText = None
    """A payment's id or reference, or part of its organization's name or id."""
    before: MaybeIdPlace = None
    after: MaybeIdPlace = None
    limit: MaybeWhole = None


@dataclass(frozen=True, slots=True)
class QueuedPayment:
    """A payment with what its decision is made by."""

    shown: ShownPayment
    organization_name: str
    title: Texts
    """Of its method; empty: there is no such method any more."""


@dataclass(frozen=True, slots=True)
class PaymentQueue:
    payments: tuple[QueuedPayment, ...]
    newer: Place | None
    older: Place | None
    looked_to: int | None
    """UTC epoch milliseconds: so far it was looked; None: as far as there are any."""
    waiting: int
    oldest: int | None
    """Since when the first of those that wait does, UTC epoch milliseconds."""


def _queued_wire(found: QueuedPayment) -> Json:
    stored = found.shown.payment
    return {
        **payment_wire(found.shown),
        "organizationName": found.organization_name,
        "title": dict(found.title),
        "language": stored.language,
    }


def _queue_wire(queue: PaymentQueue) -> Json:
    return {
        "payments": [_queued_wire(each) for each in queue.payments],
        "newer": written(queue.newer),
        "older": written(queue.older),
        "lookedTo": maybe_iso(queue.looked_to),
        "waiting": queue.waiting,
        "oldestAt": maybe_iso(queue.oldest),
    }


async def _list(call: Call[ListClaims]) -> PaymentQueue:
    given, payments = call.given, call.services.repositories.payments
    limit = max(1, min(given.limit or PAGE_USUAL, PAGE_MAX))
    wanted, steps = _wanted(call), Steps(limit, given.before, given.after)
    read = payments.queued if given.status == WAITING else payments.listed
    found = read(wanted, steps)
    return PaymentQueue(
        tuple(_queued(call, each) for each in found.found),
        found.newer,
        found.older,
        None if found.looked_to is None else found.looked_to.begun_at,
        payments.count_claimed(),
        payments.first_claimed_at(),
    )


def _wanted(call: Call[ListClaims]) -> PaymentFilter:
    state, search = call.given.status, call.given.search
    if search is None or search.startswith(_PAYMENT):
        return PaymentFilter(state, payment_id=search)
    try:
        key = normalised_reference(search)
    except ValueError:
        return PaymentFilter(state, search)
    if call.services.repositories.payments.is_entered(key):
        return PaymentFilter(state, key=key)
    return PaymentFilter(state, search)


def _queued(call: Call[Any], found: StoredPayment) -> QueuedPayment:
    services = call.services
    offer = services.payments.offers.get(found.method)
    name = services.accounts.organization(found.organization_id).name
    title = {} if offer is None else offer.title
    return QueuedPayment(shown(call, found), name, title)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="payment.queue",
        arguments=ListClaims,
        result=PaymentQueue,
        wire=_queue_wire,
        handler=_list,
        roles=OPERATORS,
        crosses=True,
    ),
)
