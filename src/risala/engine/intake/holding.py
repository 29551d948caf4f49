"""The tokens and prices that one commit holds while it is on its way to the disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

import trio

from risala.engine.actors.actor import MailboxFull, Ref
from risala.engine.billing.claims import (
    BillingMessage,
    Doubt,
    Release,
    Reservation,
    Reserve,
    Settle,
)
from risala.engine.journal.messages.acceptance import Acceptance
from risala.engine.journal.messages.verifications import NewVerification
from risala.engine.journal.rows import NewMessage
from risala.engine.limits.claims import (
    CodeSlot,
    DoubtCode,
    GiveBackSms,
    LimitsMessage,
    ReleaseCode,
    ReserveCode,
    TakeSms,
)
from risala.engine.model.commands import Organization
from risala.engine.model.errors import (
    Draining,
    EngineError,
    InsufficientBalance,
    OutcomeUnknown,
    RateLimited,
    SpendCapReached,
)

M = TypeVar("M")
_PRICELESS: Final = (InsufficientBalance, SpendCapReached)


class Holding:
    """Takes tokens from the rate buckets and holds prices at billing, for one organization's live
    messages.

    In the end either :meth:`committed` or :meth:`failed` is called, once: then everything is
    settled or given back. No method ends by cancellation, and from the first thing taken until then
    its user waits for nothing else that does, so that a caller who hangs up leaves nothing held.
    """

    __slots__ = (
        "_billing",
        "_limits",
        "_organization",
        "_reservations",
        "_slot",
        "_tokens",
    )

    def __init__(
        self,
        limits: Ref[LimitsMessage],
        billing: Ref[BillingMessage],
        organization: Organization,
    ) -> None:
        self._limits = limits
        self._billing = billing
        self._organization = organization
        self._tokens = 0
        self._slot: CodeSlot | None = None
        self._reservations: dict[str, Reservation] = {}

    async def take_sms(self) -> None:
        """Take a token of the organization's bucket.

        Raises:
            RateLimited: none was there.
        """
        organization = self._organization
        await _ask(self._limits, TakeSms(organization.id, organization.sms_per_s))
        self._tokens += 1

    async def take_hour(self, new: NewVerification) -> None:
        """Reserve a code's place in the hour of its number and of its organization.

        Raises:
            RateLimited: one of them is full.
        """
        message = new.message
        slot = CodeSlot(message.organization_id, message.recipient, message.created_at)
        await _ask(
            self._limits, ReserveCode(slot, new.per_phone_per_hour, new.per_organization_per_hour)
        )
        self._slot = slot

    async def reserve(self, new: NewMessage) -> None:
        """Hold the price of a message; where that is refused, its token goes back to the bucket.

        Raises:
            InsufficientBalance, SpendCapReached: nothing is held for it.
        """
        organization = self._organization
        claim = Reserve(organization.id, new.price, new.day, organization.spend_cap)
        try:
            self._reservations[new.id] = await _ask(self._billing, claim)
        except EngineError:
            if self._tokens:
                await self._give_back_sms(1)
            raise

    async def committed(self, items: Sequence[NewMessage], accepted: Acceptance) -> None:
        """The commit succeeded: settle the messages that the journal accepted, and give back what
        was held for the others.

        Args:
            items: the messages that were handed to the journal, in their order.
        """
        charged: list[Reservation] = []
        doubtful = False
        number = 0
        for new, result in zip(items, accepted.results, strict=True):
            if result is new.response:
                number += 1
                reservation = self._reservations.pop(new.id, None)
                if reservation is None:
                    doubtful = True
                else:
                    charged.append(reservation)
            elif isinstance(result, _PRICELESS):
                doubtful = True
        if charged:
            assert accepted.entered is not None
            await _tell(self._billing, Settle(tuple(charged), accepted.entered))
        await self._let_go(doubtful=doubtful)
        await self._give_back_sms(self._tokens - number)

    async def failed(self, error: BaseException) -> None:
        """The commit failed: give everything back. After :class:`OutcomeUnknown` nobody knows
        whether it is on disk, and the ledger is read again."""
        await self._let_go(doubtful=isinstance(error, (*_PRICELESS, OutcomeUnknown)))
        await self._give_back_sms(self._tokens)
        if self._slot is not None:
            full = isinstance(error, RateLimited)
            await _tell(self._limits, (DoubtCode if full else ReleaseCode)(self._slot))
            self._slot = None

    async def _let_go(self, *, doubtful: bool) -> None:
        """Release what is still held; where ``doubtful``, have billing read the ledger again."""
        if self._reservations:
            await _tell(self._billing, Release(tuple(self._reservations.values())))
            self._reservations.clear()
        if doubtful:
            await _tell(self._billing, Doubt(self._organization.id))

    async def _give_back_sms(self, tokens: int) -> None:
        if tokens > 0:
            self._tokens -= tokens
            await _tell(self._limits, GiveBackSms(self._organization.id, tokens))


async def _ask(ref: Ref[M], message: M) -> Any:  # noqa: ANN401 -- as Ref.ask
    """Ask an actor, and have its answer whatever happens to who asks: it may have given something.

    A scope costs more than the answer of an actor that decides at once, which nothing cancels.
    """
    if ref.decides_at_once:
        return await ref.ask(message)
    with trio.CancelScope(shield=True):
        return await ref.ask(message)


async def _tell(ref: Ref[M], message: M) -> None:
    """Tell an actor, waiting for room in its mailbox: something would stay held for ever if the
    message got lost."""
    try:
        try:
            ref.tell_nowait(message)
        except MailboxFull:
            with trio.CancelScope(shield=True):
                await ref.tell(message)
    except Draining:
        pass  # the actor has stopped for good: nothing is decided any more
