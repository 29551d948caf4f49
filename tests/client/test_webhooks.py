"""What comes to a webhook: taken where the service signed it, refused else."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest
import standardwebhooks

from risala.client import (
    BalanceEvent,
    InboundEvent,
    MessageEvent,
    SenderEvent,
    SignatureError,
    TrialEvent,
    VerificationEvent,
    Webhook,
    WebhookEvent,
)

NOW = 1_790_000_000
SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
OLD = "whsec_" + base64.b64encode(b"o" * 32).decode()
BASE = {
    "id": "evt_1",
    "createdAt": "2026-11-21T03:19:47.670Z",
    "organizationId": "org_1",
    "test": False,
}
SENT = BASE | {
    "type": "sms.sent",
    "messageId": "sms_1",
    "to": "+22236123456",
    "from": "RISALA",
    "status": "sent",
    "providerMessageId": None,
    "metadata": {"order": "77"},
}


def body_of(event: dict) -> bytes:
    return json.dumps(event, ensure_ascii=False).encode()


def headers(body: bytes, *secrets: str, at: int = NOW) -> dict[str, str]:
    """As the service's own library signs it."""
    moment = datetime.fromtimestamp(at, UTC)
    signatures = [
        standardwebhooks.Webhook(each).sign("evt_1", moment, body.decode()) for each in secrets
    ]
    return {
        "Webhook-Id": "evt_1",
        "Webhook-Timestamp": str(at),
        "Webhook-Signature": " ".join(signatures),
    }


def webhook(*secrets: str) -> Webhook:
    return Webhook(*(secrets or (SECRET,)), now=lambda: NOW)


def test_an_event_that_was_signed_is_taken():
    body = body_of(SENT)
    event = webhook().verify(body, headers(body, SECRET))
    assert isinstance(event, MessageEvent)
    assert (event.message_id, event.sender, event.metadata) == ("sms_1", "RISALA", {"order": "77"})
    assert event.data == SENT
    assert webhook().verify(body.decode(), headers(body, SECRET)) == event


@pytest.mark.parametrize("of_ours", [(SECRET,), (OLD,), (SECRET, OLD), (OLD, SECRET)])
def test_either_secret_does_while_one_replaces_the_other(of_ours):
    body = body_of(SENT)
    both = headers(body, SECRET, OLD)
    assert webhook(*of_ours).verify(body, both).id == "evt_1"


@pytest.mark.parametrize("late", [-301, 301])
def test_what_is_too_old_or_too_early_is_refused(late):
    body = body_of(SENT)
    with pytest.raises(SignatureError, match="too old"):
        webhook().verify(body, headers(body, SECRET, at=NOW + late))


@pytest.mark.parametrize(
    "change",
    [
        {"Webhook-Id": "evt_2"},
        {"Webhook-Timestamp": str(NOW + 1)},
        {"Webhook-Timestamp": "nan"},
        {"Webhook-Timestamp": "9" * 5000},
        {"Webhook-Timestamp": "²"},
        {"Webhook-Signature": ""},
        {"Webhook-Signature": "v1,"},
        {"Webhook-Signature": "v1,%%%%"},
        {"Webhook-Signature": "v1,é"},
        {"Webhook-Signature": "v1a,AAAA v2,AAAA"},
        {"Webhook-Signature": "v1," + base64.b64encode(b"x" * 32).decode()},
    ],
)
def test_a_header_that_was_changed_is_refused(change):
    body = body_of(SENT)
    with pytest.raises(SignatureError):
        webhook().verify(body, headers(body, SECRET) | change)


@pytest.mark.parametrize("name", ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"])
def test_a_header_that_is_missing_is_named(name):
    body = body_of(SENT)
    told = headers(body, SECRET)
    del told[name]
    with pytest.raises(SignatureError, match=name.lower()):
        webhook().verify(body, told)


def test_a_body_that_was_changed_or_another_secret_is_refused():
    body = body_of(SENT)
    with pytest.raises(SignatureError):
        webhook().verify(body + b" ", headers(body, SECRET))
    with pytest.raises(SignatureError):
        webhook().verify(body, headers(body, OLD))


def hex_header(body: bytes, *secrets: str, at: int = NOW) -> str:
    content = f"{at}.".encode() + body
    made = [hmac.new(each.encode(), content, hashlib.sha256).hexdigest() for each in secrets]
    return ",".join([f"t={at}", *(f"v1={each}" for each in made)])


def test_the_other_signature_is_taken_too():
    body = body_of(SENT)
    assert webhook().verify_signed(body, hex_header(body, SECRET)).id == "evt_1"
    assert webhook(SECRET, OLD).verify_signed(body, hex_header(body, OLD, "whsec_x")).id == "evt_1"


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "v1=00",
        f"t={NOW}",
        f"t={NOW},v1=zz",
        f"t={NOW},t={NOW},v1=00",
        f"t={NOW - 301},v1=00",
        f"t={NOW},v1=" + "0" * 64,
        "t=,v1=00",
    ],
)
def test_or_refused(signature):
    with pytest.raises(SignatureError):
        webhook().verify_signed(body_of(SENT), signature)


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"type": "sms.delivered", "messageId": "s", "to": "t", "from": "f", "status": "s"},
         MessageEvent),
        ({"type": "sms.received", "messageId": "m", "from": "f", "text": "Vote 7"}, InboundEvent),
        ({"type": "verify.failed", "verificationId": "v", "to": "t", "status": "expired",
          "reason": "expired"}, VerificationEvent),
        ({"type": "sender.denied", "senderId": "s", "name": "Acme", "status": "denied",
          "reason": "Taken."}, SenderEvent),
        ({"type": "balance.low", "balance": "49.50", "lowBalance": "50.00", "currency": "MRU"},
         BalanceEvent),
        ({"type": "webhook.test", "endpointId": "whe_1"}, TrialEvent),
        ({"type": "sms.flown", "wings": 2}, WebhookEvent),
    ],
)  # fmt: skip
def test_each_type_has_its_class(told, kind):
    body = body_of(BASE | told)
    event = webhook().verify(body, headers(body, SECRET))
    assert type(event) is kind
    if isinstance(event, BalanceEvent):
        assert event.balance == Decimal("49.50")


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"\xff", b'{"type": "sms.sent"}'])
def test_what_was_signed_and_is_no_event_is_refused_all_the_same(body):
    with pytest.raises(SignatureError):
        webhook().verify_signed(body, hex_header(body, SECRET))


def test_secrets_and_texts_are_not_shown():
    assert "kkkk" not in repr(webhook()) + repr(vars(Webhook))
    body = body_of(BASE | {"type": "sms.received", "messageId": "m", "from": "f", "text": "Vote"})
    event = webhook().verify(body, headers(body, SECRET))
    assert "Vote" not in repr(event)
    assert isinstance(event, InboundEvent)
    assert event.text == "Vote"


@pytest.mark.parametrize("secrets", [(), ("whsec_é",), ("whsec_a",)])
def test_what_is_no_secret_is_refused_at_once(secrets):
    with pytest.raises(ValueError, match="whsec_"):
        Webhook(*secrets)
