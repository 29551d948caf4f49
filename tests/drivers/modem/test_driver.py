"""The driver at a scripted modem, by a mock clock."""

import pytest
import trio

from risala.plugins.contract import (
    Accepted,
    HealthState,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.testing.conformance import segment
from risala.sms.message import Alphabet

HOUR_MS = 3_600_000


def traces(line) -> str:
    return "\n".join(line.context.traces)


# -- coming up ---------------------------------------------------------------------------------


async def test_what_it_tells_when_it_is_up(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        health = line.context.healths[-1]
        assert health.text == "Fake F1 is ready on Mauritel."
        assert health.details["signal_dbm"] == -73
        assert health.details["operator"] == "Mauritel"
        assert health.details["registration"] == "home"
        assert health.details["imsi"] == "…7890"
        assert health.details["smsc"] == "+22200000001"
        assert health.details["storage"] == "ME 0/20"
        assert "AT+CNMI=2,1,0,1,0" in modem.commands
        assert "AT+CSMS=1" in modem.commands
        assert "SIM …7890" in traces(line)
        assert "609101234567890" not in traces(line)


@pytest.mark.parametrize(
    ("row", "number"),
    [
        ('+CNUM: "Line 1","+22236000001",145', "+22236000001"),
        ('+CNUM: ,"22236000001",145,7,4', "+22236000001"),
        ('+CNUM: "","36000001",129', "36000001"),
        ('+CNUM: "","",129', None),
        ("", None),
    ],
)
async def test_the_sims_own_number_where_it_is_written_on_it(
    autojump_clock, modem, new_line, row, number
):
    modem.replies["AT\\+CNUM"] = f"{row}\r\n\r\nOK" if row else "ERROR"
    async with new_line(modem).run() as line:
        assert line.context.healths[-1].details["number"] == number


async def test_every_optional_command_may_be_an_error(autojump_clock, modem, new_line):
    needed = r"AT|AT\+CMGF=0|AT\+CMGS=.*|AT\+CSCA\?|AT\+CPIN\?"
    modem.replies = {rf"(?!(?:{needed})$).*": "ERROR"}
    modem.reports = False
    async with new_line(modem).run() as line:
        assert isinstance(await line.driver.submit(segment()), Accepted)
        assert line.context.healths[-1].text.startswith("modem is ready. It gives no delivery")


async def test_a_command_that_hangs_the_modem_is_done_without(autojump_clock, modem, new_line):
    modem.replies = {r"AT\+CSCS.*": None, r"AT\+CMMS.*": None}
    async with new_line(modem).run() as line:
        assert isinstance(await line.driver.submit(segment()), Accepted)
        assert modem.escapes >= 2


async def test_numeric_results_until_atv1(autojump_clock, modem, new_line):
    numeric = iter([True] * 3)
    for command in ("AT", "ATZ", "ATE0"):
        modem.replies[command] = lambda _: "0" if next(numeric, False) else "OK"
    async with new_line(modem).run():
        assert "AT+CMEE=1" in modem.commands


async def test_the_first_command_after_idling_is_lost(autojump_clock, modem, new_line):
    lost = iter([None])
    modem.replies["AT"] = lambda _: next(lost, "OK")
    async with new_line(modem).run() as line:
        assert line.opened == 1


@pytest.mark.parametrize(
    ("offer", "chosen"),
    [
        ("(0-2),(0-3),(0,2),(0-2),(0,1)", "2,1,0,1,0"),
        ("(1,2),(0,2),(0),(0,1),(1)", "2,2,0,1,1"),
        ("(0,3),(0-1),(0),(0,2),(0)", "3,1,0,2,0"),
        ("(3),(2),(0),(0)", "3,2,0,0"),
    ],
)
async def test_the_best_routing_that_is_offered(autojump_clock, modem, new_line, offer, chosen):
    modem.replies[r"AT\+CNMI=\?"] = f"+CNMI: {offer}\r\n\r\nOK"
    async with new_line(modem).run():
        assert f"AT+CNMI={chosen}" in modem.commands


async def test_a_modem_that_does_not_tell_what_it_offers(autojump_clock, modem, new_line):
    modem.replies = {r"AT\+CNMI=\?": "ERROR", r"AT\+CNMI=(?!3,2,0,0$).*": "+CMS ERROR: 302"}
    async with new_line(modem).run():
        assert [c for c in modem.commands if c.startswith("AT+CNMI=")][-1] == "AT+CNMI=3,2,0,0"


async def test_a_storage_without_places_is_not_chosen(autojump_clock, modem, new_line):
    modem.replies[r'AT\+CPMS="ME".*'] = "+CPMS: 0,0,0,0,0,0\r\n\r\nOK"
    async with new_line(modem).run() as line:
        assert 'AT+CPMS="SM","SM","SM"' in modem.commands
        assert line.details["storage"].startswith("SM")


async def test_no_inbound_no_reports(autojump_clock, modem, new_line):
    async with new_line(modem, inbound=False, reports=False).run() as line:
        assert "AT+CNMI=2,0,0,0,0" in modem.commands
        assert not line.driver.capabilities.receipts
        await line.driver.submit(segment())
        assert not modem.submits[0].status_report


async def test_the_smsc_number_of_the_settings(autojump_clock, modem, new_line):
    async with new_line(modem, smsc_number="+22299999999").run() as line:
        assert 'AT+CSCA="+22299999999",145' in modem.commands
        assert line.details["smsc"] == "+22299999999"


async def test_no_smsc_number(autojump_clock, modem, new_line):
    modem.replies[r"AT\+CSCA\?"] = '+CSCA: "",129\r\n\r\nOK'
    async with new_line(modem).run(HealthState.SICK) as line:
        assert "set smsc_number" in line.context.healths[-1].text


# -- registration ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer", ["+CREG: 0,5", '+CREG: 2,1,"00A1","0F3B",2', "+CREG: 2,1,00A1,0F3B", "+CREG:0,1"]
)
async def test_registered(autojump_clock, modem, new_line, answer):
    modem.replies[r"AT\+CREG\?"] = f"{answer}\r\n\r\nOK"
    async with new_line(modem).run():
        pass


async def test_registered_on_lte_alone(autojump_clock, modem, new_line):
    modem.replies[r"AT\+CREG\?"] = "+CREG: 0,2\r\nOK"
    modem.replies[r"AT\+CEREG\?"] = "+CEREG: 0,1\r\nOK"
    async with new_line(modem).run():
        pass


async def test_searching_then_found(autojump_clock, modem, new_line):
    looks = iter(["0,2", "0,2", "0,0"])
    modem.replies[r"AT\+CREG\?"] = lambda _: f"+CREG: {next(looks, '0,1')}\r\nOK"
    modem.replies[r"AT\+C[EG]+REG\?"] = "ERROR"
    async with new_line(modem).run() as line:
        states = [(health.state, health.text) for health in line.context.healths]
        assert (HealthState.DOWN, "Searching for a network.") in states


async def test_denied(autojump_clock, modem, new_line):
    modem.replies[r"AT\+C[EG]*REG\?"] = "+CREG: 0,3\r\nOK"
    async with new_line(modem).run(HealthState.SICK) as line:
        assert "denies this SIM" in line.context.healths[-1].text
        assert isinstance(await line.driver.submit(segment()), Unsent)


async def test_lost_and_found_again(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        modem.replies[r"AT\+C[EG]*REG\?"] = "+CREG: 0,2\r\nOK"
        await line.context.wait_health(HealthState.DOWN)
        assert isinstance(await line.driver.submit(segment()), Unsent)
        modem.replies.clear()
        await line.context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(segment()), Accepted)


# -- sending -------------------------------------------------------------------------------------


async def test_what_leaves(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(
            segment("مرحبا", alphabet=Alphabet.UCS2, expires_at_ms=line.now_ms() + HOUR_MS, total=3)
        )
        assert isinstance(outcome, Accepted)
        assert outcome.raw == "+CMGS: 17"
        assert outcome.carrier_id == "17-36123456-26112012"
        (submit,) = modem.submits
        assert submit.destination.readable == "+22236123456"
        assert submit.user_data.text == "مرحبا"
        assert submit.user_data.concatenation.total == 3
        assert submit.validity == 11  # (11 + 1) × 5 minutes
        assert submit.status_report
        assert "AT+CMMS=1" in modem.commands


async def test_the_radio_link_is_kept_between_parts_only(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        await line.driver.submit(segment())
        await line.driver.submit(segment(number=2, total=2))
        assert "AT+CMMS=1" not in modem.commands
        await line.driver.submit(segment(number=1, total=2))
        assert "AT+CMMS=1" in modem.commands


async def test_what_cannot_be_encoded_is_refused_without_its_text(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment("geheim ع"))
        assert isinstance(outcome, Refused)
        assert outcome.scope is Scope.CARRIER
        assert "geheim" not in repr(outcome)
        assert modem.submits == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("+CMS ERROR: 1", Refused(Scope.FINAL, "+CMS ERROR: 1", "")),
        ("+CMS ERROR: 41", Refused(Scope.NOW, "+CMS ERROR: 41", "")),
        ("+CMS ERROR: 42", Throttled("+CMS ERROR: 42", "", 10.0)),
        ("+CMS ERROR: 332", Uncertain("+CMS ERROR: 332", "")),
        ("ERROR", Refused(Scope.NOW, "ERROR", "")),
    ],
)
async def test_refusals(autojump_clock, modem, new_line, answer, expected):
    modem.cmgs = lambda _: answer
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
        assert type(outcome) is type(expected)
        assert outcome.raw == expected.raw
        assert getattr(outcome, "scope", None) == getattr(expected, "scope", None)
        assert line.context.healths[-1].state is HealthState.UP


async def test_a_sim_that_fails_makes_the_lane_sick(autojump_clock, modem, new_line):
    modem.cmgs = lambda _: "+CMS ERROR: 310"
    async with new_line(modem).run() as line:
        assert isinstance(await line.driver.submit(segment()), Unsent)
        await line.context.wait_health(HealthState.SICK)
        assert isinstance(await line.driver.submit(segment()), Unsent)
        modem.cmgs = None
        await line.context.wait_health(HealthState.UP)


async def test_an_error_in_place_of_the_prompt(autojump_clock, modem, new_line):
    modem.replies[r"AT\+CMGS=.*"] = "+CMS ERROR: 500"
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
        assert outcome.raw == "+CMS ERROR: 500"


async def test_a_full_storage_is_freed_and_the_message_sent(
    autojump_clock, modem, new_line, deliver_pdu
):
    async with new_line(modem).run() as line:
        modem.store(deliver_pdu("lies there"))
        full = iter(["+CMS ERROR: 322"])
        modem.cmgs = lambda _: next(full, "+CMGS: 5\r\n\r\nOK")
        assert isinstance(await line.driver.submit(segment()), Accepted)
        assert [message.text for message in line.context.inbounds] == ["lies there"]
        assert modem.storage == {}


async def test_two_submits_at_once_go_one_after_the_other(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        outcomes = []

        async def submit(name):
            outcomes.append(await line.driver.submit(segment(message_id=name)))

        async with trio.open_nursery() as nursery:
            for name in ("m1", "m2"):
                nursery.start_soon(submit, name)
        assert sum(isinstance(outcome, Accepted) for outcome in outcomes) >= 1
        assert all(isinstance(outcome, Accepted | Unsent) for outcome in outcomes)


async def test_no_prompt_means_that_nothing_was_sent(autojump_clock, modem, new_line):
    modem.replies[r"AT\+CMGS=.*"] = None
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
        assert isinstance(outcome, Unsent)
        assert b"\x1a" not in b"".join(c.encode() for c in modem.commands)
        await line.context.wait_until(lambda it: "escape and resync" in traces(line))
        modem.replies.clear()
        await line.context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_silence_after_the_body_is_uncertain(autojump_clock, modem, new_line):
    modem.cmgs = lambda _: None
    async with new_line(modem).run() as line:
        began = trio.current_time()
        outcome = await line.driver.submit(segment())
        assert isinstance(outcome, Uncertain)
        assert trio.current_time() - began == pytest.approx(60, abs=2)
        assert isinstance(await line.driver.submit(segment()), Unsent)
        await line.context.wait_health(HealthState.DOWN)
        modem.cmgs = None
        await line.context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(segment(message_id="m2")), Accepted)


async def test_a_late_reference_settles_what_was_uncertain(autojump_clock, modem, new_line):
    modem.cmgs = lambda _: None
    async with new_line(modem).run() as line:
        first = segment()
        assert isinstance(await line.driver.submit(first), Uncertain)
        modem.cmgs = None
        await modem.say("+CMGS: 99\r\n\r\nOK")
        await line.context.wait_until(lambda it: bool(it.late))
        ((late, outcome),) = line.context.late
        assert late == first
        assert outcome.carrier_id.startswith("99-36123456-")
        await line.context.wait_health(HealthState.UP)
        await modem.report(99, first.recipient)
        await line.context.wait_receipts(1)
        assert line.context.receipts[0].carrier_id == outcome.carrier_id


async def test_a_report_proves_what_was_uncertain(autojump_clock, modem, new_line):
    modem.cmgs = lambda _: None
    async with new_line(modem).run() as line:
        first = segment()
        assert isinstance(await line.driver.submit(first), Uncertain)
        modem.cmgs = None
        await line.context.wait_health(HealthState.UP)
        await modem.report(44, first.recipient)
        await line.context.wait_receipts(1)
        ((late, outcome),) = line.context.late
        assert late == first
        assert outcome.carrier_id == line.context.receipts[0].carrier_id


async def test_a_cancelled_submit_goes_on_and_tells(autojump_clock, modem, new_line):
    modem.cmgs = lambda _: None
    async with new_line(modem).run() as line:
        with trio.move_on_after(1):
            await line.driver.submit(segment())
        await modem.say("+CMGS: 7\r\n\r\nOK")
        await line.context.wait_until(lambda it: bool(it.late))
        assert isinstance(line.context.late[0][1], Accepted)


# -- reports -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (0x00, ReceiptState.DELIVERED),
        (0x01, ReceiptState.DELIVERED),
        (0x20, ReceiptState.ENROUTE),
        (0x46, ReceiptState.EXPIRED),
        (0x41, ReceiptState.UNDELIVERABLE),
        (0x62, ReceiptState.UNDELIVERABLE),
        (0x90, ReceiptState.ENROUTE),
    ],
)
async def test_a_report(autojump_clock, modem, new_line, status, state):
    modem.report_status = status
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
        (receipt,) = await line.context.wait_receipts(1)
        assert (receipt.carrier_id, receipt.state) == (outcome.carrier_id, state)
        assert receipt.raw == f"TP-ST {status:02X}"
        await trio.sleep(1)
        assert modem.count("AT+CNMA") == 1


async def test_a_report_before_the_reference(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:

        def cmgs(pdu):
            line.nursery.start_soon(answer)

        async def answer():
            await modem.report(50, "+22236123456")
            await trio.sleep(1)
            await modem.say("+CMGS: 50\r\n\r\nOK")

        modem.cmgs = cmgs
        async with trio.open_nursery() as line.nursery:
            outcome = await line.driver.submit(segment())
        (receipt,) = await line.context.wait_receipts(1)
        assert receipt.carrier_id == outcome.carrier_id


async def test_a_modem_that_always_says_zero(autojump_clock, modem, new_line):
    modem.cmgs = lambda _: "+CMGS: 0\r\n\r\nOK"
    async with new_line(modem).run() as line:
        ids = []
        for number in range(3):
            outcome = await line.driver.submit(segment(message_id=f"m{number}"))
            ids.append(outcome.carrier_id)
        assert len(set(ids)) == 3
        for reference in (11, 12, 13):
            await modem.report(reference, "+22236123456")
        receipts = await line.context.wait_receipts(3)
        assert sorted(receipt.carrier_id for receipt in receipts) == sorted(ids)


async def test_a_report_that_is_stored(autojump_clock, modem, new_line):
    modem.replies[r"AT\+CNMI=\?"] = "+CNMI: (0-2),(0,1),(0),(0,2),(0)\r\nOK"
    modem.reports = False
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
        said = []
        modem.say, say = said.append, modem.say

        async def keep(text):
            said.append(text)

        modem.say = keep
        await modem.report(17, "+22236123456")
        modem.say = say
        place = modem.store(said[0].split("\r\n")[1])
        await modem.say(f'+CDSI: "SR",{place}')
        (receipt,) = await line.context.wait_receipts(1)
        assert receipt.carrier_id == outcome.carrier_id
        await trio.sleep(1)
        assert modem.storage == {}
        assert 'AT+CPMS="SR"' in modem.commands
        assert [c for c in modem.commands if c.startswith("AT+CPMS=")][-1] == 'AT+CPMS="ME"'
