"""One live SMPP connection on a Trio stream: one task reads, one writes all PDUs that wait at once.

A ``send_all`` for each PDU would divide the throughput by twelve, and one that is cancelled
would leave half a PDU on the wire. So only the writing task writes, and a request wakes its caller
once, when the answer is there.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

import outcome
import trio

from risala.dataclass import dataclass
from risala.drivers.smpp.protocol.pdu import EnquireLink, Pdu, Unbind, response_to
from risala.drivers.smpp.protocol.session import (
    Answered,
    AnsweredLate,
    AnsweredNothing,
    BindState,
    LocalProtocolError,
    Requested,
    SmppSession,
    Violated,
)
from risala.drivers.smpp.wiretap import pdu_text
from risala.plugins.unsent import drop_unsent_at_close

_READ_OCTETS: Final = 64 * 1024
_UNWRITTEN_MAX: Final = 256 * 1024
"""Octets that may wait for the writer before we stop reading: a peer that sends requests and never
reads must not fill our memory."""
FAREWELL_S: Final = 1.0
"""How long an unbind, of either side, waits for pending answers."""
PEER_CLOSED: Final = "the peer closed the connection"


class LinkError(Exception):
    """A request got no answer."""


class NotSentError(LinkError):
    """Nothing of the request left this machine."""


class NoAnswerError(LinkError):
    """The request may have left, but no answer came in time or before the link ended."""


Settle = Callable[[Pdu | LinkError], None]
Wire = Callable[..., None]
"""Called with the traffic: see :meth:`risala.plugins.contract.DriverContext.traffic`."""


def unwatched(*_: object) -> None:
    """For a link without a traffic view."""


async def nothing_owed() -> None:
    """For a link whose handler answers the peer's requests at once."""


class LinkHandler(Protocol):
    """Handles the peer's PDUs. Its methods are plain functions, because the task that reads the
    link must not wait."""

    def on_request(self, link: Link, request: Pdu) -> None:
        """The peer asks something; ``enquire_link`` and ``unbind`` are answered by the link."""

    def on_late(self, link: Link, token: object, response: Pdu) -> None:
        """An answer came to a request that was given up on (:class:`NoAnswerError`, or its caller
        was cancelled)."""

    def on_trouble(self, link: Link, text: str) -> None:
        """The peer broke the protocol, or sent an answer without a request."""


@dataclass(frozen=True, slots=True)
class LinkLimits:
    response_timeout_s: float = 10.0
    enquire_link_s: float = 30.0
    window_max: int = 10


class _Slot:
    """A request that waits for its answer."""

    __slots__ = ("deadline", "has_left", "sequence", "settle", "timeout_s", "token")

    def __init__(self, settle: Settle, token: object, now_s: float, timeout_s: float) -> None:
        self.settle = settle
        self.token = token
        self.timeout_s = timeout_s
        self.deadline = now_s + timeout_s
        self.has_left = False
        self.sequence = 0


class Link:
    """One connection. Run :meth:`run` in a nursery: it continues until :meth:`end`, even when the
    nursery is cancelled, so that it can unbind."""

    def __init__(
        self,
        stream: trio.abc.Stream,
        session: SmppSession,
        handler: LinkHandler,
        limits: LinkLimits,
        wire: Wire = unwatched,
        until_answered: Callable[[], Awaitable[None]] = nothing_owed,
        until_room: Callable[[], Awaitable[None]] = nothing_owed,
    ) -> None:
        """``until_answered`` returns once the handler has answered all requests of the peer,
        ``until_room`` once it can take more: nothing is read meanwhile."""
        self.session = session
        self._until_answered = until_answered
        self._until_room = until_room
        self._wire = wire
        self.reason: str | None = None
        """Why the link ended; None while it lives."""
        self.broken_by: BaseException | None = None
        """The exception by which the stream broke; None if it did not."""
        self._stream = stream
        self._handler = handler
        self._limits = limits
        self._now_s = trio.lowlevel.current_clock().current_time
        """As :func:`trio.current_time`, without a lookup of the clock for each request."""
        self._window = trio.Semaphore(limits.window_max)
        self._slots: dict[int, _Slot] = {}
        self._unwritten: list[bytes] = []
        self._unwritten_octets = 0
        self._unwritten_slots: list[_Slot] = []
        self._to_write = trio.Event()
        self._drained = trio.Event()
        self._ended = trio.Event()
        self._last_words: str | None = None
        self._farewell: Pdu | None = None
        """The peer's ``unbind``, which is answered once our own requests are."""
        self._unanswered = 0
        """Requests that were sent and that the peer has not answered, not even late."""
        self._leaving = trio.Event()
        self._all_answered = trio.Event()
        """Set when no request of ours waits for its answer."""
        self._read_at = self._answered_at = -math.inf
        """When octets came last, and when an answer was among them, on Trio's clock."""
        # Shielded: the task that runs the link still sends unbind when it is cancelled itself.
        self._scope = trio.CancelScope(shield=True)

    # -- requests and answers ----------------------------------------------------------------

    async def request(self, request: Pdu, token: object = None) -> Pdu:
        """Send a request when the window has room, and wait for the answer.

        Args:
            token: handed to :meth:`LinkHandler.on_late` with an answer that comes after this call
                ended without one.

        Raises:
            NotSentError: nothing was sent.
            NoAnswerError: no answer came in time; it may still come late.
            FieldError: a value does not fit its field.
        """
        try:
            self._window.acquire_nowait()
        except trio.WouldBlock:
            await self._window.acquire()
        try:
            return await self.request_beyond_window(request, token)
        finally:
            self._window.release()

    async def request_beyond_window(self, request: Pdu, token: object = None) -> Pdu:
        """As :meth:`request`, without waiting for the window: for requests that are no messages
        (bind, unbind, enquire_link)."""
        task = trio.lowlevel.current_task()

        def settle(result: Pdu | LinkError) -> None:
            trio.lowlevel.reschedule(task, outcome.Value(result))

        def abandon(_: Callable[[], None]) -> trio.lowlevel.Abort:
            self._slots.pop(slot.sequence, None)
            self.session.give_up(slot.sequence)
            return trio.lowlevel.Abort.SUCCEEDED

        slot = self.post(request, settle, token)
        result: Pdu | LinkError = await trio.lowlevel.wait_task_rescheduled(abandon)
        if isinstance(result, LinkError):
            raise result
        return result

    def post(
        self, request: Pdu, settle: Settle, token: object = None, timeout_s: float = 0.0
    ) -> _Slot:
        """Send a request without waiting; ``settle`` is called exactly once, after this call.

        Args:
            timeout_s: seconds for the answer, if different from those of the link.

        Raises:
            NotSentError: the link has ended, or is not bound for such a request.
            FieldError: a value does not fit its field.
        """
        if self.reason is not None or self._last_words is not None:
            raise NotSentError(self.reason or self._last_words)
        timeout_s = timeout_s or self._limits.response_timeout_s
        slot = _Slot(settle, token, self._now_s(), timeout_s)
        try:
            slot.sequence, octets = self.session.send_numbered(request, slot)
        except LocalProtocolError as fault:
            raise NotSentError(str(fault)) from fault
        self._wire(True, pdu_text, request, slot.sequence)
        self._slots[slot.sequence] = slot
        self._unanswered += 1
        self._unwritten_slots.append(slot)
        self.write_soon(octets)
        return slot

    def respond(self, request: Pdu, response: Pdu) -> None:
        """Answer a request of the peer; after the link's end the answer is dropped."""
        if self.reason is None and self.session.state is not BindState.CLOSED:
            self._wire(True, pdu_text, response, request.sequence_number)
            self.write_soon(self.session.respond(request, response))

    def write_soon(self, octets: bytes) -> None:
        """Hand octets, which need be no PDU, to the writing task; dropped after
        :meth:`end_when_written`."""
        if self._last_words is not None:
            return
        if not self._unwritten:
            self._to_write.set()
        self._unwritten.append(octets)
        self._unwritten_octets += len(octets)

    # -- life --------------------------------------------------------------------------------

    async def run(self) -> None:
        """Read, write and keep alive until the end; the stream is closed then.

        Requests without an answer do not leave this machine later: see
        :mod:`risala.plugins.unsent`.
        """
        drop_unsent_at_close(self._stream, is_on=True)
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._read)
                    nursery.start_soon(self._write)
                    nursery.start_soon(self._expire)
                    nursery.start_soon(self._keep_alive)
                    nursery.start_soon(self._take_leave)
        finally:
            self.end("a fault of our own")
            drop_unsent_at_close(self._stream, is_on=self._unanswered > 0)
            await trio.aclose_forcefully(self._stream)

    async def wait_ended(self) -> None:
        await self._ended.wait()

    async def wait_leaving(self) -> None:
        """Return when no more requests can be sent: the peer unbinds, or the link has ended."""
        await self._leaving.wait()

    async def unbind(self) -> None:
        """Unbind, and end the link. Bring a deadline: the peer may not answer."""
        try:
            if self.session.state.is_bound:
                await self._wait_answers()
                await self.request_beyond_window(Unbind())
        except LinkError:
            pass  # to unbind is a courtesy; the link ends in any case
        finally:
            self.end("unbound")

    def end(self, reason: str) -> None:
        """End the link now. Requests without an answer are settled with the reason; further calls
        change nothing."""
        if self.reason is not None:
            return
        self.reason = reason
        slots, self._slots = self._slots, {}
        for slot in slots.values():
            slot.settle(NoAnswerError(reason) if slot.has_left else NotSentError(reason))
        self._ended.set()
        self._leaving.set()
        self._scope.cancel()

    def end_when_written(self, reason: str) -> None:
        """End the link as soon as the octets that wait now are written."""
        if self._last_words is None:
            self._last_words = reason
            self._to_write.set()

    @property
    def _known_end(self) -> str | None:
        """Why it is about to end in any case: a peer that closes as it unbinds, or as soon as it
        is answered, has not broken it."""
        return "unbound" if self._farewell is not None else self._last_words

    # -- tasks -------------------------------------------------------------------------------

    async def _read(self) -> None:
        while True:
            if self._unwritten_octets > _UNWRITTEN_MAX:
                self._drained = trio.Event()
                await self._drained.wait()
            await self._until_room()
            try:
                octets = await self._stream.receive_some(_READ_OCTETS)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as fault:
                self.broken_by = fault
                octets = b""
            if not octets:
                self.end(self._known_end or PEER_CLOSED)
                return
            self._read_at = trio.current_time()
            for event in self.session.receive(bytes(octets)):
                # Answers and requests are nearly all that comes, so they are looked for first.
                if isinstance(event, Answered):
                    self._settle(event)
                elif isinstance(event, Requested):
                    self._take(event.request)
                else:
                    self._handle_odd(event)
                if self.reason is not None:
                    return  # PDUs after the one that ended the link are ignored
            if self.session.state is BindState.CLOSED:
                self.end_when_written("unbound")

    async def _write(self) -> None:
        while True:
            if not self._unwritten:
                if self._last_words is not None:
                    self.end(self._last_words)
                    return
                self._to_write = trio.Event()
                await self._to_write.wait()
                continue
            octets = b"".join(self._unwritten)
            for slot in self._unwritten_slots:
                slot.has_left = True
            self._unwritten.clear()
            self._unwritten_slots.clear()
            try:
                with trio.fail_after(self._limits.response_timeout_s):
                    await self._stream.send_all(octets)
            except trio.TooSlowError:
                self.end("the peer takes no more octets")
                return
            except (trio.BrokenResourceError, trio.ClosedResourceError) as fault:
                self.broken_by = fault
                self.end(self._known_end or "the connection broke")
                return
            self._unwritten_octets -= len(octets)
            self._drained.set()

    async def _expire(self) -> None:
        """Give up on requests whose time is over. One task is enough for all: requests of one
        timeout expire in the order in which they were sent, and at most two timeouts exist."""
        while True:
            now = trio.current_time()
            for slot in [one for one in self._slots.values() if one.deadline <= now]:
                if self._slots.pop(slot.sequence, None) is None:
                    continue  # the link ended meanwhile, and all were settled with its reason
                self.session.give_up(slot.sequence)
                slot.settle(NoAnswerError(f"no answer within {slot.timeout_s:g} s"))
            if not self._slots:
                self._all_answered.set()
            # Requests sent meanwhile expire no sooner than the shortest timeout from now.
            soonest = now + self._limits.response_timeout_s
            firsts = {one.timeout_s: one for one in reversed(self._slots.values())}
            await trio.sleep_until(min([soonest, *(one.deadline for one in firsts.values())]))

    async def _keep_alive(self) -> None:
        while True:
            await trio.sleep(self._limits.enquire_link_s)
            try:
                await self.request_beyond_window(EnquireLink())
            except NoAnswerError as fault:
                silent_s = trio.current_time() - self._answered_at
                if silent_s < self._limits.response_timeout_s:
                    continue  # the peer is slow but lives: other answers came meanwhile
                self.end(f"enquire_link: {fault}")
                return
            except NotSentError:
                return  # the link is ending already

    async def _take_leave(self) -> None:
        """Answer the peer's ``unbind`` once the requests of both sides are answered, or
        :data:`FAREWELL_S` later."""
        await self._leaving.wait()
        if self._farewell is not None:
            with trio.move_on_after(FAREWELL_S):
                await self._until_answered()
            await self._wait_answers()
            self.respond(self._farewell, response_to(self._farewell))
            self.end_when_written("unbound")

    async def _wait_answers(self) -> None:
        with trio.move_on_after(FAREWELL_S):
            while self._slots:
                self._all_answered = trio.Event()
                await self._all_answered.wait()

    # -- within ------------------------------------------------------------------------------

    def _settle(self, answered: Answered) -> None:
        self._answered_at = self._read_at
        self._unanswered -= 1
        slot: _Slot = answered.token
        self._wire(False, pdu_text, answered.response, slot.sequence)
        if self._slots.pop(slot.sequence, None) is not None:
            slot.settle(answered.response)
            if not self._slots:
                self._all_answered.set()

    def _take(self, request: Pdu) -> None:
        self._wire(False, pdu_text, request, request.sequence_number)
        if request.command_id == EnquireLink.command_id:
            self.respond(request, response_to(request))
        elif request.command_id == Unbind.command_id:
            self._farewell = request
            self._leaving.set()
        else:
            self._handler.on_request(self, request)

    def _handle_odd(self, event: AnsweredLate | AnsweredNothing | Violated) -> None:
        match event:
            case AnsweredLate(token, response):
                self._answered_at = self._read_at
                self._unanswered -= 1
                slot: _Slot = token
                self._wire(False, pdu_text, response, response.sequence_number)
                self._handler.on_late(self, slot.token, response)
            case AnsweredNothing(response):
                text = f"{response.name} with sequence_number {response.sequence_number}"
                self._handler.on_trouble(self, f"{text} answers nothing")
            case violated:
                if violated.reply:
                    self.write_soon(violated.reply)
                self._handler.on_trouble(self, violated.reason)
                if violated.fatal:
                    self.end_when_written(f"out of sync: {violated.reason}")
