"""The events of the modem simulator: a small closed set.

They carry text and numbers: that is their purpose, so don't log them.
"""

from __future__ import annotations

from dataclasses import dataclass

from risala.sms.message import Concatenation


@dataclass(frozen=True, slots=True)
class PortOpened:
    """The modem can be opened here. The path changes each time that the port was gone, except with
    a ``link``."""

    path: str
    link: str | None = None


@dataclass(frozen=True, slots=True)
class PortGone:
    for_s: float | None


@dataclass(frozen=True, slots=True)
class ModemStarted:
    """The modem was switched on, or has restarted: settings are lost."""

    reason: str


@dataclass(frozen=True, slots=True)
class Heard:
    """A command line; PINs are not shown."""

    line: str


@dataclass(frozen=True, slots=True)
class CommandAnswered:
    """A command line was answered with this final result."""

    line: str
    result: str


@dataclass(frozen=True, slots=True)
class Submitted:
    """One segment that was typed, with any answer."""

    reference: int
    """TP-MR, as reports have it."""
    recipient: str
    text: str
    """The segment's own text."""
    data_coding: int
    concatenation: Concatenation | None
    wants_report: bool
    is_taken: bool
    """The network has it, and its phone gets it."""
    error: int | None = None
    """The number of the ``+CMS ERROR`` in the answer; None if it was accepted."""


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """A phone has a whole message."""

    sender: str
    recipient: str
    text: str
    segments: int
    flash: bool = False
    """Whether it is of class 0: the phone showed it at once, and did not keep it."""


@dataclass(frozen=True, slots=True)
class ReportSent:
    """The modem got a status report."""

    reference: int
    recipient: str
    status: int
    """TP-ST."""
    way: str
    """``+CDS``, a storage, or ``nowhere``."""


@dataclass(frozen=True, slots=True)
class InboundSent:
    """The modem got a part of a message from a phone."""

    sender: str
    text: str
    way: str
    """``+CMT``, or the storage that it lies in."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The network holds something that the modem cannot take now."""

    why: str
    count: int


@dataclass(frozen=True, slots=True)
class SignalChanged:
    signal: int
    registration: int


@dataclass(frozen=True, slots=True)
class UssdAsked:
    code: str
    text: str | None
    """The answer; None: an unknown code."""


@dataclass(frozen=True, slots=True)
class CallCame:
    """Somebody calls."""

    caller: str
    """Empty: the number is withheld."""


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call was hung up here, before anybody answered."""

    caller: str


@dataclass(frozen=True, slots=True)
class Misbehaved:
    """A quirk happened."""

    kind: str
    command: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """A limit was reached, or a requested action cannot be done."""

    text: str


ModemEvent = (
    PortOpened
    | PortGone
    | ModemStarted
    | Heard
    | CommandAnswered
    | Submitted
    | MessageReceived
    | ReportSent
    | InboundSent
    | Waiting
    | SignalChanged
    | UssdAsked
    | CallCame
    | CallEnded
    | Misbehaved
    | Trouble
)
