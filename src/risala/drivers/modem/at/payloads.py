"""Things that take more than one line: a header with its PDU or text, and a USSD text. Pure."""

from __future__ import annotations

from typing import Final

from risala.dataclass import dataclass
from risala.drivers.modem.at.lines import PduHeader

USSD_LINES_MAX: Final = 12
_HEADERS_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class AwaitedPayload:
    """A header whose PDU has not come yet."""

    header: PduHeader
    row: int | None
    """The header's row in the answer of the command in flight; None for an unsolicited header."""


class Payloads:
    """Headers that wait for their second line, which may follow much later."""

    def __init__(self) -> None:
        self._awaited: list[AwaitedPayload] = []

    def expect(self, awaited: AwaitedPayload) -> AwaitedPayload | None:
        """Wait for a header's second line. If too many wait, returns the oldest header, which is
        given up."""
        self._awaited.append(awaited)
        return self._awaited.pop(0) if len(self._awaited) > _HEADERS_MAX else None

    def claim(self, line: str) -> AwaitedPayload | None:
        """The header that this line belongs to. The newest that fits takes it: mostly a PDU follows
        its header directly."""
        newest_first = self._awaited[::-1]
        payload = next((it for it in newest_first if it.header.is_exactly(line)), None) or next(
            (it for it in newest_first if it.header.may_be(line)), None
        )
        if payload is not None:
            self._awaited.remove(payload)
        return payload

    def end_of_answer(self) -> None:
        """Stop waiting for the PDUs of rows: the answer that they belong to is over."""
        self._awaited = [awaited for awaited in self._awaited if awaited.row is None]


class UssdLines:
    """``+CUSD: 0,"…",15`` with a text of several lines, up to the closing quotation mark."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def begins(self, line: str) -> bool:
        """Whether ``line`` opens a USSD text that continues in the next line."""
        if line.count('"') % 2 == 0:
            return False
        self._lines = [line]
        return True

    @property
    def open(self) -> bool:
        return bool(self._lines)

    def add(self, line: str) -> str | None:
        """Add a line; the whole once the quotation mark is closed or the text is longer than USSD
        allows, else None."""
        self._lines.append(line)
        if line.count('"') % 2 == 0 and len(self._lines) < USSD_LINES_MAX:
            return None
        whole, self._lines = "\n".join(self._lines), []
        return whole
