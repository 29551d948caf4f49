"""Lines that are typed, or come down a pipe, while a command runs; nothing waits in a thread."""

from __future__ import annotations

import codecs
import os
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import trio

LINE_MAX: Final = 4096
"""Characters of a line; those beyond are dropped."""
_READ_OCTETS: Final = 4096
_ERASE: Final = "\x7f\x08"
_KILL: Final = "\x15"


class LineEditor:
    """Makes lines of typed characters; with backspace, for a terminal in :func:`keys` mode."""

    def __init__(self) -> None:
        self.begun = ""
        """The line that has begun and is not complete yet."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, octets: bytes) -> list[str]:
        """The lines that these octets complete."""
        lines = []
        for character in self._decoder.decode(octets):
            if character in "\r\n":
                lines.append(self.begun)
                self.begun = ""
            elif character in _ERASE:
                self.begun = self.begun[:-1]
            elif character == _KILL:
                self.begun = ""
            elif character.isprintable() and len(self.begun) < LINE_MAX:
                self.begun += character
        return lines


def unseen(_begun: str) -> None:
    """Ignores the input; for consoles whose terminal shows it itself."""


async def read_lines(
    fd: int, obey: Callable[[str], None], typing: Callable[[str], None] = unseen
) -> None:
    """Pass each line to ``obey``, and the incomplete next one to ``typing``, until the end."""
    editor = LineEditor()
    while True:
        try:
            await trio.lowlevel.wait_readable(fd)
        except PermissionError:
            pass  # a file or /dev/null, which epoll does not take: reading never waits there
        except OSError:
            return  # standard input is closed
        try:
            octets = os.read(fd, _READ_OCTETS)
        except OSError:
            return  # the terminal is gone
        for line in editor.feed(octets):
            obey(line)
        if not octets:
            if editor.begun:
                obey(editor.begun)
            return
        typing(editor.begun)
        await trio.lowlevel.checkpoint()


@contextmanager
def keys() -> Iterator[None]:
    """Within this context the terminal gives single keys and does not echo them: the picture, which
    is redrawn all the time, shows the input."""
    fd = sys.stdin.fileno()
    if not os.isatty(fd):
        yield
        return
    before = termios.tcgetattr(fd)
    tty.setcbreak(fd)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
