"""Reading the rows of answers, which each modem formats differently (27.007 §5). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum
from typing import Final

from risala.drivers.modem.at.engine import Row

_field: Final = re.compile(r'\s*(?:"([^"]*)"|\(([^)]*)\)|([^,]*))\s*(?:,|$)').match
_digits: Final = re.compile(r"[0-9]+", re.ASCII).fullmatch


def values(row: str) -> list[str]:
    """The fields behind a row's name: unquoted, out of their brackets, empty if left out.

    A row without its name is read as well.
    """
    text = _behind_name(row)
    fields: list[str] = []
    at = 0
    while (match := _field(text, at)) and match.end() > at:
        fields.append(next(group for group in match.groups() if group is not None).strip())
        at = match.end()
    if text.endswith(","):
        fields.append("")
    return fields


def _behind_name(row: str) -> str:
    name, colon, rest = row.partition(":")
    return (rest if colon and name[:1] in "+^*$%#&" else row).strip()


def first(rows: Iterable[Row], name: str) -> list[str]:
    """The fields of the last row with this name, or of the only row without a name."""
    rows = list(rows)
    named = [row for row in rows if row.text.upper().startswith(name)]
    if named:
        return values(named[-1].text)
    return values(rows[0].text) if len(rows) == 1 else []


def number(text: str) -> int | None:
    """A plain number; None for anything else."""
    text = text.strip()
    digits = text.removeprefix("-")
    return int(text) if _digits(digits) and len(digits) < 10 else None


def offered(field: str) -> set[int]:
    """The values that a bracket of a test answer (``=?``) allows: ``0-2,4`` is 0, 1, 2 and 4."""
    numbers: set[int] = set()
    for piece in field.split(","):
        low, dash, high = piece.partition("-")
        begin = number(low)
        end = number(high) if dash else begin
        if begin is not None and end is not None:
            numbers |= set(range(begin, min(end, begin + 100) + 1))
    return numbers


def brackets(row: str) -> list[str]:
    """The brackets of a test answer; a field without brackets is one too: ``(0-2),1,(0,2)``."""
    groups = re.findall(r"\(([^)]*)\)|([^,()\s]+)", _behind_name(row))
    return [bracket or bare for bracket, bare in groups]


class Registration(IntEnum):
    """``<stat>`` of +CREG, +CGREG and +CEREG (27.007 §7.2, §10.1.20, §10.1.22)."""

    IDLE = 0
    HOME = 1
    SEARCHING = 2
    DENIED = 3
    UNKNOWN = 4
    ROAMING = 5
    SMS_ONLY_HOME = 6
    SMS_ONLY_ROAMING = 7
    EMERGENCY = 8
    """Attached for emergency calls alone."""
    CSFB_HOME = 9
    """Registered; the network would rather have voice elsewhere than by a fallback to 2G or 3G."""
    CSFB_ROAMING = 10
    RESTRICTED = 11
    """Attached for restricted local operator services (RLOS) alone."""

    @property
    def registered(self) -> bool:
        """Whether the network serves this SIM, so that a text may be sent."""
        return self in _REGISTERED

    @property
    def refused(self) -> bool:
        """Whether the network serves this SIM nothing that could carry a text, until an operator
        acts."""
        return self in _REFUSED


_REGISTERED: Final = frozenset(
    (
        Registration.HOME,
        Registration.ROAMING,
        Registration.SMS_ONLY_HOME,
        Registration.SMS_ONLY_ROAMING,
        Registration.CSFB_HOME,
        Registration.CSFB_ROAMING,
    )
)
_REFUSED: Final = frozenset((Registration.DENIED, Registration.EMERGENCY, Registration.RESTRICTED))
_LONG_STATS: Final = ("10", "11")


def registration(fields: list[str]) -> Registration | None:
    """``<stat>`` of the answer ``<n>,<stat>[,<lac>,<ci>[,<AcT>]]``, or of the line ``<stat>…``.

    The location may be quoted or not. An unsolicited line has no ``<n>``: its second field is the
    location area code, which differs from a ``<stat>`` by having more than one digit, and from 10
    and 11 by having another number of them.
    """
    numbers = [
        number(text) if len(text) == 1 or text in _LONG_STATS else None for text in fields[:2]
    ]
    stat = numbers[1] if len(numbers) > 1 and numbers[1] is not None else next(iter(numbers), None)
    try:
        return None if stat is None else Registration(stat)
    except ValueError:
        return None


def signal_dbm(fields: list[str]) -> int | None:
    """dBm of +CSQ (27.007 §8.5); None for 99, unknown."""
    rssi = number(fields[0]) if fields else None
    return -113 + 2 * rssi if rssi is not None and 0 <= rssi <= 31 else None
