"""What a simulated phone receives, and brings to the service by webhooks."""

from __future__ import annotations

import hmac
import json
from hashlib import sha256
from typing import Any

import trio

from risala.lab.phone.events import TextUploaded
from risala.lab.phone.phone import SimulatedPhone
from risala.lab.phone.store import written


class TextReceiver:
    """Brings the texts that people send to a phone."""

    def __init__(self, phone: SimulatedPhone) -> None:
        self._phone = phone
        self._received: list[tuple[str, dict[str, Any]]] = []
        self._number = 0

    def receive(self, sender: str, text: str, sim: int = 1) -> None:
        """Somebody writes to the phone."""
        self._number += 1
        received = {
            "messageId": f"in{self._number:06x}",
            "sender": sender,
            "recipient": None,
            "simNumber": sim,
            "phoneNumber": sender,
            "message": text,
            "receivedAt": written(self._phone.now_ms()),
        }
        for webhook in self._phone.webhooks:
            if webhook["event"] == "sms:received":
                self._queue_event(webhook, received)
        self._phone.kick()

    def _queue_event(self, webhook: dict[str, str], payload: dict[str, Any]) -> None:
        self._number += 1
        event = {
            "id": f"event-{self._number}-{self._phone.now_ms()}",
            "webhookId": webhook["id"],
            "event": webhook["event"],
            "deviceId": (self._phone.account or {}).get("id", ""),
            "payload": payload,
        }
        self._received.append((webhook["url"], event))

    async def run(self) -> None:
        """Bring received texts, each until the service has it."""
        while True:
            await self._phone.until(
                lambda: bool(self._received) and not self._phone.behaviour.is_dozing
            )
            url, event = self._received[0]
            tries = 1
            while not await self._is_uploaded(url, event):
                tries += 1
                await trio.sleep(self._phone.config.retry_s)
            self._received.pop(0)
            self._phone.tell(TextUploaded(event["payload"].get("sender", ""), tries))

    async def _is_uploaded(self, url: str, event: dict[str, Any]) -> bool:
        body = json.dumps(event, ensure_ascii=False).encode()
        stamp = str(self._phone.now_ms() // 1000)
        key = self._phone.settings.get("webhooks", {}).get("signing_key", "own-key")
        signature = hmac.new(key.encode(), body + stamp.encode(), sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-Timestamp": stamp,
            "X-Signature": signature,
        }
        status = await self._phone.call("POST", url, headers, body)
        return status is not None and status[0] < 300
