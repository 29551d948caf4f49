"""The engine's side of :class:`DriverContext`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Final

import structlog

from risala.engine.actors.set_aside import ItemLoop
from risala.engine.delivery.worker.calls import checked
from risala.engine.delivery.worker.discreet import discreet, discreet_receipt
from risala.engine.delivery.worker.worker import UNTRUSTED, CarrierWorker
from risala.engine.journal.carrier_secrets import SecretOwner
from risala.engine.journal.repositories import Repositories
from risala.engine.model.errors import Draining, Failed, Unavailable
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty
from risala.engine.model.ids import IdSource
from risala.engine.model.records.attempts import Arrival
from risala.engine.model.records.carriers.stored import TooManyNotes
from risala.engine.model.records.inbound import PhoneArrival
from risala.engine.model.records.messages import StoreArrival
from risala.plugins.contract import (
    RECEIPTS_SOON_MAX,
    Accepted,
    Health,
    Inbound,
    NotStoredError,
    Outcome,
    Receipt,
    Segment,
)
from risala.sms.numbering.plan import NumberingPlan
from risala.sms.values import quickly

_arrival: Final = quickly(Arrival)
log = structlog.get_logger(__name__)

TextTaker = Callable[[Inbound, Sequence[str]], Awaitable[None]]
"""Stores a text, and strikes notes of its driver in the same transaction."""
ArrivalParts = Callable[[PhoneArrival], Sequence[StoreArrival]]
"""What features do with a text or call in the transaction that stores it."""
ITEM_CHARACTERS: Final = 100
"""What is shown of a text's ids, which are the carrier's."""


def no_parts(_: PhoneArrival) -> Sequence[StoreArrival]:
    """No feature does anything with it."""
    return ()


class WorkerContext:
    """The context that the engine gives to one driver.

    Args:
        texts: where an incoming text is set aside that no database can keep.
        taker: takes the incoming texts; None: they are for customers.
        arrived: what features do with a text or call for customers.
    """

    def __init__(
        self,
        lane: CarrierWorker,
        repositories: Repositories,
        ids: IdSource,
        plan: NumberingPlan,
        texts: ItemLoop,
        taker: TextTaker | None = None,
        arrived: ArrivalParts = no_parts,
    ) -> None:
        self._lane = lane
        self._arrived = arrived
        self._texts = texts
        self._taker = taker
        self._repositories = repositories
        self._ids = ids
        self._plan = plan
        self._unwritten = 0
        self._lost: set[str] = set()
        """Keys of secrets that the trace has named as lost."""
        self.traffic = lane.traffic.note

    @property
    def carrier(self) -> str:
        return self._lane.name

    async def receipt(self, receipt: Receipt) -> None:
        try:
            await self._lane.scribe.received(self._arrival(receipt))
        except Unavailable as error:
            raise NotStoredError(str(error)) from error
        except Exception as error:
            self._tell_bug(error)
            raise NotStoredError("The receipt could not be stored.") from error
        self._count(receipt)

    def receipt_soon(self, receipt: Receipt, stored: Callable[[bool], None]) -> None:
        if self._unwritten >= RECEIPTS_SOON_MAX:
            raise NotStoredError("Too many receipts are waiting to be stored.")
        self._unwritten += 1
        self._lane.scribe.receive(self._arrival(receipt), partial(self._received, receipt, stored))

    def _received(
        self, receipt: Receipt, stored: Callable[[bool], None], failed: Failed | None
    ) -> None:
        self._unwritten -= 1
        if failed is None:
            self._count(receipt)
        elif not isinstance(failed.error, Unavailable):
            self._tell_bug(failed.error)
        stored(failed is None)

    def _count(self, receipt: Receipt) -> None:
        counts = self._lane.counts
        counts.receipts += 1
        counts.final += receipt.state.is_final

    def _tell_bug(self, error: BaseException) -> None:
        """Log only the kind of error: a receipt that cannot be stored comes again and again."""
        log.error("receipts.bug", carrier=self.carrier, exc_info=error)
        self._lane.standing.note(
            f"A receipt could not be stored: {type(error).__name__}. The carrier is asked to "
            "send it again. Please report the details in the log."
        )

    def _arrival(self, receipt: Receipt) -> Arrival:
        lane = self._lane
        return _arrival(lane.name, discreet_receipt(receipt), lane.recorder.stamp())

    async def inbound(self, message: Inbound, *, forget: Iterable[str] = ()) -> None:
        message_id, stamp = self._ids.new("mo"), self._lane.recorder.stamp()
        keys = tuple(forget)
        if self._taker is not None:
            with self._text_not_stored(message):
                await self._taker(message, keys)
            return
        accounts = self._lane.recorder.groups.account_of
        stored = self._repositories.inbound
        with self._text_not_stored(message):
            received = self._at_home(message)
            ways = self._plan.ways_to_write(received.recipient or "")
            parts = self._parts(received.sender, received.text)
            await stored.receive(
                message_id, self.carrier, received, ways, stamp, accounts, keys, parts
            )

    def _parts(self, number: str, text: str | None) -> Sequence[StoreArrival]:
        is_believed = self._lane.origin != UNTRUSTED
        return self._arrived(PhoneArrival(self.carrier, number, is_believed, text))

    async def call(self, number: str | None) -> None:
        if self._taker is not None:
            return
        caller = self._plan.with_country(number or "", self._lane.carrier.national_prefix)
        if parts := self._parts(caller, None):
            with _not_stored():
                await self._repositories.inbound.take_call(parts, self._lane.recorder.stamp())

    def _at_home(self, message: Inbound) -> Inbound:
        """Both numbers in the service's own form, however the carrier wrote them."""
        prefix = self._lane.carrier.national_prefix
        sender = self._plan.with_country(message.sender, prefix)
        recipient = message.recipient and self._plan.with_country(message.recipient, prefix)
        return replace(message, sender=sender, recipient=recipient)

    @contextmanager
    def _text_not_stored(self, message: Inbound) -> Iterator[None]:
        """A text that no database can keep ends no link: it is set aside by its carrier's ids, and
        the carrier keeps it."""
        item, stored = " ".join((self.carrier, *message.carrier_ids)), False
        named = item.encode("ascii", "backslashreplace").decode()[:ITEM_CHARACTERS]
        with _not_stored(), self._texts.item(named):
            yield
            stored = True
        if not stored:
            raise NotStoredError("The text could not be stored.")

    async def remember(self, notes: Mapping[str, str | None]) -> None:
        written = dict(notes)
        now_ms = self._lane.recorder.stamp().now_ms
        try:
            with _not_stored():
                await self._repositories.carriers.remember(self.carrier, written, now_ms)
        except TooManyNotes as error:
            raise NotStoredError("The carrier has too many notes.") from error

    def recall(self, prefix: str = "") -> dict[str, str]:
        return self._repositories.carriers.recall(self.carrier, prefix)

    async def remember_secret(
        self, secrets: Mapping[str, str | None], *, notes: Mapping[str, str | None] | None = None
    ) -> None:
        now_ms = self._lane.recorder.stamp().now_ms
        stored = self._repositories.carrier_secrets
        try:
            with _not_stored():
                await stored.remember(self._owner, dict(secrets), dict(notes or {}), now_ms)
        except TooManyNotes as error:
            raise NotStoredError("The carrier has too many notes.") from error

    def recall_secret(self, prefix: str = "") -> dict[str, str]:
        opened, lost = self._repositories.carrier_secrets.recall(self._owner, prefix)
        for key in set(lost) - self._lost:
            self.trace(f"The secret {key!r} cannot be opened: its sealing key is not here.")
        self._lost.update(lost)
        return opened

    @property
    def _owner(self) -> SecretOwner:
        return SecretOwner(self.carrier, self._lane.carrier.driver)

    def hops(self, message_id: str) -> tuple[str, ...]:
        through = duty(Duty.HOPS)
        ids: tuple[str, ...] = () if through is None else through(self._repositories, message_id)
        return ids

    async def fetched(self, segments: Sequence[Segment]) -> tuple[Segment, ...]:
        return await self._lane.offers.fetch(segments)

    async def late_outcome(self, segment: Segment, outcome: Outcome) -> None:
        """Use an answer that came after its submit was given up as uncertain."""
        if checked(self.carrier, outcome) is None:
            return
        self._lane.counts.late += 1
        row = self._repositories.queue.message(segment.message_id)
        if row is None:
            return
        partly = bool(self._repositories.queue.acknowledged_parts(row.id))
        outcome = discreet(outcome, segment, is_code=row.kind == "code")
        answer = self._lane.answers.of(row, segment, outcome, partly_accepted=partly, live=False)
        try:
            await self._lane.scribe.finished(answer)
        except Draining:  # it stays uncertain
            return
        if isinstance(outcome, Accepted):
            self._lane.awaited.expect(row.id, segment.number, outcome.carrier_id)

    async def reachable(self, number: str) -> None:
        at_home = self._plan.with_country(number, self._lane.carrier.national_prefix)
        # Raised if the disk is full or the service stops: the carrier does not send it again then.
        with suppress(Unavailable):
            await self._lane.recorder.note_reachable(self.carrier, at_home)

    def health(self, health: Health) -> None:
        self._lane.set_health(health)

    def trace(self, text: str) -> None:
        self._lane.standing.note(text)


@contextmanager
def _not_stored() -> Iterator[None]:
    """Report to a driver that the disk did not take its data."""
    try:
        yield
    except Unavailable as error:
        raise NotStoredError(str(error)) from error
