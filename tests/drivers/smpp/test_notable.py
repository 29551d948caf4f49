"""What a carrier tells beyond what is used: in the trace, once, and never the message's text."""

import pytest

from risala.drivers.smpp.inbox import ALERTS_MAX, VALUES_MAX, Notable
from risala.drivers.smpp.protocol.pdu import AlertNotification, DeliverSm
from risala.drivers.smpp.protocol.tlv import Tlv

CODE = "483920"
TEXT = f"id:7 sub:001 stat:DELIVRD err:000 Text:{CODE} is your".encode()


def receipt(*tlvs: Tlv, text: bytes = TEXT) -> DeliverSm:
    return DeliverSm(esm_class=4, short_message=text, tlvs=tlvs)


@pytest.mark.parametrize(
    ("tlv", "told"),
    [
        (Tlv(0x1403, b"22201\0"), '0x1403 "22201"'),
        (Tlv(0x1404, bytes((1, 255))), "0x1404 0x01ff"),
        (Tlv(0x1405, b""), '0x1405 ""'),
        (Tlv(0x0425, b"\2"), "delivery_failure_reason 2"),
        (Tlv(0x001D, b"absent\0"), 'additional_status_info_text "absent"'),
        (Tlv(0x1406, b"x" * 21), "0x1406 (21 octets)"),
    ],
)
def test_parameters_that_are_not_used_are_told(tlv, told):
    line = Notable().of_receipt(receipt(tlv), "7")
    assert line == f"The receipt of 7 says more: {told}."


@pytest.mark.parametrize("value", [CODE.encode(), b"Bonjour Ali", b"483920 is your code, do not"])
def test_what_may_be_the_messages_text_is_told_by_its_length(value):
    line = Notable().of_receipt(receipt(Tlv(0x1400, value)), "7")
    assert line == f"The receipt of 7 says more: 0x1400 ({len(value)} octets)."


def test_each_value_is_told_once_and_not_without_end():
    notable = Notable()
    known = Tlv(0x1403, b"22201")
    assert notable.of_receipt(receipt(known), "1")
    assert notable.of_receipt(receipt(known), "2") is None
    assert notable.of_receipt(receipt(known, Tlv(0x1403, b"22202")), "3").count("0x1403") == 1
    lines = [notable.of_receipt(receipt(Tlv(0x1404, b"%d" % n)), "4") for n in range(100)]
    told = [line for line in lines if line]
    assert len(told) == VALUES_MAX - 2
    assert told[-1].endswith("Further ones are not shown.")


def test_what_is_used_is_not_told_again():
    used = (0x001E, 0x0427, 0x0423, 0x0204, 0x0424, 0x020C, 0x020E, 0x020F)
    assert Notable().of_receipt(receipt(*(Tlv(tag, b"1") for tag in used)), "7") is None


@pytest.mark.parametrize(
    ("tlvs", "told"),
    [
        ((), "can be reached again"),
        ((Tlv(0x0422, b"\1"),), "may not receive messages"),
        ((Tlv(0x0422, b"\2"),), "cannot be reached"),
        ((Tlv(0x0422, b"\7"),), "has an unknown state"),
    ],
)
def test_alerts(tlvs, told):
    alert = AlertNotification(source_addr_ton=1, source_addr="22236123456", tlvs=tlvs)
    assert Notable().of_alert(alert, 5.0) == f"alert_notification: +22236123456 {told}."


def test_a_flood_of_alerts_leaves_room_for_the_links_own_life():
    notable, alert = Notable(), AlertNotification(source_addr="1")
    told = [line for n in range(1000) if (line := notable.of_alert(alert, 100 + n / 100))]
    assert len(told) == ALERTS_MAX
    assert told[-1].endswith("Further ones are not shown for a minute.")
    assert notable.of_alert(alert, 161.0)
