"""A submit as a message of ours, or the status that says why it cannot be one."""

from dataclasses import replace

import pytest
import smpplib.command
import smpplib.consts

from risala.drivers.smpp.protocol.codec import decode
from risala.drivers.smpp.protocol.pdu import DataSm, SubmitSm
from risala.drivers.smpp.protocol.status import STATUSES
from risala.drivers.smpp.protocol.submit import DefaultAlphabet, sar_tlvs
from risala.drivers.smpp.protocol.times import absolute_time
from risala.drivers.smpp.protocol.tlv import MESSAGE_PAYLOAD, USER_MESSAGE_REFERENCE, Tlv
from risala.engine.model import errors
from risala.engine.model.commands import CutPart, SendMessage
from risala.smpp_server.statuses import ESME_RINVDSTADR, STATUS_OF, StatusRefusal, status_of
from risala.smpp_server.submits import IDEMPOTENCY_KEY, IdShape, command_of
from risala.sms.message import Alphabet, Concatenation
from risala.sms.numbering.plan import DEFAULT, NumberingPlan, plan_of
from risala.sms.segment import user_data_header
from smpp_peers.house import NOW_MS, submit

GSM7 = DefaultAlphabet.GSM7


def command(
    request: SubmitSm | DataSm, alphabet: DefaultAlphabet = GSM7, plan: NumberingPlan = DEFAULT
) -> SendMessage:
    return command_of(request, NOW_MS, plan, alphabet, None)


def refusal(request: SubmitSm | DataSm) -> int:
    with pytest.raises(StatusRefusal) as caught:
        command(request)
    assert str(caught.value).endswith(".")
    return caught.value.command_status


@pytest.mark.parametrize(
    ("data_coding", "octets", "text"),
    [
        (0, b"Prix: 5 \x01", "Prix: 5 £"),
        (0, b"\x1b\x65", "€"),
        (1, b"plain", "plain"),
        (3, "é à".encode("latin-1"), "é à"),
        (8, "سلام".encode("utf-16-be"), "سلام"),
        (8, "🌍".encode("utf-16-be"), "🌍"),
    ],
)
def test_a_text_is_read_by_its_data_coding(data_coding: int, octets: bytes, text: str):
    assert command(submit(data_coding=data_coding, short_message=octets)).body == text


@pytest.mark.parametrize(
    ("data_coding", "octets", "text"),
    [
        (0xF0, b"Bonjour \x05", "Bonjour é"),
        (0x10, b"Bonjour \x05", "Bonjour é"),
        (0x18, "السلام".encode("utf-16-be"), "السلام"),
    ],
)
def test_class_0_is_a_flash_message(data_coding: int, octets: bytes, text: str):
    flash = submit(data_coding=data_coding, short_message=octets)
    for alphabet in (GSM7, DefaultAlphabet.LATIN1):
        told = command(flash, alphabet)
        assert (told.body, told.message_class) == (text, 0)
    assert command(submit()).message_class is None


class SequenceOfOne:
    """What smpplib asks of the client of a PDU."""

    def next_sequence(self) -> int:
        return 1


@pytest.mark.parametrize(("data_coding", "message_class"), [(0xF0, 0), (0x18, 0), (0, None)])
def test_what_smpplib_sends_as_a_flash_message_is_one(data_coding: int, message_class: int | None):
    theirs = smpplib.command.SubmitSM(
        "submit_sm",
        client=SequenceOfOne(),
        destination_addr="22236123456",
        dest_addr_ton=smpplib.consts.SMPP_TON_INTL,
        short_message=b"\0h\0i" if data_coding == 0x18 else b"hi",
        data_coding=data_coding,
    )
    read = decode(theirs.generate())
    assert isinstance(read, SubmitSm)
    told = command(read)
    assert (told.body, told.message_class) == ("hi", message_class)


def test_data_coding_0_may_be_latin_1_where_the_settings_say_so():
    request = submit(short_message="é".encode("latin-1"))
    assert command(request, DefaultAlphabet.LATIN1).body == "é"
    assert refusal(request) == 0x104


def test_a_long_text_comes_whole_in_message_payload():
    text = "x" * 1600
    request = submit("", tlvs=(Tlv(MESSAGE_PAYLOAD, text.encode()),))
    assert command(request).body == text
    long = submit("", tlvs=(Tlv(MESSAGE_PAYLOAD, (text + "x").encode()),))
    assert refusal(long) == 0x01


@pytest.mark.parametrize(
    ("address", "fields", "number"),
    [
        ("22236123456", {"dest_addr_ton": 1}, "+22236123456"),
        ("+22236123456", {"dest_addr_ton": 1}, "+22236123456"),
        ("36123456", {"dest_addr_ton": 2}, "+22236123456"),
        ("0022236123456", {"dest_addr_ton": 0}, "+22236123456"),
    ],
)
def test_a_recipient_may_be_written_in_each_usual_way(address: str, fields: dict, number: str):
    assert command(submit(destination_addr=address, **fields)).to == number


def test_the_sender_is_a_name_or_nobody():
    assert command(submit()).sender is None
    assert command(submit(source_addr="SHOP", source_addr_ton=5)).sender == "SHOP"
    assert command_of(submit(), NOW_MS, DEFAULT, GSM7, "HOUSE").sender == "HOUSE"
    assert refusal(submit(source_addr="1234", source_addr_ton=0)) == 0x0A


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"destination_addr": "33612345678"}, 0x0B),
        ({"destination_addr": ""}, 0x0B),
        ({"data_coding": 4, "short_message": b"\x01\x02"}, 0x104),
        ({"data_coding": 0xF5}, 0x104),
        ({"data_coding": 0xF1}, 0x104),
        ({"data_coding": 0x11}, 0x104),
        ({"data_coding": 8, "short_message": "السلام".encode("utf-16-be")[:-1]}, 0x104),
        ({"esm_class": 1}, 0x43),
        ({"esm_class": 2}, 0x43),
        ({"esm_class": 8}, 0x43),
        ({"esm_class": 0x80}, 0x43),
        ({"esm_class": 0x40, "short_message": b"\x06\x05\x04\x0b\x84\x23\xf0x"}, 0x43),
        ({"esm_class": 0x40, "short_message": b""}, 0x43),
        ({"service_type": "USSD"}, 0x15),
        ({"service_type": "toolong"}, 0x15),
        ({"replace_if_present_flag": 1}, 0x54),
        ({"sm_default_msg_id": 3}, 0x63),
        ({"protocol_id": 0x40}, 0x45),
        ({"priority_flag": 9}, 0x06),
        ({"short_message": b""}, 0x01),
        ({"schedule_delivery_time": "soon"}, 0x61),
        ({"validity_period": "later"}, 0x62),
        ({"validity_period": absolute_time(NOW_MS - 1000)}, 0x62),
        ({"schedule_delivery_time": absolute_time(NOW_MS + 31 * 86_400_000)}, 0x61),
        ({"tlvs": (Tlv(IDEMPOTENCY_KEY, b"short\0"),)}, 0xC4),
    ],
)
def test_what_cannot_be_a_message_of_ours_is_refused(fields: dict, status: int):
    assert refusal(submit(**fields)) == status


def test_times_are_taken_over():
    at_ms = NOW_MS + 3_600_000
    later = command(submit(schedule_delivery_time=absolute_time(at_ms)))
    assert (later.send_at, later.validity_s) == (at_ms, None)
    assert command(submit(schedule_delivery_time=absolute_time(NOW_MS - 5000))).send_at is None
    assert command(submit(validity_period="000000010000000R")).validity_s == 3600
    both = submit(
        schedule_delivery_time=absolute_time(at_ms), validity_period=absolute_time(at_ms + 60_000)
    )
    assert command(both).validity_s == 60
    assert command(submit(validity_period="000030000000000R")).validity_s == 259_200


def test_what_receipts_must_tell_stands_in_the_metadata():
    assert command(submit()).metadata == {}
    asked = command(submit(registered_delivery=1, tlvs=(Tlv(USER_MESSAGE_REFERENCE, b"\x01\x02"),)))
    assert asked.metadata == {"smpp.receipt": "1", "smpp.reference": "258"}
    assert command(submit(registered_delivery=2)).metadata == {"smpp.receipt": "2"}
    numbered = command_of(submit(), NOW_MS, DEFAULT, GSM7, None, IdShape.HEX)
    assert numbered.metadata == {"smpp.id": "hex"}
    asked = command(submit(registered_delivery=0x11))
    assert asked.metadata == {"smpp.receipt": "1", "smpp.intermediate": "1"}


@pytest.mark.parametrize("bits", [8, 16])
def test_a_part_keeps_its_place_and_alphabet(bits):
    header = user_data_header(0x1234, 3, 2, reference_bits=bits)
    request = submit(esm_class=0x40, short_message=header + "سلام".encode("utf-16-be"))
    taken = command(replace(request, data_coding=8))
    reference = 0x1234 if bits == 16 else 0x34
    place = Concatenation(reference, 3, 2, bits)
    assert (taken.body, taken.part) == ("سلام", CutPart(place, Alphabet.UCS2))
    plain = command(submit(esm_class=0x40, short_message=header + b"abc"))
    assert plain.part == CutPart(place, Alphabet.GSM7)


def test_a_part_by_parameters_gets_the_narrow_reference():
    taken = command(submit("abc", tlvs=sar_tlvs(0x1234, 2, 1)))
    assert taken.part == CutPart(Concatenation(0x34, 2, 1, 8), Alphabet.GSM7)
    assert command(submit("abc", tlvs=sar_tlvs(0x1234, 1, 1))).part is None


def test_a_part_that_does_not_fit_is_refused():
    assert refusal(submit("x" * 154, tlvs=sar_tlvs(1, 2, 1))) == 0x01
    assert command(submit("x" * 153, tlvs=sar_tlvs(1, 2, 1))).part is not None
    latin = submit(short_message="ê".encode("latin-1"), data_coding=3, tlvs=sar_tlvs(1, 2, 1))
    assert refusal(latin) == 0x104


def test_a_key_makes_a_submit_that_is_sent_again_the_same_message():
    request = submit(tlvs=(Tlv(IDEMPOTENCY_KEY, b"order-4711\0"),))
    assert command(request).idempotency_key == "order-4711"


def test_a_country_that_is_not_open_is_no_destination():
    assert status_of(errors.CountryNotOpen("Senegal")) == ESME_RINVDSTADR


def test_every_refusal_of_the_engine_has_a_status_that_is_documented():
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    refusals = [each for each in kinds if issubclass(each, errors.EngineError)]
    made = {kind: status_of(kind.__new__(kind)) for kind in refusals}
    assert all(made.values())
    for status in STATUS_OF.values():
        assert status in STATUSES or 0x400 <= status <= 0x4FF


def test_a_short_message_has_254_octets_at_most():
    assert command(submit("a" * 254)).body == "a" * 254
    with pytest.raises(StatusRefusal) as refused:
        command(submit("a" * 255))
    assert refused.value.command_status == 0x01


@pytest.mark.parametrize(
    ("countries", "address", "ton", "number"),
    [
        (("SN", "MR"), "221701234567", 1, "+221701234567"),
        (("SN", "MR"), "701234567", 2, "+221701234567"),
        (("SN", "MR"), "22236123456", 1, "+22236123456"),
        (("FR",), "33612345678", 1, "+33612345678"),
        (("FR",), "0612345678", 2, "+33612345678"),
        (("FR",), "0033612345678", 0, "+33612345678"),
    ],
)
def test_numbers_of_the_served_countries_are_read(countries, address, ton, number):
    request = submit(destination_addr=address, dest_addr_ton=ton)
    assert command(request, plan=plan_of(countries)).to == number


@pytest.mark.parametrize(
    ("countries", "address"),
    [
        (("SN", "MR"), "33612345678"),
        (("SN", "MR"), "221338234567"),
        (("FR",), "22236123456"),
        (("FR",), "33123456789"),
        (("FR",), "36123456"),
    ],
)
def test_numbers_of_other_countries_are_refused(countries, address):
    with pytest.raises(StatusRefusal) as caught:
        command(submit(destination_addr=address), plan=plan_of(countries))
    assert caught.value.command_status == ESME_RINVDSTADR
