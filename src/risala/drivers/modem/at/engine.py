"""The AT engine: turns a modem's output into events, one command at a time (27.007, V.250). Pure.

The engine has no clock and no port. Its user gives up on a command when its time is over; the
engine then prevents that a late answer to that command is taken for the answer to the next one::

    octets = engine.start(Command("AT+CSQ"))      → write them
    events = engine.receive(octets)               → Answer, Prompt, Urc, Late, Noise
    rows = engine.give_up()                       → out of sync: only sync_command() may start

For any modem, memory stays bounded and events do not depend on how its octets are cut.
"""

from __future__ import annotations

import re
from typing import Final

from risala.drivers.modem.at.events import (
    Answer,
    Command,
    Event,
    Late,
    LocalProtocolError,
    Noise,
    Prompt,
    Row,
    Urc,
)
from risala.drivers.modem.at.lines import (
    URC_HEADERS,
    Result,
    call_of,
    final_of,
    is_unsolicited,
    name_of,
    pdu_header_of,
)
from risala.drivers.modem.at.payloads import AwaitedPayload, Payloads, UssdLines

__all__ = [
    "ESCAPE",
    "Answer",
    "AtEngine",
    "Command",
    "Event",
    "Late",
    "LocalProtocolError",
    "Noise",
    "Prompt",
    "Result",
    "Row",
    "Urc",
]

LINE_MAX: Final = 2048
"""Octets of a line; the longest real one is a PDU with 352."""
ROWS_MAX: Final = 1024
"""Lines of one answer: ``+CMGL`` of a full storage of 255 has twice as many as messages."""
_ABANDONED_MAX: Final = 16

ESCAPE: Final = b"\x1b"
SUBSTITUTE: Final = b"\x1a"
"""Ctrl-Z: sends the text typed after a prompt. Never sent without a prompt."""

_JUNK: Final = "".join(map(chr, (*range(0x21), *range(0x7F, 0x100))))
"""Stripped at both ends of a line: blanks, control characters, and the characters above ASCII that
the noise on a line reads as after a restart."""
_SYNC: Final = ("AT+CSQ", "AT+CREG?", "AT+CPIN?", "AT+CSCA?")


class AtEngine:
    """One modem's AT dialogue without I/O: octets in, events out, and commands as octets to write.

    Args:
        numeric: single digits are final results too, as after ATV0.
    """

    def __init__(self) -> None:
        self.numeric = True
        self._line = bytearray()
        self._overlong = 0
        self._command: Command | None = None
        self._prompting = False
        self._may_prompt_late = False
        """A command that asks for a prompt was refused, and no prompt came: on some modems it comes
        all the same, after the refusal."""
        self._holds_text_entry = False
        self._body = ""
        self._rows: list[Row] = []
        self._seen_own_row = False
        self._payloads = Payloads()
        self._abandoned: list[Command] = []
        self._late_result = False
        self._ussd = UssdLines()

    # -- to the modem ------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """A command is in flight."""
        return self._command is not None

    @property
    def in_sync(self) -> bool:
        """Whether the next answer surely belongs to the next command.

        False while an answer to a given-up command may still come, or while the modem may wait for
        a message's body: the next command would become the text of a message.
        """
        return not self._abandoned and not self._holds_text_entry

    def start(self, command: Command) -> bytes:
        """The octets to write for a command, which is in flight from now on.

        Raises:
            LocalProtocolError: a command is in flight; or answers are outstanding, and this
                command's own answer could not be distinguished from them.
        """
        if self._command is not None:
            raise LocalProtocolError(f"{self._command.name} is in flight")
        if self._abandoned and not self._is_distinct(command):
            raise LocalProtocolError("out of sync: only sync_command() may start")
        self._command = command
        self._prompting = command.prompts
        self._may_prompt_late = False
        self._body = ""
        self._rows = []
        self._seen_own_row = False
        return command.text.encode("ascii") + b"\r"

    def sync_command(self) -> Command:
        """A command whose answer differs from every answer that is still outstanding."""
        for text in _SYNC:
            if self._is_distinct(Command(text)):
                return Command(text)
        return Command("AT+CGMR")

    def _is_distinct(self, command: Command) -> bool:
        return command.name is not None and all(
            command.name != abandoned.name for abandoned in self._abandoned
        )

    def body(self, text: str) -> bytes:
        """The octets to write for a message's body, after the prompt: the text and Ctrl-Z.

        Raises:
            LocalProtocolError: the modem has not prompted for a body.
        """
        if self._command is None or self._prompting or not self._command.prompts or self._body:
            raise LocalProtocolError("no body is awaited")
        self._body = text
        return text.encode("ascii") + SUBSTITUTE

    def give_up(self) -> tuple[Row, ...]:
        """Stop waiting for the command in flight; the rows that came of its answer so far."""
        command, self._command = self._command, None
        if command is None:
            return ()
        self._abandoned = [*self._abandoned, command][-_ABANDONED_MAX:]
        return self._end()

    def forget(self) -> None:
        """Expect no more answers to given-up commands.

        For a modem that has restarted, or was silent for so long that no answer will come.
        """
        self._abandoned = []
        self._late_result = False
        self._holds_text_entry = False

    def _end(self) -> tuple[Row, ...]:
        rows, self._rows = tuple(self._rows), []
        self._prompting = False
        self._payloads.end_of_answer()
        return rows

    # -- from the modem ----------------------------------------------------------------------

    def receive(self, octets: bytes) -> list[Event]:
        """The events that these octets complete."""
        events: list[Event] = []
        *ended, rest = re.split(rb"[\r\n]", octets)
        for piece in ended:
            self._keep(piece, events)
            self._end_of_line(events)
        self._keep(rest, events)
        return events

    def _keep(self, piece: bytes, events: list[Event]) -> None:
        """Add to the line that has begun. A prompt is a line without an end, so it is looked for
        here."""
        if (self._prompting or self._may_prompt_late) and not self._overlong:
            begun = (self._line + piece[:LINE_MAX])[:LINE_MAX].decode("latin-1")
            blank = len(begun) - len(begun.lstrip(_JUNK))
            if begun.startswith(">", blank):
                piece = bytes(self._line + piece)[blank + 1 :]
                self._line.clear()
                events.append(self._prompt())
        if self._overlong or len(self._line) + len(piece) > LINE_MAX:
            self._overlong += len(self._line) + len(piece)
            self._line.clear()
        else:
            self._line += piece

    def _prompt(self) -> Event:
        if self._prompting:
            self._prompting = False
            return Prompt()
        self._may_prompt_late = False
        self._holds_text_entry = True
        return Late(">")

    def _end_of_line(self, events: list[Event]) -> None:
        if self._overlong:
            events.append(Noise(self._overlong))
            self._overlong = 0
            return
        line = self._line.decode("latin-1").replace("\0", "").strip(_JUNK)
        self._line.clear()
        prompts = self._command.prompts if self._command else False
        if prompts or any(abandoned.prompts for abandoned in self._abandoned):
            line = line.lstrip(">" + _JUNK)  # a prompt that came twice, or late
        if line:
            self._take(line, events)

    def _take(self, line: str, events: list[Event]) -> None:
        """Make an event of a whole line. The order of the checks matters: a PDU or a message's text
        may look like any other kind of line."""
        if self._is_payload(line, events) or self._is_echo(line):
            return
        command = self._command
        call = call_of(line, numeric=self.numeric)
        if call is not None:
            events.append(Urc(call, line))
            return
        result = final_of(line, numeric=self.numeric and command is not None)
        if result is not None:
            self._result(result, events)
            return
        name = name_of(line)
        if name is None:
            self._bare(line, events)
        elif command is not None and name == command.name and not is_unsolicited(name, line):
            self._seen_own_row, self._late_result = True, False
            self._row(name, line, events)
        elif any(name == abandoned.name for abandoned in self._abandoned) or name == "+CMGS":
            # This is a row of a given-up command. That command's result follows, and must not end
            # the command in flight; unless the latter is being answered already, in which case the
            # next result is its own.
            self._late_result = command is None or not self._seen_own_row
            events.append(Late(line))
        else:
            self._unsolicited(name, line, events)

    def _is_echo(self, line: str) -> bool:
        """Whether a line is the echo of ours. Echo may be off, on or come twice, and a message's
        body is echoed too."""
        if self._command is not None and (line == self._command.text or line == self._body):
            return True
        return any(line == abandoned.text for abandoned in self._abandoned)

    def _result(self, result: Result, events: list[Event]) -> None:
        command = self._command
        outstanding = self._abandoned and not self._seen_own_row
        if command is None or self._late_result or outstanding:
            self._late_result = False
            events.append(Late(result.raw))
            return
        self._command = None
        # Modems answer in order: after this answer no answer to an earlier command will come.
        self._abandoned = []
        self._may_prompt_late, self._holds_text_entry = self._prompting, False
        events.append(Answer(command, result, self._end()))

    def _row(self, name: str, line: str, events: list[Event]) -> None:
        if len(self._rows) >= ROWS_MAX:
            events.append(Noise(len(line)))
            return
        header = pdu_header_of(name, line)  # of +CMGR or +CMGL: the others are never rows
        if header is not None:
            self._expect(AwaitedPayload(header, len(self._rows)), events)
        self._rows.append(Row(line))

    def _bare(self, line: str, events: list[Event]) -> None:
        """Take a line without a name: a row of ATI, or of a command that some modems answer without
        the name."""
        if self._command is None:
            events.append(Noise(len(line)))
        elif self._abandoned and not self._seen_own_row:
            events.append(Late(line))
        elif len(self._rows) < ROWS_MAX:
            self._rows.append(Row(line))
        else:
            events.append(Noise(len(line)))

    def _unsolicited(self, name: str, line: str, events: list[Event]) -> None:
        if name == "+CUSD" and self._ussd.begins(line):
            return
        header = pdu_header_of(name, line) if name in URC_HEADERS else None
        if header is not None:
            self._expect(AwaitedPayload(header, None), events)
        else:
            events.append(Urc(name, line))

    def _expect(self, awaited: AwaitedPayload, events: list[Event]) -> None:
        given_up = self._payloads.expect(awaited)
        if given_up is not None:
            events.append(Noise(len(given_up.header.line)))

    def _is_payload(self, line: str, events: list[Event]) -> bool:
        """Whether the line belongs to an earlier one: a header's PDU or text, or the next line of a
        USSD text."""
        if self._ussd.open:
            whole = self._ussd.add(line)
            if whole is not None:
                events.append(Urc("+CUSD", whole))
            return True
        if line == self._body:
            return False
        payload = self._payloads.claim(line)
        if payload is None:
            return False
        if payload.row is None:
            events.append(Urc(payload.header.name, payload.header.line, line))
        else:
            self._rows[payload.row] = Row(payload.header.line, line)
        return True
