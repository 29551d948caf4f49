"""What goes into the AT engine and what comes out of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from risala.drivers.modem.at.lines import Result

_own_name: Final = re.compile(r"AT([+^*$%#&][A-Z0-9_]+)", re.IGNORECASE).match


class LocalProtocolError(Exception):
    """We did something that the engine forbids: a mistake of its user."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line without its CR."""

    text: str
    prompts: bool = False
    """True where the modem asks for a body with ``>`` before it answers."""

    @property
    def name(self) -> str | None:
        """``+CSQ`` of ``AT+CSQ``: what its rows begin with. None for ``ATI`` and its like."""
        found = _own_name(self.text)
        return found[1].upper() if found else None


@dataclass(frozen=True, slots=True)
class Row:
    """An intermediate line of an answer, with the PDU that followed it."""

    text: str
    pdu: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """The command in flight has ended."""

    command: Command
    result: Result
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """The modem wants the body now."""


@dataclass(frozen=True, slots=True)
class Urc:
    """An unsolicited line; ``pdu`` of those that have two."""

    name: str
    text: str
    pdu: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Late:
    """Something of a command that was given up, or a result that nobody awaits."""

    text: str


@dataclass(frozen=True, slots=True)
class Noise:
    """Octets that make no sense."""

    octets: int


Event = Answer | Prompt | Urc | Late | Noise
