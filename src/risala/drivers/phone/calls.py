"""The calls of the app: who calls, and what is answered."""

from __future__ import annotations

import hmac
import json
from functools import partial
from hashlib import sha256
from typing import Final

from risala.drivers.phone.devices import RegisteredPhone, called
from risala.drivers.phone.inbox import PhoneInbox
from risala.drivers.phone.link import PhoneLink
from risala.drivers.phone.page import API
from risala.drivers.phone.words import StrangeWordsError, registration_of, reports_of
from risala.plugins.answering import CarrierAnswer, CarrierRequest, CarrierStream

INBOUND: Final = "/inbound"
WEBHOOK_EVENTS: Final = ("sms:received", "system:ping")
PING_S: Final = 300
"""Seconds between two calls of a phone that has nothing to do: with them it lives, whatever became
of its stream."""
REMEMBERED_DAYS: Final = 7
"""How long the app keeps messages. As long as it has one it never sends it again."""
WEBHOOK_TRIES: Final = 50
"""How often the app tries to bring a received text, with growing waits between."""

_UNPROVED: Final = CarrierAnswer(status=401)
_NOTHING: Final = CarrierAnswer(status=204)
_STRANGE: Final = CarrierAnswer(b'{"message":"This is not what the app writes."}', 400)
_UNKNOWN: Final = CarrierAnswer(b'{"message":"This service does not have that."}', 404)


class PhoneCalls:
    """Answers the app.

    Args:
        link: its book of phones is open.
    """

    def __init__(self, link: PhoneLink) -> None:
        self._link = link
        self._key_of = PhoneKeys(link.book.proof_key)
        self._inbox = PhoneInbox(link, self._key_of)

    async def answer(self, request: CarrierRequest) -> CarrierAnswer | CarrierStream:
        """Answer a request; who is not proved gets nothing and changes nothing."""
        path = request.path.rstrip("/")
        if path == INBOUND:
            return await self._inbox.answer(request)
        token = _bearer(request.headers.get("authorization", ""))
        if token is None or not path.startswith(API):
            return _UNPROVED
        what = f"{request.method} {path.removeprefix(API)}"
        if what == "POST /device":
            return await self._register(request, token)
        phone = self._link.book.phone_of(token)
        if phone is None:
            return _UNPROVED
        request.prove()
        self._link.heard(phone)
        try:
            return await self._proved(what, phone, request)
        except StrangeWordsError:
            return _STRANGE

    async def _register(self, request: CarrierRequest, token: str) -> CarrierAnswer:
        link = self._link
        if not link.book.may_register(token):
            if not link.strangers:
                link.changed()
            link.strangers += 1
            return _UNPROVED
        request.prove()
        try:
            registration = registration_of(await request.read())
        except StrangeWordsError:
            return _STRANGE
        registered = await link.book.register(registration, token)
        if registered is None:
            return _UNPROVED  # the operator forgot it at this moment
        phone, own = registered
        link.context.trace(f"A phone has registered: {called(phone)}.")
        link.heard(phone)
        link.changed()
        login = link.context.carrier
        return _json({"id": phone.id, "token": own, "login": login, "password": None}, 201)

    async def _proved(
        self, what: str, phone: RegisteredPhone, request: CarrierRequest
    ) -> CarrierAnswer | CarrierStream:
        link = self._link
        if not phone.has_called:
            await link.book.update(phone)
        match what:
            case "GET /device":
                return _json({"externalIp": request.address or ""})
            case "PATCH /device":
                await link.book.update(phone, registration_of(await request.read()))
                link.changed()
                return _NOTHING
            case "GET /message" | "GET /messages":
                return _json(await link.take(phone))
            case "PATCH /message" | "PATCH /messages":
                await link.reported(phone, reports_of(await request.read()))
                return _NOTHING
            case "GET /events":
                write = partial(link.stream, phone.id)
                return CarrierStream(write, headers=(("Cache-Control", "no-cache"),))
            case "GET /webhooks":
                return _json(_webhooks(request.own_url))
            case "GET /settings":
                return _json(_settings(self._key_of.phone(phone.id)))
        return _UNKNOWN


class PhoneKeys:
    """The keys that phones sign their webhooks with; none is stored.

    Args:
        proof_key: all are made from it, and none says anything of it.
    """

    def __init__(self, proof_key: str) -> None:
        self._proof_key = proof_key.encode()

    def phone(self, phone_id: str) -> str:
        """The key of a phone."""
        return hmac.new(self._proof_key, f"webhooks\0{phone_id}".encode(), sha256).hexdigest()


def _bearer(authorization: str) -> str | None:
    scheme, _, token = authorization.partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token.isascii() and token else None


def _json(value: object, status: int = 200) -> CarrierAnswer:
    return CarrierAnswer(json.dumps(value, ensure_ascii=False).encode(), status)


def _webhooks(own_url: str) -> list[dict[str, str]]:
    return [
        {"id": f"risala-{event.replace(':', '-')}", "url": own_url + INBOUND, "event": event}
        for event in WEBHOOK_EVENTS
    ]


def _settings(key: str) -> dict[str, object]:
    return {
        "gateway": {"notification_channel": "SSE_ONLY"},
        "messages": {"processing_order": "FIFO", "log_lifetime_days": REMEMBERED_DAYS},
        "ping": {"interval_seconds": PING_S},
        "webhooks": {"signing_key": key, "internet_required": True, "retry_count": WEBHOOK_TRIES},
    }
