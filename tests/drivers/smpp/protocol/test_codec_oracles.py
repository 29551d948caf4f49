"""Our codec against two that we did not write: smpp.pdu3 and smpp34."""

import warnings
from io import BytesIO

import pytest
import smpp34

from risala.drivers.smpp.protocol.codec import decode, encode
from risala.drivers.smpp.protocol.pdu import (
    AlertNotification,
    BindReceiver,
    BindReceiverResp,
    BindTransceiver,
    BindTransceiverResp,
    BindTransmitter,
    BindTransmitterResp,
    CancelSm,
    CancelSmResp,
    DataSm,
    DataSmResp,
    DeliverSm,
    DeliverSmResp,
    EnquireLink,
    EnquireLinkResp,
    GenericNack,
    Outbind,
    QuerySm,
    SubmitSm,
    SubmitSmResp,
    Unbind,
    UnbindResp,
)
from risala.drivers.smpp.protocol.submit import FlashBy, SubmitOptions, submit_sm
from risala.drivers.smpp.protocol.tlv import Tlv
from risala.plugins.testing.conformance import segment

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from smpp.pdu import operations
    from smpp.pdu.pdu_encoding import PDUEncoder
    from smpp.pdu.pdu_types import (
        AddrNpi,
        AddrTon,
        DataCodingGsmMsgClass,
        DataCodingGsmMsgCoding,
        DataCodingScheme,
        EsmClass,
        EsmClassMode,
        EsmClassType,
        RegisteredDelivery,
        RegisteredDeliveryReceipt,
    )

_address = {"source_addr_ton": 5, "source_addr": "RISALA"}
_both = {**_address, "dest_addr_ton": 1, "dest_addr_npi": 1, "destination_addr": "22236123456"}
_vectors = [
    BindTransmitter("risala", "secret", "SMPP", 0x34, 1, 1, "222"),
    BindReceiver("risala", "secret", "SMPP", 0x34),
    BindTransceiver("risala", "secret", "", 0x34),
    BindTransmitterResp("SMSC", tlvs=(Tlv(0x0210, b"\x34"),)),
    BindReceiverResp("SMSC"),
    BindTransceiverResp("SMSC"),
    Outbind("smsc", "secret"),
    Unbind(),
    UnbindResp(),
    EnquireLink(),
    EnquireLinkResp(),
    GenericNack(command_status=3),
    SubmitSm("", **_both, registered_delivery=1, short_message=b"Bonjour"),
    SubmitSm("CMT", **_both, esm_class=0x40, short_message=b"\x05\x00\x03\x07\x02\x01abc"),
    SubmitSm(**_both, data_coding=8, short_message="سلام".encode("utf-16-be")),
    SubmitSm(**_both, data_coding=0xF0, short_message=b"Bonjour"),
    SubmitSm(**_both, data_coding=0x18, short_message="سلام".encode("utf-16-be")),
    SubmitSm(**_both, short_message=b"x", tlvs=(Tlv(0x0005, b"\1"),)),
    SubmitSm(**_both, validity_period="000002000000000R", priority_flag=1, short_message=b"x"),
    SubmitSm(**_both, tlvs=(Tlv(0x020C, b"\0\7"), Tlv(0x020E, b"\2"), Tlv(0x020F, b"\1"))),
    SubmitSm(**_both, tlvs=(Tlv(0x0424, b"payload " * 40),)),
    SubmitSmResp("4b1d0c"),
    SubmitSmResp(command_status=0x58),
    DeliverSm(
        **_both,
        esm_class=0x04,
        short_message=b"id:4b1d0c stat:DELIVRD",
        tlvs=(Tlv(0x0427, b"\2"), Tlv(0x001E, b"4b1d0c\0")),
    ),
    DeliverSmResp(),
    DataSm("", **_both, registered_delivery=1, tlvs=(Tlv(0x0424, b"payload"),)),
    DataSmResp("77"),
    QuerySm("4b1d0c", 5, 0, "RISALA"),
    CancelSm("", "4b1d0c", **_both),
    CancelSmResp(),
    AlertNotification(1, 1, "22236123456", 5, 0, "RISALA"),
]


@pytest.mark.parametrize("ours", _vectors, ids=lambda pdu: pdu.name)
def test_smpp_pdu3_reads_and_writes_the_same_octets(ours):
    octets = encode(ours, 7)
    theirs = PDUEncoder().decode(BytesIO(octets))
    assert theirs.commandId.name == ours.name
    assert theirs.seqNum == 7
    again = PDUEncoder().encode(theirs)
    if ours.command_status == 0x58:
        assert decode(again).command_status == 0x58  # it leaves the body of an error out
    else:
        assert again == octets


def test_smpp_pdu3_reads_class_0_in_our_data_coding():
    flash = submit_sm(segment("Bonjour", message_class=0), SubmitOptions(), 0)
    coding = PDUEncoder().decode(BytesIO(encode(flash, 7))).params["data_coding"]
    assert coding.scheme is DataCodingScheme.GSM_MESSAGE_CLASS
    assert coding.schemeData.msgClass is DataCodingGsmMsgClass.NO_MESSAGE_CLASS  # its name for 0
    assert coding.schemeData.msgCoding is DataCodingGsmMsgCoding.DEFAULT_ALPHABET
    by_subunit = SubmitOptions(flash=FlashBy.DEST_ADDR_SUBUNIT)
    marked = submit_sm(segment("Bonjour", message_class=0), by_subunit, 0)
    theirs = PDUEncoder().decode(BytesIO(encode(marked, 7)))
    assert theirs.params["dest_addr_subunit"].name == "MS_DISPLAY"


def test_we_read_what_smpp_pdu3_wrote():
    theirs = operations.SubmitSM(
        9,
        source_addr_ton=AddrTon.ALPHANUMERIC,
        source_addr_npi=AddrNpi.UNKNOWN,
        source_addr="RISALA",
        dest_addr_ton=AddrTon.INTERNATIONAL,
        dest_addr_npi=AddrNpi.ISDN,
        destination_addr="22236123456",
        esm_class=EsmClass(EsmClassMode.DEFAULT, EsmClassType.DEFAULT),
        registered_delivery=RegisteredDelivery(
            RegisteredDeliveryReceipt.SMSC_DELIVERY_RECEIPT_REQUESTED
        ),
        short_message=b"Bonjour",
    )
    octets = PDUEncoder().encode(theirs)
    ours = decode(octets)
    assert ours == SubmitSm(
        **_both, registered_delivery=1, short_message=b"Bonjour", sequence_number=9
    )
    assert encode(ours) == octets


@pytest.mark.parametrize(
    "ours",
    [pdu for pdu in _vectors if type(pdu) in (SubmitSm, DeliverSm)],
    ids=lambda pdu: pdu.name,
)
def test_smpp34_reads_and_writes_the_same_octets(ours):
    octets = encode(ours, 7)
    theirs = smpp34.decode(octets)
    assert theirs.short_message == ours.short_message
    assert theirs.destination_addr == ours.destination_addr
    assert [(tlv.tag, tlv.value) for tlv in theirs.tlvs] == [tuple(tlv) for tlv in ours.tlvs]
    assert theirs.encode() == octets
