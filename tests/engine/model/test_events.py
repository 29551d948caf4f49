"""Events: the bytes that are signed and stored, and their ids."""

from __future__ import annotations

import pytest

from risala.engine.model import events
from risala.engine.model.errors import SenderNotApproved
from risala.engine.model.events import (
    FAMILIES,
    BalanceEvent,
    ConversationEvent,
    Event,
    EventType,
    InboundEvent,
    MessageEvent,
    RepeatEvent,
    SenderEvent,
    TrialEvent,
    VerificationEvent,
    event_body,
)
from risala.engine.model.times import iso
from risala.engine.rules.webhooks.types import TYPES

AT = 1_795_231_187_670
LIVE = (AT, "org_1", "live")
TEST = (AT, "org_1", "test")
TO = "+22236123456"
HEAD = '"createdAt":"2026-11-21T03:19:47.670Z","organizationId":"org_1","test":'
NO_ERROR = '"errorCode":null,"errorText":null,"carrierCode":null,"metadata":'
REJECTED = (
    '"errorCode":"REJECTED","errorText":"The carrier refused it.",'
    '"carrierCode":"ESME_RINVDSTADR","metadata":{}'
)
ORDER = {"order": "77", "né": "é"}
PRICE = (50, "MRU")
PRICED = ',"price":"0.50","currency":"MRU"'
GOLDEN: list[tuple[Event, str]] = [
    (
        MessageEvent(
            EventType.SMS_SENT, *LIVE, "sms_1", TO, "R", "sent", "7f", None, None, ORDER, *PRICE
        ),
        f'"type":"sms.sent",{HEAD}false,"messageId":"sms_1","to":"{TO}","from":"R",'
        f'"status":"sent","providerMessageId":"7f",{NO_ERROR}{{"order":"77","né":"é"}}{PRICED}',
    ),
    (
        MessageEvent(
            *(
                EventType.SMS_DELIVERED,
                *TEST,
                "sms_1",
                TO,
                "R",
                "delivered",
                None,
                None,
                None,
                {},
                *PRICE,
            )
        ),
        f'"type":"sms.delivered",{HEAD}true,"messageId":"sms_1","to":"{TO}","from":"R",'
        f'"status":"delivered","providerMessageId":null,{NO_ERROR}{{}}{PRICED}',
    ),
    (
        MessageEvent(
            *(EventType.SMS_FAILED, *LIVE, "sms_1", TO, "R", "failed", None),
            *("REJECTED", "ESME_RINVDSTADR", {}, *PRICE),
        ),
        f'"type":"sms.failed",{HEAD}false,"messageId":"sms_1","to":"{TO}","from":"R",'
        f'"status":"failed","providerMessageId":null,{REJECTED}{PRICED}',
    ),
    (
        MessageEvent(
            *(
                EventType.SMS_CANCELED,
                *LIVE,
                "sms_1",
                TO,
                "R",
                "canceled",
                None,
                None,
                None,
                {},
                *PRICE,
            )
        ),
        f'"type":"sms.canceled",{HEAD}false,"messageId":"sms_1","to":"{TO}","from":"R",'
        f'"status":"canceled","providerMessageId":null,{NO_ERROR}{{}}{PRICED}',
    ),
    (
        InboundEvent(EventType.SMS_RECEIVED, *LIVE, "mo_1", "1234", TO, None, 'نعم "7"\n'),
        f'"type":"sms.received",{HEAD}false,"messageId":"mo_1","to":"1234","from":"{TO}",'
        f'"status":"received","providerMessageId":null,{NO_ERROR}{{}},"text":"نعم \\"7\\"\\n"',
    ),
    (
        InboundEvent(EventType.SMS_RECEIVED, *LIVE, "mo_1", None, TO, "7", "Hi", 1_795_231_187_000),
        f'"type":"sms.received",{HEAD}false,"messageId":"mo_1","to":null,"from":"{TO}",'
        f'"status":"received","providerMessageId":"7",{NO_ERROR}{{}},"text":"Hi",'
        '"sentAt":"2026-11-21T03:19:47.000Z"',
    ),
    (
        VerificationEvent(EventType.VERIFY_SENT, *LIVE, "ver_1", TO, "pending", None),
        f'"type":"verify.sent",{HEAD}false,"verificationId":"ver_1","to":"{TO}",'
        '"status":"pending","reason":null',
    ),
    (
        VerificationEvent(EventType.VERIFY_APPROVED, *TEST, "ver_1", TO, "approved", None),
        f'"type":"verify.approved",{HEAD}true,"verificationId":"ver_1","to":"{TO}",'
        '"status":"approved","reason":null',
    ),
    (
        VerificationEvent(EventType.VERIFY_FAILED, *LIVE, "ver_1", TO, "expired", "expired"),
        f'"type":"verify.failed",{HEAD}false,"verificationId":"ver_1","to":"{TO}",'
        '"status":"expired","reason":"expired"',
    ),
    (
        SenderEvent(EventType.SENDER_APPROVED, *LIVE, "snd_1", "Acme", "approved", None),
        f'"type":"sender.approved",{HEAD}false,"senderId":"snd_1","name":"Acme",'
        '"status":"approved","reason":null',
    ),
    (
        SenderEvent(EventType.SENDER_DENIED, *LIVE, "snd_1", "Acme", "denied", "Taken."),
        f'"type":"sender.denied",{HEAD}false,"senderId":"snd_1","name":"Acme",'
        '"status":"denied","reason":"Taken."',
    ),
    (
        BalanceEvent(EventType.BALANCE_LOW, *LIVE, "org_1", 4950, 5000, "MRU"),
        f'"type":"balance.low",{HEAD}false,"balance":"49.50","lowBalance":"50.00","currency":"MRU"',
    ),
    (
        ConversationEvent(EventType.CONVERSATION_RECEIVED, *LIVE, "cnv_1", TO, "inb_1", None),
        f'"type":"conversation.received",{HEAD}false,"conversationId":"cnv_1","number":"{TO}",'
        '"messageId":"inb_1","assignedTo":null',
    ),
    (
        ConversationEvent(EventType.CONVERSATION_ASSIGNED, *LIVE, "cnv_1", TO, None, "usr_1"),
        f'"type":"conversation.assigned",{HEAD}false,"conversationId":"cnv_1","number":"{TO}",'
        '"messageId":null,"assignedTo":"usr_1"',
    ),
    (
        ConversationEvent(EventType.CONVERSATION_PAUSED, *LIVE, "cnv_1", TO, "inb_1", None),
        f'"type":"conversation.paused",{HEAD}false,"conversationId":"cnv_1","number":"{TO}",'
        '"messageId":"inb_1","assignedTo":null',
    ),
    (
        RepeatEvent(EventType.REPEAT_BEGUN, *LIVE, "rpt_1", "Rent", AT, "mlg_1", None),
        f'"type":"repeat.begun",{HEAD}false,"repeatId":"rpt_1","name":"Rent",'
        f'"dueAt":"{iso(AT)}","mailingId":"mlg_1","reason":null',
    ),
    (
        RepeatEvent(EventType.REPEAT_SKIPPED, *LIVE, "rpt_1", "Rent", AT, None, "missed"),
        f'"type":"repeat.skipped",{HEAD}false,"repeatId":"rpt_1","name":"Rent",'
        f'"dueAt":"{iso(AT)}","mailingId":null,"reason":"missed"',
    ),
    (
        RepeatEvent(EventType.REPEAT_ENDED, *LIVE, "rpt_1", "Rent", None, None, "until"),
        f'"type":"repeat.ended",{HEAD}false,"repeatId":"rpt_1","name":"Rent",'
        '"dueAt":null,"mailingId":null,"reason":"until"',
    ),
    (
        TrialEvent(EventType.WEBHOOK_TEST, *LIVE, "whe_1"),
        f'"type":"webhook.test",{HEAD}false,"endpointId":"whe_1"',
    ),
]


def test_there_is_one_of_every_type_and_each_has_its_family():
    assert [*dict.fromkeys(event.type for event, _ in GOLDEN)] == list(EventType)
    assert list(FAMILIES) == list(EventType)
    assert all(type(event) is FAMILIES[event.type] for event, _ in GOLDEN)
    assert {*TYPES} == {*EventType} - {EventType.WEBHOOK_TEST}


@pytest.mark.parametrize(("event", "rest"), GOLDEN, ids=lambda each: getattr(each, "type", ""))
def test_the_bytes_of_a_body_are_these_for_ever(event, rest):
    """Customers' endpoints check signatures over them; a repeated delivery has the same ones."""
    assert event_body(event, "evt_1") == f'{{"id":"evt_1",{rest}}}'


def test_an_event_keeps_no_text_in_its_repr():
    found = [event for event, _ in GOLDEN if isinstance(event, InboundEvent)]
    assert all(inbound.text not in repr(inbound) for inbound in found)


def test_no_family_is_forgotten():
    families = [
        each
        for each in vars(events).values()
        if isinstance(each, type) and issubclass(each, Event) and each is not Event
    ]
    assert {*families} == {*FAMILIES.values()}


def test_a_refused_sender_is_told_in_words_that_are_true_of_every_protocol():
    """SMPP and Twilio's words have no field ``from``."""
    told = str(SenderNotApproved("Shop"))
    assert "`" not in told
    assert "leave the sender out" in told
