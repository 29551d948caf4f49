"""Aggregators of the whole world, as the laboratory plays them, from their documents."""

from __future__ import annotations

from typing import Any, Final

from risala.lab.aggregators.row import (
    TOKEN,
    USER,
    Aggregator,
    AggregatorCallback,
    by_basic,
    by_header,
)

VONAGE: Final = Aggregator(
    name="vonage",
    send="/sms/json",
    proved=by_basic,
    to="to",
    sender="from",
    text="text",
    flash="message-class",
    validity="ttl",
    validity_unit_s=0.001,
    own_id="client-ref",
    answer={
        "message-count": "{parts}",
        "messages": [
            {
                "to": "{to_digits}",
                "message-id": "0A0000000123ABCD1",
                "status": "0",
                "remaining-balance": "15.53590000",
                "message-price": "0.03330000",
                "network": "60901",
                "client-ref": "{id}",
            }
        ],
    },
    receipt=AggregatorCallback(
        {
            "msisdn": "{to_digits}",
            "to": "RISALA",
            "network-code": "60901",
            "messageId": "0A0000000123ABCD1",
            "price": "0.03330000",
            "status": "delivered",
            "scts": "2611300800",
            "err-code": "0",
            "api-key": USER,
            "client-ref": "{id}",
            "message-timestamp": "2026-11-30 08:00:00",
        },
        path="/receipt",
    ),
    inbound=AggregatorCallback(
        {
            "msisdn": "{from_digits}",
            "to": "{to}",
            "messageId": "{id}",
            "text": "{text}",
            "type": "unicode",
            "keyword": "OUI",
            "api-key": USER,
            "message-timestamp": "2026-11-30 08:00:00",
        },
        form=False,
        path="/inbound",
    ),
    looks={"/account/get-balance": {"value": 10.17, "autoReload": False}},
    no_account={
        "message-count": "1",
        "messages": [{"status": "4", "error-text": "Bad Credentials"}],
    },
)

PLIVO: Final = Aggregator(
    name="plivo",
    send=f"/v1/Account/{USER}/Message/",
    proved=by_basic,
    to="/dst",
    sender="/src",
    text="/text",
    validity="/message_expiry",
    callback="/url",
    status=202,
    answer={
        "api_id": "db342550-7f1d-11e1-8ea7-1231380bc196",
        "message": "message(s) queued",
        "message_uuid": ["{id}"],
    },
    receipt=AggregatorCallback(
        {
            "MessageUUID": "{id}",
            "To": "{to_digits}",
            "From": "RISALA",
            "Type": "sms",
            "Status": "delivered",
            "Units": "1",
            "TotalRate": "0.0035",
            "TotalAmount": "0.0035",
            "MCC": "609",
            "MNC": "01",
            "Sequence": "3",
        },
    ),
    inbound=AggregatorCallback(
        {
            "MessageUUID": "{id}",
            "From": "{from_digits}",
            "To": "{to}",
            "Text": "{text}",
            "Type": "sms",
            "Units": "1",
        },
        path="/inbound",
    ),
    looks={
        f"/v1/Account/{USER}/": {
            "account_type": "standard",
            "auth_id": USER,
            "billing_mode": "prepaid",
            "cash_credits": "1.80900",
        }
    },
    lookup=f"/v1/Account/{USER}/Message/([^/]+)/",
    lookup_answer={
        "message_uuid": "{id}",
        "message_state": "delivered",
        "message_direction": "outbound",
        "to_number": "{to_digits}",
        "units": 1,
        "error_code": "000",
    },
    no_account={"api_id": "db342550-7f1d-11e1-8ea7-1231380bc196", "error": "unauthorized"},
)

_TELNYX_MESSAGE: Final[dict[str, Any]] = {
    "record_type": "message",
    "direction": "outbound",
    "id": "{id}",
    "type": "SMS",
    "messaging_profile_id": "16fd2706-8baf-433b-82eb-8c7fada847da",
    "from": {"phone_number": "{from}"},
    "text": "{text}",
    "encoding": "GSM-7",
    "parts": "{parts#}",
    "cost": {"amount": "0.0051", "currency": "USD"},
    "errors": [],
}


def _telnyx(to_state: str) -> dict[str, Any]:
    return {**_TELNYX_MESSAGE, "to": [{"phone_number": "{to}", "status": to_state}]}


def _telnyx_event(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {
        "data": {
            "record_type": "event",
            "id": "4ee8c3a6-4995-4309-a3c6-38e3db9ea4be",
            "event_type": kind,
            "occurred_at": "2026-11-30T08:00:00.000+00:00",
            "payload": payload,
        },
        "meta": {"attempt": 1, "delivered_to": "https://sms.example.com/"},
    }


TELNYX: Final = Aggregator(
    name="telnyx",
    send="/v2/messages",
    proved=by_header("authorization", f"Bearer {TOKEN}"),
    to="/to",
    sender="/from",
    text="/text",
    answer={"data": _telnyx("queued")},
    receipt=AggregatorCallback(
        _telnyx_event("message.finalized", _telnyx("delivered")), form=False, path="/event"
    ),
    inbound=AggregatorCallback(
        _telnyx_event(
            "message.received",
            {
                "record_type": "message",
                "direction": "inbound",
                "id": "{id}",
                "type": "SMS",
                "from": {"phone_number": "{from}", "carrier": "Mattel", "line_type": "Wireless"},
                "to": [{"phone_number": "{to}", "status": "webhook_delivered"}],
                "text": "{text}",
                "encoding": "UCS-2",
                "parts": 1,
            },
        ),
        form=False,
        path="/event",
    ),
    looks={
        "/v2/balance": {"data": {"record_type": "balance", "balance": "300.00", "currency": "USD"}}
    },
    lookup="/v2/messages/([^/]+)",
    lookup_answer={"data": _telnyx("delivered")},
    no_account={
        "errors": [{"code": "10009", "title": "Authentication failed", "detail": "No such key."}]
    },
)

_BIRD_RECIPIENT: Final[dict[str, Any]] = {
    "recipient": "{to_digits#}",
    "status": "sent",
    "statusDatetime": "2026-11-30T08:00:00+00:00",
    "messagePartCount": "{parts#}",
}


def _bird(status: str) -> dict[str, Any]:
    return {
        "id": "{id}",
        "href": "https://rest.messagebird.com/messages/{id}",
        "direction": "mt",
        "type": "sms",
        "originator": "{from}",
        "body": "{text}",
        "datacoding": "unicode",
        "mclass": 1,
        "createdDatetime": "2026-11-30T08:00:00+00:00",
        "recipients": {
            "totalCount": 1,
            "totalSentCount": 1,
            "totalDeliveredCount": 0,
            "totalDeliveryFailedCount": 0,
            "items": [{**_BIRD_RECIPIENT, "status": status}],
        },
    }


MESSAGEBIRD: Final = Aggregator(
    name="messagebird",
    send="/messages",
    proved=by_header("authorization", f"AccessKey {TOKEN}"),
    to="/recipients/0|/recipients",
    sender="/originator",
    text="/body",
    flash="/mclass",
    validity="/validity",
    callback="/reportUrl",
    status=201,
    answer=_bird("sent"),
    receipt=AggregatorCallback(
        {
            "id": "{id}",
            "reference": "ours-1",
            "recipient": "{to_digits}",
            "status": "delivered",
            "statusDatetime": "2026-11-30T08:00:01+00:00",
        },
        method="GET",
    ),
    looks={"/balance": {"payment": "prepaid", "type": "euros", "amount": 9.2}},
    lookup="/messages/([^/]+)",
    lookup_answer=_bird("delivered"),
    no_account={
        "errors": [
            {
                "code": 2,
                "description": "Request not allowed (incorrect access_key)",
                "parameter": "access_key",
            }
        ]
    },
)

_SINCH_PLAN: Final = f"/xms/v1/{USER}/batches"
SINCH: Final = Aggregator(
    name="sinch",
    send=_SINCH_PLAN,
    proved=by_header("authorization", f"Bearer {TOKEN}"),
    to="/to/0",
    sender="/from",
    text="/body",
    flash="/flash_message",
    flash_word="true",
    validity="/expire_at",
    callback="/callback_url",
    status=201,
    answer={
        "id": "{id}",
        "to": ["{to_digits}"],
        "from": "{from}",
        "canceled": False,
        "body": "{text}",
        "type": "mt_text",
        "delivery_report": "per_recipient",
        "created_at": "2026-11-30T08:00:00.000Z",
        "modified_at": "2026-11-30T08:00:00.000Z",
    },
    receipt=AggregatorCallback(
        {
            "type": "recipient_delivery_report_sms",
            "batch_id": "{id}",
            "recipient": "{to_digits}",
            "code": 0,
            "status": "Delivered",
            "at": "2026-11-30T08:00:01.000Z",
        },
        form=False,
    ),
    inbound=AggregatorCallback(
        {
            "type": "mo_text",
            "id": "{id}",
            "from": "{from_digits}",
            "to": "{to}",
            "body": "{text}",
            "received_at": "2026-11-30T08:00:00.000Z",
        },
        form=False,
        path="/inbound",
    ),
    looks={_SINCH_PLAN: {"count": 0, "page": 0, "page_size": 1, "batches": []}},
    lookup=f"{_SINCH_PLAN}/([^/]+)/delivery_report",
    lookup_answer={
        "type": "delivery_report_sms",
        "batch_id": "{id}",
        "total_message_count": 1,
        "statuses": [{"code": 0, "status": "Delivered", "count": 1, "recipients": ["{to_digits}"]}],
    },
)

CLICKATELL: Final = Aggregator(
    name="clickatell",
    send="/v1/message",
    proved=by_header("authorization", TOKEN),
    to="/messages/0/to",
    sender="/messages/0/from",
    text="/messages/0/content",
    status=202,
    answer={
        "messages": [
            {"apiMessageId": "{id}", "accepted": True, "to": "{to_digits}", "error": None}
        ],
        "error": None,
    },
    receipt=AggregatorCallback(
        {
            "integrationName": "laboratory",
            "messageId": "{id}",
            "requestId": "request-1",
            "to": "{to_digits}",
            "from": "RISALA",
            "statusCode": 5,
            "status": "DEVICE_ACK",
            "statusDescription": "Device acknowledged delivery",
            "timestamp": 1796025600000,
        },
        form=False,
        path="/receipt",
    ),
    inbound=AggregatorCallback(
        {
            "integrationId": "laboratory",
            "replyMessageId": "{id}",
            "fromNumber": "{from_digits}",
            "toNumber": "{to}",
            "timestamp": 1796025600000,
            "text": "{text}",
            "charset": "UTF-8",
            "network": "",
            "keyword": "",
        },
        form=False,
        path="/inbound",
    ),
)
