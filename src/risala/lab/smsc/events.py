"""The events of the SMSC simulator: a small closed set."""

from __future__ import annotations

from dataclasses import dataclass

from risala.sms.message import Concatenation
from risala.sms.receipt import ReceiptState


@dataclass(frozen=True, slots=True)
class Listening:
    """The simulator takes connections, at this port."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Bound:
    """An ESME has bound."""

    system_id: str
    bind: str
    """``transceiver``, ``transmitter`` or ``receiver``."""


@dataclass(frozen=True, slots=True)
class BindRefused:
    """A bind was refused."""

    system_id: str
    command_status: int | None
    """The status of the refused bind; None: no answer."""


@dataclass(frozen=True, slots=True)
class Unbound:
    """A bound connection has ended."""

    system_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Submitted:
    """One segment, with any answer."""

    system_id: str
    message_id: str
    """The id in our answer; empty if it was refused."""
    command_status: int
    mishap: str | None
    """The event instead of the answer."""
    is_taken: bool
    """Whether its phone gets it."""
    sender: str
    recipient: str
    text: str
    """The segment's own text."""
    data_coding: int
    concatenation: Concatenation | None
    registered_delivery: int
    validity_period: str
    priority_flag: int
    flash: bool = False
    """Whether it is of class 0: its phone shows it at once, and does not keep it."""


@dataclass(frozen=True, slots=True)
class Changed:
    """The ESME changed its mind about a segment that no phone had yet."""

    system_id: str
    message_id: str
    change: str
    """``canceled`` or ``replaced``."""
    text: str
    """The segment's text after the change."""


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A whole message, joined: as a phone would show it."""

    at_ms: int
    """UTC epoch milliseconds."""
    carrier: str
    """:attr:`SimulatorConfig.name`."""
    system_id: str
    sender: str
    recipient: str
    text: str
    segments: int
    flash: bool = False
    """Whether the phone showed it at once, and did not keep it."""


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """A phone has a whole message."""

    message: ReceivedMessage


@dataclass(frozen=True, slots=True)
class ReceiptSent:
    """The ESME answered a receipt; any ``command_status`` but 0 means that it comes again."""

    system_id: str
    message_id: str
    state: ReceiptState
    command_status: int


@dataclass(frozen=True, slots=True)
class InboundSent:
    """The ESME answered a message of a phone, or one part of it; any ``command_status`` but 0 means
    that it comes again."""

    system_id: str
    sender: str
    recipient: str
    text: str
    """The part's own text."""
    concatenation: Concatenation | None
    command_status: int


@dataclass(frozen=True, slots=True)
class Trouble:
    """The ESME broke the protocol, or something was dropped because a limit was reached."""

    system_id: str
    text: str


SimulatorEvent = (
    Listening
    | Bound
    | BindRefused
    | Unbound
    | Submitted
    | Changed
    | MessageReceived
    | ReceiptSent
    | InboundSent
    | Trouble
)
