"""What the driver says and does where ModemManager, its modem or D-Bus has a fault."""

from pathlib import Path

import pytest
import trio
from pydantic import SecretStr

from risala.drivers.modem.manager.examining import examine_managed
from risala.drivers.modem.manager.life import ENABLE_AGAIN_S
from risala.drivers.modem.manager.objects import chosen, modems_of
from risala.drivers.modem.manager.settings import ModemManagerSettings
from risala.drivers.modem.manager.unlock import UNTYPED_AGAIN_S
from risala.drivers.modem.manager.words import ModemLock, ModemState, SmsState, outcome_of_error
from risala.plugins.contract import Accepted, HealthState, Refused, Scope, Uncertain, Unsent
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext
from risala.sms.cause import Cause
from risala.sms.receipt import ReceiptState

ERROR = "org.freedesktop.ModemManager1.Error."
OF_1_24 = (
    "Failed: Cannot run AT command: Failed to open serial port: 'Could not open serial device "
    "/dev/ttyUSB2: it has been forced close'"
)


async def told(line, words):
    await line.context.wait_until(lambda it: bool(it.healths) and words in it.healths[-1].text)
    return line.context.healths[-1]


@pytest.mark.parametrize(
    ("name", "text", "outcome"),
    [
        ("Message.NetworkTimeout", "", Uncertain),
        ("Message.Unknown", "Unknown message error: 30", Refused),
        ("Message.SimNotInserted", "", Unsent),
        ("Serial.ResponseTimeout", "", Uncertain),
        ("Serial.OpenFailed", "", Unsent),
        ("Core.Connected", "forced close", Unsent),
        ("Core.Failed", "", Uncertain),
        ("Core.Failed", OF_1_24, Unsent),
        ("Core.Unsupported", "", Refused),
        ("MobileEquipment.NoNetwork", "", Refused),
    ],
)
def test_errors_of_a_sending(name, text, outcome):
    assert isinstance(outcome_of_error(ERROR + name, text, has_left=True), outcome)


def test_the_network_s_own_code_is_in_the_words():
    refused = outcome_of_error(
        f"{ERROR}Message.Unknown", "Unknown message error: 50", has_left=True
    )
    assert isinstance(refused, Refused)
    assert (refused.scope, refused.cause) == (Scope.CARRIER, Cause.NOT_ALLOWED)
    assert (refused.raw, refused.text) == (
        "+CMS ERROR: 50",
        "This SIM has no subscription for SMS.",
    )


@pytest.mark.parametrize("word", ["Core.Failed", "Core.WrongState", "Serial.ResponseTimeout"])
def test_before_the_sending_nothing_has_left(word):
    assert isinstance(outcome_of_error(ERROR + word, "", has_left=False), Unsent)


async def test_a_send_without_answer_is_uncertain_until_its_report(
    autojump_clock, manager, run_driver
):
    async with run_driver() as line:
        await line.context.wait_health(HealthState.UP)
        manager.errors["Send"] = manager.late
        outcome = await line.driver.submit(segment())
        assert isinstance(outcome, Uncertain)
        manager.put(PduType=3, DeliveryState=0, Number=segment().recipient, MessageReference=7)
        await line.context.wait_receipts(1)
    [(_, late)] = line.context.late
    assert isinstance(late, Accepted)
    assert late.carrier_id == outcome.carrier_id == line.context.receipts[0].carrier_id


async def test_an_answer_that_comes_too_late_is_still_used(autojump_clock, manager, run_driver):
    async with run_driver(reports=False) as line:
        await line.context.wait_health(HealthState.UP)
        manager.errors["Send"] = manager.late
        assert isinstance(await line.driver.submit(segment()), Uncertain)
        [text] = manager.modems[0].texts.values()
        text.update(State=int(SmsState.SENT), MessageReference=9)
        manager.tell()
        await line.context.wait_until(lambda it: it.late)
        assert isinstance(line.context.late[0][1], Accepted)


async def test_a_failed_delivery(autojump_clock, manager, run_driver):
    manager.reports = False
    async with run_driver() as line:
        await line.context.wait_health(HealthState.UP)
        outcome = await line.driver.submit(segment())
        manager.report(manager.sent[0], 0x46)
        await line.context.wait_receipts(1)
    [receipt] = line.context.receipts
    assert (receipt.carrier_id, receipt.state) == (outcome.carrier_id, ReceiptState.EXPIRED)


async def test_a_half_received_text_waits_and_stays(autojump_clock, manager, run_driver):
    path = manager.put(State=int(SmsState.RECEIVING))
    async with run_driver() as line:
        health = await line.context.wait_health(HealthState.UP)
        assert health.details["half_received"] == 1
        assert not line.context.inbounds
        assert path in manager.modems[0].texts
        manager.modems[0].texts[path].update(State=int(SmsState.RECEIVED), Text="Whole")
        manager.tell()
        await trio.testing.wait_all_tasks_blocked()
    assert [each.text for each in line.context.inbounds] == ["Whole"]
    assert manager.deleted == [path]


async def test_what_is_not_stored_is_not_deleted(autojump_clock, manager, run_driver):
    context = RecordingContext("stick")
    context.refusals = 2
    path = manager.put(Text="Keep me")
    async with run_driver(context) as line:
        await line.context.wait_health(HealthState.UP)
        assert not manager.deleted
        await trio.sleep(10)
    assert [each.text for each in context.inbounds] == ["Keep me"]
    assert manager.deleted == [path]


async def test_texts_are_left_where_the_settings_say_so(autojump_clock, manager, run_driver):
    manager.put(Text="Not yours")
    async with run_driver(inbound=False) as line:
        await line.context.wait_health(HealthState.UP)
    assert not line.context.inbounds
    assert not manager.deleted


async def test_modem_manager_comes_again_with_other_paths(autojump_clock, manager, run_driver):
    async with run_driver() as line:
        await line.context.wait_health(HealthState.UP)
        manager.put(State=int(SmsState.STORED), PduType=2, Text="Another program's")
        await trio.testing.wait_all_tasks_blocked()
        manager.restart()
        manager.put(Text="After it")
        await trio.testing.wait_all_tasks_blocked()
        assert [each.text for each in line.context.inbounds] == ["After it"]
    assert len(manager.modems[0].texts) == 1, "another program's text stays"


async def test_a_modem_goes_and_comes(autojump_clock, manager, run_driver):
    async with run_driver() as line:
        await line.context.wait_health(HealthState.UP)
        modems, manager.modems = manager.modems, []
        manager.tell()
        await told(line, "sees no modem")
        assert isinstance(await line.driver.submit(segment()), Unsent)
        manager.modems = modems
        manager.tell()
        await line.context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_d_bus_goes_and_comes(autojump_clock, manager, run_driver):
    async with run_driver() as line:
        await line.context.wait_health(HealthState.UP)
        manager.is_up = False
        manager.cut()
        health = await told(line, "There is no D-Bus: No such file or directory.")
        assert health.state is HealthState.DOWN
        manager.is_up = True
        await line.context.wait_health(HealthState.UP)
    assert manager.opened == 2


@pytest.mark.parametrize(
    ("error", "words", "state"),
    [
        ("org.freedesktop.DBus.Error.ServiceUnknown", "does not run", HealthState.DOWN),
        ("org.freedesktop.DBus.Error.AccessDenied", "polkit", HealthState.SICK),
        (f"{ERROR}Core.Unauthorized", "polkit", HealthState.SICK),
    ],
)
async def test_modem_manager_is_not_to_be_had(
    autojump_clock, manager, run_driver, error, words, state
):
    refusal = manager.error("x")
    refusal.name = error
    manager.errors["GetManagedObjects"] = refusal
    async with run_driver() as line:
        assert (await told(line, words)).state is state
        manager.errors.clear()
        manager.tell()
        await line.context.wait_health(HealthState.UP)


async def test_a_modem_that_does_not_switch_on_is_tried_once_in_a_while(
    autojump_clock, manager, run_driver
):
    """Each try changes the modem's state, and that is news."""
    modem = manager.modems[0]
    modem.properties["State"] = int(ModemState.DISABLED)

    def refuse():
        assert manager.called.count("Enable") < 100, "one try follows the other"
        manager.tell()
        return manager.error("Serial.OpenFailed")

    manager.errors["Enable"] = refuse
    async with run_driver() as line:
        await told(line, "refuses: org.freedesktop.ModemManager1.Error.Serial.OpenFailed.")
        await trio.sleep(3.5 * ENABLE_AGAIN_S)
        assert manager.called.count("Enable") == 4
        assert len(line.context.healths) == 1, "it is told once"
        manager.errors.clear()
        await line.context.wait_health(HealthState.UP)


async def test_a_sim_sends_no_more_than_its_day(autojump_clock, manager, run_driver):
    context = RecordingContext("stick")
    async with run_driver(context, segments_per_day_max=3) as line:
        await context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(segment(text="x" * 200)), Accepted)
        two = await line.driver.submit(segment(text="x" * 200))
        assert isinstance(two, Unsent)
        assert two.cause is Cause.QUOTA_USED
        assert line.driver.declines(segment().recipient, 1) is not None, "the day is closed"
        await context.wait_until(lambda it: it.healths[-1].details.get("segments_today") == 2)
        assert "needs more" in str(context.healths[-1].details["attention"])
    manager.restart()
    async with run_driver(context, segments_per_day_max=2) as line:
        await context.wait_until(lambda it: "used up" in str(it.healths[-1].details["attention"]))
        assert isinstance(await line.driver.submit(segment()), Unsent)
    assert len(manager.sent) == 1


async def test_what_did_not_leave_is_given_back_to_the_day(autojump_clock, manager, run_driver):
    async with run_driver(segments_per_day_max=1, recipients_per_month_max=1) as line:
        await line.context.wait_health(HealthState.UP)
        manager.errors["Create"] = manager.error("Core.Failed")
        assert isinstance(await line.driver.submit(segment()), Unsent)
        manager.errors.clear()
        await line.context.wait_health(HealthState.UP)
        line.context.note_refusals = 1
        assert isinstance(await line.driver.submit(segment()), Unsent), "the disk refused"
        assert isinstance(await line.driver.submit(segment()), Accepted)
    details = line.context.healths[-1].details
    assert (details["recipients_this_month"], details["recipients_per_month_max"]) == (1, 1)


def locked(manager, tries=3):
    modem = manager.modems[0]
    modem.properties.update(
        State=int(ModemState.LOCKED),
        UnlockRequired=int(ModemLock.SIM_PIN),
        UnlockRetries={} if tries is None else {int(ModemLock.SIM_PIN): tries},
    )
    return modem


async def test_a_locked_sim_is_unlocked_and_switched_on(autojump_clock, manager, run_driver):
    modem = locked(manager)
    async with run_driver(pin=SecretStr("1234")) as line:
        await line.context.wait_health(HealthState.UP)
    assert modem.typed == ["1234"]
    assert not line.context.notes


async def test_a_wrong_pin_is_typed_once_also_after_a_restart(autojump_clock, manager, run_driver):
    modem = locked(manager)
    context = RecordingContext("stick")
    async with run_driver(context, pin=SecretStr("9999")) as line:
        await told(line, "The PIN is wrong.")
        for _ in range(5):
            manager.tell()
            await trio.sleep(600)
    async with run_driver(context, pin=SecretStr("9999")):
        await trio.sleep(1000)
    assert modem.typed == ["9999"]
    async with run_driver(context, pin=SecretStr("1234")) as line:
        await trio.sleep(1)
        await line.driver.command("retry-pin", ())
        await line.context.wait_health(HealthState.UP)
    assert modem.typed == ["9999", "1234"]


@pytest.mark.parametrize("name", ["Core.WrongState", "Core.Unauthorized", "Serial.OpenFailed"])
async def test_a_pin_that_modem_manager_did_not_pass_on_is_not_wrong(
    autojump_clock, manager, run_driver, name
):
    modem = locked(manager, None)

    def refuse():
        assert manager.called.count("SendPin") < 100, "one try follows the other"
        manager.tell()
        return manager.error(name)

    manager.errors["SendPin"] = refuse
    async with run_driver(pin=SecretStr("1234")) as line:
        await told(line, name)
        await trio.sleep(2.5 * UNTYPED_AGAIN_S)
        assert manager.called.count("SendPin") == 3
        assert not line.context.notes
        manager.errors.clear()
        await line.context.wait_health(HealthState.UP)
    assert modem.typed == ["1234"]


async def test_an_error_that_says_nothing_of_the_pin_counts_as_a_wrong_one(
    autojump_clock, manager, run_driver
):
    locked(manager, None)
    manager.errors["SendPin"] = manager.error("Core.Failed")
    async with run_driver(pin=SecretStr("1234")) as line:
        await told(line, "The PIN is wrong.")
        await trio.sleep(1000)
    assert manager.called.count("SendPin") == 1


async def test_a_pin_is_not_typed_where_that_cannot_be_written_down(
    autojump_clock, manager, run_driver
):
    modem = locked(manager)
    context = RecordingContext("stick")
    context.note_refusals = 1
    async with run_driver(context, pin=SecretStr("1234")) as line:
        await told(line, "could not be written down")
        assert not modem.typed


@pytest.mark.parametrize("tries", [1, 2])
async def test_no_pin_is_typed_where_a_wrong_one_was(autojump_clock, manager, run_driver, tries):
    modem = locked(manager, tries)
    async with run_driver(pin=SecretStr("1234")) as line:
        await told(line, "A wrong PIN was typed before")
    assert not modem.typed


async def test_a_sim_that_wants_its_puk(autojump_clock, manager, run_driver):
    locked(manager).properties["UnlockRequired"] = int(ModemLock.SIM_PUK)
    async with run_driver(pin=SecretStr("1234")) as line:
        await told(line, "needs its PUK")
    assert "SendPin" not in manager.called


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"State": int(ModemState.FAILED), "StateFailedReason": 2}, "There is no SIM"),
        ({"State": int(ModemState.FAILED), "StateFailedReason": 3}, "or its SIM failed"),
        ({"State": int(ModemState.SEARCHING)}, "Searching for a network."),
        ({"State": 1}, "prepares the modem"),
    ],
)
async def test_a_modem_that_cannot_send(autojump_clock, manager, run_driver, changes, words):
    manager.modems[0].properties.update(changes)
    async with run_driver() as line:
        await told(line, words)
        assert isinstance(await line.driver.submit(segment()), Unsent)


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"State": int(ModemState.FAILED), "StateFailedReason": 2}, "SIM", "There is no SIM"),
        ({"UnlockRequired": int(ModemLock.SIM_PIN)}, "SIM", "needs its PIN. Set pin_env. Tries"),
        ({"UnlockRequired": int(ModemLock.SIM_PUK)}, "SIM", "not by its PIN"),
        ({"State": int(ModemState.SEARCHING)}, "network", "Searching"),
        ({}, "", ""),
    ],
)
async def test_a_modem_that_is_examined(manager, changes, name, words):
    manager.modems[0].properties.update(changes)
    found = await examine_managed(ModemManagerSettings(), 30, open_bus=manager.open)
    failed = found.failed
    assert (name, words) == ("", "") if failed is None else failed.name == name
    assert failed is None or words in failed.text
    assert not {"SendPin", "Enable", "List"} & {*manager.called}


async def test_what_is_examined_where_nothing_is(manager):
    manager.is_up = False
    found = await examine_managed(ModemManagerSettings(), 30, open_bus=manager.open)
    assert [each.name for each in found.checks] == ["D-Bus"]
    manager.is_up, manager.modems = True, []
    found = await examine_managed(ModemManagerSettings(), 30, open_bus=manager.open)
    assert "sees no modem" in found.failed.text
    manager.errors["GetManagedObjects"] = manager.error("Core.Unauthorized")
    found = await examine_managed(ModemManagerSettings(), 30, open_bus=manager.open)
    assert "polkit" in found.failed.text


async def test_a_modem_is_chosen_by_imei_device_or_port(manager):
    one = manager.modems[0]
    other = type(one)(
        1, EquipmentIdentifier="861234567890132", Device="/sys/b", Ports=[("ttyUSB5", 3)]
    )
    manager.modems.append(other)
    (objects,) = await manager._GetManagedObjects("", (), 0)
    both = modems_of(objects)
    for name in ("861234567890132", "/sys/b", "ttyUSB5", "/dev/ttyUSB5"):
        assert chosen(both, name).path == other.path
    assert "several modems" in chosen(both, None)
    assert chosen(both, "1") == (
        "ModemManager does not see the modem of the settings. It sees: 861234567890124, "
        "861234567890132."
    )


def test_jeepney_is_imported_by_the_bus_alone():
    place = Path(chosen.__code__.co_filename).parent
    found = [
        each.name
        for each in place.glob("*.py")
        if "import jeepney" in (t := each.read_text()) or "from jeepney" in t
    ]
    assert found == ["bus.py"]
