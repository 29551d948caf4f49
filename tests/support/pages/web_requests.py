"""What the log of requests answers to pages, in the shapes that the operations tell."""

from __future__ import annotations

from typing import Any

from risala.engine.model.errors import NotFound
from risala.engine.model.times import iso

AT_MS = 1_795_250_476_123
GONE = "req_" + "9" * 32


def request(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "requestId": f"req_{number:032d}",
        "organizationId": "org_1",
        "keyId": "key_1",
        "mode": "live",
        "at": iso(AT_MS - number * 61_000),
        "method": "POST",
        "path": "/api/sms",
        "status": 200,
        "tookMs": 11.8,
        "address": "203.0.113.7",
        "made": f"sms_{number}",
        **changes,
    }


REQUESTS = (
    request(9),
    request(8, status=429, made=None, tookMs=0.4),
    request(7, path="/api/verify/check", status=404, made=None, address=None),
    request(6, status=503, made=None),
)


DAYS = [
    {
        "at": iso(AT_MS - back * 86_400_000),
        "successful": 40 + back,
        "refused": back % 4,
        "failed": 0,
    }
    for back in range(29, -1, -1)
]


def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The answer of an operation on requests; None for any other."""
    if name == "request.list":
        return _page(arguments)
    if name == "request.show":
        if arguments["request_id"] == GONE:
            raise NotFound("There is no such request in the log.")
        return {
            **request(9, requestId=arguments["request_id"]),
            "asked": {"to": "…3456", "body": "‹43›", "metadata": "‹{1}›"},
            "answered": {"accepted": True, "messageId": "sms_9"},
        }
    return None


def _page(arguments: dict[str, Any]) -> dict[str, Any]:
    status, path = arguments.get("status"), arguments.get("path")
    shown = [
        each
        for each in REQUESTS
        if status in (None, f"{each['status'] // 100}xx") and path in (None, each["path"])
    ]
    if "before" in arguments or "after" in arguments:
        shown = shown[:1]
    if arguments.get("key_id") not in (None, "key_1"):
        shown = []
    return {
        "requests": shown,
        "newer": None,
        "older": shown[-1]["requestId"] if shown and "before" not in arguments else None,
        "dropped": 12,
        "written": True,
        "keepDays": 30,
        "days": DAYS if arguments.get("by_day") and shown else [],
    }
