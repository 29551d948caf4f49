"""What comes in, at a scripted modem: from its storage or straight from the network."""

from datetime import UTC, datetime, timedelta

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


@pytest.mark.parametrize(
    "lie",
    [
        # Each: storage, place, and the time as its service centre wrote it, with quarters of an
        # hour from UTC; in the order in which they were written.
        [("ME", 2, "2026-11-23 10:00:00", 0), ("ME", 1, "2026-11-24 09:00:00", 0)],
        [("ME", 9, "2026-11-23 10:00:00", 0), ("SM", 0, "2026-11-24 09:00:00", 0)],
        [("SM", 3, "2026-11-23 10:00:00", 0), ("ME", 0, "2026-11-24 09:00:00", 0)],
        [("SR", 1, "2026-11-23 10:00:00", 0), ("ME", 0, "2026-11-23 10:00:01", 0)],
        # 06:00 in UTC, and 09:00.
        [("ME", 2, "2026-11-23 10:00:00", 16), ("ME", 1, "2026-11-23 09:00:00", 0)],
        # Five hours behind UTC: it is the next day there.
        [("ME", 2, "2026-11-24 03:00:00", 0), ("ME", 1, "2026-11-23 23:00:00", -20)],
        # India's half hour and Nepal's quarter.
        [("ME", 2, "2026-11-23 11:44:59", 23), ("ME", 1, "2026-11-23 11:30:00", 22)],
        [("ME", 2, "2026-12-31 23:59:59", 0), ("ME", 1, "2027-01-01 00:00:00", 0)],
        [("ME", 2, "2028-02-29 23:59:59", 4), ("ME", 1, "2028-03-01 00:00:00", 4)],
        # The clock goes back for the winter: an hour comes twice.
        [("ME", 2, "2026-10-25 02:30:00", 8), ("ME", 1, "2026-10-25 02:10:00", 4)],
        [("ME", 4, "2026-11-23 10:00:00", 0), ("ME", 7, "2026-11-23 10:00:00", 0)],
        [
            *(("SM", place, f"2026-11-0{place} 08:00:00", 0) for place in (1, 2, 3)),
            *(("ME", 20 - place, f"2026-11-1{place} 08:00:00", 0) for place in range(5)),
            ("SM", 0, "2026-11-23 10:00:00", 0),
        ],
        # No time at all: networks send zeros.
        [("ME", 2, None, 0), ("ME", 1, "2026-11-23 10:00:00", 0)],
    ],
)
async def test_what_waited_comes_in_the_order_in_which_it_was_written(
    autojump_clock, modem, new_line, deliver_pdu, lie
):
    """Modems reuse places: the newer text may lie before the older one, or in another storage."""
    storages, times = Storages(modem, "ME", "SM", "SR", lists=True), []
    for number, (name, place, written, quarters) in enumerate(lie):
        pdu, octets, at_ms = _written(deliver_pdu, f"text {number}", written, quarters)
        storages.put(name, place, f"+CMGR: 1,,{octets}\r\n{pdu}")
        times.append(at_ms)
    async with new_line(modem).run() as line:
        await line.context.wait_until(lambda it: len(it.inbounds) == len(lie))
        told = [each.text for each in line.context.inbounds]
        assert told == [f"text {number}" for number in range(len(lie))]
        assert [each.sent_at_ms for each in line.context.inbounds] == times


def _written(deliver_pdu, text, written, quarters):
    """A PDU, its octets, and its own time in milliseconds, with the local time and zone of 23.040
    §9.2.3.11."""
    plain = deliver_pdu(text, sent_ms=1_790_000_000_000)
    if written is None:
        stamp, at_ms = "0" * 14, None
    else:
        at = datetime.fromisoformat(written).replace(tzinfo=UTC) - timedelta(minutes=15 * quarters)
        digits = written[2:].translate(str.maketrans("", "", "- :")) + f"{abs(quarters):02}"
        stamp = "".join(digits[n + 1] + digits[n] for n in range(0, 14, 2))
        if quarters < 0:
            stamp = stamp[:12] + f"{int(stamp[12:], 16) | 8:02X}"
        at_ms = round(at.timestamp() * 1000)
    known = "62901241310200"
    assert plain.count(known) == 1
    return plain.replace(known, stamp), len(plain) // 2 - 8, at_ms


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


@pytest.mark.parametrize(
    ("announced", "listed", "lies", "answer"),
    [
        ('"ME",0', "OK", ("ME", 0), "+CMGR: 0,,{}\r\n{}"),
        ('"ME", 0', "OK", ("ME", 0), '+CMGR: 0,"",{}\r\n{}'),
        ("ME,0", "OK", ("ME", 0), "+CMGR: 1,,{}\r\n{}"),
        ('"",0', "OK", ("ME", 0), "+CMGR: 0,,{}\r\n{}"),
        ('"me",0', "OK", ("ME", 0), "+CMGR:0,,{}\r\n{}"),
        ('"SM",0', "OK", ("SM", 0), "+CMGR: 0,,{}\r\n{}"),
        ('"SM",0', "+CMS ERROR: 321", ("SM", 0), "+CMGR: 0,,{}\r\n{}"),
        ('"MT",0', "OK", ("MT", 0), "+CMGR: 0,,{}\r\n{}"),
        ('"ME",255', "OK", ("ME", 255), "+CMGR: 0,,{}\r\n{}"),
        ('"ME",1023', "OK", ("ME", 1023), '+CMGR: 0,"Aicha",{}\r\n{}'),
        ('"ME",0', "+CMGL: 1,3,,24\r\n00", ("ME", 0), "+CMGR: 0,,{}\r\n{}"),
        ('"ME",0', "+CMGL: 7,0,,1\r\n00", ("ME", 0), "+CMGR: 0,,{}\r\n{}"),
    ],
)
async def test_a_place_that_is_not_listed_is_read_by_its_index(
    autojump_clock, modem, new_line, deliver_pdu, announced, listed, lies, answer
):
    pdu, storages = deliver_pdu("place zero"), Storages(modem, "ME", "SM", "MT")
    modem.replies[r"AT\+CMGL=4"] = listed if "ERROR" in listed else f"{listed}\r\n\r\nOK"
    storages.put(*lies, answer.format(len(pdu) // 2 - 8, pdu))
    async with new_line(modem).run() as line:
        await modem.say(f"+CMTI: {announced}")
        await line.context.wait_until(lambda it: bool(it.inbounds))
        assert [it.text for it in line.context.inbounds] == ["place zero"]
        await trio.sleep(1)
        assert storages.taken == [lies]


class Storages:
    """What lies in storages, whose lists do not show it unless they are to."""

    def __init__(self, modem, first, *others, lists=False) -> None:
        self.selected = first
        self.taken: list[tuple[str, int]] = []
        self._answers: dict[tuple[str, int], str] = {}
        names = ",".join(f'"{each}"' for each in (first, *others))
        modem.replies[r"AT\+CPMS=\?"] = f"+CPMS: ({names}),({names}),({names})\r\n\r\nOK"
        modem.replies[r"AT\+CPMS=.*"] = self._select
        modem.replies[r"AT\+CPMS\?"] = lambda _: (
            "+CPMS: " + ",".join([f'"{self.selected}",0,20'] * 3) + "\r\n\r\nOK"
        )
        modem.replies[r"AT\+CMGL=4"] = (lambda _: self._list()) if lists else "OK"
        modem.replies[r"AT\+CMGR=.*"] = lambda command: self._answers.get(
            self._place(command), "OK"
        )
        modem.replies[r"AT\+CMGD=.*"] = self._delete

    def put(self, name, index, answer) -> None:
        self._answers[name, index] = f"{answer}\r\n\r\nOK" if "ERROR" not in answer else answer

    def _list(self):
        rows = (
            f"+CMGL: {place}," + answer.removeprefix("+CMGR: ").removesuffix("OK")
            for (name, place), answer in sorted(self._answers.items())
            if name == self.selected
        )
        return "".join(rows) + "OK"

    def _place(self, command):
        return self.selected, int(command.partition("=")[2])

    def _select(self, command):
        self.selected = command.split('"')[1]
        return "+CPMS: 0,20,0,20,0,20\r\n\r\nOK"

    def _delete(self, command):
        place = self._place(command)
        if self._answers.pop(place, None) is not None:
            self.taken.append(place)
        return "OK"


@pytest.mark.parametrize(
    ("announced", "beside", "lies"),
    [
        ('"SM",0', None, ("SR", 0)),
        ('"SM",1', None, ("SR", 1)),
        ('"ME",0', None, ("SR", 0)),
        ('"ME",3', "+CMS ERROR: 321", ("SR", 3)),
        ('"MT",2', None, ("SR", 2)),
        ('"",0', None, ("SR", 0)),
        ("SM,0", None, ("SR", 0)),
        ('"SM",255', "+CMS ERROR: 322", ("SR", 255)),
        ('"SR",0', None, ("SR", 0)),
        ('"SM",4', None, ("SM", 4)),
        # A person's text lies at the place that is announced, or one that cannot be read, or one
        # that was stored to be sent.
        ('"SM",0', "a text", ("SR", 0)),
        ('"ME",0', "a text", ("SR", 0)),
        ('"SM",0', "+CMGR: 0,,7\r\n0006AA", ("SR", 0)),
        ('"SM",0', "+CMGR: 3,,24\r\n0011000B912232163254F60000AA0431D98C06", ("SR", 0)),
    ],
)
async def test_a_report_that_is_announced_in_the_wrong_storage(
    autojump_clock, modem, new_line, deliver_pdu, announced, beside, lies
):
    sent = datetime.fromtimestamp(1_795_176_000, UTC)
    report = StatusReport(17, TpAddress.of_number("+22236123456"), sent, sent, 0)
    pdu, octets = to_hex(report, TpAddress.of_number("+22200000001"))
    storages = Storages(modem, "ME", "SM", "SR")
    storages.put(*lies, f"+CMGR: 0,,{octets}\r\n{pdu}")
    async with new_line(modem).run() as line:
        name = announced.partition(",")[0].strip('"') or "ME"
        if beside is not None:
            text = deliver_pdu("Salut")
            there = f"+CMGR: 0,,{len(text) // 2 - 8}\r\n{text}" if beside == "a text" else beside
            storages.put(name, lies[1], there)
        await modem.say(f"+CDSI: {announced}")
        await line.context.wait_until(lambda it: bool(it.receipts))
        assert [it.state for it in line.context.receipts] == ["DELIVERED"]
        assert [it.text for it in line.context.inbounds] == ["Salut"] * (beside == "a text")
        await trio.sleep(1)
        assert lies in storages.taken


async def test_a_report_that_is_announced_where_a_text_is_listed(
    autojump_clock, modem, new_line, deliver_pdu
):
    sent = datetime.fromtimestamp(1_795_176_000, UTC)
    report = StatusReport(17, TpAddress.of_number("+22236123456"), sent, sent, 0)
    pdu, octets = to_hex(report, TpAddress.of_number("+22200000001"))
    storages, text = Storages(modem, "ME", "SR"), deliver_pdu("Salut")
    row = f"+CMGL: 0,0,,{len(text) // 2 - 8}\r\n{text}\r\n\r\nOK"
    modem.replies[r"AT\+CMGL=4"] = lambda _: row if storages.selected == "ME" else "OK"
    async with new_line(modem).run() as line:
        storages.put("SR", 0, f"+CMGR: 0,,{octets}\r\n{pdu}")
        await modem.say('+CDSI: "ME",0')
        await line.context.wait_until(lambda it: bool(it.receipts))
        await trio.sleep(1)
        assert ("SR", 0) in storages.taken


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
