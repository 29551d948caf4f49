"""Android phones behind an API and routers with a SIM, as the laboratory plays them: a row each,
from their sources and documents."""

from __future__ import annotations

from typing import Any, Final

from risala.lab.aggregators.row import (
    ACCESS_TOKEN,
    TOKEN,
    USER,
    Aggregator,
    AggregatorCallback,
    by_basic,
    by_header,
    by_textbee,
)

DEVICE: Final = "device-1"
"""The phone of textbee's account."""
_TEXTBEE_PHONE: Final = f"/api/v1/gateway/devices/{DEVICE}"
_TEXTBEE_EVENT: Final[dict[str, Any]] = {
    "smsId": "{id}",
    "message": "{text}",
    "deviceId": DEVICE,
    "webhookSubscriptionId": "subscription-1",
    "idempotencyKey": "2f6a3a0e-0f8e-4c1c-8a54-0e9c4fe7f2b1",
}
TEXTBEE: Final = Aggregator(
    name="textbee",
    send=f"{_TEXTBEE_PHONE}/send-sms",
    proved=by_header("x-api-key", TOKEN),
    to="/recipients/0",
    sender="=",
    text="/message",
    status=201,
    answer={
        "data": {
            "success": True,
            "message": "SMS added to queue for processing",
            "smsBatchId": "{id}",
            "recipientCount": 1,
        }
    },
    receipt=AggregatorCallback(
        {
            **_TEXTBEE_EVENT,
            "smsId": "sms-{id}",
            "webhookEvent": "MESSAGE_DELIVERED",
            "smsBatchId": "{id}",
            "status": "delivered",
            "recipient": "{to}",
            "sentAt": "2026-11-30T08:00:00.000Z",
            "deliveredAt": "2026-11-30T08:00:01.000Z",
        },
        form=False,
        path="/event",
    ),
    inbound=AggregatorCallback(
        {
            **_TEXTBEE_EVENT,
            "webhookEvent": "MESSAGE_RECEIVED",
            "sender": "{from}",
            "receivedAt": "2026-11-30T08:00:00.000Z",
        },
        form=False,
        path="/event",
    ),
    looks={"/api/v1/gateway/devices": {"data": [{"_id": DEVICE, "enabled": True}]}},
    lookup=f"{_TEXTBEE_PHONE}/sms-batch/([^/]+)",
    lookup_answer={
        "data": {
            "batch": {"_id": "{id}", "status": "completed"},
            "messages": [{"_id": "sms-{id}", "recipient": "{to}", "status": "delivered"}],
        }
    },
    sign=by_textbee,
    no_account={"error": "Unauthorized"},
)


def _httpsms_event(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": "8b1a9953-c461-4961-9b7a-0b1d0c5c7d2e",
        "source": "/v1/messages",
        "type": kind,
        "datacontenttype": "application/json",
        "time": "2026-11-30T08:00:00Z",
        "data": {"user_id": "laboratory", "encrypted": False, "sim": "SIM1", **data},
    }


def _httpsms_message(status: str) -> dict[str, Any]:
    return {
        "status": "success",
        "message": "message added to queue",
        "data": {
            "id": "{id}",
            "owner": "{from}",
            "contact": "{to}",
            "content": "{text}",
            "type": "mobile-terminated",
            "status": status,
        },
    }


HTTPSMS: Final = Aggregator(
    name="httpsms",
    send="/v1/messages/send",
    proved=by_header("x-api-key", TOKEN),
    to="/to",
    sender="/from",
    text="/content",
    answer=_httpsms_message("pending"),
    receipt=AggregatorCallback(
        _httpsms_event(
            "message.phone.delivered",
            {"id": "{id}", "owner": "+22236999999", "contact": "{to}", "content": "{text}"},
        ),
        form=False,
        path="/event",
    ),
    inbound=AggregatorCallback(
        _httpsms_event(
            "message.phone.received",
            {"message_id": "{id}", "owner": "{to}", "contact": "{from}", "content": "{text}"},
        ),
        form=False,
        path="/event",
    ),
    looks={"/v1/users/me": {"status": "success", "data": {"id": "laboratory"}}},
    lookup="/v1/messages/(?!send$)([^/]+)",
    lookup_answer=_httpsms_message("delivered"),
    no_account={
        "status": "error",
        "message": "You are not authorized to carry out this request.",
    },
)


MODEM: Final = "1-1"
"""The modem of the RutOS router."""
PORT: Final = "lte1"
"""The interface of the MikroTik router that has the SIM."""

RUTOS: Final = Aggregator(
    name="rutos",
    send="/api/messages/actions/send",
    proved=by_header("authorization", f"Bearer {ACCESS_TOKEN}"),
    tokens="/api/login",
    login={
        "success": True,
        "data": {"username": USER, "group": "root", "expires": 299, "token": ACCESS_TOKEN},
    },
    to="/data/number",
    sender="=",
    text="/data/message",
    answer={"success": True, "data": {"sms_used": "{parts#}"}},
    inbound=AggregatorCallback({"sender": "{from}", "text": "{text}"}, path="/inbound"),
    looks={"/api/session/status": {"success": True, "data": {"active": True}}},
    no_account={"success": False, "errors": [{"error": "Unauthorized", "source": "Authorization"}]},
)

MIKROTIK: Final = Aggregator(
    name="mikrotik",
    send="/rest/tool/sms/send",
    proved=by_basic,
    to="/phone-number",
    sender="=",
    text="/message",
    answer="[]",
    looks={"/rest/system/resource": {"board-name": "hAP ax lite LTE6", "version": "7.16"}},
    no_account={"error": 401, "message": "Unauthorized"},
)
