"""The standard's limits, each at its edge; and messages of phones, as an SMSC hands them on."""

from dataclasses import replace

import pytest

from risala.drivers.smpp.protocol.checks import (
    destination_fault,
    fault_of,
    form_fault,
    submit_of,
    time_fault,
)
from risala.drivers.smpp.protocol.destinations import Destination, DistributionList
from risala.drivers.smpp.protocol.inbound import InboundForm, inbound_pdus
from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm, SubmitMulti, SubmitSm
from risala.drivers.smpp.protocol.submit import (
    SubmitOptions,
    decode_message,
    query_sm,
    readable_address,
)
from risala.drivers.smpp.protocol.tlv import Tlv
from risala.sms.message import Concatenation
from risala.sms.segment import join, user_data_header

NOW_MS = 1_795_348_799_700  # 2026-11-22 11:59:59.7 UTC
GOOD = SubmitSm(
    dest_addr_ton=1, destination_addr="22236123456", source_addr="RISALA", source_addr_ton=5
)
DATA = DataSm(dest_addr_ton=1, destination_addr="22236123456", tlvs=(Tlv(0x0424, b"text"),))
MANY = SubmitMulti(source_addr="RISALA", dest_addresses=(DistributionList("staff"),))
SAR = (Tlv(0x020C, b"\1\2"), Tlv(0x020E, b"\3"), Tlv(0x020F, b"\2"))


def edge(fits, status, does_not, of=GOOD):
    """A change at a limit that is taken, and one beyond it that is refused by a status."""
    return pytest.param(replace(of, **fits), replace(of, **does_not), status)


@pytest.mark.parametrize(
    ("fits", "does_not", "status"),
    [
        edge({"service_type": "x" * 5}, 0x15, {"service_type": "x" * 6}),
        edge({"source_addr": "x" * 11}, 0x0A, {"source_addr": "x" * 12}),
        edge(
            {"source_addr_ton": 1, "source_addr": "1" * 20},
            0x0A,
            {"source_addr_ton": 1, "source_addr": "1" * 21},
        ),
        edge({"destination_addr": "1" * 20}, 0x0B, {"destination_addr": "1" * 21}),
        edge({"destination_addr": "+1"}, 0x0B, {"destination_addr": ""}),
        edge({"dest_addr_ton": 0, "destination_addr": "*1"}, 0x0B, {"destination_addr": "*1"}),
        edge({"registered_delivery": 0x1F}, 0x07, {"registered_delivery": 0x20}),
        edge({"priority_flag": 3}, 0x06, {"priority_flag": 4}),
        edge({"replace_if_present_flag": 1}, 0x54, {"replace_if_present_flag": 2}),
        edge({"tlvs": SAR}, 0xC3, {"tlvs": SAR[:2]}),
        edge({"tlvs": ()}, 0xC3, {"tlvs": SAR[:1]}),
        edge({"tlvs": (Tlv(0x0427, b"\2"),)}, 0xC2, {"tlvs": (Tlv(0x0427, b""),)}),
        edge({"tlvs": (Tlv(0x1400, b""),)}, 0xC2, {"tlvs": (Tlv(0x0427, b"\0\2"),)}),
        edge(
            {"tlvs": (Tlv(0x0424, b"x"),)},
            0xC1,
            {"tlvs": (Tlv(0x0424, b"x"),), "short_message": b"x"},
        ),
        edge({}, 0xC0, {"trailing": b"\1"}),
        edge({"schedule_delivery_time": "000000000001000R"}, 0x61, {"schedule_delivery_time": "x"}),
        edge({"validity_period": "000000000001000R"}, 0x62, {"validity_period": "x"}),
        edge({"source_addr": "1" * 64}, 0x0A, {"source_addr": "1" * 65}, DATA),
        edge({"destination_addr": "1" * 64}, 0x0B, {"destination_addr": "1" * 65}, DATA),
        edge({"registered_delivery": 0x1F}, 0x07, {"registered_delivery": 0x20}, DATA),
        edge({}, 0xC3, {"tlvs": ()}, DATA),
        edge({}, 0x33, {"dest_addresses": ()}, MANY),
        edge({}, 0x06, {"priority_flag": 4}, MANY),
        edge({}, 0x62, {"validity_period": "x"}, MANY),
    ],
)
def test_what_is_at_its_limit_is_taken_and_no_more(fits, does_not, status):
    assert form_fault(fits, NOW_MS) == fault_of(fits, NOW_MS) == 0
    assert form_fault(does_not, NOW_MS) == fault_of(does_not, NOW_MS) == status


@pytest.mark.parametrize(
    ("validity", "status"),
    [
        ("261122115959700+", 0x62),
        ("261122115959800+", 0),
        ("261122115958700+", 0x62),
        ("000000000000000R", 0x62),
        ("", 0),
    ],
)
def test_a_validity_lies_ahead_and_a_schedule_may_be_over(validity, status):
    assert time_fault("", validity, NOW_MS) == status
    assert time_fault(validity, "", NOW_MS) == 0


HEADER = user_data_header(1, 2, 1)


@pytest.mark.parametrize(
    ("data_coding", "header", "most"),
    [
        (0, b"", 160), (1, b"", 160), (2, b"", 140), (4, b"", 140), (8, b"", 140),
        (0, HEADER, 153), (0, user_data_header(1, 2, 1, reference_bits=16), 152),
        (8, HEADER, 134),
    ],
)  # fmt: skip
def test_how_much_fits_one_message(data_coding, header, most):
    made = replace(GOOD, data_coding=data_coding, esm_class=0x40 if header else 0)
    fits = replace(made, short_message=header + b"x" * most)
    does_not = replace(made, short_message=header + b"x" * (most + 1))
    assert fault_of(fits, NOW_MS) == 0
    assert (fault_of(does_not, NOW_MS), form_fault(does_not, NOW_MS)) == (0x01, 0)


def test_a_header_that_is_none_is_a_fault_of_the_class():
    broken = replace(GOOD, esm_class=0x40, short_message=b"\5\0\3")
    assert fault_of(broken, NOW_MS) == 0x43
    assert fault_of(replace(broken, esm_class=0), NOW_MS) == 0
    assert fault_of(replace(DATA, esm_class=0x40), NOW_MS) == 0


def test_the_address_of_one_destination():
    assert destination_fault(1, "22236123456") == destination_fault(0, "RISALA") == 0
    assert destination_fault(1, "1" * 21) == destination_fault(1, "+") == 0x0B
    assert destination_fault(1, "1" * 21, 21) == 0
    assert destination_fault(1, "7") == destination_fault(0, "7") == 0
    assert destination_fault(1, "") == destination_fault(0, "") == 0x0B


def test_a_submit_for_one_of_several():
    several = replace(MANY, priority_flag=2, short_message=b"x", tlvs=SAR, data_coding=4)
    one = submit_of(several, Destination(1, 8, "22236123456"))
    assert one == SubmitSm(
        source_addr="RISALA",
        priority_flag=2,
        short_message=b"x",
        data_coding=4,
        dest_addr_ton=1,
        dest_addr_npi=8,
        destination_addr="22236123456",
        tlvs=SAR,
    )


# -- messages of phones ----------------------------------------------------------------------------


@pytest.mark.parametrize("form", InboundForm)
@pytest.mark.parametrize("text", ["Salam", "x" * 400, "سلام " * 40])
def test_a_phones_message_arrives_in_each_form(form, text):
    pdus = inbound_pdus(text, "+22236123456", "1234", 0x1234, form)
    for pdu in pdus:
        assert (pdu.source_addr_ton, pdu.source_addr_npi) == (1, 1)
        assert (pdu.source_addr, pdu.destination_addr) == ("22236123456", "1234")
        assert pdu.data_coding == (0 if text.isascii() else 8)
        assert isinstance(pdu, DataSm if form is InboundForm.DATA_SM else DeliverSm)
    decoded = [decode_message(pdu) for pdu in pdus]
    assert join(each.text for each in decoded) == text
    if len(text) < 10 or form in (InboundForm.PAYLOAD, InboundForm.DATA_SM):
        assert [each.concatenation for each in decoded] == [None]
        return
    bits = 8 if form is InboundForm.UDH8 else 16
    reference = 0x34 if bits == 8 else 0x1234
    assert [each.concatenation for each in decoded] == [
        Concatenation(reference, len(pdus), number, bits) for number in range(1, len(pdus) + 1)
    ]
    assert {pdu.esm_class for pdu in pdus} == {0 if form is InboundForm.SAR else 0x40}


@pytest.mark.parametrize(
    ("form", "text", "lengths"),
    [
        (InboundForm.UDH8, "x" * 400, [153, 153, 94]),
        (InboundForm.UDH16, "x" * 400, [152, 152, 96]),
        (InboundForm.SAR, "x" * 400, [153, 153, 94]),
        (InboundForm.UDH8, "س" * 140, [67, 67, 6]),
        (InboundForm.UDH16, "س" * 140, [66, 66, 8]),
        (InboundForm.SAR, "س" * 140, [67, 67, 6]),
    ],
)
def test_each_part_is_as_long_as_its_header_leaves_room_for(form, text, lengths):
    pdus = inbound_pdus(text, "+22236123456", "1234", 0x1234, form)
    assert [len(decode_message(pdu).text) for pdu in pdus] == lengths


def test_a_short_text_is_in_the_short_message_unless_a_payload_is_asked_for():
    (pdu,) = inbound_pdus("é", "Bank", "1234", 1)
    assert (pdu.short_message, pdu.tlvs, pdu.source_addr_ton) == (b"\5", (), 5)
    (pdu,) = inbound_pdus("é", "Bank", "1234", 1, InboundForm.PAYLOAD)
    assert (pdu.short_message, pdu.tlvs) == (b"", (Tlv(0x0424, b"\5"),))


def test_a_question_is_of_the_same_sender_as_the_submit():
    asked = query_sm("77", "RISALA", SubmitOptions())
    assert (asked.message_id, asked.source_addr) == ("77", "RISALA")
    assert (asked.source_addr_ton, asked.source_addr_npi) == (5, 0)
    asked = query_sm("77", "RISALA", SubmitOptions(source_ton=0, source_npi=9))
    assert (asked.source_addr_ton, asked.source_addr_npi) == (0, 9)


@pytest.mark.parametrize(
    ("ton", "address", "text"),
    [
        (1, "22236123456", "+22236123456"), (0, "22236123456", "22236123456"),
        (2, "36123456", "36123456"), (1, "Bank", "Bank"), (1, "", ""), (1, "²", "²"),
    ],
)  # fmt: skip
def test_an_address_as_people_write_it(ton, address, text):
    assert readable_address(ton, address) == text
