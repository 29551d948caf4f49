"""The console of ``simulate modem``, and its input: lines, JSON, or a live picture."""

from __future__ import annotations

import codecs
import json
import os
import signal
import sys
import termios
import tty
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from datetime import datetime
from typing import Final, Protocol

import click
import trio
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from risala.cli.show import output
from risala.lab.modem import simulator as s
from risala.lab.modem.script.actions import HELP, REGISTRATION
from risala.sms.numbering.plan import EXAMPLE

MESSAGES_SHOWN: Final = 8
REFRESHES_PER_S: Final = 4
_COMMANDS: Final = (s.Heard, s.CommandAnswered)
_TOTALS: Final = {
    "Submitted": "segments",
    "MessageReceived": "messages",
    "ReportSent": "reports",
    "InboundSent": "inbound parts",
    "Trouble": "troubles",
}
_REGISTRATIONS: Final = {number: word for word, number in REGISTRATION.items()}
_BARS: Final = "▁▃▅▇"


class ModemTally:
    """Totals of all events of the simulator."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.mishaps: Counter[str] = Counter()
        self.messages: deque[str] = deque(maxlen=MESSAGES_SHOWN)
        self.trouble = ""
        self.last_command = ""
        self.began = False

    def hear(self, event: s.ModemEvent) -> None:
        self.totals[type(event).__name__] += 1
        match event:
            case s.PortOpened():
                self.began = True
            case s.Submitted(error=int() as error):
                self.refusals[f"+CMS ERROR: {error}"] += 1
            case s.Misbehaved():
                self.mishaps[event.kind] += 1
            case s.MessageReceived():
                self.messages.append(f"→ {event.recipient}: {event.text}")
            case s.InboundSent():
                self.messages.append(f"← {event.sender}: {event.text}")
            case s.CommandAnswered():
                self.last_command = f"{event.line}  {event.result}"
            case s.Trouble():
                self.trouble = event.text
            case _:
                pass

    def summary(self) -> list[str]:
        """The lines that end a run; empty if the simulator never started."""
        if not self.began:
            return []
        lines = []
        for title, counts in (("Refused", self.refusals), ("Quirks", self.mishaps)):
            if counts:
                parts = (f"{count} × {name}" for name, count in counts.most_common())
                lines.append(f"{title}: {', '.join(parts)}.")
        words = (f"{self.totals[name]} {word}" for name, word in _TOTALS.items())
        return [*lines, f"Total: {', '.join(words)}."]


class ModemView(Protocol):
    def hear(self, event: s.ModemEvent) -> None: ...
    def answer(self, text: str) -> None:
        """Answer a typed line."""

    def end(self) -> None: ...


class ModemJsonView:
    """One object a line."""

    def __init__(self, *, commands: bool = False) -> None:
        self._commands = commands

    def hear(self, event: s.ModemEvent) -> None:
        if self._commands or not isinstance(event, _COMMANDS):
            line = {"event": type(event).__name__, **asdict(event)}
            click.echo(json.dumps(line, ensure_ascii=False))

    def answer(self, text: str) -> None:
        click.echo(json.dumps({"event": "Answer", "text": text}, ensure_ascii=False))

    def end(self) -> None:
        pass


class ModemLineView:
    """One line an event, and the totals at the end."""

    def __init__(self, tally: ModemTally, *, commands: bool = False) -> None:
        self._tally = tally
        self._commands = commands

    def hear(self, event: s.ModemEvent) -> None:
        if not self._commands and isinstance(event, _COMMANDS):
            return
        kind, text, colour = _event_text(event)
        now = f"{datetime.now():%H:%M:%S}"  # local time, for the person at the screen
        click.echo(f"{now} {click.style(kind.ljust(9), fg=colour)} {output.clean(text)}")

    def answer(self, text: str) -> None:
        for line in text.splitlines():
            click.echo(output.clean(line))

    def end(self) -> None:
        for line in self._tally.summary():
            click.echo(line)


def _event_text(event: s.ModemEvent) -> tuple[str, str, str | None]:
    """Kind, text and colour."""
    match event:
        case s.PortOpened():
            link = f", which {event.link} leads to" if event.link else ""
            return "port", f"{event.path}{link}", "green"
        case s.PortGone():
            back = "" if event.for_s is None else f"; back in {event.for_s:g} s"
            return "gone", f"the port is gone{back}", "yellow"
        case s.ModemStarted():
            return "start", event.reason, "yellow"
        case s.Heard():
            return "command", event.line, None
        case s.CommandAnswered():
            return "answer", event.result, None
        case s.Submitted(error=None):
            return "segment", _segment(event), None
        case s.Submitted():
            return "refused", f"{_segment(event)}: +CMS ERROR: {event.error}", "red"
        case s.MessageReceived():
            ends = f"{event.sender} → {event.recipient}"
            return "flash" if event.flash else "message", f"{ends}: {event.text}", "cyan"
        case s.ReportSent():
            return "report", f"{event.recipient} TP-ST {event.status:02X} by {event.way}", None
        case s.InboundSent():
            return "inbound", f"from {event.sender} by {event.way}: {event.text}", "cyan"
        case s.Waiting():
            return "waiting", f"{event.count}: {event.why}", "yellow"
        case s.SignalChanged():
            return "network", _network(event.signal, event.registration), None
        case s.UssdAsked():
            return "ussd", f"{event.code}: {event.text or 'not known'}", None
        case s.CallCame():
            return "call", f"from {event.caller or 'nobody known'}", "cyan"
        case s.CallEnded():
            return "call", f"from {event.caller or 'nobody known'}: hung up", "cyan"
        case s.Misbehaved():
            return "quirk", f"{event.kind} at {event.command}", "magenta"
        case s.Trouble():
            return "trouble", event.text, "red"


def _segment(event: s.Submitted) -> str:
    part = event.concatenation
    which = f" part {part.number} of {part.total}" if part else ""
    lost = "" if event.is_taken else ", not taken"
    return f"→ {event.recipient} reference {event.reference}{which}{lost}"


def _network(level: int, registration: int) -> str:
    known = "unknown" if level == 99 else f"{-113 + 2 * level} dBm"
    return f"{_REGISTRATIONS.get(registration, str(registration))}, signal {level} ({known})"


class ModemLiveView:
    """A picture that stays in its place, with a line to type on below it."""

    def __init__(
        self,
        tally: ModemTally,
        simulator: s.ModemSimulator,
        title: str,
        console: Console | None = None,
    ) -> None:
        self._tally = tally
        self._simulator = simulator
        self._title = title
        self._said = f"Type help, or what should happen: sms {EXAMPLE} Hello"
        self._begun = ""
        self._live = Live(console=console, auto_refresh=False)
        self._live.start()

    def hear(self, event: s.ModemEvent) -> None:
        pass  # the picture is drawn from the tally, which hears the event too

    def typing(self, begun: str) -> None:
        self._begun = begun
        self.refresh()

    def answer(self, text: str) -> None:
        self._said = text

    def refresh(self) -> None:
        self._live.update(self._picture(), refresh=True)

    def end(self) -> None:
        self._live.stop()
        for line in self._tally.summary():
            click.echo(line)

    def _picture(self) -> Group:
        tally, modem = self._tally, self._simulator.modem
        path = self._simulator.path or "gone"
        head = Text(f"Modem at {path}; Ctrl-C ends it", style="bold")
        head.append(f"\n{self._title}", style="not bold italic")
        numbers = Table(box=None, pad_edge=False, show_header=False)
        numbers.add_column(style="cyan")
        numbers.add_column(justify="right", style="cyan")
        for name, words in _TOTALS.items():
            numbers.add_row(words, f"{tally.totals[name]:,}")
        stores = (f"{it.name} {it.used}/{it.places}" for it in modem.stores.values())
        odd = {**tally.refusals, **tally.mishaps}
        facts = [
            f"Network: {_bars(modem.signal)} {_network(modem.signal, modem.registration)}",
            f"Storages: {', '.join(stores)}",
            f"Last command: {tally.last_command or '–'}",
            f"Refused and quirks: {', '.join(f'{n} {word}' for word, n in odd.items()) or '–'}",
            f"Last trouble: {tally.trouble or '–'}",
        ]
        lines = [*facts, "", *tally.messages, "", *self._said.splitlines(), f"> {self._begun}"]
        body = Text("\n".join(output.clean(line) for line in lines), no_wrap=True)
        body.overflow = "ellipsis"
        return Group(head, numbers, body)


def _bars(level: int) -> str:
    """The signal as one to four bars, as on a phone; empty if it is unknown."""
    count = 0 if level == 99 else min(4, level // 6 + (level > 0))
    return _BARS[:count].ljust(4, "·")


def help_text() -> str:
    width = max(map(len, HELP))
    return "\n".join(f"{usage.ljust(width)}  {words}" for usage, words in HELP.items())


async def run_modem(simulator: s.ModemSimulator, view: ModemView) -> None:
    """Run a simulator, shown in ``view``, until SIGINT or SIGTERM; obey typed lines."""

    def obey(line: str) -> None:
        if line.strip() == "help":
            view.answer(help_text())
        elif line.strip():
            try:
                simulator.perform(line)
            except s.ActionError as fault:
                view.answer(str(fault))

    live = view if isinstance(view, ModemLiveView) else None
    with (
        keys() if live else nullcontext(),
        trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals,
    ):
        async with trio.open_nursery() as nursery:
            await nursery.start(simulator.run)
            if live is None:
                nursery.start_soon(read_lines, 0, obey)
            else:
                nursery.start_soon(read_lines, 0, obey, live.typing)
                nursery.start_soon(_refresh, live)
            async for _ in signals:
                nursery.cancel_scope.cancel()


async def _refresh(view: ModemLiveView) -> None:
    while True:
        view.refresh()
        await trio.sleep(1 / REFRESHES_PER_S)


# Lines that are typed, or come down a pipe, while a command runs; nothing waits in a thread.

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
