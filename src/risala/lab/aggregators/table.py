"""The aggregators that the laboratory plays: what each takes, answers and brings, in its own JSON.

They are written from the aggregators' documents, beside the driver's presets and not from them:
what both misread in the same way, their own client libraries show, which are pointed at these
stand-ins in the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from risala.lab.aggregators.gateways import HTTPSMS, MIKROTIK, RUTOS, TEXTBEE
from risala.lab.aggregators.hosted import (
    CLICKATELL,
    MESSAGEBIRD,
    PLIVO,
    SINCH,
    TELNYX,
    VONAGE,
)
from risala.lab.aggregators.row import (
    ACCESS_TOKEN,
    PASSWORD,
    TOKEN,
    USER,
    Aggregator,
    AggregatorCallback,
    by_basic,
    by_header,
    by_query,
    by_standard_webhooks,
    by_twilio,
    no_signature,
)

AFRICASTALKING: Final = Aggregator(
    name="africastalking",
    send="/version1/messaging",
    proved=by_header("apikey", PASSWORD),
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
    proved=by_basic,
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
    sign=by_twilio,
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
    proved=by_header("authorization", f"App {TOKEN}"),
    to="/messages/0/destinations/0/to",
    sender="/messages/0/sender",
    text="/messages/0/content/text",
    flash="/messages/0/options/flash",
    flash_word="true",
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
    proved=by_header("authorization", f"Bearer {ACCESS_TOKEN}"),
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
    proved=by_query,
    to="to",
    sender="from",
    text="text",
    flash="mclass",
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
    proved=by_header("authorization", f"Bearer {TOKEN}"),
    to="/to",
    sender="/from",
    text="/body",
    flash="/messageClass",
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
    sign=by_standard_webhooks,
    no_account={"code": "UNAUTHORIZED", "status": 401, "message": "Unknown key.", "data": {}},
)

AGGREGATORS: Final[Mapping[str, Aggregator]] = {
    each.name: each
    for each in (
        AFRICASTALKING,
        CLICKATELL,
        HTTPSMS,
        INFOBIP,
        KANNEL,
        MESSAGEBIRD,
        MIKROTIK,
        ORANGE,
        PLIVO,
        RISALA,
        RUTOS,
        SINCH,
        TELNYX,
        TEXTBEE,
        TWILIO,
        VONAGE,
    )
}
"""Every aggregator, by its preset's name."""
SIGNING: Final = frozenset(
    each.name for each in AGGREGATORS.values() if each.sign is not no_signature
)
"""The aggregators that sign their calls, so that their address needs no secret."""
