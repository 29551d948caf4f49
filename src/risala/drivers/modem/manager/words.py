"""What ModemManager's numbers and errors mean: its D-Bus interface of 1.6 and later. Pure."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final

from risala.drivers.modem.at.causes import outcome_of
from risala.drivers.modem.at.errors import CME, CMS
from risala.drivers.modem.at.lines import Result, ResultKind
from risala.sms.cause import Cause
from risala.sms.outcome import Outcome, Refused, Scope, Throttled, Uncertain, Unsent

MANAGER: Final = "org.freedesktop.ModemManager1"
"""ModemManager's name on the bus, and how its interfaces begin."""
ROOT: Final = "/org/freedesktop/ModemManager1"
PROPERTIES: Final = "org.freedesktop.DBus.Properties"
OBJECTS: Final = "org.freedesktop.DBus.ObjectManager"


class ModemState(IntEnum):
    """``MMModemState``, as far as it decides something."""

    FAILED = -1
    UNKNOWN = 0
    LOCKED = 2
    DISABLED = 3
    ENABLED = 6
    SEARCHING = 7
    REGISTERED = 8


class ModemLock(IntEnum):
    """``MMModemLock``, as far as it decides something."""

    UNKNOWN = 0
    NONE = 1
    SIM_PIN = 2
    SIM_PIN2 = 3
    SIM_PUK = 4
    SIM_PUK2 = 5


class SmsState(IntEnum):
    """``MMSmsState``."""

    UNKNOWN = 0
    STORED = 1
    RECEIVING = 2
    """A long text that is not complete yet: it shows no text."""
    RECEIVED = 3
    SENDING = 4
    SENT = 5


STATUS_REPORT: Final = 3
"""``MMSmsPduType`` of a delivery report; its ``DeliveryState`` is TP-ST (23.040 §9.2.3.15)."""
NO_DELIVERY_STATE: Final = 0x100
"""``MM_SMS_DELIVERY_STATE_UNKNOWN``."""
RELATIVE: Final = 1
"""``MM_SMS_VALIDITY_TYPE_RELATIVE``: minutes."""
DENIED: Final = 3
"""``MM_MODEM_3GPP_REGISTRATION_STATE_DENIED``."""
REGISTRATIONS: Final = {
    **dict.fromkeys((1, 6, 9), "home"),
    **dict.fromkeys((5, 7, 10), "roaming"),
    2: "searching",
    3: "denied",
}
"""``MMModem3gppRegistrationState`` in the words of a carrier's health."""
SIM_MISSING: Final = 2
"""``MM_MODEM_STATE_FAILED_REASON_SIM_MISSING``."""

_ERROR: Final = f"{MANAGER}.Error."
_MESSAGE: Final = {
    "MeFailure": 300,
    "SmsServiceReserved": 301,
    "NotAllowed": 302,
    "NotSupported": 303,
    "InvalidPduParameter": 304,
    "InvalidTextParameter": 305,
    "SimNotInserted": 310,
    "SimPin": 311,
    "PhSimPin": 312,
    "SimFailure": 313,
    "SimBusy": 314,
    "SimWrong": 315,
    "SimPuk": 316,
    "SimPin2": 317,
    "SimPuk2": 318,
    "MemoryFailure": 320,
    "InvalidIndex": 321,
    "MemoryFull": 322,
    "SmscAddressUnknown": 330,
    "NoNetwork": 331,
    "NetworkTimeout": 332,
    "NoCnmaAckExpected": 340,
    "Unknown": 500,
}
"""``+CMS ERROR`` (27.005 §3.2.5) by ModemManager's names for it. It has names for the modem's own
codes alone: those of the network (0 to 255) come as ``Unknown``, with the number in the text."""
_EQUIPMENT: Final = {
    "NotAllowed": 3,
    "NotSupported": 4,
    "SimNotInserted": 10,
    "SimPin": 11,
    "SimPuk": 12,
    "SimFailure": 13,
    "SimBusy": 14,
    "SimWrong": 15,
    "MemoryFull": 20,
    "MemoryFailure": 23,
    "NoNetwork": 30,
    "NetworkTimeout": 31,
    "NetworkNotAllowed": 32,
}
"""``+CME ERROR`` (27.007 §9.2), likewise."""
_NO_RIGHT: Final = (f"{_ERROR}Core.Unauthorized", "org.freedesktop.DBus.Error.AccessDenied")
_NOT_RUNNING: Final = (
    "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.freedesktop.DBus.Error.NameHasNoOwner",
    "org.freedesktop.DBus.Error.Spawn.ExecFailed",
)
_NOT_THERE: Final = ("org.freedesktop.DBus.Error.UnknownMethod", f"{_ERROR}Core.NotFound")
_CLOSED: Final = (
    ("Core", "Connected"),
    ("Core", "WrongState"),
    ("Serial", "OpenFailed"),
    ("Serial", "OpenFailedNoDevice"),
    ("Serial", "NotOpen"),
)
"""Errors with which nothing was written to the port. ``Connected`` is that of a port that went: it
cannot be opened again."""
_NOT_OPENED: Final = "Could not open serial device"
"""The same in ModemManager's words: to 1.24 it is ``Core.Failed``, whatever kept the port shut."""
_CODE: Final = re.compile(r"Unknown message error: ([0-9]{1,3})\b")
BUSY_S: Final = 5.0


def is_forbidden(name: str) -> bool:
    """Whether an error says that this user may not ask that."""
    return name in _NO_RIGHT


def is_absent(name: str) -> bool:
    """Whether an error says that ModemManager does not run."""
    return name in _NOT_RUNNING


def has_not_typed(name: str, text: str) -> bool:
    """Whether an error of ``SendPin`` says that the PIN did not reach the SIM."""
    kind, _, word = name.removeprefix(_ERROR).partition(".")
    is_closed = (kind, word) in _CLOSED or _NOT_OPENED in text
    is_refused = name in (*_NO_RIGHT, *_NOT_RUNNING, *_NOT_THERE)
    return is_closed or is_refused or (kind, word) in (("Core", "InProgress"), ("Core", "Retry"))


def outcome_of_error(name: str, text: str, *, has_left: bool) -> Outcome:
    """The outcome of a message whose sending ended in an error.

    Args:
        name: the error's name on D-Bus.
        text: its own text.
        has_left: False if the message was not yet to be sent, so that it surely did not leave.
    """
    short = name.removeprefix(_ERROR)[:80]
    kind, _, word = short.partition(".")
    if kind == "Message" and word in _MESSAGE:
        number = _CODE.search(text)
        code = int(number[1]) if number else _MESSAGE[word]
        raw = f"+CMS ERROR: {code}" if number else short
        if code in CMS:
            return outcome_of(Result(ResultKind.CMS, raw, code), has_left=has_left)
    if kind == "MobileEquipment" and word in _EQUIPMENT and _EQUIPMENT[word] in CME:
        return outcome_of(Result(ResultKind.CME, short, _EQUIPMENT[word]), has_left=has_left)
    if kind == "Serial" and word == "ResponseTimeout" and has_left:
        return Uncertain(short, cause=Cause.NO_ANSWER)
    if (kind, word) == ("Core", "Unsupported"):
        return Refused(Scope.CARRIER, short, cause=Cause.UNSUPPORTED)
    if (kind, word) in _CLOSED or ((kind, word) == ("Core", "Failed") and _NOT_OPENED in text):
        return Unsent(short, cause=Cause.DEVICE_FAULT)
    if not has_left or name in _NO_RIGHT or name in _NOT_RUNNING or name in _NOT_THERE:
        return _unsent(kind, word, short)
    if kind in ("Message", "MobileEquipment"):
        return Refused(Scope.NOW, short, cause=Cause.CARRIER_FAULT)
    return Uncertain(short, cause=Cause.NOT_ACKNOWLEDGED)


def _unsent(kind: str, word: str, short: str) -> Outcome:
    if kind == "Core" and word in ("InvalidArgs", "TooMany"):
        return Refused(Scope.CARRIER, short, cause=Cause.NOT_ENCODABLE)
    if kind == "Core" and word in ("InProgress", "Retry"):
        return Throttled(short, retry_after_s=BUSY_S, cause=Cause.BUSY)
    return Unsent(short, cause=Cause.DEVICE_FAULT)
