"""Telegram's Gateway on this machine: its methods, errors, and signed reports as it documents them
(core.telegram.org/gateway/api)."""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from typing import Final

from risala.lab.channels.vendor import Json, Vendor

COST: Final = 0.01
"""What a code costs, in dollars."""
TTL_S: Final = (30, 3600)
_numbers = count(1)


@dataclass
class TelegramGateway(Vendor):
    """Takes codes for those who have Telegram."""

    balance: float = 10.0
    statuses: dict[str, Json] = field(default_factory=dict)
    """The ``RequestStatus`` of each request, by its id."""
    callbacks: dict[str, str] = field(default_factory=dict)
    """Where each is reported, if it is."""
    now_s: Callable[[], float] = time.time

    def answered(self, path: str, body: Json, is_known: bool) -> tuple[int, Json]:
        if not is_known:
            return 401, _error("ACCESS_TOKEN_INVALID")
        method = path.strip("/").lower()
        if method == "sendverificationmessage":
            return self._send(body)
        if method == "checkverificationstatus":
            status = self.statuses.get(str(body.get("request_id")))
            return (400, _error("REQUEST_ID_INVALID")) if status is None else (200, _ok(status))
        return 404, _error("METHOD_NOT_FOUND")

    def _send(self, body: Json) -> tuple[int, Json]:
        number, code, ttl = body.get("phone_number"), body.get("code"), body.get("ttl")
        if not isinstance(number, str) or not number.startswith("+"):
            return 400, _error("PHONE_NUMBER_INVALID")
        if not self.has(number):
            return 400, _error("PHONE_NUMBER_NOT_FOUND")
        if not (isinstance(code, str) and code.isdigit() and 4 <= len(code) <= 8):
            return 400, _error("CODE_INVALID")
        if ttl is not None and not TTL_S[0] <= ttl <= TTL_S[1]:
            return 400, _error("TTL_INVALID")
        if self.balance < COST:
            return 400, _error("BALANCE_NOT_ENOUGH")
        self.balance -= COST
        request_id = f"{next(_numbers):010d}"
        self.codes.append((number, code))
        self.statuses[request_id] = {
            "request_id": request_id,
            "phone_number": number,
            "request_cost": COST,
            "remaining_balance": self.balance,
            "delivery_status": {"status": "sent", "updated_at": int(self.now_s())},
            "payload": body.get("payload", ""),
        }
        if "callback_url" in body:
            self.callbacks[request_id] = body["callback_url"]
        if self.called_at:
            report = {**self.become(request_id, "delivered")}
            self.report(report, self.signed(report))
        return 200, _ok(self.statuses[request_id])

    @property
    def last(self) -> str:
        """The id of the last request."""
        return next(reversed(self.statuses))

    def become(self, request_id: str, word: str) -> Json:
        """Let a code be ``delivered``, ``read``, ``expired`` or ``revoked``; the report of it.
        What was not delivered costs nothing."""
        status = self.statuses[request_id]
        status["delivery_status"] = {"status": word, "updated_at": int(self.now_s())}
        if word == "expired":
            status["is_refunded"] = True
            self.balance += COST
        return status

    def signed(self, report: Json) -> dict[str, str]:
        """The header fields that prove a report."""
        at = str(int(self.now_s()))
        key = sha256(self.token.encode()).digest()
        octets = json.dumps(report).encode()
        signature = hmac.new(key, at.encode() + b"\n" + octets, sha256).hexdigest()
        return {"X-Request-Timestamp": at, "X-Request-Signature": signature}


def _ok(result: Json) -> Json:
    return {"ok": True, "result": result}


def _error(word: str) -> Json:
    return {"ok": False, "error": word}
