"""The tokens and prices that one commit holds until it is on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeVar

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
from risala.engine.limits.claims import (
    CodeSlot,
    DoubtCode,
    GiveBackSms,
    LimitsMessage,
    ReleaseCode,
    ReserveCode,
    TakeSms,
)
from risala.engine.model.errors import (
    Draining,
    EngineError,
    InsufficientBalance,
    OutcomeUnknown,
    RateLimited,
    SpendCapReached,
)
from risala.engine.model.records.messages import Acceptance, NewCode, NewMessage
from risala.engine.model.records.people.organizations import Organization

M = TypeVar("M")
_PRICELESS: Final = (InsufficientBalance, SpendCapReached)


class Holding:
    """Takes tokens from the rate buckets and holds prices at billing, for one organization's live
    messages.

    At the end either :meth:`committed` or :meth:`failed` is called, once: then everything is
    settled or given back. No method ends by cancellation, and between the first take and that call
    its user awaits nothing else that does, so a disconnected caller leaves nothing held.
    """

    __slots__ = (
        "_billing",
        "_held",
        "_limits",
        "_organization",
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
        self._held: list[tuple[Reservation, Sequence[NewMessage]]] = []
        """Each price with the messages that it is for."""

    async def take(self, news: Sequence[NewMessage]) -> None:
        """Take a token and the price for each of these messages of one request; for none if
        refused.

        They are requested together. This is granted if each would be granted in turn, except for
        tokens that arrive during the requests.

        Raises:
            RateLimited, InsufficientBalance, SpendCapReached: nothing is held for them.
        """
        organization, number = self._organization, len(news)
        await _ask(self._limits, TakeSms(organization.id, organization.sms_per_s, number))
        self._tokens += number
        try:
            await self.reserve(news)
        except EngineError:
            await self._give_back_sms(number)
            raise

    async def take_hour(self, new: NewCode) -> None:
        """Reserve a code's place in the hour of its number and of its organization.

        Raises:
            RateLimited: one of them is full.
        """
        message = new.message
        slot = CodeSlot(message.organization_id, message.recipient, message.created_at)
        await _ask(
            self._limits,
            ReserveCode(
                slot,
                new.per_phone_per_hour,
                new.per_organization_per_hour,
                heeds_cooldown=not new.by_itself,
            ),
        )
        self._slot = slot

    async def reserve(self, news: Sequence[NewMessage]) -> None:
        """Hold the price of messages of one request, which are therefore of one day. Where nobody
        pays, nothing is held: the journal alone counts the parts of the day.

        Raises:
            InsufficientBalance, SpendCapReached: nothing is held for them.
        """
        if news[0].allowance is not None:
            return
        organization = self._organization
        price = sum([new.price for new in news])
        claim = Reserve(organization.id, price, news[0].day, organization.spend_cap)
        self._held.append((await _ask(self._billing, claim), news))

    async def can_pay(self, price: int, day: int) -> bool:
        """Whether this price could be held now; holds nothing."""
        organization = self._organization
        claim = Reserve(organization.id, price, day, organization.spend_cap)
        try:
            reservation = await _ask(self._billing, claim)
        except _PRICELESS:
            return False
        await self._let_go([reservation], doubtful=False)
        return True

    async def committed(self, items: Sequence[NewMessage], accepted: Acceptance) -> None:
        """The commit succeeded: settle the messages that the journal accepted, and give back what
        was held for the others.

        Args:
            items: the messages given to the journal, in their order.
        """
        held, self._held = self._held, []
        if accepted.whole:
            became = _Became(len(items), [reservation for reservation, _ in held], [], False)
        else:
            became = _sort_out(items, accepted, held)
        if became.charged:
            assert accepted.entered is not None
            await _tell(self._billing, Settle(tuple(became.charged), accepted.entered))
        await self._let_go(became.released, doubtful=became.doubtful)
        await self._give_back_sms(self._tokens - became.accepted)

    async def failed(self, error: BaseException) -> None:
        """The commit failed: give everything back. After :class:`OutcomeUnknown` it is unknown
        whether it is on disk, and the ledger is read again."""
        held, self._held = self._held, []
        doubtful = isinstance(error, (*_PRICELESS, OutcomeUnknown))
        await self._let_go([reservation for reservation, _ in held], doubtful=doubtful)
        await self._give_back_sms(self._tokens)
        if self._slot is not None:
            full = isinstance(error, RateLimited)
            await _tell(self._limits, (DoubtCode if full else ReleaseCode)(self._slot))
            self._slot = None

    async def _let_go(self, released: Sequence[Reservation], *, doubtful: bool) -> None:
        """Release prices; if ``doubtful``, let billing read the ledger again."""
        if released:
            await _tell(self._billing, Release(tuple(released)))
        if doubtful:
            await _tell(self._billing, Doubt(self._organization.id))

    async def _give_back_sms(self, tokens: int) -> None:
        if tokens > 0:
            self._tokens -= tokens
            await _tell(self._limits, GiveBackSms(self._organization.id, tokens))


class _Became(NamedTuple):
    """How the held tokens and prices ended."""

    accepted: int
    """The number of messages."""
    charged: Sequence[Reservation]
    released: Sequence[Reservation]
    doubtful: bool
    """The ledger differs from what was reserved."""


def _sort_out(
    items: Sequence[NewMessage],
    accepted: Acceptance,
    held: Sequence[tuple[Reservation, Sequence[NewMessage]]],
) -> _Became:
    """Sort the held prices if the journal has not accepted everything."""
    new = {
        item.id
        for item, result in zip(items, accepted.results, strict=True)
        if result is item.response
    }
    charged: list[Reservation] = []
    released: list[Reservation] = []
    doubtful = any(isinstance(result, _PRICELESS) for result in accepted.results)
    for reservation, news in held:
        there = sum(item.id in new for item in news)
        (charged if there == len(news) else released).append(reservation)
        # If a price was charged in part, only the ledger shows how much is left.
        doubtful |= 0 < there < len(news)
    if accepted.entered is not None:
        # A repeat has no price of its own; it was charged if its first one was refused.
        doubtful |= not new <= {item.id for _, news in held for item in news}
    return _Became(len(new), charged, released, doubtful)


async def _ask(ref: Ref[M], message: M) -> Any:  # noqa: ANN401 -- as Ref.ask
    """Ask an actor and get its answer even if the caller is cancelled: it may have granted
    something.

    If an actor decides at once, nothing can cancel it, and a scope or a coroutine would cost more
    than the answer.
    """
    if ref.decides_at_once:
        return ref.ask_at_once(message)  # answers to these messages take no time
    with trio.CancelScope(shield=True):
        return await ref.ask(message)


async def _tell(ref: Ref[M], message: M) -> None:
    """Send to an actor, waiting for room in its mailbox: a lost message would keep something held
    for ever."""
    try:
        try:
            ref.tell_nowait(message)
        except MailboxFull:
            with trio.CancelScope(shield=True):
                await ref.tell(message)
    except Draining:
        pass  # the actor has stopped for good and decides nothing now
