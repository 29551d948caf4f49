"""Receipts and texts to a customer's receivers: at least once, in order, and bounded."""

import dataclasses

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from risala.drivers.smpp.protocol.pdu import BindReceiver, BindTransmitter
from risala.drivers.smpp.protocol.receipt import is_receipt, parse_receipt
from risala.drivers.smpp.protocol.submit import decode_message
from risala.drivers.smpp.protocol.tlv import MESSAGE_STATE, USER_MESSAGE_REFERENCE, find
from risala.engine.model.events import EventType
from risala.sms.receipt import ReceiptState
from smpp_peers.house import FakeOutbox, Premises, event

TEXT = {"recipient": "+22245000000", "sender": "+22236123456", "text": "Oui"}


@pytest.fixture
def premises(open_premises) -> Premises:
    return open_premises(deliver_window_max=3)


def kept(outbox: FakeOutbox) -> int:
    return outbox.kept["crd_shop"]


async def test_a_receipt_reaches_the_receiver_and_moves_the_cursor(premises: Premises):
    async with premises.customer() as customer:
        await customer.bind()
        premises.outbox.tell(event(1, metadata={"smpp.receipt": "1", "smpp.reference": "258"}))
        await wait_all_tasks_blocked()
        (pdu,) = customer.delivered
    assert is_receipt(pdu)
    receipt = parse_receipt(pdu)
    assert receipt is not None
    assert (receipt.carrier_id, receipt.state) == ("sms_1", ReceiptState.DELIVERED)
    assert (receipt.recipient, pdu.destination_addr) == ("+22236123456", "SHOP")
    assert b"submit date:2601010000 done date:2601010000 stat:DELIVRD err:000" in pdu.short_message
    assert find(pdu.tlvs, USER_MESSAGE_REFERENCE).number == 258
    assert kept(premises.outbox) == 1
    assert premises.roster.counts.delivered == 1


async def test_a_receipt_says_an_alphabet_in_which_its_id_is_what_the_submit_was_answered(
    premises: Premises,
):
    async with premises.customer() as customer:
        await customer.bind()
        premises.outbox.tell(event(1))
        await wait_all_tasks_blocked()
    (pdu,) = customer.delivered
    assert pdu.data_coding == 1
    assert decode_message(pdu).text.startswith("id:sms_1 ")


async def test_an_intermediate_notification_is_sent_where_it_was_asked_for(premises: Premises):
    both = {"smpp.receipt": "1", "smpp.intermediate": "1"}
    sent = {"status": "sent", "carrier_code": "err:27"}
    async with premises.customer() as customer:
        await customer.bind()
        premises.outbox.tell(
            event(1, EventType.SMS_SENT, **sent),
            event(2, EventType.SMS_SENT, **sent, metadata=both),
            event(2, EventType.SMS_DELIVERED, metadata=both),
            event(3, metadata={"smpp.intermediate": "1"}),
        )
        await wait_all_tasks_blocked()
    told = [(pdu.esm_class, parse_receipt(pdu).state) for pdu in customer.delivered]
    assert told == [(0x20, ReceiptState.ENROUTE), (0x04, ReceiptState.DELIVERED)]
    assert b"id:sms_2 sub:001 dlvrd:000" in customer.delivered[0].short_message
    assert b"stat:ENROUTE err:000" in customer.delivered[0].short_message


async def test_a_failure_tells_its_state_and_the_carriers_error(premises: Premises):
    told = {"error_code": "VALIDITY_OVER", "carrier_code": "EXPIRED err:27"}
    async with premises.customer() as customer:
        await customer.bind()
        premises.outbox.tell(event(1, EventType.SMS_FAILED, **told))
        await wait_all_tasks_blocked()
    assert b"stat:EXPIRED err:027" in customer.delivered[0].short_message


async def test_a_withdrawn_message_and_one_whose_validity_ended_have_receipts(premises: Premises):
    gone = {"status": "canceled"}
    over = {"status": "failed", "error_code": "VALIDITY_OVER"}
    failures, deliveries = {"smpp.receipt": "2"}, {"smpp.receipt": "3"}
    async with premises.customer() as customer:
        await customer.bind()
        premises.outbox.tell(
            event(1, EventType.SMS_CANCELED, **gone),
            event(2, EventType.SMS_CANCELED, **gone, metadata=failures),
            event(3, EventType.SMS_CANCELED, **gone, metadata=deliveries),
            event(4, EventType.SMS_CANCELED, **gone, metadata={"smpp.intermediate": "1"}),
            event(5, EventType.SMS_FAILED, **over),
            event(6, EventType.SMS_FAILED, **over, metadata=failures),
        )
        await wait_all_tasks_blocked()
    told = [
        (parse_receipt(pdu).carrier_id, pdu.esm_class, find(pdu.tlvs, MESSAGE_STATE).number)
        for pdu in customer.delivered
    ]
    assert told == [("sms_1", 4, 4), ("sms_2", 4, 4), ("sms_5", 4, 3), ("sms_6", 4, 3)]
    assert b" dlvrd:000 " in customer.delivered[0].short_message
    assert b" stat:DELETED err:000" in customer.delivered[0].short_message
    assert b" stat:EXPIRED err:000" in customer.delivered[2].short_message


async def test_only_receipts_that_were_asked_for_are_sent(premises: Premises):
    failures, deliveries = {"smpp.receipt": "2"}, {"smpp.receipt": "3"}
    async with premises.customer() as customer:
        await customer.bind()
        premises.outbox.tell(
            event(1, metadata={}),
            event(2, metadata=failures),
            event(3, EventType.SMS_FAILED, metadata=failures),
            event(4, metadata=deliveries),
            event(5, EventType.SMS_FAILED, metadata=deliveries),
            event(1000, EventType.SMS_RECEIVED, **TEXT),
        )
        await wait_all_tasks_blocked()
    assert [parse_receipt(pdu).carrier_id for pdu in customer.delivered] == ["sms_3", "sms_4"]
    assert kept(premises.outbox) == 1000


async def test_a_text_goes_to_a_credential_that_hears(premises: Premises):
    premises.account = dataclasses.replace(premises.account, hears=True)
    async with premises.customer() as customer:
        await customer.bind()
        premises.outbox.tell(
            event(1, EventType.SMS_RECEIVED, **TEXT),
            event(2, EventType.SMS_RECEIVED, **{**TEXT, "text": "سلام " * 30}),
        )
        await wait_all_tasks_blocked()
    first, *parts = customer.delivered
    assert decode_message(first).text == "Oui"
    assert (first.source_addr, first.destination_addr) == ("22236123456", "22245000000")
    read = [decode_message(part) for part in parts]
    assert [part.concatenation.number for part in read] == [1, 2, 3]
    assert "".join(part.text for part in read) == "سلام " * 30


async def test_what_is_owed_waits_for_a_receiver(premises: Premises):
    async with premises.customer() as customer:
        await customer.bind(kind=BindTransmitter)
        premises.outbox.tell(*map(event, range(1, 6)))
        await wait_all_tasks_blocked()
        assert customer.delivered == []
    assert kept(premises.outbox) == 0
    async with premises.customer() as customer:
        await customer.bind(kind=BindReceiver)
        await wait_all_tasks_blocked()
    ids = [parse_receipt(pdu).carrier_id for pdu in customer.delivered]
    assert ids == [f"sms_{n}" for n in range(1, 6)]
    assert kept(premises.outbox) == 5


async def test_what_was_not_answered_before_the_link_was_lost_is_sent_again(premises: Premises):
    async with premises.customer() as customer:
        customer.takes = -1
        await customer.bind()
        premises.outbox.tell(event(1), event(2))
        await wait_all_tasks_blocked()
        assert len(customer.delivered) == 2
    assert kept(premises.outbox) == 0
    async with premises.customer() as customer:
        await customer.bind()
        await wait_all_tasks_blocked()
    assert [parse_receipt(pdu).carrier_id for pdu in customer.delivered] == ["sms_1", "sms_2"]
    assert kept(premises.outbox) == 2


async def test_who_does_not_answer_gets_a_window_and_no_more(premises: Premises, autojump_clock):
    async with premises.customer() as customer:
        customer.takes = -1
        await customer.bind()
        premises.outbox.tell(*map(event, range(1, 400)))
        await wait_all_tasks_blocked()
        assert len(customer.delivered) == 3
        await customer.link.wait_ended()
    assert kept(premises.outbox) == 0


async def test_sessions_of_one_credential_share(premises: Premises):
    async with premises.customer() as one, premises.customer() as other:
        await one.bind()
        await other.bind()
        premises.outbox.tell(*map(event, range(1, 11)))
        await wait_all_tasks_blocked()
    assert len(one.delivered) + len(other.delivered) == 10
    assert min(len(one.delivered), len(other.delivered)) >= 3
    assert kept(premises.outbox) == 10


async def test_a_refusal_for_now_is_tried_again_and_one_for_good_is_passed_over(
    premises: Premises, autojump_clock
):
    async with premises.customer() as customer:
        customer.takes = 0x14
        await customer.bind()
        premises.outbox.tell(event(1), event(2))
        await wait_all_tasks_blocked()
        assert kept(premises.outbox) == 0
        customer.takes = 0
        await trio.sleep(10)
        assert kept(premises.outbox) == 2
        customer.takes = 0x45
        premises.outbox.tell(event(3))
        await trio.sleep(1)
        assert kept(premises.outbox) == 3
    assert (premises.roster.counts.delivered, premises.roster.counts.refused) == (2, 1)


async def test_what_is_never_taken_does_not_keep_back_the_rest_for_ever(
    premises: Premises, autojump_clock
):
    async with premises.customer() as customer:
        customer.takes = 0x08
        await customer.bind()
        premises.outbox.tell(event(1))
        await trio.sleep(100)
    assert kept(premises.outbox) == 1
    assert len(customer.delivered) == 11
