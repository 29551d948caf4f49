"""Every check of a modem's doctor, with every result that it can come to."""

from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import memory_stream_pair

from risala.drivers.modem.doctor.bench import Bench
from risala.drivers.modem.doctor.doctor import CHECKS, examine
from risala.drivers.modem.doctor.findings import CheckState, Findings, Strength
from risala.drivers.modem.notefile import NoteFile
from risala.drivers.modem.port.host import Access, Host, Process
from risala.drivers.modem.port.serial import PortError, PortFault
from risala.drivers.modem.port.usb import UsbDevice
from risala.drivers.modem.ready.pin import PinMemory
from risala.drivers.modem.settings import ModemSettings

PORT = "/dev/serial/by-id/usb-Fake-if00-port0"
OTHER = "/dev/serial/by-id/usb-Fake-if01-port0"
SERVICE = Process(71, "risala", is_service=True)
MINICOM = Process(72, "minicom", is_service=False)
MANAGER = Process(73, "ModemManager", is_service=False)
IMSI, ICCID = "609101234567890", "8922210123456789012"


class FakeHost(Host):
    """A machine with nothing wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.told = Access(may=True, group="dialout", user="ada", is_member=True)
        self.running: list[Process] = []
        self.holding: list[Process] = []
        self.left_alone = False
        node = Path("/dev/bus/usb/001/002")
        self.device: UsbDevice | None = UsbDevice("1-1", node, "12d1", "1001")
        self.stick: list[str] = []

    def access(self, port: str) -> Access | None:
        return self.told

    def processes(self) -> Iterator[Process]:
        return iter(self.running)

    def holders(self, port: str) -> list[Process]:
        return self.holding

    def names(self) -> dict[str, str]:
        return {OTHER: "/dev/ttyUSB1"}

    def siblings(self, port: str) -> list[str]:
        return self.stick

    def usb(self, port: str) -> UsbDevice | None:
        return self.device

    def is_left_alone(self, port: str) -> bool:
        return self.left_alone


class Practice:
    """A doctor with a patient."""

    def __init__(self, modem) -> None:
        self.modem = modem
        self.host = FakeHost()
        self.plugged = True
        self.fault: PortFault | None = None
        self.line = b""
        """Said as soon as the port opens."""
        self.memory = PinMemory()
        self.anyway = False
        self.open = 0
        self._nursery: trio.Nursery | None = None

    async def examine(self, timeout_s: float = 600, **settings: object) -> Findings:
        bench = Bench(
            ModemSettings.model_validate({"port": PORT, **settings}),
            memory=self.memory,
            types_anyway=self.anyway,
            host=self.host,
            open_port=self._open,
            is_there=lambda _: self.plugged,
        )
        async with self._modem():
            found = await examine(bench, timeout_s)
        assert self.open == 0
        assert [check.name for check in found.checks] == list(CHECKS)
        assert IMSI not in repr(found.facts()) + repr(found.checks)
        assert ICCID not in repr(found.facts()) + repr(found.checks)
        return found

    @asynccontextmanager
    async def _modem(self):
        async with trio.open_nursery() as self._nursery:
            yield
            self._nursery.cancel_scope.cancel()

    async def _open(self, port: str, baud: int) -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        if self.fault is not None:
            raise PortError(self.fault, f"{port} cannot be opened as a serial port.")
        ours, theirs = memory_stream_pair()
        ours.send_stream.close_hook = self._on_close
        self.open += 1
        if self.line:
            await theirs.send_all(self.line)
        assert self._nursery is not None
        self._nursery.start_soon(self.modem.run, theirs)
        return ours

    def _on_close(self) -> None:
        self.open -= 1


@pytest.fixture
def practice(modem) -> Practice:
    modem.replies[r"AT\+CNMI\?"] = "+CNMI: 1,0,0,0,0\r\n\r\nOK"
    modem.replies[r"AT\+CSMS\?"] = "+CSMS: 0,1,1,1\r\n\r\nOK"
    return Practice(modem)


def state_of(found: Findings, name: str) -> CheckState:
    return next(check.state for check in found.checks if check.name == name)


def text_of(found: Findings, name: str) -> str:
    return next(check.text for check in found.checks if check.name == name)


def after(name: str) -> set[str]:
    """The checks behind one."""
    return set(CHECKS[CHECKS.index(name) + 1 :])


def skipped(found: Findings) -> set[str]:
    return {check.name for check in found.checks if check.state is CheckState.SKIPPED}


async def test_a_modem_that_is_well(autojump_clock, practice):
    found = await practice.examine()
    assert {check.state for check in found.checks} == {CheckState.OK}
    assert found.can_send
    assert found.verdict == "This modem can send."
    assert found.facts() == {
        "manufacturer": "Fake",
        "model": "F1",
        "firmware": None,
        "imei": "861234567890123",
        "imsi": "…7890",
        "iccid": "…9012",
        "sim": "ready",
        "registration": "home",
        "operator": "Mauritel",
        "signalDbm": -73,
        "signalBars": 5,
        "signal": "excellent",
        "smsc": "+22200000001",
        "pduMode": True,
        "storages": {"ME": {"used": 0, "total": 20}, "SM": {"used": 0, "total": 20}},
        "storage": "ME",
        "cnmi": "2,1,0,1,0",
        "csms": 1,
        "statusReports": True,
        "quirks": [],
    }


async def test_nothing_is_sent_read_or_deleted_and_the_routing_is_put_back(
    autojump_clock, practice, modem
):
    await practice.examine()
    asked = " ".join(modem.commands)
    for command in ("AT+CMGS", "AT+CMGL", "AT+CMGR", "AT+CMGD", "AT+CMGW", "ATZ", "AT&"):
        assert command not in asked
    for kind, before in (
        ("AT+CNMI=", "AT+CNMI=1,0,0,0,0"),
        ("AT+CSMS=", "AT+CSMS=0"),
        ("AT+CPMS=", 'AT+CPMS="ME","ME","ME"'),
    ):
        assert [each for each in modem.commands if each.startswith(kind)][-1] == before


# -- the machine ----------------------------------------------------------------------------------


async def test_no_device(autojump_clock, practice):
    practice.plugged = False
    found = await practice.examine()
    assert state_of(found, "device") is CheckState.FAIL
    assert OTHER in text_of(found, "device")
    assert skipped(found) == after("device")
    assert not found.can_send
    assert found.verdict.startswith("This modem cannot send. /dev/serial/by-id/")
    assert practice.modem.commands == []


@pytest.mark.parametrize(
    ("access", "says"),
    [
        (
            Access(may=False, group="dialout", user="ada", is_member=False),
            "usermod -aG dialout ada",
        ),
        (Access(may=False, group="dialout", user="ada", is_member=True), "log in again"),
        (Access(may=False, group="root", user="ada", is_member=False), 'GROUP="dialout"'),
        (Access(may=False, group="", user="ada", is_member=False), 'GROUP="dialout"'),
    ],
)
async def test_no_permission(autojump_clock, practice, access, says):
    practice.host.told = access
    found = await practice.examine()
    assert state_of(found, "permission") is CheckState.FAIL
    assert says in text_of(found, "permission")
    assert skipped(found) == after("permission") - {"ModemManager"}


async def test_a_sandbox_forbids_what_permissions_allow(autojump_clock, practice):
    practice.fault = PortFault.FORBIDDEN
    found = await practice.examine()
    assert "PrivateDevices" in text_of(found, "port is free")
    assert skipped(found) == after("port is free")


async def test_modem_manager_runs(autojump_clock, practice):
    practice.host.running = [MINICOM, MANAGER]
    found = await practice.examine()
    assert state_of(found, "ModemManager") is CheckState.WARN
    rule = 'ATTRS{idVendor}=="12d1", ATTRS{idProduct}=="1001", ENV{ID_MM_DEVICE_IGNORE}="1"'
    assert rule in text_of(found, "ModemManager")
    assert found.can_send

    practice.host.device = None
    found = await practice.examine()
    assert "lsusb" in text_of(found, "ModemManager")

    practice.host.left_alone = True
    found = await practice.examine()
    assert state_of(found, "ModemManager") is CheckState.OK


@pytest.mark.parametrize(
    ("holding", "running", "says"),
    [
        ([SERVICE], [SERVICE], ("the Risala service (process 71)", "risala carriers")),
        ([MINICOM], [MINICOM], ("minicom (process 72)", "stop it")),
        ([MANAGER], [MANAGER], ("ModemManager (process 73)", "disable --now ModemManager")),
        # What another user's process has open is hidden.
        ([], [SERVICE], ("probably by the Risala service (process 71)", "risala carriers")),
        ([], [MANAGER], ("probably by ModemManager (process 73)", "disable --now")),
        ([], [MINICOM], ("sudo fuser -v",)),
    ],
)
async def test_somebody_has_the_port(autojump_clock, practice, holding, running, says):
    practice.fault = PortFault.BUSY
    practice.host.holding, practice.host.running = holding, running
    found = await practice.examine()
    for words in says:
        assert words in text_of(found, "port is free")
    assert skipped(found) == after("port is free")
    if running == [SERVICE]:
        assert found.failed == []
        assert found.can_send is None  # the service knows
        assert "as it should be. `risala carriers` shows" in found.verdict
        assert "the Risala service (process 71) has the port" in text_of(found, "answers")
    else:
        assert state_of(found, "port is free") is CheckState.FAIL
        assert found.can_send is False


async def test_the_service_and_another_program_have_the_port(autojump_clock, practice):
    practice.fault = PortFault.BUSY
    practice.host.holding = practice.host.running = [SERVICE, MINICOM]
    found = await practice.examine()
    assert state_of(found, "port is free") is CheckState.FAIL
    assert "stop it" in text_of(found, "port is free")


async def test_somebody_listens_without_locking_it(autojump_clock, practice):
    practice.host.holding = [MINICOM]
    found = await practice.examine()
    assert "minicom (process 72) has the port open too" in text_of(found, "port is free")
    assert state_of(found, "port is free") is CheckState.FAIL


async def test_no_serial_port(autojump_clock, practice):
    practice.fault = PortFault.OTHER
    found = await practice.examine()
    assert "as a serial port" in text_of(found, "port is free")


async def test_a_silent_peer_behind_tcp(autojump_clock, practice):
    practice.modem.deaf = True
    found = await practice.examine(port="socket://127.0.0.1:2000")
    told = text_of(found, "answers")
    assert "socket://127.0.0.1:2000 takes the connection" in told
    assert "ser2net" in told
    assert "stick" not in told
    assert "replug" not in told


async def test_a_modem_in_the_middle_of_a_text(autojump_clock, practice, modem):
    """Somebody typed AT+CMGS and left: ESC ends it, and that is said."""
    modem.in_text = True
    found = await practice.examine()
    assert found.can_send
    assert modem.escapes == 1
    assert any("text entry" in quirk for quirk in found.quirks)
    assert not any("is lost" in quirk for quirk in found.quirks)


async def test_behind_tcp_the_machine_is_not_asked(autojump_clock, practice):
    practice.host.told = Access(may=False, group="root", user="ada", is_member=False)
    practice.host.holding = [MINICOM]
    found = await practice.examine(port="socket://127.0.0.1:2000")
    assert found.can_send


# -- the modem ------------------------------------------------------------------------------------


async def test_a_silent_modem(autojump_clock, practice):
    practice.modem.deaf = True
    practice.host.stick = [OTHER]
    found = await practice.examine()
    assert state_of(found, "answers") is CheckState.FAIL
    assert "Nothing answers AT" in text_of(found, "answers")
    assert OTHER in text_of(found, "answers")
    assert skipped(found) == after("answers")


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (b"\xf8\x80\xfe\x00\xe0", "--baud"),
        (b"$GPGGA,120000.00,,,,,0,00,,,M,,M,,*60\r\n", "GPS"),
        (b"AT\r\r\nAT\r", "repeats"),
    ],
)
async def test_a_port_that_says_something_else(autojump_clock, practice, said, says):
    practice.modem.deaf = True
    practice.line = said
    found = await practice.examine()
    assert says in text_of(found, "answers")


async def test_the_deadline_ends_it_whatever_hangs(autojump_clock, practice):
    practice.modem.deaf = True
    began_s = trio.current_time()
    found = await practice.examine(timeout_s=5)
    assert trio.current_time() - began_s < 6
    assert "within 5 s" in text_of(found, "answers")
    assert not found.can_send


async def test_a_modem_that_falls_silent(autojump_clock, practice):
    def hang(_: str) -> None:
        practice.modem.deaf = True

    practice.modem.replies[r"AT\+CSQ"] = hang
    found = await practice.examine()
    assert state_of(found, "signal") is CheckState.FAIL
    assert "stopped answering" in text_of(found, "signal")
    assert skipped(found) == after("signal")


async def test_a_modem_that_is_unplugged(autojump_clock, practice):
    def leave(_: str) -> None:
        assert practice._nursery is not None
        practice._nursery.start_soon(practice.modem.hang_up)

    practice.modem.replies[r"AT\+CSQ"] = leave
    found = await practice.examine()
    assert "connection to the modem was lost" in text_of(found, "signal")
    assert skipped(found) == after("signal")


async def test_the_first_command_is_lost(autojump_clock, practice):
    lost = iter([None])
    practice.modem.replies["AT"] = lambda _: next(lost, "OK")
    found = await practice.examine()
    assert found.can_send
    assert "the first command after a rest is lost" in found.quirks


async def test_habits_are_told(autojump_clock, practice):
    modem = practice.modem
    modem.replies["AT"] = "AT\r\r\nOK\r\n^RSSI: 17"
    modem.replies["ATI"] = "Model: F1\r\n+GCAP: +CGSM\r\n\r\nOK"
    modem.replies[r"AT\+CSCA\?"] = None
    modem.replies[r"AT\+CGMR"] = "R1\r\n\r\nOK\r\n\r\nxyzzy"
    found = await practice.examine()
    assert "echo stays on after ATE0" in found.quirks
    assert "silent to AT+CSCA?" in found.quirks
    assert "talks unasked: ^RSSI" in found.quirks
    assert any(quirk.startswith("noise") for quirk in found.quirks)


async def test_flight_mode(autojump_clock, practice):
    practice.modem.replies[r"AT\+CFUN\?"] = "+CFUN: 4\r\n\r\nOK"
    found = await practice.examine()
    assert state_of(found, "radio") is CheckState.WARN
    assert practice.modem.count("AT+CFUN=1") == 1

    practice.modem.replies[r"AT\+CFUN=1"] = "ERROR"
    found = await practice.examine()
    assert state_of(found, "radio") is CheckState.FAIL
    assert skipped(found) == {"registration", "SMS on LTE", "signal"}


# -- the SIM --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("+CME ERROR: 10", "There is no SIM in the modem."),
        ("+CME ERROR: SIM not inserted", "There is no SIM in the modem."),
        ("+CMS ERROR: 310", "There is no SIM in the modem."),
        ("+CME ERROR: 13", "The SIM failed."),
        ("+CME ERROR: 14", "does not become ready"),
    ],
)
async def test_no_sim(autojump_clock, practice, said, says):
    practice.modem.replies[r"AT\+CPIN\?"] = said
    found = await practice.examine()
    assert state_of(found, "SIM") is CheckState.FAIL
    assert says in text_of(found, "SIM")
    # The radio does without a SIM.
    assert skipped(found) == after("SIM") - {"signal"}


async def test_a_sim_that_is_not_told_of(autojump_clock, practice):
    practice.modem.replies[r"AT\+CPIN\?"] = "ERROR"
    found = await practice.examine()
    assert found.can_send
    assert "does not tell" in text_of(found, "SIM")


class LockedSim:
    """Wants its PIN; ``tells`` how many tries are left where the modem does."""

    def __init__(self, modem, pin: str = "1234", tries: int = 3, *, tells: bool = True) -> None:
        self.pin, self.tries, self.open = pin, tries, False
        modem.replies[r"AT\+CPIN\?"] = lambda _: f"+CPIN: {self._word()}\r\n\r\nOK"
        modem.replies[r'AT\+CPIN=".*"'] = self._type
        if tells:
            modem.replies[r'AT\+CPINR="SIM PIN"'] = lambda _: (
                f"+CPINR: SIM PIN,{self.tries},3\r\n\r\nOK"
            )
        else:
            modem.replies[r"AT\+CPINR.*"] = "ERROR"

    def _word(self) -> str:
        return "READY" if self.open else "SIM PIN" if self.tries else "SIM PUK"

    def _type(self, command: str) -> str:
        self.open = command == f'AT+CPIN="{self.pin}"'
        self.tries = 3 if self.open else self.tries - 1
        return "OK" if self.open else "+CME ERROR: 16"


def typed(modem) -> int:
    return sum(command.startswith("AT+CPIN=") for command in modem.commands)


async def test_the_right_pin(autojump_clock, practice, modem):
    LockedSim(modem)
    found = await practice.examine(pin="1234")
    assert found.can_send
    assert text_of(found, "PIN") == "The PIN was right."
    assert found.facts()["sim"] == "ready"


async def test_a_pin_is_wanted_and_none_is_given(autojump_clock, practice, modem):
    LockedSim(modem, tries=2)
    found = await practice.examine()
    assert state_of(found, "PIN") is CheckState.FAIL
    assert "2 tries are left" in text_of(found, "PIN")
    assert "--pin-env" in text_of(found, "PIN")
    assert skipped(found) == after("PIN") - {"signal"}
    assert found.facts()["sim"] == "sim pin"


async def test_a_wrong_pin_is_typed_once_however_often_one_looks(autojump_clock, practice, modem):
    sim = LockedSim(modem)
    for _ in range(3):
        found = await practice.examine(pin="9999")
        assert state_of(found, "PIN") is CheckState.FAIL
        assert "2 tries are left" in text_of(found, "PIN")
        assert "9999" not in repr(found)
        practice.memory = PinMemory()  # another process: the modem remembers
    assert (typed(modem), sim.tries) == (1, 2)


async def test_after_a_wrong_pin_one_insists_but_never_on_the_last_try(
    autojump_clock, practice, modem
):
    sim = LockedSim(modem, tries=2)
    found = await practice.examine(pin="1234")
    assert "--type-pin" in text_of(found, "PIN")
    assert typed(modem) == 0
    practice.anyway = True
    found = await practice.examine(pin="9999")
    assert "1 try is left" in text_of(found, "PIN")
    for pin in ("9999", "1234"):
        assert state_of(await practice.examine(pin=pin), "PIN") is CheckState.FAIL
    assert (typed(modem), sim.tries) == (1, 1)
    sim.tries = 2
    assert (await practice.examine(pin="1234")).can_send


async def test_the_right_pin_where_the_tries_are_not_told(autojump_clock, practice, modem):
    LockedSim(modem, tells=False)
    assert (await practice.examine(pin="1234")).can_send


async def test_a_wrong_pin_where_the_tries_are_not_told(autojump_clock, practice, modem, tmp_path):
    """No counter tells: what this user's looks have typed is counted in a file of theirs."""
    sim = LockedSim(modem, tells=False)

    async def look(pin, *, anyway=False):
        practice.anyway = anyway
        practice.memory = PinMemory(NoteFile(tmp_path / "state" / "pins.json"))  # a new process
        return text_of(await practice.examine(pin=pin), "PIN")

    assert "The PIN is wrong." in await look("9999")
    for _ in range(3):
        assert "--type-pin" in await look("1234")
    assert typed(modem) == 1
    assert "The PIN is wrong." in await look("9999", anyway=True)
    for _ in range(3):
        assert "unlock the SIM with a phone" in await look("1234", anyway=True)
    assert typed(modem) == 2
    sim.open = True
    await look("1234")
    sim.open = False
    assert await look("1234") == "The PIN was right."
    kept = (tmp_path / "state" / "pins.json").read_text()
    assert "1234" not in kept
    assert "9999" not in kept


async def test_a_pin_is_not_typed_where_nothing_can_be_written_down(
    autojump_clock, practice, modem, tmp_path
):
    """Unless the SIM itself counts."""
    LockedSim(modem, tells=False)
    (tmp_path / "state").write_text("a file where a directory should be")
    path = tmp_path / "state" / "pins.json"
    practice.memory = PinMemory(NoteFile(path))
    told = text_of(await practice.examine(pin="1234"), "PIN")
    assert f"could not be written down. {path} cannot be written." in told
    assert typed(modem) == 0
    LockedSim(modem, tells=True)
    del modem.replies[r"AT\+CPINR.*"]
    assert (await practice.examine(pin="1234")).can_send


async def test_a_sim_that_wants_its_puk(autojump_clock, practice, modem):
    LockedSim(modem, tries=0)
    found = await practice.examine(pin="1234")
    assert "PUK" in text_of(found, "PIN")
    assert state_of(found, "PIN") is CheckState.FAIL
    assert typed(modem) == 0


@pytest.mark.parametrize(
    ("said", "state", "says"),
    [
        ("0,1", CheckState.OK, "home network (Mauritel)"),
        ("0,6", CheckState.OK, "SMS only"),
        ("0,5", CheckState.WARN, "Roaming (Mauritel)"),
        ("0,3", CheckState.FAIL, "denies this SIM"),
        ("0,2", CheckState.FAIL, "Searching"),
        ("0,0", CheckState.FAIL, "AT+COPS=0"),
        ("0,4", CheckState.FAIL, "Searching"),
    ],
)
async def test_registration(autojump_clock, practice, said, state, says):
    practice.modem.replies[r"AT\+CREG\?"] = f"+CREG: {said}\r\n\r\nOK"
    for other in (r"AT\+CEREG\?", r"AT\+CGREG\?"):
        practice.modem.replies[other] = "ERROR"
    found = await practice.examine()
    assert state_of(found, "registration") is state
    assert says in text_of(found, "registration")
    assert found.can_send is (state is not CheckState.FAIL)


async def test_a_modem_that_has_just_been_plugged_in_is_given_time(autojump_clock, practice):
    states = iter(["2", "2", "2"])
    practice.modem.replies[r"AT\+CREG\?"] = lambda _: f"+CREG: 0,{next(states, '1')}\r\n\r\nOK"
    found = await practice.examine()
    assert state_of(found, "registration") is CheckState.OK


async def test_registration_is_not_told(autojump_clock, practice):
    practice.modem.replies[r"AT\+C(G|E)?REG\?"] = "ERROR"
    found = await practice.examine()
    assert state_of(found, "registration") is CheckState.WARN
    assert found.can_send


@pytest.mark.parametrize(
    ("csq", "registered", "state", "says"),
    [
        ("31,99", True, CheckState.OK, "-51 dBm, excellent"),
        ("15,99", True, CheckState.OK, "-83 dBm, good"),
        ("10,99", True, CheckState.OK, "-93 dBm, fair"),
        ("5,99", True, CheckState.WARN, "-103 dBm, weak"),
        ("0,99", True, CheckState.WARN, "-113 dBm, too weak"),
        ("99,99", True, CheckState.WARN, "does not tell"),
        ("99,99", False, CheckState.FAIL, "antenna"),
    ],
)
async def test_signal(autojump_clock, practice, csq, registered, state, says):
    practice.modem.replies[r"AT\+CSQ"] = f"+CSQ: {csq}\r\n\r\nOK"
    if not registered:
        practice.modem.replies[r"AT\+C(G|E)?REG\?"] = "+CREG: 0,2\r\n\r\nOK"
    found = await practice.examine()
    assert state_of(found, "signal") is state
    assert says in text_of(found, "signal")


def test_bars_are_drawn():
    assert [Strength.of(dbm).drawn for dbm in (-51, -80, -90, -100, -113, None)] == [
        "●●●●●",
        "●●●●○",
        "●●●○○",
        "●●○○○",
        "●○○○○",
        "○○○○○",
    ]


async def test_no_smsc_number(autojump_clock, practice):
    practice.modem.replies[r"AT\+CSCA\?"] = '+CSCA: "",129\r\n\r\nOK'
    found = await practice.examine()
    assert state_of(found, "SMSC number") is CheckState.FAIL
    assert "smsc_number" in text_of(found, "SMSC number")
    assert skipped(found) == set()
    assert (await practice.examine(smsc_number="+22200000009")).smsc == "+22200000009"

    practice.modem.replies[r"AT\+CSCA\?"] = "ERROR"
    found = await practice.examine()
    assert state_of(found, "SMSC number") is CheckState.WARN


# -- messages -------------------------------------------------------------------------------------


async def test_no_pdu_mode(autojump_clock, practice):
    practice.modem.replies[r"AT\+CMGF=0"] = "ERROR"
    found = await practice.examine()
    assert state_of(found, "PDU mode") is CheckState.FAIL
    assert found.facts()["pduMode"] is False


@pytest.mark.parametrize(
    ("used", "inbound", "state", "says"),
    [
        (3, True, CheckState.OK, "3 of 20"),
        (17, True, CheckState.WARN, "nearly full"),
        (20, True, CheckState.WARN, "20 of 20 places are taken: nothing more comes in"),
        (20, False, CheckState.FAIL, "delete them"),
    ],
)
async def test_storage(autojump_clock, practice, deliver_pdu, used, inbound, state, says):
    for _ in range(used):
        practice.modem.store(deliver_pdu("Hello"))
    found = await practice.examine(inbound=inbound)
    assert state_of(found, "storage") is state
    assert says in text_of(found, "storage")
    assert len(practice.modem.storage) == used


async def test_no_storage(autojump_clock, practice):
    practice.modem.replies[r"AT\+CPMS.*"] = "ERROR"
    found = await practice.examine()
    assert state_of(found, "storage") is CheckState.WARN
    assert found.can_send


async def test_no_announcements(autojump_clock, practice):
    practice.modem.replies[r"AT\+CNMI.*"] = "ERROR"
    practice.modem.replies[r"AT\+CSMS.*"] = "ERROR"
    found = await practice.examine()
    assert state_of(found, "receiving") is CheckState.WARN
    assert state_of(found, "status reports") is CheckState.WARN
    assert found.can_send
    facts = found.facts()
    assert (facts["cnmi"], facts["csms"], facts["statusReports"]) == (None, 0, False)


async def test_reports_that_are_not_wanted(autojump_clock, practice):
    found = await practice.examine(reports=False)
    assert state_of(found, "status reports") is CheckState.OK
    assert "reports = false" in text_of(found, "status reports")


@pytest.mark.parametrize(
    ("reply", "state", "words"),
    [
        ("+CLIP: 0,1\r\n\r\nOK", CheckState.OK, "a missed call proves a number"),
        ("+CLIP: 0,0\r\n\r\nOK", CheckState.WARN, "hides who calls"),
        ("+CLIP: 1,2\r\n\r\nOK", CheckState.WARN, "does not say"),
        ("ERROR", CheckState.WARN, "does not say"),
    ],
)
async def test_whether_the_network_tells_who_calls(practice, modem, reply, state, words):
    modem.replies[r"AT\+CLIP\?"] = reply
    found = await practice.examine(calls=True)
    assert state_of(found, "missed calls") is state
    assert words in text_of(found, "missed calls")
    assert modem.count("AT+CLIP=1") == 0


async def test_callers_are_not_asked_for_unless_calls_are_reported(practice, modem):
    found = await practice.examine()
    assert "calls = false" in text_of(found, "missed calls")
    assert modem.count("AT+CLIP?") == 0
