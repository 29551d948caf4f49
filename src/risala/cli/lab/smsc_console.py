"""The console of ``simulate smsc``: lines, JSON, or a live picture with rates, binds and totals."""

from __future__ import annotations

import json
from collections import Counter, deque
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, Final, Protocol

import click
import trio
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from risala.cli.show import output
from risala.drivers.smpp.protocol.status import status_of
from risala.lab.smsc import simulator as s
from risala.sms.message import Concatenation

MESSAGES_SHOWN: Final = 8
RATE_WINDOW_S: Final = 5
"""Rates are means over this many whole seconds: steady enough to read, and quick to follow."""
REFRESHES_PER_S: Final = 4
_TOTALS: Final = {
    "Submitted": "segments",
    "MessageReceived": "messages",
    "ReceiptSent": "receipts",
    "Trouble": "troubles",
}


class SmscTally:
    """Totals and rates of all events of the simulator."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.mishaps: Counter[str] = Counter()
        self.binds: Counter[tuple[str, str]] = Counter()
        self.messages: deque[s.ReceivedMessage] = deque(maxlen=MESSAGES_SHOWN)
        self.trouble = ""
        self.place = ""
        self._seconds: deque[tuple[int, Counter[str]]] = deque(maxlen=RATE_WINDOW_S + 1)

    def hear(self, event: s.SimulatorEvent, now_s: float) -> None:
        name = type(event).__name__
        self.totals[name] += 1
        second = int(now_s)
        if not self._seconds or self._seconds[-1][0] != second:
            self._seconds.append((second, Counter()))
        self._seconds[-1][1][name] += 1
        match event:
            case s.Listening():
                self.place = f"{event.host}:{event.port}"
            case s.Bound():
                self.binds[event.system_id, event.bind] += 1
            case s.Unbound():
                self._unbound(event.system_id)
            case s.Submitted():
                if event.command_status:
                    self.refusals[status_of(event.command_status).name] += 1
                if event.mishap:
                    self.mishaps[event.mishap] += 1
            case s.MessageReceived(message):
                self.messages.append(message)
            case s.Trouble():
                self.trouble = event.text
            case _:
                pass

    def _unbound(self, system_id: str) -> None:
        # The event does not show which of the account's binds ended; for a count any will do.
        for key in self.binds:
            if key[0] == system_id and self.binds[key] > 0:
                self.binds[key] -= 1
                return

    def rate_per_s(self, name: str, now_s: float) -> float:
        """The mean rate over the last whole seconds."""
        second = int(now_s)
        counted = [
            counts[name] for at, counts in self._seconds if second - RATE_WINDOW_S <= at < second
        ]
        return sum(counted) / RATE_WINDOW_S

    def summary(self) -> list[str]:
        """The lines that end a run; empty if the simulator never started."""
        if not self.place:
            return []
        lines = []
        for title, counts in (("Refused", self.refusals), ("Mishaps", self.mishaps)):
            if counts:
                parts = (f"{count} × {name}" for name, count in counts.most_common())
                lines.append(f"{title}: {', '.join(parts)}.")
        if inbound := self.totals["InboundSent"]:
            lines.append(f"From phones: {output.counted(inbound, 'part')}.")
        words = (f"{self.totals[name]} {word}" for name, word in _TOTALS.items())
        return [*lines, f"Total: {', '.join(words)}."]


class View(Protocol):
    def hear(self, event: s.SimulatorEvent) -> None: ...
    def end(self) -> None: ...


class SmscJsonView:
    """One object a line; the lines of one turn of the loop are written together."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._told = trio.Event()

    def hear(self, event: s.SimulatorEvent) -> None:
        line = {"event": type(event).__name__}
        line.update(_fields_of(event))
        self._lines.append(encoded(line))
        self._told.set()

    async def run(self) -> None:
        """Write the received events, all those of one turn of the loop at once."""
        while True:
            await self._told.wait()
            self._told = trio.Event()
            self.end()

    def end(self) -> None:
        lines, self._lines = self._lines, []
        if lines:
            click.echo("\n".join(lines))


def _fields_of(value: object) -> dict[str, Any]:
    """As ``dataclasses.asdict``, but without copying the values, which are only written out."""
    kind = type(value)
    names = _names.get(kind)
    if names is None:
        assert is_dataclass(value)
        names = _names[kind] = tuple(field.name for field in fields(value))
    return {name: getattr(value, name) for name in names}


_names: Final[dict[type, tuple[str, ...]]] = {}
"""Names of the fields of each class of event, and of the classes of their values."""
_encode: Final = json.JSONEncoder(ensure_ascii=False, default=_fields_of).encode
_encode_ascii: Final = json.JSONEncoder(default=_fields_of).encode


def encoded(line: dict[str, Any]) -> str:
    """An event as JSON. A part that was cut inside a character has half of it, which only an escape
    can write."""
    text = _encode(line)
    try:
        text.encode()
    except UnicodeEncodeError:
        return _encode_ascii(line)
    return text


class SmscLineView:
    """One line an event, and the totals at the end."""

    def __init__(self, tally: SmscTally) -> None:
        self._tally = tally

    def hear(self, event: s.SimulatorEvent) -> None:
        match event:
            case s.Listening():
                _line("listening", f"{event.host}:{event.port}; Ctrl-C ends it")
            case s.Bound():
                _line("bound", f"{event.system_id} as {event.bind}", "green")
            case s.BindRefused():
                _line("refused", f"{event.system_id}: {_status(event.command_status)}", "red")
            case s.Unbound():
                _line("unbound", f"{event.system_id}: {event.reason}", "yellow")
            case s.Submitted() if event.command_status:
                _line("refused", f"{event.recipient}: {_status(event.command_status)}", "red")
            case s.Submitted():
                which = _part(event.concatenation)
                odd = f", {event.mishap}" if event.mishap else ""
                lost = "" if event.is_taken else ", not taken"
                ends = f"{event.sender} → {event.recipient} {event.message_id}"
                _line("segment", f"{ends}{which}{odd}{lost}")
            case s.Changed():
                _line(event.change, f"{event.message_id}: {event.text}", "yellow")
            case s.MessageReceived(message):
                kind = "flash" if message.flash else "message"
                _line(kind, f"{message.sender} → {message.recipient}: {message.text}", "cyan")
            case s.ReceiptSent():
                _line("receipt", f"{event.message_id} {event.state}{_again(event.command_status)}")
            case s.InboundSent():
                ends = f"{event.sender} → {event.recipient}{_part(event.concatenation)}"
                _line("inbound", f"{ends}{_again(event.command_status)}: {event.text}")
            case s.Trouble():
                _line("trouble", f"{event.system_id} {event.text}".strip(), "red")

    def end(self) -> None:
        for line in self._tally.summary():
            click.echo(line)


class SmscLiveView:
    """A picture that stays in its place."""

    def __init__(self, tally: SmscTally, title: str, console: Console | None = None) -> None:
        self._tally = tally
        self._title = title
        self._live = Live(console=console, auto_refresh=False)
        self._live.start()

    def hear(self, event: s.SimulatorEvent) -> None:
        pass  # the picture is drawn from the tally, which hears the event too

    def refresh(self, now_s: float) -> None:
        self._live.update(self._picture(now_s), refresh=True)

    def end(self) -> None:
        self._live.stop()
        for line in self._tally.summary():
            click.echo(line)

    def _picture(self, now_s: float) -> Group:
        tally = self._tally
        head = Text(f"SMSC at {tally.place}; Ctrl-C ends it", style="bold")
        if self._title:
            head.append(f"\n{self._title}", style="not bold italic")
        numbers = Table(box=None, pad_edge=False)
        for column in ("", "a second", "in all"):
            numbers.add_column(column, justify="right" if column else "left", style="cyan")
        for name, words in {**_TOTALS, "InboundSent": "from phones"}.items():
            rate = tally.rate_per_s(name, now_s)
            numbers.add_row(words, f"{rate:,.1f}", f"{tally.totals[name]:,}")
        binds = [f"{who} as {bind} × {n}" for (who, bind), n in tally.binds.items() if n]
        odd = {**tally.refusals, **tally.mishaps}
        facts = [
            f"Bound: {', '.join(binds) or 'none'}",
            f"Refused and mishaps: {', '.join(f'{n} {word}' for word, n in odd.items()) or '–'}",
            f"Last trouble: {tally.trouble or '–'}",
        ]
        last = [f"{m.sender} → {m.recipient}: {m.text}" for m in tally.messages]
        lines = [*facts, "", *last]
        body = Text("\n".join(output.clean(line) for line in lines), no_wrap=True)
        body.overflow = "ellipsis"
        return Group(head, numbers, body)


def _status(command_status: int | None) -> str:
    return "no answer" if command_status is None else status_of(command_status).name


def _part(place: Concatenation | None) -> str:
    return f" part {place.number} of {place.total}" if place else ""


def _again(command_status: int) -> str:
    return "" if command_status == 0 else ", not taken: it comes again"


def _line(kind: str, text: str, colour: str | None = None) -> None:
    now = f"{datetime.now():%H:%M:%S}"  # local time, for the person at the screen
    click.echo(f"{now} {click.style(kind.ljust(9), fg=colour)} {output.clean(text)}")
