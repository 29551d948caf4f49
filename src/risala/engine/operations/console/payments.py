"""Payments for operators to decide on: those that customers say they paid, the oldest first."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.model.records.paging import Steps
from risala.engine.model.records.paying.payments import (
    QUEUE,
    STATES,
    WAITING,
    PaymentFilter,
    PaymentQueue,
    QueuedPayment,
    StoredPayment,
)
from risala.engine.model.records.record import shallow
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    MaybeSearch,
    MaybeWhole,
    one_of,
)
from risala.engine.operations.cursors import MaybeIdPlace, limit_of, written
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.operations.paying.payments import shown
from risala.engine.rules.roles import OPERATORS, STAFF
from risala.plugins.payment import normalised_reference

_PAYMENT: Final = "pay_"
"""The beginning of payments' ids."""


_state: Final = one_of("invalid_status", STATES)


class ListClaims(Arguments):
    """A page of payments of all organizations: those that customers say they paid with the oldest
    first, all others with the newest first."""

    status: Annotated[
        str,
        PlainValidator(_state),
        ArgumentKind("`claimed`, `open`, `confirmed`, `refused` or `all`"),
    ] = WAITING
    search: MaybeSearch = None
    """A payment's id or reference, or part of its organization's name or id."""
    before: MaybeIdPlace = None
    after: MaybeIdPlace = None
    limit: MaybeWhole = None


async def _list(call: Call[ListClaims]) -> PaymentQueue:
    given, payments = call.given, call.services.repositories.payments
    limit = limit_of(given.limit)
    wanted, steps = _wanted(call), Steps(limit, given.before, given.after)
    read = payments.queued if given.status == WAITING else payments.listed
    found = read(wanted, steps)
    return PaymentQueue(
        tuple(_queued(call, each) for each in found.found),
        written(found.newer),
        written(found.older),
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
    return QueuedPayment(
        **shallow(shown(call, found)),
        organization_name=name,
        title={} if offer is None else offer.title,
        language=found.language,
    )


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(QUEUE, ListClaims, _list, roles=OPERATORS, operators=STAFF, crosses=True),
)
