"""What the phone receives, and brings by webhooks.

The app signs each with a key that this service gives it with its settings, over the body and the
phone's own time. It brings a text again until it gets a yes, signed anew each time: its id stays,
by which the engine stores it once.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Final, Protocol

from risala.drivers.phone.link import PhoneLink
from risala.drivers.phone.words import PhoneEvent, StrangeWordsError, event_of
from risala.plugins.answering import CarrierAnswer, CarrierRequest
from risala.plugins.contract import Inbound

FRESH_S: Final = 3600.0
"""By how much the phone's clock may be off. A signature that is older or newer is refused: the app
signs again at each try, so a text is brought once its clock is right."""
RECEIVED: Final = "sms:received"
_UNPROVED: Final = CarrierAnswer(status=401)
_TAKEN: Final = CarrierAnswer(b"{}")


class WebhookKeys(Protocol):
    """Knows the key of a phone."""

    def phone(self, phone_id: str) -> str:
        """The key that this phone signs with."""


class PhoneInbox:
    """Takes the webhooks of a phone."""

    def __init__(self, link: PhoneLink, keys: WebhookKeys) -> None:
        self._link = link
        self._keys = keys

    async def answer(self, request: CarrierRequest) -> CarrierAnswer:
        """Answer a webhook.

        Raises:
            NotStoredError: the app brings it again.
        """
        phone, signature = self._link.book.phone, request.headers.get("x-signature", "")
        stamp = request.headers.get("x-timestamp", "")
        if request.method != "POST" or phone is None or not signature or not _is_time(stamp):
            return _UNPROVED
        body = await request.read()
        right = hmac.new(self._keys.phone(phone.id).encode(), body + stamp.encode(), sha256)
        if not hmac.compare_digest(right.hexdigest().encode(), signature.lower().encode()):
            return _UNPROVED
        if not self._is_fresh(int(stamp), self._link.now_ms()):
            return _UNPROVED
        request.prove()
        self._link.heard(phone)
        try:
            event = event_of(body)
        except StrangeWordsError:
            return CarrierAnswer(status=400)
        line = self._link.line_of(event.sim)
        if event.event == RECEIVED and event.sender and event.id and line is not None:
            await line.context.inbound(_inbound(event, line.settings.number, self._link.now_ms()))
        return _TAKEN

    def _is_fresh(self, stamp_s: int, now_ms: int) -> bool:
        off_s = stamp_s - now_ms / 1000
        self._link.clock_off_s = off_s
        self._link.changed()
        return abs(off_s) <= FRESH_S


def _inbound(event: PhoneEvent, number: str | None, now_ms: int) -> Inbound:
    return Inbound(
        sender=event.sender,
        recipient=number or event.recipient,
        text=event.text,
        received_at_ms=now_ms,
        carrier_ids=(event.id,),
        sent_at_ms=event.sent_at_ms,
    )


def _is_time(stamp: str) -> bool:
    return stamp.isascii() and stamp.isdigit() and len(stamp) <= 12
