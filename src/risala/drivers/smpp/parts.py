"""People's messages, some of them in parts: answered once they are on disk, as far as can be.

A part alone cannot be stored: only whole messages can. So its ``deliver_sm`` is left unanswered
until the last part is here and all of it is stored; then all are answered. A crash in between loses
nothing, because the carrier still has them.

But a carrier that sends one ``deliver_sm`` at a time would wait for the answer to the first part
before it sends the second, and ours would not come. So a part is answered after
:attr:`PartLimits.ack_wait_s` whatever happens, and is then held in memory alone until the rest
comes. What never becomes whole is stored as it is, with ``[…]`` where parts are missing: after
:attr:`PartLimits.timeout_s`, when too many wait, and when the driver stops.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import trio

from risala.drivers.smpp.assembly import Assembler, Whole
from risala.drivers.smpp.link import Link
from risala.drivers.smpp.pdu import DataSm, DeliverSm, response_to
from risala.drivers.smpp.submit import DefaultAlphabet, decode_message, readable_address
from risala.plugins.contract import DriverContext, Inbound, NotStoredError

_ESME_RX_T_APPN: Final = 0x64
_UNANSWERED_MAX: Final = 1000
"""Parts whose answer may wait; above it the one that waits longest is answered."""
_STORE_RETRY_S: Final = 5.0
"""From a refusing disk to the next try to store what was acknowledged and is not whole."""
_LEAVE_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class PartLimits:
    ack_wait_s: float = 2.0
    """How long the answer to a part waits for the others. Carriers wait 5 to 60 s for it."""
    timeout_s: float = 3600.0
    """How long after its last part an incomplete message is given up on."""


@dataclass(slots=True, eq=False)
class Delivery:
    """One ``deliver_sm`` or ``data_sm`` that waits for its answer."""

    link: Link
    request: DeliverSm | DataSm
    is_answered: bool = False

    def answer(self, command_status: int = 0) -> None:
        """Once; further calls change nothing."""
        if not self.is_answered:
            self.is_answered = True
            self.link.respond(self.request, response_to(self.request, command_status))


class Parts:
    """Joins, stores and answers."""

    def __init__(
        self,
        context: DriverContext,
        limits: PartLimits,
        default_alphabet: DefaultAlphabet,
        now_ms: Callable[[], int],
    ) -> None:
        self._context = context
        self._limits = limits
        self._default_alphabet = default_alphabet
        self._now_ms = now_ms
        self._assembler = Assembler()
        self._unanswered: OrderedDict[Delivery, float] = OrderedDict()
        """By when each must be answered; the first is the next."""
        self._changed = trio.Event()

    async def take(self, delivery: Delivery) -> None:
        """Store the message that this makes whole, and answer; or hold it."""
        request = delivery.request
        decoded = decode_message(request, self._default_alphabet)
        now_s = trio.current_time()
        whole = self._assembler.add(
            decoded.text,
            decoded.concatenation,
            *(request.source_addr_ton, request.source_addr),
            *(request.dest_addr_ton, request.destination_addr),
            token=delivery,
            now_s=now_s,
        )
        if whole is not None:
            await self._store(whole)
            return
        self._unanswered[delivery] = now_s + self._limits.ack_wait_s
        if len(self._unanswered) > _UNANSWERED_MAX:
            self._unanswered.popitem(last=False)[0].answer()
        self._changed.set()
        if given_up := self._assembler.give_way():
            await self._give_up(given_up)

    async def run(self) -> None:
        """Answer the parts that waited long enough; store what never became whole."""
        while True:
            self._changed = trio.Event()
            now_s = trio.current_time()
            self._answer_due(now_s)
            for whole in self._assembler.take_older(now_s - self._limits.timeout_s):
                await self._give_up(whole)
            with trio.move_on_at(self._next_s()):
                await self._changed.wait()

    async def leave(self) -> None:
        """Store what was acknowledged and is not whole: nobody will bring it again."""
        with trio.move_on_after(_LEAVE_S, shield=True):
            for whole in self._assembler.take_older():
                if any(part.token.is_answered for part in whole.parts):
                    await self._store(whole)

    def _next_s(self) -> float:
        answer_s = next(iter(self._unanswered.values()), math.inf)
        oldest_s = self._assembler.oldest_s()
        give_up_s = math.inf if oldest_s is None else oldest_s + self._limits.timeout_s
        # A moment later, so that nothing is a hair too young and looked at twice.
        return min(answer_s, give_up_s + 0.001)

    def _answer_due(self, now_s: float) -> None:
        while self._unanswered and next(iter(self._unanswered.values())) <= now_s:
            self._unanswered.popitem(last=False)[0].answer()

    async def _give_up(self, whole: Whole) -> None:
        if not whole.repeats:
            came = len(whole.parts)
            self._context.trace(
                f"A message of {whole.segments} parts is incomplete: {came} came, the others never."
            )
        await self._store(whole)

    async def _store(self, whole: Whole) -> None:
        deliveries: list[Delivery] = [part.token for part in whole.parts]
        for delivery in deliveries:
            self._unanswered.pop(delivery, None)
        if not whole.repeats:
            try:
                await self._context.inbound(self._inbound(whole))
            except NotStoredError:
                self._put_back(whole)
            except BaseException:  # cancelled: leave() has the last word
                self._put_back(whole, answer=False)
                raise
        for delivery in deliveries:
            delivery.answer()

    def _put_back(self, whole: Whole, *, answer: bool = True) -> None:
        """What the carrier was told is ours stays ours; the others come again."""
        ours = [part.number for part in whole.parts if part.token.is_answered]
        if answer:
            for part in whole.parts:
                part.token.answer(_ESME_RX_T_APPN)
        now_s = trio.current_time()
        again_s = now_s if whole.is_complete else now_s - self._limits.timeout_s + _STORE_RETRY_S
        self._assembler.put_back(whole, ours, again_s)
        self._changed.set()

    def _inbound(self, whole: Whole) -> Inbound:
        request: DeliverSm | DataSm = whole.parts[0].token.request
        return Inbound(
            sender=readable_address(request.source_addr_ton, request.source_addr),
            recipient=readable_address(request.dest_addr_ton, request.destination_addr) or None,
            text=whole.text,
            received_at_ms=self._now_ms(),
        )
