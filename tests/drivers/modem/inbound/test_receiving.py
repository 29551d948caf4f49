"""What comes in, at a scripted modem: from its storage or straight from the network."""

from datetime import UTC, datetime

import pytest
import trio

from risala.drivers.modem.tpdu.pdu import StatusReport, TpAddress, to_hex
from risala.plugins.contract import Accepted
from risala.plugins.testing.conformance import segment
from risala.sms.evident import read_label
from risala.sms.segment import split, user_data_header


def traces(line) -> str:
    return "\n".join(line.context.traces)


async def test_a_message_is_deleted_once_it_is_safe(autojump_clock, modem, new_line, deliver_pdu):
    async with new_line(modem).run() as line:
        line.context.gate = trio.Event()
        await modem.receive_sms(deliver_pdu("Salut"))
        await line.context.wait_until(lambda it: it.held == 1)
        await trio.sleep(20)
        assert len(modem.storage) == 1
        line.context.gate.set()
        await trio.sleep(1)
        assert modem.storage == {}
        (message,) = line.context.inbounds
        assert (message.sender, message.text) == ("+22236999999", "Salut")
        assert len(message.carrier_ids) == 1


async def test_what_was_not_stored_is_tried_again(autojump_clock, modem, new_line, deliver_pdu):
    async with new_line(modem).run() as line:
        line.context.refusals = 3
        await modem.receive_sms(deliver_pdu("Salut"))
        await line.context.wait_until(lambda it: bool(it.inbounds))
        assert line.context.refused == 3
        await trio.sleep(1)
        assert modem.storage == {}


async def test_what_lay_there_before(autojump_clock, modem, new_line, deliver_pdu):
    modem.store(deliver_pdu("one"))
    modem.store(deliver_pdu("two"))
    async with new_line(modem).run() as line:
        await line.context.wait_until(lambda it: len(it.inbounds) == 2)
        await trio.sleep(1)
        assert modem.storage == {}


async def test_what_waited_comes_in_the_order_in_which_it_was_written(
    autojump_clock, modem, new_line, deliver_pdu
):
    """Modems reuse places: the newer text may lie before the older one, or in another storage."""
    written = {"Wednesday": 3, "Monday": 1, "Tuesday": 2}
    day = {text: 1_790_000_000_000 + n * 86_400_000 for text, n in written.items()}
    for text, sent_ms in day.items():
        modem.store(deliver_pdu(text, sent_ms=sent_ms))
    async with new_line(modem).run() as line:
        await line.context.wait_until(lambda it: len(it.inbounds) == 3)
        assert [each.text for each in line.context.inbounds] == ["Monday", "Tuesday", "Wednesday"]
        assert [each.sent_at_ms for each in line.context.inbounds] == sorted(day.values())


async def test_a_missed_announcement_is_found_by_looking(
    autojump_clock, modem, new_line, deliver_pdu
):
    async with new_line(modem).run() as line:
        modem.store(deliver_pdu("quiet"))
        await line.context.wait_until(lambda it: bool(it.inbounds))


async def test_without_a_list_places_are_read_one_by_one(
    autojump_clock, modem, new_line, deliver_pdu
):
    modem.replies[r"AT\+CMGL=.*"] = "+CMS ERROR: 303"
    modem.store(deliver_pdu("zero"))
    async with new_line(modem).run() as line:
        await line.context.wait_until(lambda it: bool(it.inbounds))
        await trio.sleep(1)
        assert modem.storage == {}


async def test_straight_from_the_network(autojump_clock, modem, new_line, deliver_pdu):
    async with new_line(modem).run() as line:
        pdu = deliver_pdu("direct")
        await modem.say(f"+CMT: ,{len(pdu) // 2 - 8}\r\n{pdu}")
        await line.context.wait_until(lambda it: bool(it.inbounds))
        await trio.sleep(1)
        assert modem.count("AT+CNMA") == 1


def parts(deliver_pdu, text="long text " * 30, reference=9):
    cut = split(text)
    return text, [
        deliver_pdu(part, header=user_data_header(reference, len(cut), number))
        for number, part in enumerate(cut, 1)
    ]


async def test_parts_in_any_order(autojump_clock, modem, new_line, deliver_pdu):
    text, pdus = parts(deliver_pdu)
    async with new_line(modem).run() as line:
        for pdu in (pdus[1], pdus[1], pdus[0]):
            await modem.receive_sms(pdu)
            await trio.sleep(1)
        assert [message.text for message in line.context.inbounds] == [text]
        assert len(line.context.inbounds[0].carrier_ids) == 2
        await trio.sleep(1)
        assert modem.storage == {}


async def test_a_part_survives_a_restart_of_the_driver(
    autojump_clock, modem, new_line, deliver_pdu
):
    text, pdus = parts(deliver_pdu)
    async with new_line(modem).run() as line:
        await modem.receive_sms(pdus[1])
        await trio.sleep(5)
        assert line.context.inbounds == []
        assert modem.storage == {}
    async with new_line(modem, line.context.notes).run() as line:
        await modem.receive_sms(pdus[0])
        await line.context.wait_until(lambda it: bool(it.inbounds))
        assert line.context.inbounds[0].text == text


async def test_a_part_that_never_comes(autojump_clock, modem, new_line, deliver_pdu):
    text, pdus = parts(deliver_pdu)
    async with new_line(modem, assembly_timeout_s=600).run() as line:
        await modem.receive_sms(pdus[0])
        await trio.sleep(5)
        line.shift_ms = 601_000
        await line.context.wait_until(lambda it: bool(it.inbounds))
        assert line.context.inbounds[0].text == text[:153] + "[…]"
        await trio.sleep(1)
        assert modem.storage == {}


async def test_parts_do_not_fill_the_storage(autojump_clock, modem, new_line, deliver_pdu):
    """A message of more parts than the SIM has places."""
    modem.places = 3
    text, pdus = parts(deliver_pdu, "long text " * 90)
    assert len(pdus) > 4
    async with new_line(modem).run() as line:
        for pdu in pdus:
            await modem.receive_sms(pdu)
            await trio.sleep(1)
        assert [it.text for it in line.context.inbounds] == [text]
        assert modem.storage == {}


async def test_one_reference_for_every_message(autojump_clock, modem, new_line, deliver_pdu):
    async with new_line(modem).run() as line:
        _, one = parts(deliver_pdu, "1" * 200)
        text, two = parts(deliver_pdu, "2" * 200)
        for pdu in (one[0], two[0], two[1]):
            await modem.receive_sms(pdu)
            await trio.sleep(1)
        assert [it.text for it in line.context.inbounds] == ["1" * 153 + "[…]", text]


async def test_a_place_that_is_not_listed_is_read_by_its_index(
    autojump_clock, modem, new_line, deliver_pdu
):
    pdu = deliver_pdu("place zero")
    modem.replies[r"AT\+CMGL=4"] = "OK"
    modem.replies[r"AT\+CMGR=0"] = f"+CMGR: 0,,28\r\n{pdu}\r\n\r\nOK"
    async with new_line(modem).run() as line:
        await modem.say('+CMTI: "ME",0')
        await line.context.wait_until(lambda it: bool(it.inbounds))
        assert [it.text for it in line.context.inbounds] == ["place zero"]
        assert modem.count("AT+CMGR=0") == 1


async def test_a_report_that_is_announced_in_the_wrong_storage(autojump_clock, modem, new_line):
    sent = datetime.fromtimestamp(1_795_176_000, UTC)
    report = StatusReport(17, TpAddress.of_number("+22236123456"), sent, sent, 0)
    pdu, octets = to_hex(report, TpAddress.of_number("+22200000001"))
    selected = ["ME"]

    def select(command: str) -> str:
        selected.append(command.split('"')[1])
        return "+CPMS: 0,20,0,20,0,20\r\n\r\nOK"

    def read(_: str) -> str:
        return f"+CMGR: 0,,{octets}\r\n{pdu}\r\n\r\nOK" if selected[-1] == "SR" else "OK"

    modem.replies[r"AT\+CPMS=\?"] = '+CPMS: ("SM","ME","SR"),("SM","ME"),("SM","ME")\r\n\r\nOK'
    modem.replies[r"AT\+CPMS=.*"] = select
    modem.replies[r"AT\+CMGL=4"] = "OK"
    modem.replies[r"AT\+CMGR=0"] = read
    async with new_line(modem).run() as line:
        await modem.say('+CDSI: "SM",0')
        await line.context.wait_until(lambda it: bool(it.receipts))
        assert [it.state for it in line.context.receipts] == ["DELIVERED"]


@pytest.mark.parametrize(
    ("dcs", "octets", "text"),
    [
        (0x08, b"STOP", "STOP"),
        (0x08, "Prénom: Aïcha".encode(), "Prénom: Aïcha"),
        (0x08, b"\xff\xfe" + "Salam".encode("utf-16-le"), "Salam"),
        (0x08, b"\xfe\xff" + "Salam".encode("utf-16-be"), "Salam"),
        (0x08, "السلام".encode("utf-16-le"), "السلام"),
        (0x08, "Salam".encode("utf-16-be") + b"\0", "Salam"),
        (0x04, "Prénom: Aïcha".encode(), "Prénom: Aïcha"),
        (0x04, "السلام".encode("utf-16-be"), "السلام"),
        (0x00, "السلام".encode("utf-16-be"), "السلام"),
        (0x00, b"Payment received, thanks", "Payment received, thanks"),
        (0x00, "Prénom: Aïcha".encode(), "Prénom: Aïcha"),
    ],
)
async def test_a_text_is_read_as_it_evidently_is(
    autojump_clock, modem, new_line, dcs, octets, text
):
    head = "0004" + TpAddress.of_number("+22236123456").encode().hex() + f"00{dcs:02x}"
    pdu = head + "62112021300000" + f"{len(octets):02x}" + octets.hex()
    async with new_line(modem).run() as line:
        await modem.receive_sms(pdu.upper())
        await line.context.wait_until(lambda it: bool(it.inbounds))
        assert [it.text for it in line.context.inbounds] == [text]
        told = traces(line).count("Not as declared")
        assert told <= 1
        # The message says the same as the trace.
        (message,) = line.context.inbounds
        assert (read_label(message.label) is not None) == bool(told)


async def test_what_is_no_pdu_stays_where_it_is(autojump_clock, modem, new_line, deliver_pdu):
    async with new_line(modem).run() as line:
        modem.storage[3] = "0791220000000000" + "00" * 5
        await modem.say('+CMTI: "ME",3')
        await trio.sleep(120)
        assert 3 in modem.storage
        assert traces(line).count("cannot be read") == 1
        await modem.receive_sms(deliver_pdu("after"))
        await line.context.wait_until(lambda it: bool(it.inbounds))


async def test_what_the_modem_does_not_delete_is_handed_over_once(
    autojump_clock, modem, new_line, deliver_pdu
):
    modem.replies[r"AT\+CMGD=.*"] = "+CMS ERROR: 500"
    async with new_line(modem).run() as line:
        await modem.receive_sms(deliver_pdu("sticky"))
        await trio.sleep(200)
        assert len(line.context.inbounds) == 1
        assert traces(line).count("does not delete") == 1
        modem.replies.clear()
        await trio.sleep(60)
        assert modem.storage == {}


async def test_nothing_received_is_touched_without_inbound(
    autojump_clock, modem, new_line, deliver_pdu
):
    modem.store(deliver_pdu("private"))
    async with new_line(modem, inbound=False).run() as line:
        await trio.sleep(200)
        assert line.context.inbounds == []
        assert len(modem.storage) == 1


async def test_reports_do_not_lag_behind_a_busy_modem(autojump_clock, modem, new_line):
    """The next submit is always there already, and each report needs the line twice."""
    lags = []

    async def send(line):
        for _ in range(30):
            await line.driver.submit(segment())
            lags.append(len(modem.submits) - modem.count("AT+CNMA"))

    async with new_line(modem).run() as line:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(send, line)
            nursery.start_soon(send, line)
        await trio.sleep(1)
        assert modem.count("AT+CNMA") == len(modem.submits) > 30
    assert max(lags) <= 3


async def test_a_report_that_is_not_stored_stops_no_sending(
    autojump_clock, modem, new_line, monkeypatch
):
    async with new_line(modem).run() as line:
        asked = trio.Event()

        async def receipt(_):
            asked.set()
            await trio.sleep_forever()

        monkeypatch.setattr(line.context, "receipt", receipt)
        assert isinstance(await line.driver.submit(segment()), Accepted)
        await asked.wait()
        assert isinstance(await line.driver.submit(segment()), Accepted)
