"""The aggregators that the laboratory plays: what each takes, answers and brings, in its own JSON.

They are written from the aggregators' documents, beside the driver's presets and not from them:
what both misread in the same way, their own client libraries show, which are pointed at these
stand-ins in the tests.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl

USER: Final = "laboratory"
PASSWORD: Final = "laboratory-password"  # noqa: S105 -- of a stand-in
TOKEN: Final = "laboratory-token"  # noqa: S105 -- of a stand-in
ACCESS_TOKEN: Final = "laboratory-access"  # noqa: S105 -- of a stand-in

Headers = Mapping[str, str]
Sign = Callable[[str, bytes], dict[str, str]]
"""Headers that prove a callback: of its address and body."""


def now_s() -> float:
    """The time of signatures, in seconds since 1970."""
    return time.time()


def no_signature(_url: str, _body: bytes) -> dict[str, str]:
    """Of those that prove nothing but by the address."""
    return {}


@dataclass(frozen=True, slots=True)
class AggregatorCallback:
    """A callback: its body, with holes."""

    fields: Any
    """``{id}``, ``{to}``, ``{from}``, ``{text}`` are filled. A text is the body as it is."""
    form: bool = True
    """False: JSON."""
    method: str = "POST"
    path: str = ""
    escapes: Mapping[str, str] = field(default_factory=dict)
    """What the aggregator fills in an address that it was given; with holes."""


@dataclass(frozen=True, slots=True)
class Aggregator:
    """One aggregator's API."""

    name: str
    send: str
    """The path of a message: a pattern."""
    proved: Callable[[Headers, Mapping[str, str]], bool]
    """Whether headers and query prove the caller."""
    to: str
    """Where the number is in the request: a source, as presets have them; so for the next."""
    sender: str
    text: str
    answer: Any
    """The answer to a message, with holes."""
    receipt: AggregatorCallback
    inbound: AggregatorCallback
    status: int = 200
    callback: str = ""
    """Where the request says where receipts go; empty: the account is set up with an address."""
    validity: str = ""
    """Where its validity is; empty: it has none."""
    validity_unit_s: int = 1
    """How many seconds one of it is."""
    once: str = ""
    """Where a key is by which a request is taken once; empty: each is another message."""
    own_id: str = ""
    """Where our id of the message is that its receipts repeat; empty: the aggregator makes one."""
    looks: Mapping[str, Any] = field(default_factory=dict)
    """Answers to other questions, by their path."""
    lookup: str = ""
    """The path of a question for one message: a pattern, with its id as a group."""
    lookup_id: str = ""
    """Where the id is in that question, if not in its path."""
    tokens: str = ""
    """The path at which OAuth's tokens are had; empty: there are none."""
    sign: Sign = no_signature
    no_account: Any = None
    """The answer to who is not proved, with 401."""


def _basic(headers: Headers, _query: Mapping[str, str]) -> bool:
    pair = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    return headers.get("authorization") == f"Basic {pair}"


def _header(name: str, value: str) -> Callable[[Headers, Mapping[str, str]], bool]:
    def proved(headers: Headers, _query: Mapping[str, str]) -> bool:
        return headers.get(name) == value

    return proved


def _in_query(_headers: Headers, query: Mapping[str, str]) -> bool:
    return (query.get("username"), query.get("password")) == (USER, PASSWORD)


def _by_twilio(url: str, body: bytes) -> dict[str, str]:
    pairs = sorted(parse_qsl(body.decode(), keep_blank_values=True))
    content = url + "".join(name + value for name, value in pairs)
    digest = hmac.digest(PASSWORD.encode(), content.encode(), hashlib.sha1)
    return {"x-twilio-signature": base64.b64encode(digest).decode()}


AFRICASTALKING: Final = Aggregator(
    name="africastalking",
    send="/version1/messaging",
    proved=_header("apikey", PASSWORD),
    to="to",
    sender="from",
    text="message",
    status=201,
    answer={
        "SMSMessageData": {
            "Message": "Sent to 1/1 Total Cost: MRU 1.2000",
            "Recipients": [
                {
                    "statusCode": 101,
                    "number": "{to}",
                    "status": "Success",
                    "cost": "MRU 1.2000",
                    "messageId": "{id}",
                    "messageParts": "{parts#}",
                }
            ],
        }
    },
    receipt=AggregatorCallback(
        {
            "id": "{id}",
            "status": "Success",
            "phoneNumber": "{to}",
            "networkCode": "60901",
            "retryCount": "0",
        },
        path="/receipt",
    ),
    inbound=AggregatorCallback(
        {
            "id": "{id}",
            "from": "{from}",
            "to": "{to}",
            "text": "{text}",
            "date": "2026-11-30T08:00:00Z",
            "networkCode": "60901",
        },
        path="/inbound",
    ),
    looks={"/version1/user": {"UserData": {"balance": "MRU 1785.5000"}}},
    no_account="The supplied authentication is invalid",
)

TWILIO: Final = Aggregator(
    name="twilio",
    send=f"/2010-04-01/Accounts/{USER}/Messages.json",
    proved=_basic,
    to="To",
    sender="From",
    text="Body",
    validity="ValidityPeriod",
    callback="StatusCallback",
    status=201,
    answer={
        "sid": "{id}",
        "account_sid": USER,
        "to": "{to}",
        "from": "{from}",
        "body": "{text}",
        "status": "queued",
        "num_segments": "{parts}",
        "direction": "outbound-api",
        "error_code": None,
        "price": None,
        "uri": "/2010-04-01/Accounts/" + USER + "/Messages/{id}.json",
    },
    receipt=AggregatorCallback(
        {
            "MessageSid": "{id}",
            "SmsSid": "{id}",
            "AccountSid": USER,
            "MessageStatus": "delivered",
            "SmsStatus": "delivered",
            "To": "{to}",
            "From": "{from}",
            "ApiVersion": "2010-04-01",
        },
    ),
    inbound=AggregatorCallback(
        {
            "MessageSid": "{id}",
            "AccountSid": USER,
            "From": "{from}",
            "To": "{to}",
            "Body": "{text}",
            "NumMedia": "0",
            "NumSegments": "1",
        },
        path="/inbound",
    ),
    looks={
        f"/2010-04-01/Accounts/{USER}/Balance.json": {
            "account_sid": USER,
            "balance": "12.50",
            "currency": "USD",
        }
    },
    lookup=f"/2010-04-01/Accounts/{USER}/Messages/([^/]+)\\.json",
    sign=_by_twilio,
    no_account={"code": 20003, "message": "Authenticate", "status": 401},
)

_INFOBIP_PENDING: Final = {
    "groupId": 1,
    "groupName": "PENDING",
    "id": 26,
    "name": "PENDING_ACCEPTED",
    "description": "Message sent to next instance",
}
INFOBIP: Final = Aggregator(
    name="infobip",
    send="/sms/3/messages",
    proved=_header("authorization", f"App {TOKEN}"),
    to="/messages/0/destinations/0/to",
    sender="/messages/0/sender",
    text="/messages/0/content/text",
    validity="/messages/0/options/validityPeriod/amount",
    validity_unit_s=60,
    callback="/messages/0/webhooks/delivery/url",
    own_id="/messages/0/destinations/0/messageId",
    answer={
        "messages": [
            {
                "messageId": "{id}",
                "status": _INFOBIP_PENDING,
                "destination": "{to_digits}",
                "details": {"messageCount": "{parts#}"},
            }
        ]
    },
    receipt=AggregatorCallback(
        {
            "results": [
                {
                    "messageId": "{id}",
                    "to": "{to_digits}",
                    "sender": "RISALA",
                    "sentAt": "2026-11-30T08:00:00.000+0000",
                    "doneAt": "2026-11-30T08:00:01.000+0000",
                    "messageCount": 1,
                    "mccMnc": "60901",
                    "price": {"pricePerMessage": 0.05, "currency": "EUR"},
                    "status": {
                        "groupId": 3,
                        "groupName": "DELIVERED",
                        "id": 5,
                        "name": "DELIVERED_TO_HANDSET",
                        "description": "Message delivered to handset",
                    },
                    "error": {
                        "groupId": 0,
                        "groupName": "OK",
                        "id": 0,
                        "name": "NO_ERROR",
                        "description": "No Error",
                        "permanent": False,
                    },
                }
            ]
        },
        form=False,
    ),
    inbound=AggregatorCallback(
        {
            "results": [
                {
                    "messageId": "{id}",
                    "from": "{from_digits}",
                    "to": "{to}",
                    "text": "{text}",
                    "cleanText": "{text}",
                    "smsCount": 1,
                    "receivedAt": "2026-11-30T08:00:00.000+0000",
                }
            ],
            "messageCount": 1,
            "pendingMessageCount": 0,
        },
        form=False,
        path="/inbound",
    ),
    looks={"/account/1/balance": {"balance": 47.5, "currency": "EUR"}},
    no_account={
        "requestError": {
            "serviceException": {"messageId": "UNAUTHORIZED", "text": "Invalid login details"}
        }
    },
)

ORANGE_NUMBER: Final = "2220000"
"""The country's sender number."""
_ORANGE_PATH: Final = f"/smsmessaging/v1/outbound/tel%3A%2B{ORANGE_NUMBER}/requests"
ORANGE: Final = Aggregator(
    name="orange",
    send=_ORANGE_PATH,
    proved=_header("authorization", f"Bearer {ACCESS_TOKEN}"),
    tokens="/oauth/v3/token",
    to="/outboundSMSMessageRequest/address",
    sender="/outboundSMSMessageRequest/senderName",
    text="/outboundSMSMessageRequest/outboundSMSTextMessage/message",
    status=201,
    answer={
        "outboundSMSMessageRequest": {
            "address": ["tel:{to}"],
            "senderAddress": f"tel:+{ORANGE_NUMBER}",
            "senderName": "{from}",
            "outboundSMSTextMessage": {"message": "{text}"},
            "resourceURL": "https://api.orange.com" + _ORANGE_PATH + "/{id}",
        }
    },
    receipt=AggregatorCallback(
        {
            "deliveryInfoNotification": {
                "callbackData": "{id}",
                "deliveryInfo": {"address": "tel:{to}", "deliveryStatus": "DeliveredToTerminal"},
            }
        },
        form=False,
        path="/receipt",
    ),
    inbound=AggregatorCallback(
        {
            "inboundSMSMessageNotification": {
                "callbackData": "",
                "inboundSMSMessage": {
                    "dateTime": "2026-11-30T08:00:00.000Z",
                    "destinationAddress": "tel:+{to}",
                    "messageId": "{id}",
                    "message": "{text}",
                    "senderAddress": "tel:{from}",
                },
            }
        },
        form=False,
        path="/inbound",
    ),
    looks={"/sms/admin/v1/contracts": [{"type": "SELFSERVICE", "availableUnits": 1000}]},
    no_account={"code": 42, "message": "Expired credentials"},
)

KANNEL: Final = Aggregator(
    name="kannel",
    send="/cgi-bin/sendsms",
    proved=_in_query,
    to="to",
    sender="from",
    text="text",
    validity="validity",
    validity_unit_s=60,
    callback="dlr-url",
    status=202,
    answer="0: Accepted for delivery",
    receipt=AggregatorCallback(None, method="GET", escapes={"%d": "1", "%p": "{to}"}),
    inbound=AggregatorCallback(
        "{text}",
        path="/inbound?id={id}&from={from}&to={to}",
    ),
    no_account="Authorization failed for sendsms",
)

SIGNING_SECRET: Final = "whsec_" + base64.b64encode(b"laboratory signing secret").decode()


def _by_standard_webhooks(_url: str, body: bytes) -> dict[str, str]:
    at_s = str(int(now_s()))
    key = base64.b64decode(SIGNING_SECRET.removeprefix("whsec_"))
    digest = hmac.digest(key, f"evt_1.{at_s}.".encode() + body, hashlib.sha256)
    return {
        "webhook-id": "evt_1",
        "webhook-timestamp": at_s,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


_EVENT: Final = {
    "id": "evt_{id}",
    "createdAt": "2026-11-30T08:00:00.000Z",
    "organizationId": "org_1",
    "test": False,
    "messageId": "{id}",
    "to": "{to}",
    "from": "{from}",
    "errorCode": None,
    "metadata": {},
}
RISALA: Final = Aggregator(
    name="risala",
    send="/api/sms",
    proved=_header("authorization", f"Bearer {TOKEN}"),
    to="/to",
    sender="/from",
    text="/body",
    validity="/validitySeconds",
    once="/idempotencyKey",
    answer={
        "accepted": True,
        "messageId": "{id}",
        "idempotencyKey": "idk_1",
        "organizationId": "org_1",
        "from": "{from}",
    },
    receipt=AggregatorCallback(
        {**_EVENT, "type": "sms.delivered", "status": "delivered"}, form=False, path="/event"
    ),
    inbound=AggregatorCallback(
        {**_EVENT, "type": "sms.received", "status": "received", "text": "{text}"},
        form=False,
        path="/event",
    ),
    looks={"/api/balance/get": {"organizationId": "org_1", "balance": "12.00", "currency": "MRU"}},
    lookup="/api/sms/get",
    lookup_id="/messageId",
    sign=_by_standard_webhooks,
    no_account={"code": "UNAUTHORIZED", "status": 401, "message": "Unknown key.", "data": {}},
)

AGGREGATORS: Final[Mapping[str, Aggregator]] = {
    each.name: each for each in (AFRICASTALKING, INFOBIP, KANNEL, ORANGE, RISALA, TWILIO)
}
"""Every aggregator, by its preset's name."""
SIGNING: Final = frozenset(
    each.name for each in AGGREGATORS.values() if each.sign is not no_signature
)
"""Those that sign their calls, so that their address needs no secret."""
