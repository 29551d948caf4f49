"""Habits of real modems, one transcript each: what was seen in the field and must not hurt.

Framing and interleaving are in test_at.py, errors in test_errors.py; here is what takes a driver.
"""

import pytest
import trio

from risala.drivers.modem.at.engine import Answer, AtEngine, Command, Urc
from risala.plugins.contract import Accepted, HealthState
from risala.plugins.testing.conformance import segment

NOISE = (
    *("+CBM: 88", "+CBMI: 1", "+CGEV: NW DETACH", "+CCWA: x", "+CRING: VOICE", "+CSSI: 1"),
    *("+CTZV: +0", "^RSSI:17", '^HCSQ:"LTE",51,50,126,26', "^MODE:5,4", "^DSFLOWRPT:1,2,3"),
    *("^CSNR:-95,-1", "^SRVST:2", "^SIMST:1", "^STIN:0,0,0", '^NWTIME:"26/11/20,12:00:00+00,00"'),
    *("^BOOT:1,0,0,0,75", '^SMMEMFULL: "SM"', "^THERM:1", "+ZDONR: x", "+ZPASR: x"),
    *('+QIND: "csq",28,99', "+QUSIM: 1", "*PSUTTZ: 26,11,20", "*STKI: 1", "+SPNWNAME: x"),
)


@pytest.mark.parametrize("line", NOISE)
def test_what_comes_by_itself_is_no_part_of_an_answer(line):
    engine = AtEngine()
    engine.start(Command("AT+CSQ"))
    octets = f"\r\n{line}\r\n+CSQ: 9,99\r\n{line}\r\n\r\nOK\r\n"
    found = engine.receive(octets.encode())
    (answer,) = [event for event in found if isinstance(event, Answer)]
    assert [row.text for row in answer.rows] == ["+CSQ: 9,99"]
    names = [event.name for event in found if isinstance(event, Urc)]
    assert len(names) == 2 or line.startswith("+CBM:")  # that one waits for its text


@pytest.mark.parametrize("line", [it for it in NOISE if not it.startswith("+CBM:")])
async def test_nor_does_it_disturb_a_send(autojump_clock, modem, new_line, line):
    modem.cmgs = lambda _: f"{line}\r\n\r\n+CMGS: 5\r\n{line}\r\n\r\nOK"
    async with new_line(modem).run() as it:
        outcome = await it.driver.submit(segment())
        assert outcome.raw == "+CMGS: 5"
        assert it.context.healths[-1].state is HealthState.UP


# -- starting ----------------------------------------------------------------------------------


async def test_huawei_is_asked_to_be_silent(autojump_clock, modem, new_line):
    modem.replies["AT[+]CGMI"] = "huawei\r\nOK"
    async with new_line(modem).run():
        assert modem.count("AT^CURC=0") == 1
    modem.replies.clear()
    modem.commands.clear()
    async with new_line(modem).run():
        assert modem.count("AT^CURC=0") == 0


async def test_the_echo_stays_on(autojump_clock, modem, new_line):
    """ATE0 is refused, and every command comes back."""
    plain = modem._reply

    def echo(command):
        reply = plain(command)
        return None if reply is None else f"{command}\r\r\n{command}\r{reply}"

    modem._reply = echo
    modem.replies["ATE0"] = "ERROR"
    async with new_line(modem).run() as line:
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_a_modem_in_flight_mode(autojump_clock, modem, new_line):
    modem.replies[r"AT\+CFUN\?"] = "+CFUN: 4\r\nOK"
    async with new_line(modem).run():
        assert modem.count("AT+CFUN=1") == 1


async def test_the_signal_is_not_known(autojump_clock, modem, new_line):
    modem.replies["AT[+]CSQ"] = "+CSQ: 99,99\r\nOK"
    async with new_line(modem).run() as line:
        assert line.details["signal_dbm"] is None


# -- announcements -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "taken", ["1,2,0,1,0", "2,1,0,1,0", "2,2,0,1,0", "3,2,0,1,1", "1,2,2,2,1", "3,2,0,0"]
)
async def test_each_cnmi_that_was_seen_to_work(autojump_clock, modem, new_line, taken):
    modem.replies = {
        r"AT\+CNMI=\?": "ERROR",
        rf"AT\+CNMI=(?!{taken}$).*": "+CMS ERROR: 303",
    }
    async with new_line(modem).run() as line:
        assert [it for it in modem.commands if "+CNMI=" in it][-1] == f"AT+CNMI={taken}"
        reports = len(taken) > 6 and taken.split(",")[3] != "0"
        assert line.details["reports"] == ("yes" if reports else "no")


@pytest.mark.parametrize("answer", ["OK", "+CMS ERROR: 340"])
async def test_an_acknowledgement_that_is_taken_or_not_expected(
    autojump_clock, modem, new_line, deliver_pdu, answer
):
    modem.replies["AT[+]CNMA"] = answer
    async with new_line(modem).run() as line:
        set_up = modem.count("AT+CNMI=2,1,0,1,0")
        pdu = deliver_pdu("direct")
        await modem.say(f"+CMT: ,{len(pdu) // 2 - 8}\r\n{pdu}")
        await line.context.wait_until(lambda it: bool(it.inbounds))
        await trio.sleep(5)
        assert modem.count("AT+CNMA") == 1
        assert modem.count("AT+CNMI=2,1,0,1,0") == set_up


async def test_an_acknowledgement_that_is_refused_turns_the_routing_on_again(
    autojump_clock, modem, new_line, deliver_pdu
):
    """The modem has stopped announcing: without this it would be deaf until the next start."""
    modem.replies["AT[+]CNMA"] = "+CMS ERROR: 302"
    async with new_line(modem).run():
        set_up = modem.count("AT+CNMI=2,1,0,1,0")
        pdu = deliver_pdu("direct")
        await modem.say(f"+CMT: ,{len(pdu) // 2 - 8}\r\n{pdu}")
        await trio.sleep(5)
        assert modem.count("AT+CNMI=2,1,0,1,0") == set_up + 1


async def test_no_acknowledgements_where_the_modem_has_no_phase_2(
    autojump_clock, modem, new_line, deliver_pdu
):
    modem.replies[r"AT\+CSMS=1"] = "ERROR"
    async with new_line(modem).run() as line:
        pdu = deliver_pdu("direct")
        await modem.say(f"+CMT: ,{len(pdu) // 2 - 8}\r\n{pdu}")
        await line.context.wait_until(lambda it: bool(it.inbounds))
        await trio.sleep(5)
        assert modem.count("AT+CNMA") == 0


async def test_index_0_and_a_storage_of_its_own_name(autojump_clock, modem, new_line, deliver_pdu):
    async with new_line(modem).run() as line:
        modem.storage[0] = deliver_pdu("at nought")
        await modem.say('+CMTI: "ME",0')
        await line.context.wait_until(lambda it: bool(it.inbounds))
        await trio.sleep(1)
        assert modem.storage == {}


# -- sending -----------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["-1", "256", "x", ""])
async def test_a_reference_that_is_none(autojump_clock, modem, new_line, reference):
    """It was sent; its report is told by its recipient."""
    modem.cmgs = lambda _: f"+CMGS: {reference}\r\n\r\nOK"
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
        assert isinstance(outcome, Accepted)
        assert outcome.carrier_id == "x-36123456-26112012"
        await modem.report(99, "+22236123456")
        (receipt,) = await line.context.wait_receipts(1)
        assert receipt.carrier_id == outcome.carrier_id


async def test_the_network_takes_its_45_seconds(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:

        def slowly(_):
            line.nursery.start_soon(answer)

        async def answer():
            await trio.sleep(45)
            await modem.say("+CMGS: 5\r\n\r\nOK")

        modem.cmgs = slowly
        async with trio.open_nursery() as line.nursery:
            assert isinstance(await line.driver.submit(segment()), Accepted)
        assert line.context.healths[-1].state is HealthState.UP


async def test_refusals_of_an_empty_sim_have_its_balance_asked(autojump_clock, modem, new_line):
    """An empty prepaid SIM gives errors that do not say so."""
    balance = {"code": "*124#", "low": 50, "every_s": 86400}
    answers = iter(["100", "0"])
    modem.replies[r"AT\+CUSD=1,.*"] = lambda _: f'OK\r\n\r\n+CUSD: 0,"{next(answers)} MRU",15'
    async with new_line(modem, ussd_balance=balance).run() as line:
        await line.context.wait_until(lambda it: it.healths[-1].details.get("sim_balance") == 100)
        modem.cmgs = lambda _: "+CMS ERROR: 38"
        for _ in range(3):
            await line.driver.submit(segment())
        await line.context.wait_until(lambda it: "balance is low" in it.healths[-1].text)
        assert line.details["sim_balance"] == 0


@pytest.mark.parametrize(
    ("answer", "raw"),
    [
        ("+CMGS:\r\n\r\nOK", "+CMGS without a reference"),
        ("+CMGS: \r\n\r\nOK", "+CMGS without a reference"),
        ("OK", "OK without +CMGS"),
    ],
)
async def test_a_modem_that_tells_no_reference_is_quoted_as_it_spoke(
    autojump_clock, modem, new_line, answer, raw
):
    modem.cmgs = lambda _: answer
    async with new_line(modem).run() as it:
        outcome = await it.driver.submit(segment())
        assert (type(outcome), outcome.raw) == (Accepted, raw)
        assert outcome.carrier_id.startswith("x-")
