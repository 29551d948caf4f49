"""ModemManager as its D-Bus interface shows it: one in memory for faults, and the real one."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import pytest
import trio

from risala.drivers.modem.manager.bus import BusCallError, BusGoneError, BusTimeoutError
from risala.drivers.modem.manager.driver import ModemManagerDriver
from risala.drivers.modem.manager.objects import GSM, MESSAGING, MODEM
from risala.drivers.modem.manager.settings import ModemManagerSettings
from risala.drivers.modem.manager.words import MANAGER, ROOT, ModemLock, ModemState, SmsState
from risala.plugins.testing.context import RecordingContext

ERROR = f"{MANAGER}.Error."
PATIENCE_S = 100_000
"""By the mock clock."""
IMEI = "861234567890124"


def wrapped(values: dict[str, Any]) -> dict[str, Any]:
    """As jeepney reads a dictionary of variants: each with its signature, which nobody looks at."""
    return {name: ("v", value) for name, value in values.items()}


class ManagedModem:
    """A modem of the stand-in."""

    def __init__(self, number: int, **properties: Any) -> None:
        self.path = f"{ROOT}/Modem/{number}"
        self.properties = {
            "Manufacturer": "Huawei",
            "Model": "E1752",
            "EquipmentIdentifier": IMEI,
            "Device": "/sys/devices/usb1/1-1",
            "Ports": [("ttyUSB2", 3)],
            "State": int(ModemState.REGISTERED),
            "StateFailedReason": 0,
            "UnlockRequired": int(ModemLock.NONE),
            "UnlockRetries": {int(ModemLock.SIM_PIN): 3},
            "SignalQuality": (64, True),
            "OwnNumbers": ["22236000001"],
            "Sim": f"{ROOT}/SIM/{number}",
            **properties,
        }
        self.gsm = {"RegistrationState": 1, "OperatorName": "Testnet"}
        self.pin = "1234"
        self.typed: list[str] = []
        self.is_enabled = 0
        self.texts: dict[str, dict[str, Any]] = {}


class StandIn:
    """ModemManager's interface, without a bus, a modem or a clock.

    ``errors`` has what a method raises instead of its answer, by its last word; a callable is
    called once with the body.
    """

    def __init__(self) -> None:
        self.modems = [ManagedModem(0)]
        self.errors: dict[str, BaseException | Callable[[], Any]] = {}
        self.called: list[str] = []
        self.sent: list[dict[str, Any]] = []
        self.deleted: list[str] = []
        self.reports = True
        self.is_up = True
        self.opened = 0
        self.lives = 0
        self._news = trio.Event()
        self._gone = trio.Event()
        self._paths = count()
        self._references = count()

    # -- as the driver sees it -----------------------------------------------------------------

    @asynccontextmanager
    async def open(self, address: str) -> AsyncIterator["StandIn"]:
        if not self.is_up:
            raise BusGoneError("No such file or directory")
        self.opened += 1
        self._gone = trio.Event()
        yield self

    async def wait_news(self) -> None:
        await self._news.wait()
        if self._gone.is_set():
            raise BusGoneError("the connection was closed")
        self._news = trio.Event()

    async def call(
        self,
        path: str,
        method: str,
        signature: str = "",
        body: tuple[Any, ...] = (),
        *,
        timeout_s: float = 1,
    ) -> tuple[Any, ...]:
        await trio.lowlevel.checkpoint()
        if self._gone.is_set():
            raise BusGoneError("the connection was closed")
        word = method.rpartition(".")[2]
        self.called.append(word)
        error = self.errors.get(word)
        if callable(error):
            error = error()
        if error is not None:
            raise error
        answer = getattr(self, f"_{word}")
        return await answer(path, body, timeout_s)

    def modem(self, path: str) -> ManagedModem:
        return next(each for each in self.modems if each.path == path or path in each.texts)

    async def _GetManagedObjects(self, path, body, timeout_s):
        return (
            {
                each.path: {
                    MODEM: wrapped(each.properties),
                    MESSAGING: {},
                    GSM: wrapped(each.gsm),
                }
                for each in self.modems
            },
        )

    async def _Enable(self, path, body, timeout_s):
        self.modem(path).properties["State"] = int(ModemState.REGISTERED)
        return ()

    async def _List(self, path, body, timeout_s):
        return ([*self.modem(path).texts],)

    async def _Get(self, path, body, timeout_s):
        if body[1] in ("SimIdentifier", "Version"):
            return (("s", ""),)
        return (("u", self.modem(path).texts[path]["MessageReference"]),)

    async def _GetAll(self, path, body, timeout_s):
        if not any(path in each.texts for each in self.modems):
            raise BusCallError("org.freedesktop.DBus.Error.UnknownMethod", "no such object")
        return (wrapped(self.modem(path).texts[path]),)

    async def _Create(self, path, body, timeout_s):
        asked = {name: value[1] for name, value in body[0].items()}
        return (
            self.put(
                self.modem(path),
                State=int(SmsState.UNKNOWN),
                PduType=2,
                Number=asked["number"],
                Text=asked["text"],
                DeliveryReportRequest=asked["delivery-report-request"],
                Validity=asked["validity"],
                Class=asked.get("class", -1),
            ),
        )

    async def _Send(self, path, body, timeout_s):
        modem = self.modem(path)
        text = modem.texts[path]
        text["State"] = int(SmsState.SENT)
        text["MessageReference"] = next(self._references) % 256
        self.sent.append(text)
        if text["DeliveryReportRequest"] and self.reports:
            self.report(text)
        return ()

    async def _Delete(self, path, body, timeout_s):
        if self.modem(path).texts.pop(body[0], None) is None:
            raise self.error("Core.NotFound")
        self.deleted.append(body[0])
        return ()

    async def _SendPin(self, path, body, timeout_s):
        modem = next(each for each in self.modems if each.properties["Sim"] == path)
        modem.typed.append(body[0])
        if body[0] != modem.pin:
            modem.properties["UnlockRetries"][int(ModemLock.SIM_PIN)] -= 1
            raise BusCallError(f"{ERROR}MobileEquipment.IncorrectPassword", "incorrect password")
        modem.properties["UnlockRequired"] = int(ModemLock.NONE)
        modem.properties["State"] = int(ModemState.DISABLED)
        return ()

    # -- as the test plays it ------------------------------------------------------------------

    def tell(self) -> None:
        self._news.set()

    def put(self, modem: ManagedModem | None = None, **fields: Any) -> str:
        """A text on the modem; its path."""
        path = f"{ROOT}/SMS/{next(self._paths)}"
        text = {
            "State": int(SmsState.RECEIVED),
            "PduType": 1,
            "Number": "+22236999999",
            "Text": "",
            "Data": b"",
            "SMSC": "+22236990000",
            "Timestamp": "2026-11-30T18:55:01+00",
            "DischargeTimestamp": "",
            "MessageReference": 0,
            "DeliveryState": 0x100,
            **fields,
        }
        (modem or self.modems[0]).texts[path] = text
        self.tell()
        return path

    def report(self, text: dict[str, Any], status: int = 0, **fields: Any) -> str:
        """The network reports what became of a text."""
        told = {"Number": text["Number"], "MessageReference": text["MessageReference"]}
        return self.put(PduType=3, DeliveryState=status, Timestamp="", **{**told, **fields})

    def restart(self) -> None:
        """ModemManager comes again: texts that were not stored are there, by other paths."""
        self.lives += 1
        for modem in self.modems:
            modem.texts = {f"{ROOT}/SMS/{next(self._paths)}": it for it in modem.texts.values()}
        self.tell()

    def cut(self) -> None:
        """D-Bus goes."""
        self._gone.set()
        self._news.set()

    @staticmethod
    def error(name: str, text: str = "") -> BusCallError:
        return BusCallError(ERROR + name, text)

    late = BusTimeoutError()


@pytest.fixture
def manager() -> StandIn:
    return StandIn()


class Line:
    """A running driver at the stand-in."""

    def __init__(self, driver: ModemManagerDriver, context: RecordingContext) -> None:
        self.driver = driver
        self.context = context


@pytest.fixture
def run_driver(manager):
    @asynccontextmanager
    async def run_driver(context: RecordingContext | None = None, **settings: Any):
        driver = ModemManagerDriver(
            "stick", ModemManagerSettings(**settings), open_bus=manager.open
        )
        context = context or RecordingContext("stick")
        with trio.fail_after(PATIENCE_S):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(driver.run, context)
                yield Line(driver, context)
                nursery.cancel_scope.cancel()

    return run_driver
