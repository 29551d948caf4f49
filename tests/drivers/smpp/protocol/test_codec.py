"""The codec: what it writes it reads, and nothing that a peer sends can harm it."""

import struct
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import examples
from risala.drivers.smpp.protocol.codec import (
    PDU_OCTETS_MAX,
    PduReader,
    decode,
    decode_any,
    encode,
    encode_body,
)
from risala.drivers.smpp.protocol.destinations import (
    DESTINATIONS_MAX,
    Destination,
    DistributionList,
    Unsuccessful,
)
from risala.drivers.smpp.protocol.fields import FieldError, PduFault
from risala.drivers.smpp.protocol.pdu import (
    NAMES,
    PDUS,
    AlertNotification,
    BindTransceiver,
    BindTransceiverResp,
    DataSm,
    DataSmResp,
    DeliverSm,
    DeliverSmResp,
    EnquireLink,
    EnquireLinkResp,
    GenericNack,
    Pdu,
    SubmitMulti,
    SubmitMultiResp,
    SubmitSm,
    SubmitSmResp,
    response_to,
)
from risala.drivers.smpp.protocol.tlv import Tlv
from risala.plugins.testing.wire import cuts

_cstrings = st.text(st.characters(min_codepoint=1, max_codepoint=255), max_size=30)
_tlvs = st.lists(st.builds(Tlv, st.integers(0, 0xFFFF), st.binary(max_size=40)), max_size=3).map(
    tuple
)
_int32 = st.integers(0, 0xFFFFFFFF)


_octet = st.integers(0, 255)
_destinations = st.one_of(
    st.builds(Destination, _octet, _octet, _cstrings), st.builds(DistributionList, _cstrings)
)


def _lists(of: st.SearchStrategy) -> st.SearchStrategy[tuple]:
    return st.lists(of, max_size=5).map(tuple)


def _values(name: str, kind: object) -> st.SearchStrategy[object]:
    if name in ("command_status", "sequence_number"):
        return _int32
    if name == "tlvs":
        return _tlvs
    if name == "trailing":
        return st.just(b"")
    if name == "dest_addresses":
        return _lists(_destinations)
    if name == "unsuccess_sme":
        return _lists(st.builds(Unsuccessful, _octet, _octet, _cstrings, _int32))
    if name == "short_message":
        return st.binary(max_size=254)
    return _cstrings if kind == "str" else st.integers(0, 255)


def _pdus_of(kind: type[Pdu]) -> st.SearchStrategy[Pdu]:
    return st.builds(kind, **{f.name: _values(f.name, f.type) for f in fields(kind)})


pdus = st.one_of([_pdus_of(kind) for kind in PDUS.values()])


@given(pdus)
def test_reads_what_it_wrote(pdu):
    octets = encode(pdu)
    assert decode(octets) == pdu
    assert int.from_bytes(octets[:4]) == len(octets)


@given(pdus)
def test_the_quick_way_and_the_general_way_agree(pdu):
    octets = encode(pdu)
    assert octets[16:].startswith(encode_body(pdu))
    assert decode_any(octets) == decode(octets)
    assert vars(decode_any(octets)).keys() == vars(decode(octets)).keys()


@pytest.mark.slow
@given(st.lists(pdus, max_size=5), st.data())
def test_splitting_and_joining_changes_nothing(sent, data):
    octets = b"".join(map(encode, sent))
    reader = PduReader()
    received = []
    while octets:
        size = data.draw(st.integers(1, len(octets)))
        received += reader.feed(octets[:size])
        octets = octets[size:]
    assert received == sent
    assert reader.octets_held == 0


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(st.lists(st.binary(max_size=200), max_size=5))
def test_arbitrary_octets_are_pdus_or_faults(pieces):
    reader = PduReader()
    for piece in pieces:
        for found in reader.feed(piece):
            assert isinstance(found, Pdu | PduFault)
        assert reader.octets_held <= 200 * len(pieces)


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(st.sampled_from(sorted(PDUS)), st.binary(max_size=120), st.integers(0, 2))
def test_arbitrary_bodies_are_pdus_or_faults(command_id, body, command_status):
    octets = struct.pack(">IIII", 16 + len(body), command_id, command_status, 9) + body
    (found,) = PduReader().feed(octets)
    assert found.sequence_number == 9
    if isinstance(found, Pdu):
        assert decode(encode(found)) == found
    else:
        assert found.in_sync
        assert found.command_status in (0x01, 0x02, 0x40)


@pytest.mark.parametrize("length", [0, 15, PDU_OCTETS_MAX + 1, 256 * 1024 * 1024, 0xFFFFFFFF])
def test_a_length_that_cannot_be_ends_the_sync_and_takes_no_memory(length):
    header = struct.pack(">IIII", length, 4, 0, 77)
    for pieces in cuts(header):
        reader = PduReader()
        (fault,) = [found for piece in pieces for found in reader.feed(piece)]
        assert (fault.command_status, fault.sequence_number, fault.in_sync) == (0x02, 77, False)
        assert reader.feed(b"x" * 100_000) == []
        assert reader.octets_held == 0


def test_what_is_lost_is_told_by_its_own_header():
    lost = struct.pack(">IIII", 15, 5, 0, 77)
    _, fault = PduReader().feed(encode(EnquireLink(), 6) + lost)
    assert (fault.command_id, fault.sequence_number) == (5, 77)
    assert fault.reason == str(fault) == "a command_length of 15"


def test_a_fault_has_its_requests_header():
    broken = struct.pack(">IIII", 19, SubmitSm.command_id, 0, 9) + b"abc"
    unknown = struct.pack(">IIII", 16, 0xABCD, 0, 10)
    first, second = PduReader().feed(broken + unknown)
    assert (first.command_id, first.sequence_number) == (SubmitSm.command_id, 9)
    assert first.reason == "a string has no end"
    assert (second.command_id, second.reason) == (0xABCD, "unknown command 0x0000ABCD")


def test_a_reader_holds_less_than_one_pdu():
    reader = PduReader(octets_max=100)
    reader.feed(struct.pack(">IIII", 100, 4, 0, 1) + bytes(83))
    assert reader.octets_held == 99


def test_an_unknown_command_is_a_fault_and_what_follows_is_read():
    unknown = struct.pack(">IIII", 20, 0x0000ABCD, 0, 5) + b"abcd"
    fault, pdu = PduReader().feed(unknown + encode(EnquireLink(), 6))
    assert (fault.command_status, fault.sequence_number, fault.in_sync) == (0x03, 5, True)
    assert pdu == EnquireLink(sequence_number=6)


def test_a_message_longer_than_its_pdu_is_an_invalid_message_length():
    octets = bytearray(encode(SubmitSm(short_message=b"abc")))
    octets[-4] = 200
    with pytest.raises(PduFault) as caught:
        decode(bytes(octets))
    assert caught.value.command_status == 0x01


@pytest.mark.parametrize("kind", [SubmitSmResp, BindTransceiverResp, GenericNack])
@pytest.mark.parametrize("command_status", [0, 0x58, 0x401])
def test_a_response_without_a_body_is_read(kind, command_status):
    octets = struct.pack(">IIII", 16, kind.command_id, command_status, 3)
    assert decode(octets) == kind(command_status=command_status, sequence_number=3)


def test_a_refusal_with_half_a_body_stays_a_refusal():
    octets = struct.pack(">IIII", 19, SubmitSmResp.command_id, 0x14, 3) + b"abc"
    assert decode(octets) == SubmitSmResp(command_status=0x14, sequence_number=3)


@pytest.mark.parametrize("kind", [SubmitSmResp, DataSmResp, DeliverSmResp, BindTransceiverResp])
def test_a_response_whose_string_lacks_its_nul_is_read(kind):
    octets = struct.pack(">IIII", 20, kind.command_id, 0, 3) + b"0a1b"
    assert decode(octets) == kind("0a1b", sequence_number=3)


@pytest.mark.parametrize("kind", [SubmitSm, BindTransceiver, SubmitMulti, DataSm])
@pytest.mark.parametrize("body", [b"", b"abc"])
@pytest.mark.parametrize("command_status", [0, 0x14])
def test_a_request_needs_its_body_whatever_its_status_says(kind, body, command_status):
    """§3.2: the status of a request is unused."""
    header = struct.pack(">IIII", 16 + len(body), kind.command_id, command_status, 3)
    with pytest.raises(PduFault) as caught:
        decode(header + body)
    assert (caught.value.command_status, caught.value.sequence_number) == (0x02, 3)


def test_an_overrunning_parameter_loses_neither_the_message_nor_what_stood_before():
    more = {"tlvs": (Tlv(0x001E, b"id\0"),), "trailing": b"\x14\x01\xff\xff1"}
    for sent in (DeliverSm(short_message=b"x", **more), DataSm(destination_addr="1", **more)):
        octets = encode(sent)
        assert decode(octets) == decode_any(octets) == sent


@pytest.mark.parametrize(
    "pdu",
    [
        SubmitSm(source_addr="a\0b"),
        SubmitSm(source_addr="سلام"),
        SubmitSm(short_message=bytes(255)),
        SubmitMulti(dest_addresses=(Destination(1, 1, "سلام"),)),
        SubmitMulti(dest_addresses=(DistributionList("a\0b"),)),
        SubmitMulti(dest_addresses=(DistributionList(""),) * (DESTINATIONS_MAX + 1)),
        SubmitMultiResp(unsuccess_sme=(Unsuccessful(1, 1, "1", 1 << 32),)),
    ],
)
def test_what_does_not_fit_is_refused_without_telling_it(pdu):
    with pytest.raises(FieldError) as caught:
        encode(pdu)
    assert "سلام" not in f"{caught.value!r} {caught.value.__cause__!r}"


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (SubmitSm(sequence_number=7), SubmitSmResp),
        (EnquireLink(sequence_number=0x7FFFFFFF), EnquireLinkResp),
        (AlertNotification(sequence_number=9), GenericNack),
    ],
)
def test_an_answer_has_its_requests_number(request_, answer):
    number = request_.sequence_number
    made = response_to(request_, 0x58)
    assert made == answer(command_status=0x58, sequence_number=number)
    assert encode(made)[8:16] == struct.pack(">II", 0x58, number)


def test_a_repr_shows_no_secret_and_no_text():
    shown = repr(BindTransceiver("me", "hunter2")) + repr(
        SubmitSm(short_message=b"code 1234", tlvs=(Tlv(0x0424, b"code 1234"),))
    )
    assert "hunter2" not in shown
    assert "1234" not in shown


def test_names_are_those_of_the_standard():
    assert NAMES[0x80000009] == "bind_transceiver_resp"
    assert NAMES[0x00000102] == "alert_notification"


def test_the_octets_of_a_submit_multi():
    """By hand from §4.5.1: the standard prints no example."""
    dests = (Destination(1, 1, "22236123456"), DistributionList("staff"))
    octets = encode(SubmitMulti(source_addr="A", dest_addresses=dests, short_message=b"hi"), 3)
    body = b"\0\0\0A\0\2\1\1\x0122236123456\0\2staff\0" + bytes(9) + b"\2hi"
    assert octets == b"\0\0\0\x38\0\0\0\x21\0\0\0\0\0\0\0\3" + body
    answer = SubmitMultiResp("7", (Unsuccessful(1, 1, "22236123456", 0x0B),))
    body = b"7\0\1\1\x0122236123456\0\0\0\0\x0b"
    assert encode(answer, 3)[16:] == body


def test_a_destination_of_no_kind_is_nacked_as_such():
    octets = bytearray(encode(SubmitMulti(dest_addresses=(DistributionList("x"),))))
    octets[21] = 3
    with pytest.raises(PduFault) as caught:
        decode(bytes(octets))
    assert caught.value.command_status == 0x40
