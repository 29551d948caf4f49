"""Stripe's API, as far as it is used: a stand-in on this machine, and its signature."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import trio

SECRET = "whsec_of_the_test"
NOW_MS = 1_795_176_000_000


@dataclass
class StandIn:
    """Stripe's API, as far as it is used."""

    sessions: dict[str, dict[str, Any]] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    """The session of each idempotency key."""
    asked: list[tuple[str, str, dict[str, str], dict[str, list[str]]]] = field(default_factory=list)
    spoil: bytes | None = None
    """Said in place of an answer."""
    status: int = 200
    url: str = ""
    now_s: int = NOW_MS // 1000

    async def serve(self, stream: trio.SocketStream) -> None:
        async with stream:
            octets = b""
            while b"\r\n\r\n" not in octets:
                octets += await stream.receive_some(65536)
            head, _, body = octets.partition(b"\r\n\r\n")
            first, *lines = head.decode().split("\r\n")
            headers = {n.lower(): v for n, _, v in (each.partition(": ") for each in lines)}
            while len(body) < int(headers["content-length"]):
                body += await stream.receive_some(65536)
            method, path, _ = first.split(" ")
            self.asked.append((method, path, headers, parse_qs(body.decode())))
            if self.spoil is not None:
                await stream.send_all(self.spoil)
                return
            told = json.dumps(self._answer(method, path, headers, parse_qs(body.decode()))).encode()
            await stream.send_all(
                b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
                b"Connection: close\r\n\r\n%b" % (self.status, len(told), told)
            )

    def _answer(self, method: str, path: str, headers: Any, given: Any) -> dict[str, Any]:
        if self.status != 200:
            return {"error": {"type": "card_error", "code": "amount_too_small", "message": SECRET}}
        if method == "GET":
            return self.sessions[path.rpartition("/")[2]]
        key = headers["idempotency-key"]
        if key not in self.keys:
            session_id = self.keys[key] = f"cs_test_{len(self.keys)}"
            data = "line_items[0][price_data]"
            metadata = {
                name[9:-1]: value[0] for name, value in given.items() if name.startswith("metadata")
            }
            self.sessions[session_id] = {
                "id": session_id,
                "url": f"https://checkout.stripe.example/{session_id}",
                "client_reference_id": given["client_reference_id"][0],
                "status": "open",
                "payment_status": "unpaid",
                "amount_total": int(given[f"{data}[unit_amount]"][0]),
                "currency": given[f"{data}[currency]"][0],
                "expires_at": self.now_s + 86_400,
                "metadata": metadata,
            }
        return self.sessions[self.keys[key]]

    def pay(self, session_id: str = "cs_test_0", **changes: Any) -> dict[str, Any]:
        paid = {"status": "complete", "payment_status": "paid", **changes}
        self.sessions[session_id].update(paid)
        return self.sessions[session_id]


def event(kind: str, session: Any, *, livemode: bool = True) -> bytes:
    return json.dumps({"type": kind, "livemode": livemode, "data": {"object": session}}).encode()


def signature(body: bytes, at_s: int, secret: str = SECRET) -> str:
    """The header of a callback, as it is while a secret is rotated: another's mark stands first."""
    mark = hmac.new(secret.encode(), f"{at_s}.".encode() + body, hashlib.sha256).hexdigest()
    old = "0" * 64
    return f"t={at_s}, v1={old},v1={mark},v0=x"
