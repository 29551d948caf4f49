"""The handling of typed lines by a simulated modem, and its answers (V.250 §5). Pure."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Final

from risala.lab.modem.at.keyboard import (
    CARRIAGE_RETURN,
    LINE_FEED,
    Abandoned,
    Body,
    CommandLine,
    Keyboard,
    NextLine,
    Overlong,
    Typed,
)
from risala.lab.modem.at.replies import (
    NUMERIC,
    BodyPrompt,
    CommandError,
    LaterReply,
    Reply,
    Rows,
    final_of,
)
from risala.lab.modem.at.syntax import Form, Invocation, invocations
from risala.lab.modem.commands import table
from risala.lab.modem.commands.general import NoCarrier
from risala.lab.modem.modem_state import ModemCore
from risala.lab.modem.quirks import BODY, Quirk, QuirkKind
from risala.lab.modem.world import events as e

PROMPT: Final = "> "
_STOPS: Final = frozenset((QuirkKind.HANG, QuirkKind.REBOOT, QuirkKind.VANISH))
_secret: Final = re.compile(r"(\+CPIN=|\+CLCK=|\+CPWD=).*", re.IGNORECASE | re.DOTALL).sub
_BLANK_PERCENT: Final = 20.0


class VoiceAnswering:
    """Receives and answers; created again at each start of the modem."""

    def __init__(self, modem: ModemCore) -> None:
        self._modem = modem
        self._keyboard = Keyboard()
        self._calls: deque[Invocation] = deque()
        self._blocks: list[Rows] = []
        """Rows that the commands of the current line have brought so far."""
        self._line = ""
        self._prompt: BodyPrompt | None = None
        self._quirk: Quirk | None = None
        self._busy = self._is_at_work = False
        self._turn = 0
        """Counts interruptions, so that an answer that was under way at one is not given later."""
        self._afterwards: list[Callable[[], object]] = []
        self._verbose = self._quiet = False
        self.registers: dict[int, int] = {}
        self.reset_format()

    def reset_format(self) -> None:
        """Set echo and result codes as ATZ does: E1, V1, Q0."""
        self._keyboard.echo = True
        self._verbose, self._quiet = True, False
        self.registers.clear()
        self.registers.update({0: 0, 3: CARRIAGE_RETURN, 4: LINE_FEED, 5: 8})

    def switch(self, name: str, value: int) -> None:
        """Set E (echo), V (results in words) or Q (no results)."""
        if name == "E":
            self._keyboard.echo = bool(value)
        elif name == "V":
            self._verbose = bool(value)
        else:
            self._quiet = bool(value)

    @property
    def is_typing(self) -> bool:
        """Whether a line or a message's body has begun and not ended: an unsolicited line would be
        in the middle of its echo."""
        return self._keyboard.in_body or self._keyboard.in_line

    def after(self, action: Callable[[], object]) -> None:
        if self._busy:
            self._afterwards.append(action)
        else:
            action()

    def interrupt(self) -> None:
        """Forget the input and running commands; settings stay."""
        echo = self._keyboard.echo
        self._keyboard = Keyboard()
        self._keyboard.echo = echo
        self._turn += 1
        self._busy, self._prompt = False, None
        self._calls.clear()
        self._afterwards.clear()

    # -- input -------------------------------------------------------------------------------------

    def receive(self, octets: bytes) -> None:
        if lost := self._keyboard.feed(octets):
            self._modem.tell(e.Trouble(f"{lost} octets were typed too fast and are lost."))
        self._work()

    def _work(self) -> None:
        """Handle one line after the other, until none is complete or an answer takes time."""
        if self._is_at_work:
            return  # called from within the loop below, which goes on by itself
        self._is_at_work = True
        try:
            while not self._busy and self._modem.is_current(self):
                keyboard = self._keyboard
                keyboard.line_end = self.registers[3]
                typed = keyboard.next()
                self._modem.emit(keyboard.take_echo())
                if typed is None:
                    self._modem.release_unsolicited()
                    return
                self._take(typed)
        finally:
            self._is_at_work = False

    def _take(self, typed: Typed) -> None:
        match typed:
            case CommandLine(text):
                self._begin(text)
            case Overlong():
                self._busy = True
                self._finish(self._modem.profile.unknown)
            case NextLine():
                self._modem.emit(f"\r\n{PROMPT}".encode())
            case Abandoned():
                self._prompt = None
                self._busy = True
                self._finish("OK")
            case Body(octets):
                self._body(octets)

    def _begin(self, text: str) -> None:
        self._line = _secret(r"\1…", f"AT{text}")
        self._modem.tell(e.Heard(self._line))
        self._busy = True
        self._blocks = []
        if self._goes_wrong(self._modem.mood.pick(f"AT{text}")):
            return
        try:
            self._calls = deque(invocations(text) or [_NOTHING])
        except CommandError as error:
            self._fail(error)
            return
        self._continue()

    def _body(self, octets: bytes) -> None:
        prompt, self._prompt = self._prompt, None
        assert prompt is not None
        self._busy = True
        self._modem.release_unsolicited()
        if self._goes_wrong(self._modem.mood.pick(BODY)):
            return
        self._run(lambda: prompt.then(octets))

    # -- results -----------------------------------------------------------------------------------

    def _continue(self) -> None:
        """Run the next command of the line; after the last, give the final result."""
        if not self._calls:
            self._finish("OK")
            return
        call = self._calls.popleft()
        self._run(lambda: table.run(self._modem, call))

    def _run(self, work: Callable[[], Reply]) -> None:
        try:
            reply = work()
        except CommandError as error:
            self._fail(error)
            return
        match reply:
            case BodyPrompt():
                self._ask(reply)
            case LaterReply(after_s, then):
                turn = self._turn

                def done() -> None:
                    if turn == self._turn:
                        self._run(then)

                self._modem.power.own_after(after_s, done)
            case _:
                self._blocks.append(reply)
                self._continue()

    def _ask(self, prompt: BodyPrompt) -> None:
        self._calls.clear()  # commands behind one that asks for a body are not run
        quirk = self._quirk
        if quirk is not None and quirk.kind is QuirkKind.REFUSE:
            self._finish(quirk.error)
            return
        self._quirk = None
        self._modem.emit(self._accepted_blocks())
        self._prompt = prompt
        turn = self._turn

        def ask() -> None:
            if turn == self._turn:
                for piece in self._changed(f"\r\n{PROMPT}".encode(), quirk):
                    self._modem.emit(piece)
                self._keyboard.expect_body(is_text=prompt.is_text)
                self._busy = False

        def ask_at_last() -> None:
            ask()
            self._work()

        if quirk is not None and quirk.kind is QuirkKind.LATE:
            self._modem.power.own_after(quirk.wait_s, ask_at_last)
            return
        ask()
        if quirk is not None and quirk.kind in _STOPS:
            self._stop(quirk)

    def _fail(self, error: CommandError) -> None:
        modem = self._modem
        if isinstance(error, NoCarrier):
            self._finish("NO CARRIER")
        else:
            self._finish(final_of(error, modem.settings["+CMEE"][0], modem.profile.unknown))

    def _finish(self, final: str) -> None:
        blocks = self._accepted_blocks()
        quirk, self._quirk = self._quirk, None
        self._calls.clear()
        if quirk is not None and quirk.kind is QuirkKind.REFUSE:
            blocks, final = b"", quirk.error
        octets = blocks + self._result(final)
        if quirk is not None and quirk.kind is QuirkKind.LATE:
            turn = self._turn

            def at_last() -> None:
                if turn == self._turn:
                    self._answer(octets, final, None)

            self._modem.power.own_after(quirk.wait_s, at_last)
        else:
            self._answer(octets, final, quirk)

    def _answer(self, octets: bytes, final: str, quirk: Quirk | None) -> None:
        modem = self._modem
        for piece in self._changed(octets, quirk):
            modem.emit(piece)
        modem.tell(e.CommandAnswered(self._line, final))
        self._busy = False
        afterwards, self._afterwards = self._afterwards, []
        for action in afterwards:
            action()
        modem.release_unsolicited()
        if quirk is not None and quirk.kind in _STOPS:
            self._stop(quirk)
        else:
            self._work()

    # -- quirks ------------------------------------------------------------------------------------

    def _goes_wrong(self, quirk: Quirk | None) -> bool:
        """Whether a quirk prevents the command."""
        self._quirk = quirk
        if quirk is None:
            return False
        self._modem.tell(e.Misbehaved(quirk.kind, self._line))
        if quirk.taken:
            return False
        if quirk.kind in _STOPS:
            self._quirk = None
            self._stop(quirk)
            return True
        if quirk.kind in (QuirkKind.SILENT, QuirkKind.REFUSE):
            self._finish("ERROR")
            return True
        return False

    def _changed(self, octets: bytes, quirk: Quirk | None) -> list[bytes]:
        mood = self._modem.mood
        match quirk.kind if quirk else None:
            case QuirkKind.SILENT | QuirkKind.HANG | QuirkKind.REBOOT | QuirkKind.VANISH:
                return []
            case QuirkKind.TWICE:
                return [octets, octets]
            case QuirkKind.HALF:
                return [octets[: len(octets) // 2]]
            case QuirkKind.DROP:
                return [mood.bitten(octets)]
            case QuirkKind.GARBAGE:
                return [mood.garbage(), octets]
            case _:
                return [octets]

    def _stop(self, quirk: Quirk) -> None:
        match quirk.kind:
            case QuirkKind.HANG:
                self._modem.power.hang(quirk.for_s, quirk.until)
            case QuirkKind.VANISH:
                self._modem.power.vanish(quirk.for_s)
            case _:
                self._modem.power.restart("by itself")

    # -- output ------------------------------------------------------------------------------------

    @property
    def _eol(self) -> str:
        return chr(self.registers[3]) + chr(self.registers[4])

    def say(self, line: str) -> None:
        """An unsolicited line."""
        self._modem.emit(f"{self._blank()}{self._eol}{line}{self._eol}".encode("latin-1"))

    def _blank(self) -> str:
        odd = self._modem.profile.blank_lines and self._modem.mood.chance(_BLANK_PERCENT)
        return self._eol if odd else ""

    def _accepted_blocks(self) -> bytes:
        blocks, self._blocks = self._blocks, []
        return b"".join(self._block(rows) for rows in blocks if rows)

    def _block(self, rows: Rows) -> bytes:
        """The rows of an answer (V.250 §5.7.1), with any lines that come between them."""
        eol, modem = self._eol, self._modem
        text = eol if self._verbose else ""
        for row in rows:
            text += f"{row}{eol}"
            if modem.is_noisy and modem.mood.chance(modem.profile.noise_in_answers_percent):
                text += f"{eol}{modem.with_facts(modem.dice.choice(modem.profile.noise))}{eol}"
        return f"{self._blank()}{text}".encode("latin-1", "replace")

    def _result(self, final: str) -> bytes:
        if self._quiet:
            return b""
        if not self._verbose and final in NUMERIC:
            return f"{NUMERIC[final]}{chr(self.registers[3])}".encode("latin-1")
        return f"{self._blank()}{self._eol}{final}{self._eol}".encode("latin-1")


_NOTHING: Final = Invocation("", Form.EXECUTE)
