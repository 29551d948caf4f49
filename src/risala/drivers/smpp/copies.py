"""Messages from phones that come again because they were not answered in time.

SMPP gives them no id, so a copy looks like a person's second message with the same words. But if
the disk is so slow that the carrier's patience is over, we know: the first one still waits for its
answer. An identical message is its copy then, is not stored, and gets its answer.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from risala.drivers.smpp.link import Link
from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm, unnumbered_response

ESME_RX_T_APPN: Final = 0x64
AGAIN_S: Final = 2.0
"""Seconds after which the same may be a copy: no known carrier's patience is shorter (Osmocom's MSC
has 5 s). An earlier one is a second message."""
CROSSING_S: Final = 5.0
"""Seconds after a late answer in which the same is still a copy: it left the carrier before the
answer reached it."""
WAITING_MAX: Final = 1000
"""Waiting messages with recognised copies: as many as the inbox takes; it refuses more."""
LATE_MAX: Final = 1000
"""Late answers that are remembered for that."""

COPIES_MAX: Final = 10
"""The latest copies of one message, which get an answer: on earlier ones the carrier has given
up."""


def unheard(_: Unanswered, __: int) -> None:
    """For messages that are not checked for copies."""


@dataclass(slots=True, eq=False)
class Unanswered:
    """One ``deliver_sm`` or ``data_sm`` that waits for its answer."""

    link: Link
    request: DeliverSm | DataSm
    came_s: float = 0.0
    copies: deque[Unanswered] = field(default_factory=lambda: deque(maxlen=COPIES_MAX))
    """Copies that came meanwhile, perhaps on another link: they get the same answer."""
    answered: Callable[[Unanswered, int], None] = unheard

    def answer(self, command_status: int = 0) -> None:
        for one in (self, *self.copies):
            response = unnumbered_response(one.request.command_id, command_status)
            one.link.respond(one.request, response)
        self.answered(self, command_status)

    def settle(self, is_stored: bool) -> None:
        """Answer with success, or so that the carrier sends it again."""
        self.answer(0 if is_stored else ESME_RX_T_APPN)


class MessageCopies:
    """Remembers the messages that wait for their answer, and those whose answer was late."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._waiting: dict[DeliverSm | DataSm, Unanswered] = {}
        self._late: OrderedDict[DeliverSm | DataSm, float] = OrderedDict()

    def first(self, link: Link, request: DeliverSm | DataSm) -> Unanswered | None:
        """A message to store; None: it is a copy, and has its answer or will get it."""
        now_s, content = self._now_s(), replace(request, sequence_number=0)
        answered_s = self._late.get(content)
        if answered_s is not None:
            if now_s - answered_s <= CROSSING_S:  # perhaps one of several on their way
                Unanswered(link, request).answer()
                return None
            del self._late[content]
        delivery = Unanswered(link, request, now_s, answered=self._answered)
        earlier = self._waiting.get(content)
        if earlier is not None and now_s - earlier.came_s >= AGAIN_S:
            earlier.copies.append(delivery)
            return None
        if earlier is None and len(self._waiting) < WAITING_MAX:
            self._waiting[content] = delivery
        return delivery

    def _answered(self, delivery: Unanswered, command_status: int) -> None:
        content, now_s = replace(delivery.request, sequence_number=0), self._now_s()
        if self._waiting.get(content) is delivery:
            del self._waiting[content]
        # Where copies came, the carrier's patience was over, however lately the last one was read:
        # it may have waited in the socket while this process stood still.
        is_late = delivery.copies or now_s - delivery.came_s >= AGAIN_S
        if command_status or not is_late:
            return
        self._late[content] = now_s
        while len(self._late) > LATE_MAX:
            self._late.popitem(last=False)
