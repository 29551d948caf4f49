"""One SMPP session as a pure state machine, for both roles (SMPP 3.4 §2.2 to §2.8).

Octets in, events out; PDUs in, octets out. The table :data:`MAY_SEND` lists what may be sent in
which state; the session's role only decides which of its rows are ours and which the peer's.

::

    OPEN --bind--> BINDING --bind_resp ok--> BOUND_TX | BOUND_RX | BOUND_TRX
      ^               |                              |
      +--- refused ---+                           unbind
                                                     v
    any --fault out of sync--> CLOSED <--unbind_resp-- UNBINDING
"""

from __future__ import annotations

from collections import OrderedDict
from enum import StrEnum
from typing import Any, Final

from risala.dataclass import dataclass
from risala.drivers.smpp.protocol.codec import PDU_OCTETS_MAX, PduReader, encode
from risala.drivers.smpp.protocol.fields import PduFault
from risala.drivers.smpp.protocol.pdu import (
    PDUS,
    RESPONSE_BIT,
    AlertNotification,
    BindReceiver,
    BindTransceiver,
    BindTransmitter,
    CancelSm,
    DataSm,
    DeliverSm,
    EnquireLink,
    GenericNack,
    Outbind,
    Pdu,
    QuerySm,
    ReplaceSm,
    SubmitMulti,
    SubmitSm,
    Unbind,
    UnbindResp,
)
from risala.sms.values import quickly

SEQUENCE_MAX: Final = 0x7FFFFFFF
LATE_MAX: Final = 4096
"""Requests that were given up on and whose answers are still recognised."""
_ESME_RINVBNDSTS: Final = 0x04
_ESME_RALYBND: Final = 0x05


class SmppRole(StrEnum):
    """The sides of a session: the client (ESME) and the carrier's centre (SMSC)."""

    ESME = "esme"
    SMSC = "smsc"

    @property
    def peer(self) -> SmppRole:
        """The role of the other side."""
        return SmppRole.SMSC if self is SmppRole.ESME else SmppRole.ESME


class BindState(StrEnum):
    """The states of a session (§2.2), with those between a request and its answer."""

    OPEN = "open"
    BINDING = "binding"
    BOUND_TX = "bound_tx"
    BOUND_RX = "bound_rx"
    BOUND_TRX = "bound_trx"
    UNBINDING = "unbinding"
    CLOSED = "closed"

    @property
    def is_bound(self) -> bool:
        """Whether messages may pass in at least one direction."""
        return self in _BOUND


_BOUND: Final = frozenset({BindState.BOUND_TX, BindState.BOUND_RX, BindState.BOUND_TRX})
_TX: Final = frozenset({BindState.BOUND_TX, BindState.BOUND_TRX})
_RX: Final = frozenset({BindState.BOUND_RX, BindState.BOUND_TRX})
_OPEN: Final = frozenset({BindState.OPEN})
_TX_REQUESTS: Final = (SubmitSm, SubmitMulti, DataSm, QuerySm, CancelSm, ReplaceSm)
# The standard allows enquire_link in bound states only; some peers ask before the bind, and to
# answer does no harm.
_ALIVE: Final = frozenset(set(BindState) - {BindState.CLOSED})

MAY_SEND: Final[dict[tuple[SmppRole, int], frozenset[BindState]]] = {
    **{
        (SmppRole.ESME, kind.command_id): states
        for kind, states in (
            *((bind, _OPEN) for bind in (BindReceiver, BindTransmitter, BindTransceiver)),
            *((kind, _TX) for kind in _TX_REQUESTS),
            *((Unbind, _BOUND), (EnquireLink, _ALIVE)),
        )
    },
    **{
        (SmppRole.SMSC, kind.command_id): states
        for kind, states in (
            *((kind, _RX) for kind in (DeliverSm, DataSm, AlertNotification)),
            *((Outbind, _OPEN), (Unbind, _BOUND), (EnquireLink, _ALIVE)),
        )
    },
}
"""Requests, by sender and the states in which they are allowed (§2.3, table 2-1)."""

_BOUND_AS: Final = {
    BindTransmitter.command_id: BindState.BOUND_TX,
    BindReceiver.command_id: BindState.BOUND_RX,
    BindTransceiver.command_id: BindState.BOUND_TRX,
}
_BIND_ANSWERS: Final = frozenset(bind | RESPONSE_BIT for bind in _BOUND_AS)
_UNANSWERED: Final = frozenset({Outbind.command_id, AlertNotification.command_id})
_UNBIND: Final = Unbind.command_id
_TURNING: Final = frozenset({*_BOUND_AS, _UNBIND})
"""Requests that change the state."""
_NEVER: Final[frozenset[BindState]] = frozenset()
# MAY_SEND by role, so that each PDU costs one look-up.
_SENDABLE: Final = {
    role: {command: states for (who, command), states in MAY_SEND.items() if who is role}
    for role in SmppRole
}


class LocalProtocolError(Exception):
    """A request or response that is not allowed in this state: a bug of ours; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Requested:
    """The peer asks; answer with :meth:`SmppSession.respond`."""

    request: Pdu


@dataclass(frozen=True, slots=True)
class Answered:
    """The peer answered a request of ours."""

    token: Any
    """The token that :meth:`SmppSession.send` got with the request."""
    response: Pdu


@dataclass(frozen=True, slots=True)
class AnsweredLate:
    """The answer to a request that was given up on by :meth:`SmppSession.give_up`."""

    token: Any
    response: Pdu


@dataclass(frozen=True, slots=True)
class AnsweredNothing:
    """A response whose sequence number matches no pending request: unknown, answered before, or of
    another kind than its request."""

    response: Pdu


@dataclass(frozen=True, slots=True)
class Violated:
    """The peer broke the protocol. Write ``reply``, then close if ``fatal``."""

    reason: str
    reply: bytes
    fatal: bool


_requested: Final = quickly(Requested)
_answered: Final = quickly(Answered)
Event = Requested | Answered | AnsweredLate | AnsweredNothing | Violated


class SmppSession:
    """One end of a session; either end uses this class.

    Args:
        role: our side.
        octets_max: the longest accepted PDU, in octets.
        sequence: the sequence number before that of the first request.
    """

    def __init__(
        self, role: SmppRole, *, octets_max: int = PDU_OCTETS_MAX, sequence: int = 0
    ) -> None:
        self.role = role
        self.state = BindState.OPEN
        self._sendable = _SENDABLE[role]
        self._receivable = _SENDABLE[role.peer]
        self._reader = PduReader(octets_max)
        self._sequence = sequence
        self._binding_as = BindState.OPEN
        """The requested kind of the latest bind."""
        self._outstanding: dict[int, tuple[int, object]] = {}
        self._late: OrderedDict[int, tuple[int, object]] = OrderedDict()

    @property
    def outstanding(self) -> int:
        """Requests of ours that wait for an answer."""
        return len(self._outstanding)

    @property
    def unread(self) -> bytes:
        """The octets that came of a PDU that is not whole yet; from a peer that speaks another
        protocol, all its octets."""
        return self._reader.rest

    # -- out ---------------------------------------------------------------------------------

    def send(self, request: Pdu, token: object = None) -> bytes:
        """The octets of a request, under a fresh sequence number.

        Raises:
            LocalProtocolError: such a request is not allowed in this state.
            FieldError: a value does not fit its field.
        """
        return self.send_numbered(request, token)[1]

    def send_numbered(self, request: Pdu, token: object = None) -> tuple[int, bytes]:
        """As :meth:`send`, with the request's sequence number, which :meth:`give_up` needs."""
        command_id = request.command_id
        if self.state not in self._sendable.get(command_id, _NEVER):
            raise LocalProtocolError(f"{request.name} by the {self.role} in {self.state}")
        sequence = self._next_sequence()
        octets = encode(request, sequence)
        if command_id not in _UNANSWERED:
            self._outstanding[sequence] = (command_id | RESPONSE_BIT, token)
        if command_id in _TURNING:
            self._follow(command_id)
        return sequence, octets

    def respond(self, request: Pdu, response: Pdu) -> bytes:
        """The octets of our answer to a request from :class:`Requested`, always under the
        request's number.

        Raises:
            LocalProtocolError: a bind answered twice, or any answer after the end.
            FieldError: a value does not fit its field.
        """
        if self.state is BindState.CLOSED:
            raise LocalProtocolError(f"{response.name} after the session's end")
        if request.command_id in _BOUND_AS:
            if self.state is not BindState.BINDING:
                raise LocalProtocolError(f"{response.name} in {self.state}")
            self._bound(request.command_id, response.command_status)
        octets = encode(response, request.sequence_number)
        if response.command_id == UnbindResp.command_id and not response.command_status:
            self.state = BindState.CLOSED
        return octets

    def give_up(self, sequence_number: int) -> None:
        """Stop waiting for an answer; should it come later, it is :class:`AnsweredLate`."""
        entry = self._outstanding.pop(sequence_number, None)
        if entry is not None:
            self._late[sequence_number] = entry
            if len(self._late) > LATE_MAX:
                self._late.popitem(last=False)

    # -- in ----------------------------------------------------------------------------------

    def receive(self, octets: bytes) -> list[Event]:
        """The events of these octets. Never raises, for any octets of a peer."""
        events: list[Event] = []
        for pdu in self._reader.feed(octets):
            if self.state is BindState.CLOSED:
                break
            if isinstance(pdu, PduFault):
                events.append(self._fault(pdu))
            elif pdu.command_id & RESPONSE_BIT:
                events.append(self._response(pdu))
            else:
                events.append(self._request(pdu))
        return events

    def _request(self, pdu: Pdu) -> Event:
        command_id = pdu.command_id
        allowed = self._receivable.get(command_id, _NEVER)
        # Requests may cross our unbind on the way; they are still answered.
        if self.state not in allowed and not self._is_on_the_way(allowed):
            already = command_id in _BOUND_AS and self.state is not BindState.UNBINDING
            status = _ESME_RALYBND if already else _ESME_RINVBNDSTS
            reason = f"{pdu.name} in {self.state}"
            return Violated(reason, _refusal(command_id, pdu.sequence_number, status), fatal=False)
        if command_id in _TURNING:
            self._follow(command_id)
        return _requested(pdu)

    def _is_on_the_way(self, allowed: frozenset[BindState]) -> bool:
        """Whether a request of the peer crosses our unbind, or comes before its answer to our bind,
        as the messages that waited for us at some SMSCs do."""
        if self.state is BindState.BINDING:
            return self.role is SmppRole.ESME and self._binding_as in allowed
        return self.state is BindState.UNBINDING and bool(allowed & _BOUND)

    def _response(self, pdu: Pdu) -> Event:
        sequence = pdu.sequence_number
        entry = self._outstanding.get(sequence)
        table: dict[int, tuple[int, object]] = self._outstanding
        if entry is None:
            entry, table = self._late.get(sequence), self._late
            if entry is None:
                return AnsweredNothing(pdu)
        expected, token = entry
        # Osmocom's MSC answers bind_receiver by bind_transmitter_resp: the sequence number
        # identifies the bind, and our request decides the kind of bind.
        is_bind = expected in _BIND_ANSWERS and pdu.command_id in _BIND_ANSWERS
        if not is_bind and pdu.command_id not in (expected, GenericNack.command_id):
            return AnsweredNothing(pdu)
        del table[sequence]
        if table is self._late:
            return AnsweredLate(token, pdu)
        request_id = expected & ~RESPONSE_BIT
        if request_id in _BOUND_AS:
            self._bound(
                request_id, pdu.command_status or int(pdu.command_id == GenericNack.command_id)
            )
        elif request_id == _UNBIND:
            self.state = BindState.CLOSED
        return _answered(token, pdu)

    def _fault(self, fault: PduFault) -> Violated:
        if fault.in_sync:
            reply = _refusal(fault.command_id, fault.sequence_number, fault.command_status)
        else:
            # The header itself cannot be trusted, so there is no request to respond to (§4.3).
            status, sequence = fault.command_status, fault.sequence_number
            reply = encode(GenericNack(command_status=status, sequence_number=sequence))
            self.state = BindState.CLOSED
        return Violated(fault.reason, reply, fatal=not fault.in_sync)

    # -- state -------------------------------------------------------------------------------

    def _follow(self, command_id: int) -> None:
        """Change the state according to :data:`_TURNING`, for a PDU of either side."""
        if command_id in _BOUND_AS:
            self.state = BindState.BINDING
            self._binding_as = _BOUND_AS[command_id]
        else:
            self.state = BindState.UNBINDING

    def _bound(self, bind_id: int, command_status: int) -> None:
        self.state = BindState.OPEN if command_status else _BOUND_AS[bind_id]

    def _next_sequence(self) -> int:
        sequence = self._sequence
        while True:
            sequence = 1 if sequence >= SEQUENCE_MAX else sequence + 1
            if sequence not in self._outstanding:
                self._sequence = sequence
                self._late.pop(sequence, None)
                return sequence


def _refusal(command_id: int, sequence_number: int, command_status: int) -> bytes:
    """The answer to a bad request: its own response if we know it, else ``generic_nack``.

    Never a response to a response: two peers would answer each other's faults for ever.
    """
    if command_id in _UNANSWERED or (command_id & RESPONSE_BIT and command_id in PDUS):
        return b""
    kind = PDUS.get(command_id | RESPONSE_BIT, GenericNack)
    return encode(kind(command_status=command_status, sequence_number=sequence_number))
