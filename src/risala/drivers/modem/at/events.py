"""The inputs and outputs of the AT engine."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Final

from risala.dataclass import dataclass
from risala.drivers.modem.at.lines import Result

_own_name: Final = re.compile(r"AT([+^*$%#&][A-Z0-9_]+)", re.IGNORECASE).match


class LocalProtocolError(Exception):
    """The engine was used in a way that the protocol forbids: a bug of ours; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line without its CR."""

    text: str
    prompts: bool = False
    """True if the modem asks for a body with ``>`` before it answers."""
    by_operator: bool = False
    """The operator has asked for it, so that it may change the modem's mode."""

    @property
    def name(self) -> str | None:
        """``+CSQ`` of ``AT+CSQ``: the beginning of its rows. None for ``ATI`` and the like."""
        match = _own_name(self.text)
        return match[1].upper() if match else None


@dataclass(frozen=True, slots=True)
class Row:
    """An intermediate line of an answer, with the following PDU if it announces one."""

    text: str
    pdu: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """The command in flight has ended: its result, and the rows before it."""

    command: Command
    result: Result
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """The modem asks for the message's body now (``> ``)."""


@dataclass(frozen=True, slots=True)
class Urc:
    """An unsolicited result code; ``pdu`` is its second line, if any (``+CMT``)."""

    name: str
    text: str
    pdu: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Late:
    """A line of a given-up command, or a result that was not awaited."""

    text: str


@dataclass(frozen=True, slots=True)
class Noise:
    """Octets that make no sense."""

    octets: int


Event = Answer | Prompt | Urc | Late | Noise
