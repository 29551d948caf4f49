"""The input of a modem: octets become command lines and bodies, with their echo. Pure.

V.250 §5.2: a line begins with ``AT`` and ends with CR (S3), LF (S4) is skipped, BS (S5) deletes,
``A/`` repeats. After a prompt (27.005 §3.5.1) Ctrl-Z sends and ESC abandons.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LINE_OCTETS_MAX: Final = 1024
BODY_OCTETS_MAX: Final = 2048
"""Octets of a body. A PDU in hexadecimal has 352 at most; a text 160, or 640 in hexadecimal
UCS-2."""
INPUT_OCTETS_MAX: Final = 16_384
"""Octets that may wait while a command runs; further ones are lost, as on a real UART."""

BACKSPACE: Final = 0x08
LINE_FEED: Final = 0x0A
CARRIAGE_RETURN: Final = 0x0D
CTRL_Z: Final = 0x1A
ESCAPE: Final = 0x1B


_PASSED_OVER: Final = {True: frozenset((LINE_FEED,)), False: frozenset(range(0x21))}
"""Octets that are passed over in a body: by True in a text, by False in a PDU."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line, without its ``AT``."""

    text: str


@dataclass(frozen=True, slots=True)
class Overlong:
    """A line that exceeded the maximum length, and is dropped."""


@dataclass(frozen=True, slots=True)
class Body:
    octets: bytes


@dataclass(frozen=True, slots=True)
class NextLine:
    """CR in a text: a further prompt is due."""


@dataclass(frozen=True, slots=True)
class Abandoned:
    """ESC in a body."""


Typed = CommandLine | Overlong | Body | NextLine | Abandoned


class Keyboard:
    """Takes octets with :meth:`feed`, and returns complete inputs with :meth:`next`: one at a time,
    because the meaning of an octet depends on the effect of the previous line."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start again, as after power on; the input is lost."""
        self.echo = True
        self.line_end = CARRIAGE_RETURN
        """The octet that ends a line (S3)."""
        self._input = bytearray()
        self._line = bytearray()
        self._overlong = False
        self._body: bytearray | None = None
        self._is_text = False
        self._last = ""
        self._echoed = bytearray()

    def feed(self, octets: bytes) -> int:
        """Take octets; how many of them found no room and are lost."""
        room = max(INPUT_OCTETS_MAX - len(self._input), 0)
        self._input += octets[:room]
        return max(len(octets) - room, 0)

    def expect_body(self, *, is_text: bool) -> None:
        self._body = bytearray()
        self._is_text = is_text

    @property
    def in_body(self) -> bool:
        return self._body is not None

    @property
    def in_line(self) -> bool:
        """Whether a line has begun and has not ended."""
        return bool(self._line)

    def take_echo(self) -> bytes:
        echoed, self._echoed = bytes(self._echoed), bytearray()
        return echoed if self.echo else b""

    def next(self) -> Typed | None:
        """The next complete input; None if it is not complete."""
        at = 0
        try:
            while at < len(self._input):
                octet = self._input[at]
                at += 1
                self._echoed.append(octet)
                step = self._in_line if self._body is None else self._in_body
                typed = step(octet)
                if typed is not None:
                    return typed
        finally:
            del self._input[:at]
        return None

    def _in_line(self, octet: int) -> Typed | None:
        line = self._line
        if octet == BACKSPACE:
            del line[-1:]
        elif octet == self.line_end:
            return self._end_of_line()
        elif octet >= 0x20 and octet != 0x7F:
            if len(line) >= LINE_OCTETS_MAX:
                self._overlong = True
                return None
            line.append(octet)
            if bytes(line[-2:]).upper() == b"A/" and len(line.strip()) == 2:
                line.clear()
                return CommandLine(self._last)
        return None

    def _end_of_line(self) -> Typed | None:
        text = self._line.decode("latin-1").strip()
        self._line.clear()
        if self._overlong:
            self._overlong = False
            return Overlong()
        # Noise before it is passed over (V.250 §5.2.1).
        at = text.upper().find("AT")
        if at < 0:
            return None
        self._last = text[at + 2 :].strip()
        return CommandLine(self._last)

    def _in_body(self, octet: int) -> Typed | None:
        body = self._body
        assert body is not None
        if octet == CTRL_Z:
            self._body = None
            return Body(bytes(body))
        if octet == ESCAPE:
            self._body = None
            return Abandoned()
        if octet == BACKSPACE:
            del body[-1:]
        elif self._is_text and octet == CARRIAGE_RETURN:
            body.append(LINE_FEED)
            return NextLine()
        elif len(body) < BODY_OCTETS_MAX and octet not in _PASSED_OVER[self._is_text]:
            body.append(octet)
        return None
