"""The result of a command: rows, a prompt, an answer that takes time, or a refusal. Pure.

::

    CommandError                     ERROR
    ├── CmeError   the equipment     +CME ERROR (27.007 §9.2)
    └── CmsError   the messages      +CMS ERROR (27.005 §3.2.5)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

Rows = Sequence[str]
"""Lines between the command and its final result."""


@dataclass(frozen=True, slots=True)
class LaterReply:
    """The answer takes time: until then the modem hears no command."""

    after_s: float
    then: Callable[[], Rows]


@dataclass(frozen=True, slots=True)
class BodyPrompt:
    """The modem prompts (``> ``); the body typed next is passed to ``then``."""

    then: Callable[[bytes], Rows | LaterReply]
    is_text: bool
    """True if the body is a text, in which CR begins another line; in a PDU it is skipped."""


Reply = Rows | LaterReply | BodyPrompt


class CommandError(Exception):
    """A refusal without a reason: ``ERROR``, or the profile's text instead."""


class Cme(IntEnum):
    OPERATION_NOT_ALLOWED = 3
    OPERATION_NOT_SUPPORTED = 4
    SIM_NOT_INSERTED = 10
    SIM_PIN_REQUIRED = 11
    SIM_PUK_REQUIRED = 12
    SIM_FAILURE = 13
    SIM_BUSY = 14
    INCORRECT_PASSWORD = 16
    MEMORY_FULL = 20
    INVALID_INDEX = 21
    NOT_FOUND = 22
    NO_NETWORK_SERVICE = 30
    INCORRECT_PARAMETERS = 50
    UNKNOWN = 100


class Cms(IntEnum):
    OPERATION_NOT_ALLOWED = 302
    OPERATION_NOT_SUPPORTED = 303
    INVALID_PDU_PARAMETER = 304
    INVALID_TEXT_PARAMETER = 305
    SIM_NOT_INSERTED = 310
    SIM_PIN_REQUIRED = 311
    SIM_FAILURE = 313
    SIM_BUSY = 314
    SIM_PUK_REQUIRED = 316
    INVALID_INDEX = 321
    MEMORY_FULL = 322
    SMSC_UNKNOWN = 330
    NO_NETWORK_SERVICE = 331
    NETWORK_TIMEOUT = 332
    NO_ACKNOWLEDGEMENT_EXPECTED = 340
    UNKNOWN = 500


class CmeError(CommandError):
    """A refusal by the equipment (27.007 §9.2)."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class CmsError(CommandError):
    """A refusal by the message service (27.005 §3.2.5)."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


_CME_WORDS: Final[dict[int, str]] = {
    Cme.SIM_PIN_REQUIRED: "SIM PIN required",
    Cme.SIM_PUK_REQUIRED: "SIM PUK required",
    Cme.SIM_NOT_INSERTED: "SIM not inserted",
    Cme.SIM_FAILURE: "SIM failure",
    Cme.SIM_BUSY: "SIM busy",
}
_CMS_WORDS: Final[dict[int, str]] = {
    **{Cms[Cme(code).name]: words for code, words in _CME_WORDS.items()},
    Cms.INVALID_PDU_PARAMETER: "invalid PDU mode parameter",
    Cms.INVALID_TEXT_PARAMETER: "invalid text mode parameter",
    Cms.INVALID_INDEX: "invalid memory index",
    Cms.SMSC_UNKNOWN: "SMSC address unknown",
    Cms.NO_ACKNOWLEDGEMENT_EXPECTED: "no +CNMA acknowledgement expected",
    Cms.UNKNOWN: "unknown error",
}


def _words(code: int, of: type[Cme | Cms], table: Mapping[int, str]) -> str:
    known = next((each for each in of if each == code), None)
    if known is None:
        return "unknown"
    return table.get(known) or known.name.lower().replace("_", " ")


def final_of(error: CommandError, cmee: int, unknown: str) -> str:
    """The final result code of an error under ``+CMEE`` (27.007 §9.1).

    A +CMS ERROR has its number even under +CMEE=0: 27.005 does not mention that setting.

    Args:
        unknown: the modem's text without a reason.
    """
    match error:
        case CmsError():
            reason = _words(error.code, Cms, _CMS_WORDS) if cmee == 2 else str(error.code)
            return f"+CMS ERROR: {reason}"
        case CmeError() if cmee:
            reason = _words(error.code, Cme, _CME_WORDS) if cmee == 2 else str(error.code)
            return f"+CME ERROR: {reason}"
        case _:
            return unknown


NUMERIC: Final = {"OK": "0", "CONNECT": "1", "RING": "2", "NO CARRIER": "3", "ERROR": "4"}
"""Result codes under ATV0 (V.250 table 1)."""
