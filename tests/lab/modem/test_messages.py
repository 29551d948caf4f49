"""Messages: typed as text and as PDUs, stored, listed, brought, reported on."""

import re

import pytest

from risala.drivers.modem.tpdu.pdu import Deliver, StatusReport
from risala.lab.modem.world.config import ReferenceForm, ReportStatus
from risala.lab.modem.world.events import (
    InboundSent,
    MessageReceived,
    ReportSent,
    Submitted,
    Trouble,
    Waiting,
)
from risala.lab.modem.world.network import HELD_MAX
from risala.sms.segment import split, user_data_header

TO = "+22236123456"
FROM = "+22246999999"
SMSC = "+22236990000"
LONG = "Vous avez reçu 1 500 MRU {ref [A~7]} € – merci. " * 8
AT_NOON = '"26/11/20,12:00:00+00"'


def ucs2(text):
    return text.encode("utf-16-be").hex().upper()


# -- sending ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["Bonjour", "[€]{~}", "رسالة من ريسالة", "🐫 oui", "@", "x" * 160])
def test_a_pdu_reaches_its_phone_as_it_was(desk, text):
    assert desk.send(text) == ["+CMGS: 0", "OK"]
    assert desk.of(MessageReceived) == [MessageReceived("+22236000001", TO, text, 1)]
    [submitted] = desk.of(Submitted)
    assert (submitted.text, submitted.is_taken, submitted.wants_report) == (text, True, False)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_long_message_is_joined_in_any_order(desk, bits, backwards):
    parts = split(LONG, reference_bits=bits)
    numbered = list(enumerate(parts, 1))[:: -1 if backwards else 1]
    for number, part in numbered:
        assert not desk.of(MessageReceived)
        header = user_data_header(300, len(parts), number, reference_bits=bits)
        assert desk.send(part, header=header)[-1] == "OK"
    desk.send("other", to="+22236000000")
    whole, _ = desk.of(MessageReceived)
    assert (whole.text, whole.segments) == (LONG, len(parts))


def test_references_wrap_and_may_be_told_wrong(new_desk):
    desk = new_desk(first_reference=254)
    assert [desk.send("x")[0] for _ in range(3)] == ["+CMGS: 254", "+CMGS: 255", "+CMGS: 0"]
    for form, told in (("zero", 0), ("minus", -1), ("wrong", 104)):
        desk = new_desk(first_reference=4, reference_form=ReferenceForm(form))
        desk.rows("AT+CNMI=2,1,0,1")
        assert desk.send("x", report=True)[0] == f"+CMGS: {told}"
        *_, pdu = desk.hear(1).split()
        assert desk.read(pdu).reference == 4


@pytest.mark.parametrize(
    ("set_up", "command", "body", "text"),
    [
        ("AT+CMGF=1", f'AT+CMGS="{TO}"', "Hello", "Hello"),
        ('AT+CMGF=1;+CSCS="IRA"', f'AT+CMGS="{TO}",145', "a@b_$", "a@b_$"),
        ('AT+CMGF=1;+CSCS="GSM"', 'AT+CMGS="22236123456",145', "a\x00b\x11\x02", "a@b_$"),
        ('AT+CMGF=1;+CSCS="8859-1"', f'AT+CMGS="{TO}"', "\xe9t\xe9", "été"),
        ('AT+CMGF=1;+CSCS="HEX"', f'AT+CMGS="{TO}"', "1B6548", "€H"),
        ('AT+CMGF=1;+CSCS="UCS2"', f'AT+CMGS="{ucs2(TO)}"', ucs2("€uro"), "€uro"),
        ('AT+CMGF=1;+CSCS="UCS2"', f'AT+CMGS="{TO}"', ucs2("oui"), "oui"),
        ("AT+CMGF=1;+CSMP=17,167,0,8", f'AT+CMGS="{TO}"', ucs2("مرحبا"), "مرحبا"),
        ("AT+CMGF=1;+CSMP=17,167,0,4", f'AT+CMGS="{TO}"', "41424300", "41424300"),
        ("AT+CMGF=1", f'AT+CMGS="{TO}"', "one\rtwo", "one\ntwo"),
        ("AT+CMGF=1", f'AT+CMGS="{TO}"', "oops\x08\x08ui", "ooui"),
    ],
)
def test_what_is_typed_as_text(desk, set_up, command, body, text):
    desk.rows(set_up)
    assert desk.type(f"{command}\r") == "\r\n> "
    answer = desk.type(f"{body}\x1a")
    assert answer.endswith("\r\n+CMGS: 0\r\n\r\nOK\r\n")
    [received] = desk.of(MessageReceived)
    assert (received.recipient, received.text) == (TO, text)


def test_a_text_with_a_header_is_typed_in_hexadecimal(desk):
    desk.rows("AT+CMGF=1;+CSMP=81,167,0,8")
    for number, text in ((1, "مر"), (2, "حبا")):
        header = user_data_header(9, 2, number).hex()
        desk.type(f'AT+CMGS="{TO}"\r')
        assert desk.type(f"{header}{ucs2(text)}\x1a").endswith("OK\r\n")
    [received] = desk.of(MessageReceived)
    assert received.text == "مرحبا"


def test_escape_abandons_and_ctrl_z_alone_does_nothing(desk):
    assert desk.type("\x1aAT\r") == "\r\nOK\r\n"
    desk.rows("AT+CMGF=1")
    desk.type(f'AT+CMGS="{TO}"\r')
    assert desk.type("never mind\x1b") == "\r\nOK\r\n"
    assert desk.type("AT\r") == "\r\nOK\r\n"
    assert not desk.of(Submitted)


@pytest.mark.parametrize(
    ("set_up", "command", "body", "error"),
    [
        ("", "AT+CMGS=999", None, 304),
        ("", "AT+CMGS=x", None, 304),
        ("AT+CMGF=1", "AT+CMGS", None, 305),
        ("", "AT+CMGS=13", "0011000C91226321436500000B05", 304),
        ("", "AT+CMGS=13", "no hexadecimal", 304),
        ("", "AT+CMGS=13", "", 304),
        ("AT+CMGF=1", f'AT+CMGS="{TO}"', "x" * 161, 305),
        ('AT+CMGF=1;+CSCS="UCS2"', f'AT+CMGS="{TO}"', "no hex", 305),
        ("AT+CMGF=1", 'AT+CMGS="Ami"', "x", 305),
        ("", "AT+CMGC=5", "00", 303),
    ],
)
def test_what_cannot_be_sent_has_its_number(desk, set_up, command, body, error):
    if set_up:
        desk.rows(set_up)
    answer = desk.type(f"{command}\r")
    if body is not None:
        assert answer == "\r\n> "
        answer = desk.type(f"{body}\x1a")
    assert answer == f"\r\n+CMS ERROR: {error}\r\n"
    assert not desk.of(Submitted)


def test_no_network_no_service_centre_no_room(new_desk):
    desk = new_desk(registration=2)
    assert desk.send("x") == ["+CMS ERROR: 331"]
    desk = new_desk(smsc_number="")
    assert desk.send("x") == ["+CMS ERROR: 330"]
    desk.rows(f'AT+CSCA="{SMSC}",145')
    assert desk.rows("AT+CSCA?") == [f'+CSCA: "{SMSC}",145']
    assert desk.send("x") == ["+CMGS: 0", "OK"]
    desk = new_desk(full_blocks_sending=True, places={"SM": 1})
    desk.modem.network.send(FROM, "x")
    assert desk.send("x") == ["+CMS ERROR: 322"]
    desk.rows("AT+CMGD=1")
    assert desk.send("x")[-1] == "OK"


def test_an_answer_takes_the_networks_time(new_desk):
    desk = new_desk(answer_after_s=3)
    assert desk.send("x", for_s=2.9) == []
    desk.modem.network.send(FROM, "meanwhile")
    assert "+CMGS: 0" in desk.hear(0.2)
    assert desk.of(MessageReceived)


# -- reports ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "octets"),
    [
        (ReportStatus.DELIVERED, [0x00]),
        (ReportStatus.FAILED, [0x41]),
        (ReportStatus.EXPIRED, [0x46]),
        (ReportStatus.TRYING, [0x30]),
        (ReportStatus.TRYING_FIRST, [0x30, 0x00]),
        (ReportStatus.NONE, []),
    ],
)
def test_what_a_report_says(new_desk, status, octets):
    desk = new_desk(report_status=status, report_after_s=2)
    desk.rows("AT+CNMI=2,1,0,1")
    desk.send("x", report=True)
    assert desk.hear(1.9) == ""
    reports = [desk.read(line) for line in desk.hear(10).split()[2::3]]
    assert [report.status for report in reports] == octets
    assert all(
        (report.reference, report.recipient.readable) == (0, TO)
        and (report.done_at - report.sent_at).total_seconds() >= 2
        for report in reports
    )


@pytest.mark.parametrize("profile", ["plain", "huawei", "sim800", "quectel"])
def test_reports_are_kept_among_the_messages(new_desk, profile):
    """Programs that read a modem look for them there, and in no other storage."""
    desk = new_desk(profile)
    desk.rows("AT+CNMI=2,1,0,2,0")
    received = desk.modem.memories[2]
    said = desk.send("y", report=True, for_s=1)
    first = desk.modem.profile.first_index
    assert f'+CDSI: "{received}",{first}' in said
    assert [report.way for report in desk.of(ReportSent)] == [received]
    desk.rows("AT+CMGF=0")
    pdus = [row for row in desk.rows("AT+CMGL=4") if re.fullmatch("[0-9A-F]{20,}", row)]
    [report] = [desk.read(pdu) for pdu in pdus]
    assert isinstance(report, StatusReport)
    assert report.recipient.readable == TO


def test_reports_go_where_cnmi_says(new_desk):
    desk = new_desk(reports_apart=True)
    desk.send("x", report=True, for_s=1)
    desk.rows("AT+CNMI=2,1,0,2,0")
    assert '+CDSI: "SR",1' in desk.send("y", report=True, for_s=1)
    assert [report.way for report in desk.of(ReportSent)] == ["nowhere", "SR"]
    assert desk.rows('AT+CPMS="SR"') == ["+CPMS: 1,50,0,30,0,30"]
    header, pdu = desk.rows("AT+CMGR=1")
    assert header == f"+CMGR: 0,,{len(pdu) // 2 - 8}"
    assert isinstance(desk.read(pdu), StatusReport)
    desk.rows("AT+CMGF=1")
    [row] = desk.rows("AT+CMGR=1")
    assert row.startswith(f'+CMGR: "REC READ",6,1,"{TO}",145,"26/11/20,12:00:')
    assert row.endswith(",0")
    assert desk.rows('AT+CMGL="ALL"')[0].startswith('+CMGL: 1,"REC READ",6,1,')
    desk.rows("AT+CNMI=2,1,0,1,0;+CSMP=49,167,0,0")
    desk.type(f'AT+CMGS="{TO}"\r')
    desk.type("z\x1a")
    assert desk.hear(1).startswith(f'\r\n+CDS: 6,2,"{TO}",145,')


def test_reports_under_phase_2_wait_for_each_acknowledgement(desk):
    desk.rows("AT+CSMS=1;+CNMI=2,1,0,1")
    for _ in range(3):
        desk.send("x", report=True)
    assert desk.hear(5).count("+CDS:") == 1
    assert desk.type("AT+CNMA\r").count("+CDS:") == 1
    assert desk.type("AT+CNMA=1\r").count("+CDS:") == 1
    assert desk.rows("AT+CNMA=0") == []
    assert desk.ask("AT+CNMA") == ["+CMS ERROR: 340"]


def test_without_an_acknowledgement_nothing_more_comes_and_it_comes_again(new_desk):
    desk = new_desk(acknowledge_s=10)
    desk.rows("AT+CSMS=1;+CNMI=2,2,0,1")
    desk.modem.network.send(FROM, "one")
    desk.modem.network.send(FROM, "two")
    assert desk.hear(9).count("+CMT:") == 1
    assert desk.hear(2) == ""
    assert desk.rows("AT+CNMI?") == ["+CNMI: 2,0,0,0,0"]
    assert desk.of(Trouble)
    texts = [desk.read(pdu).user_data.text for pdu in desk.rows("AT+CMGL=4")[1::2]]
    assert sorted(texts) == ["one", "two"]


def test_a_negative_acknowledgement_brings_it_again(desk):
    desk.rows("AT+CSMS=1;+CNMI=2,2")
    desk.modem.network.send(FROM, "once more")
    assert "+CMT:" in desk.hear(0)
    assert desk.type("AT+CNMA=2,3\r") == "\r\n> "
    assert desk.type("00D300\x1a") == "\r\nOK\r\n"
    assert "+CMT:" in desk.hear(6)


# -- what comes ------------------------------------------------------------------------------------


def test_a_message_is_stored_announced_read_and_deleted(desk):
    desk.modem.network.send(FROM, "silent")
    assert desk.hear(0) == ""
    desk.rows('AT+CPMS="ME","ME","ME";+CNMI=2,1')
    desk.modem.network.send("Mauritel", "مرحبا")
    assert desk.hear(0) == '\r\n+CMTI: "ME",1\r\n'
    header, pdu = desk.rows("AT+CMGL=0")
    assert header == f"+CMGL: 1,0,,{len(pdu) // 2 - 8}"
    deliver = desk.read(pdu)
    assert isinstance(deliver, Deliver)
    assert (deliver.originator.readable, deliver.user_data.text) == ("Mauritel", "مرحبا")
    assert desk.rows("AT+CMGL=0") == []
    assert desk.rows("AT+CMGR=1")[0].startswith("+CMGR: 1,,")
    assert desk.rows("AT+CMGD=?") == ["+CMGD: (1),(0-4)"]
    desk.rows("AT+CMGD=1")
    assert desk.ask("AT+CMGR=1") == ["+CMS ERROR: 321"]
    assert desk.rows("AT+CPMS?") == ['+CPMS: "ME",0,100,"ME",0,100,"ME",0,100']
    assert [inbound.way for inbound in desk.of(InboundSent)] == ["SM", "ME"]


@pytest.mark.parametrize(
    ("mt", "message_class", "said", "way"),
    [
        (0, None, "", "ME"),
        (1, None, '+CMTI: "ME",1', "ME"),
        (2, None, "+CMT: ,", "+CMT"),
        (3, None, '+CMTI: "ME",1', "ME"),
        (2, 2, '+CMTI: "SM",1', "SM"),
        (3, 3, "+CMT: ,", "+CMT"),
        (1, 0, '+CMTI: "ME",1', "ME"),
    ],
)
def test_where_a_message_of_a_class_goes(desk, mt, message_class, said, way):
    desk.rows(f'AT+CPMS="ME","ME","ME";+CNMI=2,{mt}')
    desk.modem.network.send(FROM, "x", message_class=message_class)
    heard = desk.hear(0)
    assert said in heard
    assert bool(heard) == bool(said)
    assert [inbound.way for inbound in desk.of(InboundSent)] == [way]


def test_a_stick_gives_class_0_straight(new_desk):
    desk = new_desk("huawei")
    desk.rows("AT^CURC=0;+CNMI=2,1")
    desk.modem.network.send(FROM, "x", message_class=0)
    assert "+CMT: ," in desk.hear(0)


def test_lines_are_held_under_mode_0(desk):
    desk.rows("AT+CNMI=0,1")
    desk.modem.network.send(FROM, "x")
    assert desk.hear(0) == ""
    assert desk.ask("AT+CNMI=2,1,0,0,0") == ["OK", '+CMTI: "SM",1']


def test_nothing_comes_between_a_prompt_and_its_body(desk):
    desk.rows("AT+CMGF=1;+CNMI=2,1")
    desk.type(f'AT+CMGS="{TO}"\r')
    desk.modem.network.send(FROM, "x")
    assert desk.hear(1) == ""
    assert desk.type("Hello\x1a").startswith('\r\n+CMTI: "SM",1\r\n')


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("bits", [8, 16])
def test_a_long_message_comes_in_parts(desk, shuffle, bits):
    desk.modem.network.send(FROM, LONG, shuffle=shuffle, reference_bits=bits)
    delivers = [desk.read(pdu) for pdu in desk.rows("AT+CMGL=4")[1::2]]
    numbers = [it.user_data.concatenation.number for it in delivers]
    assert (numbers == sorted(numbers)) is not shuffle
    by_number = sorted(delivers, key=lambda it: it.user_data.concatenation.number)
    assert "".join(it.user_data.text for it in by_number) == LONG
    assert {it.user_data.concatenation.bits for it in delivers} == {bits}


@pytest.mark.parametrize(
    ("charset", "details", "head", "text"),
    [
        ("GSM", 0, f'+CMT: "{FROM}",,{AT_NOON}', "a\x00\x1be"),
        ("IRA", 0, f'+CMT: "{FROM}",,{AT_NOON}', "a@?"),
        ("UCS2", 0, f'+CMT: "{ucs2(FROM)}",,{AT_NOON}', ucs2("a@€")),
        ("HEX", 1, f'+CMT: "{FROM.encode().hex().upper()}",,{AT_NOON},145,4,0,0,"', "61001B65"),
    ],
)
def test_what_comes_as_text(desk, charset, details, head, text):
    desk.rows(f'AT+CMGF=1;+CSDH={details};+CNMI=2,2;+CSCS="{charset}"')
    desk.modem.network.send(FROM, "a@€")
    said = desk.hear(0)
    assert said.startswith(f"\r\n{head}")
    assert said.endswith(f"\r\n{text}\r\n")


def test_lists_and_shows_text(desk):
    desk.modem.network.send(FROM, "one")
    desk.modem.network.send(FROM, "اثنان")
    desk.rows("AT+CMGF=1")
    assert desk.rows('AT+CMGL="REC UNREAD",1') == [
        f'+CMGL: 1,"REC UNREAD","{FROM}",,{AT_NOON}',
        "one",
        f'+CMGL: 2,"REC UNREAD","{FROM}",,{AT_NOON}',
        ucs2("اثنان"),
    ]
    desk.rows("AT+CSDH=1")
    assert desk.rows("AT+CMGR=1") == [
        f'+CMGR: "REC UNREAD","{FROM}",,{AT_NOON},145,4,0,0,"{SMSC}",145,3',
        "one",
    ]
    assert [row for row in desk.rows('AT+CMGL="REC READ"') if "+CMGL" in row] == [
        f'+CMGL: 1,"REC READ","{FROM}",,{AT_NOON},145,3'
    ]
    assert desk.ask('AT+CMGL="SOME"') == ["+CMS ERROR: 305"]


def test_drafts_are_written_listed_and_sent(desk):
    desk.rows("AT+CMGF=1")
    desk.type(f'AT+CMGW="{TO}"\r')
    assert "+CMGW: 1" in desk.type("Draft\x1a")
    assert desk.rows('AT+CMGL="STO UNSENT"') == [f'+CMGL: 1,"STO UNSENT","{TO}",,', "Draft"]
    assert desk.rows("AT+CMSS=1") == ["+CMSS: 0"]
    assert desk.rows('AT+CMSS=1,"+22246111111"') == ["+CMSS: 1"]
    sent = [(it.recipient, it.text) for it in desk.of(MessageReceived)]
    assert sent == [(TO, "Draft"), ("+22246111111", "Draft")]
    desk.rows("AT+CSDH=1")
    assert desk.rows("AT+CMGR=1")[0] == (f'+CMGR: "STO SENT","{TO}",,145,17,0,0,167,"{SMSC}",145,5')
    assert desk.ask("AT+CMSS=2") == ["+CMS ERROR: 321"]
    desk.rows("AT+CMGF=0")
    _, pdu = desk.rows("AT+CMGL=3")
    desk.type(f"AT+CMGW={len(pdu) // 2 - 8},2\r")
    assert "+CMGW: 2" in desk.type(f"{pdu}\x1a")


@pytest.mark.parametrize(("flag", "left"), [(1, 3), (2, 2), (3, 1), (4, 0)])
def test_one_command_deletes_by_state(desk, flag, left):
    desk.modem.network.send(FROM, "read")
    desk.rows("AT+CMGL=4")
    desk.modem.network.send(FROM, "unread")
    desk.rows("AT+CMGF=1")
    for state in ("STO UNSENT", "STO SENT"):
        desk.type(f'AT+CMGW="{TO}",145,"{state}"\r')
        desk.type("x\x1a")
    desk.rows(f"AT+CMGD=1,{flag}")
    assert desk.rows("AT+CPMS?")[0].startswith(f'+CPMS: "SM",{left},')


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("plain", ""),
        ("huawei", '^SMMEMFULL:"SM"'),
        ("sim800", "*SMSFULL"),
        ("quectel", '+QIND: "smsfull","ME"'),
    ],
)
def test_a_full_storage_says_so_and_takes_what_waited_once_there_is_room(new_desk, name, line):
    desk = new_desk(name, places={"SM": 2, "ME": 2})
    desk.modem.is_noisy = False
    desk.rows("AT+CNMI=2,1")
    for number in range(4):
        desk.modem.network.send(FROM, str(number))
    said = desk.hear(0)
    assert said.count("+CMTI:") == 2
    assert line in said
    assert desk.of(Waiting)[-1].count == 2
    data = "0011000C9122634165874900000000"
    desk.type(f"AT+CMGW={len(data) // 2 - 1}\r")
    assert desk.type(f"{data}\x1a").strip() == "+CMS ERROR: 322"
    first = desk.modem.profile.first_index
    said = desk.type(f"AT+CMGD={first}\r")
    assert said.count("+CMTI:") == 1


def test_the_network_keeps_what_comes_while_the_modem_is_away_up_to_a_limit(desk):
    desk.rows("AT+CNMI=2,1")
    desk.modem.set_registration(2)
    for _ in range(HELD_MAX + 1):
        desk.modem.network.send(FROM, "x")
    assert desk.of(Waiting)[-1].count == HELD_MAX
    assert desk.of(Trouble)
    desk.modem.set_registration(1)
    assert desk.hear(0).count("+CMTI:") == 30  # all that its SIM has room for


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("plain", ["+CMS ERROR: 321"]),
        ("huawei", ["+CMS ERROR: 321"]),
        ("sim800", ["OK"]),
        ("quectel", ["OK"]),
    ],
)
def test_an_empty_place(new_desk, name, answer):
    desk = new_desk(name)
    desk.modem.is_noisy = False
    assert desk.ask("AT+CMGR=1") == answer


@pytest.mark.parametrize("command", ['AT+CPMS="XX"', 'AT+CPMS="SM","SR"'])
def test_a_storage_that_is_not_there_or_keeps_other_things(desk, command):
    assert desk.ask(command) == ["+CMS ERROR: 303"]


def test_characters_sets_and_parameters_are_read_back(desk):
    assert desk.rows('AT+CSCS="UCS2";+CSCS?') == ['+CSCS: "UCS2"']
    assert desk.ask('AT+CSCS="KOI8"') == ["+CMS ERROR: 304"]
    assert desk.rows("AT+CSMP=49,,0,8;+CSMP?") == ["+CSMP: 49,167,0,8"]
    assert desk.rows("AT+CSMS?") == ["+CSMS: 0,1,1,1"]
    assert desk.rows("AT+CNMI=?") == ["+CNMI: (0-2),(0-3),(0,2),(0-2),(0,1)"]
    assert desk.ask("AT+CNMI=3,1") == ["ERROR"]


def test_a_part_in_text_mode_shows_its_header_in_hexadecimal(desk):
    desk.modem.network.send(FROM, "seven bits " * 20)
    desk.rows("AT+CMGF=1")
    _, text = desk.rows("AT+CMGR=1")
    assert text.startswith("050003")
    assert len(bytes.fromhex(text)) == 140
