"""The driver at a ModemManager that python-dbusmock plays: faults of D-Bus by other people's code.

Debian's package is run by Debian's Python: from PyPI it is built with the headers of libdbus.
``DBUSMOCK_PYTHON`` names another interpreter that has it.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from patience import HANG_S, POLL_S
from risala.drivers.modem.manager.bus import BusCallError, BusGoneError, open_bus
from risala.drivers.modem.manager.driver import ModemManagerDriver
from risala.drivers.modem.manager.objects import GSM, MESSAGING, MODEM
from risala.drivers.modem.manager.settings import ModemManagerSettings
from risala.drivers.modem.manager.texts import SMS
from risala.drivers.modem.manager.words import MANAGER, ROOT, SmsState
from risala.plugins.contract import Accepted, HealthState, Uncertain, Unsent
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext

PYTHON = os.environ.get("DBUSMOCK_PYTHON", "/usr/bin/python3")
HAS_IT = (
    shutil.which("dbus-daemon") is not None
    and Path(PYTHON).exists()
    and not subprocess.run([PYTHON, "-c", "import dbusmock"], capture_output=True).returncode
)
pytestmark = pytest.mark.skipif(
    not HAS_IT, reason="apt-get install python3-dbusmock dbus: one of them is not here"
)
MOCK = "org.freedesktop.DBus.Mock"
TEXT = {
    "State": ("u", 3),
    "PduType": ("u", 1),
    "Number": ("s", "+22236999999"),
    "Text": ("s", ""),
    "Data": ("ay", b""),
    "SMSC": ("s", "+22236990000"),
    "Timestamp": ("s", "2026-11-30T18:55:01+00"),
    "DischargeTimestamp": ("s", ""),
    "MessageReference": ("u", 0),
    "DeliveryState": ("u", 256),
}
LIST = "ret = dbus.Array([each for each in objects if '/SMS/' in each], signature='o')"
SENT = (
    "self.UpdateProperties('{sms}', {{"
    "'State': dbus.UInt32(5), 'MessageReference': dbus.UInt32(7)}})"
)
CREATE = """
path = '/org/freedesktop/ModemManager1/SMS/%d' % len(objects)
self.AddObject(path, '{sms}', {{
    'State': dbus.UInt32(0), 'PduType': dbus.UInt32(2), 'Number': args[0]['number'],
    'Text': args[0]['text'], 'Data': dbus.ByteArray(b''), 'SMSC': '', 'Timestamp': '',
    'DischargeTimestamp': '', 'MessageReference': dbus.UInt32(0),
    'DeliveryState': dbus.UInt32(256)}}, [('Send', '', '', {send!r})])
ret = dbus.ObjectPath(path)
"""
REFUSE = "raise dbus.exceptions.DBusException({text!r}, name='{manager}.Error.{name}')"


class Mocked:
    """A bus, and a ModemManager on it that does what the test says."""

    def __init__(self, place: Path) -> None:
        self.address = f"unix:path={place}/bus"
        self._place = place
        self._processes: dict[str, trio.Process] = {}

    async def start_bus(self) -> None:
        await self._process("dbus-daemon", "--session", "--nofork", f"--address={self.address}")

    async def start(self) -> None:
        """Start ModemManager; returns when it is on the bus."""
        await self._process(PYTHON, "-m", "dbusmock", "--session", "-m", MANAGER, ROOT, MANAGER)
        while True:
            try:
                await self.call(ROOT, "org.freedesktop.DBus.Peer.Ping")
                return
            except* (BusCallError, BusGoneError):
                assert self._processes[PYTHON].poll() is None, self._log.read_text()
            await trio.sleep(POLL_S)

    @property
    def _log(self) -> Path:
        return self._place / "mock.log"

    async def _process(self, *command: str) -> None:
        env = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": self.address}
        with self._log.open("ab") as log:
            process = await trio.lowlevel.open_process(command, env=env, stdout=log, stderr=log)
        self._processes[command[0]] = process

    async def stop(self, *names: str) -> None:
        for name in names or (PYTHON, "dbus-daemon"):
            if (process := self._processes.pop(name, None)) is not None:
                process.terminate()
                await process.wait()

    async def call(self, path: str, method: str, signature: str = "", *body: Any) -> Any:
        async with open_bus(self.address) as bus:
            return await bus.call(path, method, signature, body)

    async def plug(self, number: int = 0, imei: str = "861234567890124", send: str = "") -> str:
        """A modem that is registered."""
        path, messaging = f"{ROOT}/Modem/{number}", {"DefaultStorage": ("u", 2)}
        modem = {
            "Manufacturer": ("s", "Huawei"),
            "Model": ("s", "E1752"),
            "State": ("i", 8),
            "EquipmentIdentifier": ("s", imei),
            "UnlockRequired": ("u", 1),
            "SignalQuality": ("(ub)", (64, True)),
        }
        gsm = {"RegistrationState": ("u", 1), "OperatorName": ("s", "Testnet")}
        add = f"{MOCK}.AddObject"
        for interface, fields in ((MESSAGING, messaging), (GSM, gsm)):
            if interface == MESSAGING:
                await self.call(ROOT, add, "ssa{sv}a(ssss)", path, MODEM, modem, [])
            await self.call(path, f"{MOCK}.AddProperties", "sa{sv}", interface, fields)
        create = CREATE.format(sms=SMS, send=send or SENT.format(sms=SMS))
        for name, takes, gives, code in (
            ("List", "", "ao", LIST),
            ("Create", "a{sv}", "o", create),
            ("Delete", "o", "", "self.RemoveObject(args[0])"),
        ):
            method = f"{MOCK}.AddMethod"
            await self.call(path, method, "sssss", MESSAGING, name, takes, gives, code)
        return path

    async def put(self, **fields: Any) -> str:
        """A text that came."""
        path = f"{ROOT}/SMS/900"
        await self.call(
            ROOT, f"{MOCK}.AddObject", "ssa{sv}a(ssss)", path, SMS, {**TEXT, **fields}, []
        )
        return path


@asynccontextmanager
async def mocked() -> AsyncIterator[Mocked]:
    with tempfile.TemporaryDirectory(prefix="dm-") as place, trio.fail_after(HANG_S):
        manager = Mocked(Path(place))
        try:
            await manager.start_bus()
            await manager.start()
            yield manager
        finally:
            with trio.CancelScope(shield=True):
                await manager.stop()


@asynccontextmanager
async def driving(manager: Mocked, context: RecordingContext, **settings: Any):
    settings = {"bus": manager.address, "reopen_s": 0.05, "check_every_s": 1, **settings}
    driver = ModemManagerDriver("stick", ModemManagerSettings(**settings))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(driver.run, context)
        yield driver
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        (None, "", Accepted),
        ("Message.NetworkTimeout", "network timeout", Uncertain),
        ("Core.Failed", "Could not open serial device /dev/x: forced close", Unsent),
        ("Core.Failed", "something else", Uncertain),
    ],
)
async def test_what_a_send_comes_to(name, text, kind):
    send = "" if name is None else REFUSE.format(text=text, manager=MANAGER, name=name)
    context = RecordingContext("stick")
    async with mocked() as manager:
        await manager.plug(send=send)
        async with driving(manager, context) as driver:
            await context.wait_health(HealthState.UP)
            outcome = await driver.submit(segment())
    assert isinstance(outcome, kind), outcome


async def test_a_half_received_text_is_whole_later():
    context = RecordingContext("stick")
    async with mocked() as manager:
        await manager.plug()
        path = await manager.put(State=("u", int(SmsState.RECEIVING)))
        async with driving(manager, context):
            await context.wait_until(
                lambda it: it.healths and it.healths[-1].details.get("half_received") == 1
            )
            whole = {"State": ("u", int(SmsState.RECEIVED)), "Text": ("s", "Whole")}
            await manager.call(path, f"{MOCK}.UpdateProperties", "sa{sv}", SMS, whole)
            await context.wait_until(lambda it: it.inbounds)
            await context.wait_until(lambda it: it.healths[-1].details.get("half_received") == 0)
    assert [each.text for each in context.inbounds] == ["Whole"]


async def test_modem_manager_is_killed_and_another_takes_its_name():
    context = RecordingContext("stick")
    async with mocked() as manager:
        await manager.plug()
        async with driving(manager, context, modem="861234567890132") as driver:
            await context.wait_until(
                lambda it: it.healths and "does not see the modem" in it.healths[-1].text
            )
            await manager.stop(PYTHON)
            await context.wait_until(lambda it: "does not run" in it.healths[-1].text)
            assert isinstance(await driver.submit(segment()), Unsent)
            await manager.start()
            await manager.plug(3)
            await manager.plug(4, imei="861234567890132")
            await context.wait_health(HealthState.UP)
            assert isinstance(await driver.submit(segment()), Accepted)


async def test_the_bus_goes():
    context = RecordingContext("stick")
    async with mocked() as manager:
        await manager.plug()
        async with driving(manager, context):
            await context.wait_health(HealthState.UP)
            await manager.stop("dbus-daemon")
            await context.wait_until(lambda it: "There is no D-Bus" in it.healths[-1].text)
