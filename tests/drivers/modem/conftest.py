"""A scripted modem on a stream in memory, a driver on the other end of the line, and an engine."""

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import pytest
import trio
from trio.testing import memory_stream_pair

from fresh_files import fresh_files  # noqa: F401 -- a fixture of all below
from risala.config.model import CarrierSection, DeliverySection, Settings, StorageSection
from risala.drivers.modem.driver import ModemDriver
from risala.drivers.modem.port.serial import PortError, PortFault
from risala.drivers.modem.settings import ModemSettings
from risala.drivers.modem.tpdu.pdu import (
    Deliver,
    Direction,
    StatusReport,
    Submit,
    TpAddress,
    UserData,
    from_hex,
    to_hex,
)
from risala.engine.model.clock import TrioClock
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.ids import IdSource
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.record import to_json
from risala.engine.model.states import Mode
from risala.engine.wiring.engine import Engine, open_engine
from risala.engine.wiring.foundation import Seams
from risala.plugins.contract import HealthState
from risala.plugins.testing.context import RecordingContext
from risala.sms.alphabet import choose_alphabet

NOW_MS = 1_795_176_000_000  # 2026-11-20 12:00:00 UTC
SMSC = TpAddress.of_number("+22200000001")

_PATIENCE_S = 100_000

Reply = str | None | Callable[[str], str | None]


class FakeModem:
    """Takes every command. ``replies`` says otherwise, by a pattern of the whole command."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply] = {}
        """Pattern → answer without its outer CR LF; None is silence."""
        self.commands: list[str] = []
        self.submits: list[Submit] = []
        self.storage: dict[int, str] = {}
        self.places = 20
        self.reports = True
        self.report_status = 0
        self.cmgs: Callable[[str], str | None] | None = None
        """Answers a body in place of the reference; None is silence."""
        self.deaf = False
        """Hangs: hears nothing, says nothing."""
        self.reference = 16
        self.escapes = 0
        self.in_text = False
        """A command is taken for the text of a message, until ESC."""
        self._stream: trio.abc.Stream | None = None
        self._sending = trio.Lock()

    # -- what tests do to it -------------------------------------------------------------------

    async def say(self, text: str) -> None:
        """Say something unasked."""
        assert self._stream is not None
        await self._send(f"\r\n{text}\r\n")

    async def _send(self, text: str) -> None:
        assert self._stream is not None
        async with self._sending:
            with suppress(trio.ClosedResourceError, trio.BrokenResourceError):
                await self._stream.send_all(text.encode("latin-1"))

    async def hang_up(self) -> None:
        assert self._stream is not None
        await self._stream.aclose()

    def store(self, pdu: str) -> int:
        place = next(index for index in range(self.places + 1) if index not in self.storage)
        self.storage[place] = pdu
        return place

    async def receive_sms(self, pdu: str) -> None:
        await self.say(f'+CMTI: "ME",{self.store(pdu)}')

    async def report(self, reference: int, number: str, status: int = 0) -> None:
        sent = datetime.fromtimestamp(NOW_MS / 1000, UTC)
        report = StatusReport(reference, TpAddress.of_number(number), sent, sent, status)
        pdu, octets = to_hex(report, SMSC)
        await self.say(f"+CDS: {octets}\r\n{pdu}")

    def count(self, command: str) -> int:
        return self.commands.count(command)

    # -- what it does ----------------------------------------------------------------------------

    async def run(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        buffer = b""
        while True:
            try:
                octets = await stream.receive_some(4096)
            except (trio.ClosedResourceError, trio.BrokenResourceError):
                return
            if not octets:
                return
            if self.deaf:
                continue
            buffer += octets
            while found := re.search(rb"[\r\x1a\x1b]", buffer):
                line, end = buffer[: found.start()].decode("latin-1").strip(), found[0]
                buffer = buffer[found.end() :]
                await self._hear(line, end)

    async def _hear(self, line: str, end: bytes) -> None:
        if end == b"\x1b":
            self.escapes += 1
            self.in_text = False
        elif self.in_text:
            await self._send(f"{line}\r")
        elif end == b"\x1a":
            await self._body(line)
        elif line.upper().startswith("AT"):
            self.commands.append(line)
            reply = self._reply(line)
            if reply is not None and self._stream is not None:
                await self._send(reply)

    def _reply(self, command: str) -> str | None:
        for pattern, reply in self.replies.items():
            if re.fullmatch(pattern, command):
                text = reply(command) if callable(reply) else reply
                return None if text is None else f"\r\n{text}\r\n"
        if command.startswith("AT+CMGS="):
            return "\r\n> "
        rows = self._rows(command)
        return f"\r\n{rows}\r\n\r\nOK\r\n" if rows else "\r\nOK\r\n"

    def _rows(self, command: str) -> str:
        used = len(self.storage)
        cpms = f"{used},{self.places},{used},{self.places},{used},{self.places}"
        cpms_read = ",".join(f'"ME",{used},{self.places}' for _ in range(3))
        if command == "AT+CMGL=4":
            return "\r\n".join(f"{self._header(i)}\r\n{pdu}" for i, pdu in self.storage.items())
        if found := re.fullmatch(r"AT\+CMG([RD])=(\d+)", command):
            place = int(found[2])
            if found[1] == "D":
                self.storage.pop(place, None)
                return ""
            pdu = self.storage.get(place)
            return f"+CMGR: 1,,{tpdu_octets(pdu)}\r\n{pdu}" if pdu else "+CMGR: 0,,0"
        if command.startswith("AT+CPMS="):
            return (
                '+CPMS: ("ME","SM"),("ME","SM"),("ME","SM")'
                if "?" in command
                else (f"+CPMS: {cpms}")
            )
        return {
            "AT+CPMS?": f"+CPMS: {cpms_read}",
            "ATI": "Manufacturer: fake\r\nModel: F1",
            "AT+CGMI": "Fake",
            "AT+CGMM": "F1",
            "AT+CGSN": "861234567890123",
            "AT+CIMI": "609101234567890",
            "AT+CCID": "+CCID: 8922210123456789012",
            "AT+CPIN?": "+CPIN: READY",
            "AT+CFUN?": "+CFUN: 1",
            "AT+CSQ": "+CSQ: 20,99",
            "AT+CREG?": "+CREG: 0,1",
            "AT+COPS?": '+COPS: 0,0,"Mauritel"',
            "AT+CSCA?": f'+CSCA: "{SMSC.readable}",145',
            "AT+CNMI=?": "+CNMI: (0-2),(0-3),(0,2),(0-2),(0,1)",
            "AT+CSMS=1": "+CSMS: 1,1,1",
        }.get(command, "")

    def _header(self, place: int) -> str:
        return f"+CMGL: {place},0,,{tpdu_octets(self.storage[place])}"

    async def _body(self, pdu: str) -> None:
        assert self._stream is not None
        if self.cmgs is not None:
            reply = self.cmgs(pdu)
            if reply is not None:
                await self._send(f"\r\n{reply}\r\n")
            return
        _, submit = from_hex(pdu, Direction.TO_NETWORK)
        assert isinstance(submit, Submit)
        self.submits.append(submit)
        self.reference = (self.reference + 1) % 256
        await self._send(f"\r\n+CMGS: {self.reference}\r\n\r\nOK\r\n")
        if submit.status_report and self.reports:
            number = submit.destination.readable
            await self.report(self.reference, number, self.report_status)


def tpdu_octets(pdu: str) -> int:
    return len(pdu) // 2 - 1 - int(pdu[:2], 16)


def deliver(
    text: str, sender: str = "+22236999999", header: bytes = b"", sent_ms: int = NOW_MS
) -> str:
    data = UserData.of_text(text, choose_alphabet(text), header=header)
    sent_at = datetime.fromtimestamp(sent_ms / 1000, UTC)
    return to_hex(Deliver(TpAddress.of_number(sender), data, sent_at), SMSC)[0]


class Line:
    """A driver and its modem. ``plugged`` is False while the device is gone."""

    def __init__(
        self, modem: FakeModem, notes: dict[str, str] | None = None, **settings: object
    ) -> None:
        values: dict[str, object] = {"port": "/dev/fake", **settings}
        self.modem = modem
        self.context = RecordingContext()
        self.context.notes.update(notes or {})
        self.opened = 0
        self.plugged = True
        self.faults: list[PortError] = []
        self.shift_ms = 0
        self.usb: Callable[[], None] | None = None
        """What a reset of the USB device does; None where the port is on no USB."""
        self.driver = ModemDriver(
            "sim-1",
            ModemSettings(**values),  # type: ignore[arg-type]
            open_port=self._open,
            is_there=lambda _: self.plugged,
            reset_usb=self._reset_usb,
            now_ms=self.now_ms,
        )
        self._nursery: trio.Nursery | None = None

    async def _reset_usb(self, trace: Callable[[str], None]) -> bool:
        await trio.lowlevel.checkpoint()
        if self.usb is None:
            return False
        self.usb()
        return True

    def now_ms(self) -> int:
        return NOW_MS + self.shift_ms

    async def _open(self, port: str, baud: int) -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        self.opened += 1
        if self.faults:
            raise self.faults.pop(0)
        if not self.plugged:
            raise PortError(PortFault.MISSING, f"{port} is not there.")
        ours, theirs = memory_stream_pair()
        assert self._nursery is not None
        self._nursery.start_soon(self.modem.run, theirs)
        return ours

    @asynccontextmanager
    async def run(self, state: HealthState | None = HealthState.UP) -> AsyncIterator["Line"]:
        # By the mock clock: what never happens ends the test.
        with trio.fail_after(_PATIENCE_S):
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                await nursery.start(self.driver.run, self.context)
                if state is not None:
                    await self.context.wait_health(state)
                yield self
                nursery.cancel_scope.cancel()

    @asynccontextmanager
    async def powered(self) -> AsyncIterator[None]:
        """A place for the modem to run, where somebody else runs the driver."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            yield
            nursery.cancel_scope.cancel()

    @property
    def details(self):
        return self.context.healths[-1].details


class Service:
    """A running engine whose carriers are modems."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.principal: Principal

    async def prepare(self) -> None:
        made = await self.engine.gateway.perform("org.create", {"name": "Test"})
        await self.engine.gateway.perform(
            "topup", {"organization_id": made["id"], "amount": "9999"}
        )
        self.principal = Principal(made["id"], "key", KeyType.SECRET, Mode.LIVE)

    async def send(self, body: str = "hello", to: str = "+22236123456") -> str:
        command = SendMessage(to=to, body=body)
        return json.loads(await self.engine.gateway.send_message(self.principal, command))[
            "messageId"
        ]

    async def wait_status(self, message_id: str, *statuses: str) -> str:
        with self.engine.gateway.watch() as life:
            while (status := self.status(message_id)) not in statuses:
                await anext(life)
        return status

    def status(self, message_id: str) -> str:
        return self.engine.gateway.show_message(message_id)[0].status

    def inbound(self) -> list[str]:
        rows = self.engine.gateway.services.repositories._store.reader.execute(
            "SELECT body FROM inbound ORDER BY rowid"
        )
        return [row[0] for row in rows]

    def carrier(self, name: str) -> dict[str, Any]:
        carriers = self.engine.gateway.services.delivery.carriers()
        return to_json(next(it for it in carriers if it.name == name))


@pytest.fixture
def open_service(tmp_path):
    """``open_service(lines, delivery, own, **carrier fields)``, again and again on one journal.

    ``own``: further fields of single carriers.
    """
    clock = TrioClock()

    @asynccontextmanager
    async def open_one(
        lines: dict[str, Line],
        delivery: dict[str, Any] | None = None,
        own: dict[str, dict[str, Any]] | None = None,
        **fields: Any,
    ) -> AsyncIterator[Service]:
        carriers = [
            CarrierSection.model_validate(
                {"name": name, "driver": "modem", **fields, **(own or {}).get(name, {})}
            )
            for name in lines
        ]
        settings = Settings(
            storage=StorageSection(data_dir=tmp_path),
            delivery=DeliverySection.model_validate(delivery or {}),
        )
        drivers = {name: line.driver for name, line in lines.items()}
        with trio.fail_after(_PATIENCE_S):
            async with AsyncExitStack() as stack:
                for line in lines.values():
                    await stack.enter_async_context(line.powered())
                seams = Seams(clock, IdSource(clock), inline_journal=True)
                service = Service(
                    await stack.enter_async_context(open_engine(settings, carriers, drivers, seams))
                )
                await service.prepare()
                yield service

    return open_one


@pytest.fixture
def modem() -> FakeModem:
    return FakeModem()


@pytest.fixture
def new_modem() -> type[FakeModem]:
    return FakeModem


@pytest.fixture
def new_line() -> type[Line]:
    """``new_line(modem, notes, **settings)``: the notes of another one play a restart."""
    return Line


@pytest.fixture
def deliver_pdu():
    """A DELIVER in hexadecimal: ``deliver_pdu(text, sender, header, sent_ms)``."""
    return deliver
