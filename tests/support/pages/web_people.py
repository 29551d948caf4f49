"""A gateway for pages: people, organizations and keys, kept in memory and as strict as the real."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import trio

import web_alarms
import web_answers
import web_conversations
import web_hooks
import web_kept
import web_lists
import web_mailings
import web_messages
import web_opt_out_words
import web_repeats
import web_requests
import web_search
import web_statements
import web_verify
from risala.engine.features.factors.records import PasskeySite
from risala.engine.features.payments.records import PaymentState
from risala.engine.features.tables.records import FILE_BYTES_MAX
from risala.engine.gateway.table import permitted
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.commands import AddressUse
from risala.engine.model.errors import Forbidden, Invalid, NotFound
from risala.engine.model.following import Lagged, Told, What
from risala.engine.model.people import (
    Browser,
    CodeAsked,
    Denied,
    Device,
    Language,
    LinkView,
    ReachableOrganization,
    SessionKind,
    SignedIn,
    User,
    WebSession,
)
from risala.engine.model.records.asks import Ask, FeatureAccess, Versioned
from risala.engine.model.records.ledger import PartsToday
from risala.engine.model.records.record import from_json, to_json
from risala.engine.model.times import iso
from risala.engine.rules.verify_settings import BOUNDS
from risala.plugins.page import OpenPage
from risala.plugins.payment import PaymentCallback
from risala.sms.code_texts.catalogue import built_in

AT_MS = 1_795_250_476_123
"""21 Nov 2026, 08:41:16 in Nouakchott."""
CODE = "482193"
WEBHOOK_SECRET = "whsec_" + "A" * 43 + "="


def user(email: str = "aicha@baraka.example", **changes: Any) -> User:
    made = User("usr_1", email, "Aïcha Mint Ahmed", Language.ENGLISH, False, AT_MS, AT_MS, AT_MS)
    return replace(made, **changes)


class FakeFactors:
    """Nobody has a factor here; the real engine's are in `tests/http/test_factors.py`."""

    def question(self, site: PasskeySite, cookie: str) -> str:
        return "{}"


class FakeProviders:
    """No organization here has a provider, nor has the console."""

    def offered(self, email: str) -> None:
        """None."""

    def console(self) -> None:
        """None."""


@dataclass
class FakePeople:
    """Sessions by their tokens; a code is always the same."""

    web_sessions: dict[str, WebSession] = field(default_factory=dict)
    asked: dict[str, CodeAsked] = field(default_factory=dict)
    links: dict[str, SessionKind] = field(default_factory=dict)
    ended: dict[str, trio.Event] = field(default_factory=dict)
    browsers: list[Browser] = field(default_factory=list)
    refuse: Exception | None = None
    _tokens: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def sign_in(self) -> FakePeople:
        return self

    @property
    def sessions(self) -> FakePeople:
        return self

    @property
    def derived(self) -> FakePeople:
        return self

    @property
    def public_url(self) -> str:
        return "https://192.0.2.1:8443"

    def enter(self, who: User, *places: ReachableOrganization, token: str | None = None) -> str:
        token = token or self.new_token()
        device = Device(
            f"ses_{token}", who.id, SessionKind.CUSTOMER, "", "", AT_MS, AT_MS, AT_MS + 10**9
        )
        self.web_sessions[token] = WebSession(device, who, places, stale=False)
        return token

    def new_token(self) -> str:
        return f"token-{next(self._tokens)}-" + "x" * 30

    def form_token(self, cookie: str) -> str:
        return hashlib.sha256(b"form" + cookie.encode()).hexdigest()

    def is_form_token(self, cookie: str, given: str) -> bool:
        return given == self.form_token(cookie)

    async def begin(
        self, browser: Browser, email: str, kind: SessionKind = SessionKind.CUSTOMER
    ) -> CodeAsked:
        self.browsers.append(browser)
        if self.refuse is not None:
            raise self.refuse
        if "@" not in email:
            raise Invalid("email", "invalid_email", "`email` is none.")
        asked = CodeAsked(email, kind, AT_MS + 600_000, 5, AT_MS + 60_000)
        self.asked[browser.token] = asked
        return asked

    def pending(self, token: str) -> CodeAsked | None:
        return self.asked.get(token)

    async def finish(self, browser: Browser, code: str, kind: SessionKind) -> SignedIn | Denied:
        asked = self.asked.get(browser.token)
        if asked is None:
            return Denied(0)
        if code != CODE:
            left = asked.attempts_left - 1
            self.asked[browser.token] = replace(asked, attempts_left=left)
            return Denied(left)
        del self.asked[browser.token]
        token = self.enter(user(asked.email))
        return SignedIn(token, self.web_sessions[token], True)

    def find(self, token: str, kind: SessionKind) -> WebSession | None:
        found = self.web_sessions.get(token)
        return found if found is not None and found.kind is kind else None

    async def rotate(self, token: str, kind: SessionKind) -> str | None:
        session = self.web_sessions.pop(token)
        return self.enter(session.user, *session.places)

    async def sign_out(self, token: str, kind: SessionKind) -> None:
        del self.web_sessions[token]
        if token in self.ended:
            self.ended[token].set()

    def caller(self, session: WebSession, organization_id: str) -> Caller:
        for place in session.places:
            if place.organization_id == organization_id:
                return Caller(session.user.email, CallerKind.DASHBOARD, place.role, organization_id)
        raise NotFound("There is no such thing.")

    def user_caller(self, session: WebSession) -> Caller:
        return Caller(session.user.email, CallerKind.DASHBOARD, Role.OPERATOR)

    def operator_caller(self, session: WebSession) -> Caller:
        raise Forbidden("This is for operators.")

    @contextmanager
    def watching(
        self, session: WebSession, organization_id: str | None = None
    ) -> Iterator[trio.Event]:
        token = next(key for key, value in self.web_sessions.items() if value is session)
        yield self.ended.setdefault(token, trio.Event())

    def peek_link(self, token: str) -> LinkView | None:
        kind = self.links.get(token)
        return None if kind is None else LinkView(kind, AT_MS + 600_000)

    async def use_link(self, token: str, browser: Browser, kind: SessionKind) -> SignedIn | None:
        if self.links.pop(token, None) is None:
            return None
        made = self.enter(user())
        return SignedIn(made, self.web_sessions[made], False)


def key(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"key_{number}",
        "organizationId": "org_1",
        "type": "secret",
        "mode": "live",
        "name": "Shop server",
        "last4": "x7Qd",
        "enabled": True,
        "createdAt": iso(AT_MS - 10**9),
        "lastUsedAt": None,
        "allowedOrigins": None,
        "allowedAddresses": None,
        "oldLast4": None,
        "oldUntil": None,
        "withoutId": False,
        "contact": None,
        "expiresAt": None,
        "lastUsedAddress": None,
        **changes,
    }


def credential(**changes: Any) -> dict[str, Any]:
    """For a face other than the API."""
    return {
        "id": "crd_1",
        "organizationId": "org_1",
        "face": "kannel",
        "username": "shop",
        "mode": "live",
        "name": "Old gateway",
        "from": None,
        "inbound": False,
        "last4": "p4ss",
        "allowedAddresses": None,
        "createdAt": iso(AT_MS),
        "createdBy": "aicha@baraka.example",
        "lastUsedAt": None,
        "revokedAt": None,
        **changes,
    }


SET_OF_KEY = (
    ("allowed_addresses", "allowedAddresses"),
    ("allowed_origins", "allowedOrigins"),
    ("without_id", "withoutId"),
    ("contact", "contact"),
    ("expires_at", "expiresAt"),
    ("challenge", "challenge"),
)


def member(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "userId": f"usr_{number}",
        "email": f"member{number}@baraka.example",
        "name": "",
        "role": "developer",
        "organizationId": "org_1",
        "createdAt": iso(AT_MS - 10**9),
        "version": 7,
        **changes,
    }


def account(**changes: Any) -> dict[str, Any]:
    """A user, as ``account.show`` has them."""
    return {
        "id": "usr_1",
        "email": "aicha@baraka.example",
        "name": "Aïcha",
        "language": "en",
        "operator": False,
        "createdAt": iso(AT_MS),
        "updatedAt": iso(AT_MS),
        "lastSeenAt": None,
        "version": 3,
        **changes,
    }


def reachable() -> dict[str, Any]:
    """An organization that the user may open."""
    return {"organizationId": "org_1", "name": "Baraka", "status": "active", "role": "owner"}


def invitation(**changes: Any) -> dict[str, Any]:
    return {
        "id": "inv_1",
        "organizationId": "org_1",
        "organizationName": "Baraka Market",
        "email": "new@baraka.example",
        "role": "viewer",
        "invitedBy": "usr_1",
        "createdAt": iso(AT_MS),
        "expiresAt": iso(AT_MS + 10**9),
        **changes,
    }


def entry(seq: int, kind: str = "charge", amount: str = "-0.50", **changes: Any) -> dict[str, Any]:
    return {
        "seq": seq,
        "organizationId": "org_1",
        "kind": kind,
        "amount": amount,
        "balanceAfter": "12480.50",
        "reference": f"sms_{seq}",
        "messages": 1 if kind == "charge" else None,
        "note": None,
        "at": iso(AT_MS - 10**9 + seq * 10**6),
        **changes,
    }


def method(name: str, title: str) -> dict[str, Any]:
    """A way to pay, as ``payment.methods`` tells it."""
    return {
        "name": name,
        "title": {"en": title},
        "amountMin": "0.01",
        "amountMax": "1000000.00",
        "asksFirst": [],
        "demoOnly": False,
    }


REFERENCE = {
    "name": "reference",
    "label": {"en": "Reference of the payment"},
    "isReference": True,
    "isPayer": False,
}


def payment(payment_id: str, **changes: Any) -> dict[str, Any]:
    """One that waits for its customer to pay."""
    return {
        "id": payment_id,
        "organizationId": "org_1",
        "method": "bankily",
        "amount": "5000.00",
        "currency": "MRU",
        "state": "waiting",
        "byOperator": True,
        "reference": None,
        "entered": {},
        "payer": None,
        "askedAgainAt": None,
        "instructions": {"en": "In Bankily, pay the amount to the merchant code 038 221."},
        "checkoutUrl": None,
        "asks": [REFERENCE],
        "cause": None,
        "why": {},
        "paid": None,
        "entry": None,
        "begunBy": "aicha@baraka.example",
        "decidedBy": None,
        "begunAt": iso(AT_MS - 3_600_000),
        "claimedAt": None,
        "decidedAt": None,
        "expiresAt": iso(AT_MS + 10**8),
        **changes,
    }


@dataclass(frozen=True)
class FakeCheckout:
    """A payment at the checkout that is only played."""

    id: str
    organization_id: str = "org_1"
    method: str = "sandbox"
    amount: int = 500_000
    currency: str = "MRU"
    state: PaymentState = PaymentState.WAITING

    def state_at(self, now_ms: int) -> PaymentState:
        return self.state


@dataclass
class FakePayments:
    """Payments by their ids; one card is taken."""

    given: dict[str, dict[str, Any]] = field(default_factory=dict)
    callbacks: list[tuple[str, PaymentCallback]] = field(default_factory=list)
    refuse: Exception | None = None

    def payment(self, payment_id: str) -> dict[str, Any]:
        found = self.given.get(payment_id)
        if found is None:
            raise NotFound("There is no such payment.")
        return found

    def playable(self, payment_id: str) -> FakeCheckout:
        found = self.payment(payment_id)
        if found["method"] != "sandbox":
            raise NotFound("There is no such payment.")
        return FakeCheckout(payment_id, state=PaymentState(found["state"]))

    async def play(self, payment_id: str, card: str) -> FakeCheckout:
        await trio.lowlevel.checkpoint()
        found = self.playable(payment_id)
        if card != "4242424242424242":
            raise Invalid("card", "no_test_card", "This is not a sandbox card.")
        self.given[payment_id]["state"] = "confirmed"
        return found

    async def callback(self, name: str, callback: PaymentCallback) -> int:
        await trio.lowlevel.checkpoint()
        self.callbacks.append((name, callback))
        if self.refuse is not None:
            raise self.refuse
        return 1


def endpoint(**changes: Any) -> dict[str, Any]:
    return {
        "id": "whe_1",
        "organizationId": "org_1",
        "mode": "live",
        "url": "https://api.baraka.example/hooks/risala",
        "description": "Shop",
        "headers": {},
        "types": ["sms.sent", "sms.failed"],
        "notify": None,
        "enabled": True,
        "disabledReason": None,
        "failingSince": None,
        "oldSecretUntil": None,
        "signatureHeader": None,
        "signatureKey": "text",
        "shape": "event",
        "template": "",
        "mayReply": False,
        "createdAt": iso(AT_MS - 10**9),
        "updatedAt": iso(AT_MS - 10**9),
        **changes,
    }


def sender(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"snd_{number}",
        "organizationId": "org_1",
        "name": f"BARAKA {number}",
        "status": "pending",
        "cleared": True,
        "clearedAt": iso(AT_MS - 10**8),
        "description": "Orders",
        "reason": None,
        "createdAt": iso(AT_MS - 10**9),
        "updatedAt": iso(AT_MS - 10**9),
        "marks": [],
        **changes,
    }


def delivery(number: int, **changes: Any) -> dict[str, Any]:
    at = iso(AT_MS - number * 60_000)
    return {
        "endpointId": "whe_1",
        "eventId": f"evt_{number}",
        "type": "sms.failed",
        "state": "failed",
        "attempts": 3,
        "nextAttemptAt": None,
        "status": 502,
        "error": "HTTP 502",
        "excerpt": "<h1>502 Bad Gateway</h1>",
        "createdAt": at,
        "updatedAt": at,
        "deliveredAt": None,
        **changes,
    }


def failures(**changes: Any) -> dict[str, Any]:
    """Two deliveries of an endpoint that failed alike."""
    at = {"firstAt": iso(AT_MS - 120_000), "lastAt": iso(AT_MS - 60_000)}
    return {"status": 502, "error": "HTTP 502", "count": 2, "eventId": "evt_1", **at, **changes}


def health(ways: list[dict[str, Any]]) -> dict[str, Any]:
    """How an endpoint's last thirty days went: one failed delivery on the last but one."""
    days = [
        {"at": iso(AT_MS - back * 86_400_000), "delivered": 6, "failed": int(back == 1)}
        for back in range(29, -1, -1)
    ]
    since = ways[-1]["firstAt"] if ways else None
    return {"days": days, "failures": ways, "failedSince": since}


def webhooks_told(gateway: FakeWebGateway, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What the operations on webhooks and senders answer."""
    found = gateway.endpoints
    match name:
        case "sender.request":
            return sender(3, name=arguments["name"])
        case "sender.volume":
            names = [{"name": "BARAKA 2", "messages": 1284, "more": False}]
            volume = {"daily": 400, "weekly": 1312, "needed": 2000}
            return {**volume, "names": names, "days": 30}
        case "sender.check":
            generic = arguments["name"] == "PROMO"
            fault = "rule" if len(arguments["name"]) > 11 else None
            return {"fault": fault, "marks": ["generic"] if generic else []}
    if name == "webhook.list":
        return {"endpoints": [*found.values()]}
    if name == "webhook.create":
        made = endpoint(url=arguments["url"], types=arguments["types"], mode=arguments["mode"])
        return {"endpoint": made, "secret": WEBHOOK_SECRET}
    if not name.startswith("webhook."):
        return {}
    one = found.get(arguments["endpoint_id"])
    if one is None:
        raise NotFound("There is no such endpoint.")
    match name:
        case "webhook.show":
            days = {"days": 7, "delivered": 6, "failed": 2, "medianMs": 420, "latestOnly": False}
            told = {"endpoint": one, "pending": 1, "failed": 2, "version": 7}
            told |= {"lastDays": days, "health": health(gateway.failures)}
            return {**told, "disabledBy": gateway.disabled_by}
        case "webhook.rotate":
            return {"endpoint": one, "secret": WEBHOOK_SECRET}
        case "webhook.enable" | "webhook.disable":
            one["enabled"] = name == "webhook.enable"
        case "webhook.deliveries":
            state = arguments.get("state")
            shown = [each for each in gateway.deliveries if state in (None, each["state"])]
            older = 7 if "before" not in arguments else None
            return {"deliveries": shown, "before": older, "after": arguments.get("before")}
        case "webhook.delivery":
            shown = [e for e in gateway.deliveries if e["eventId"] == arguments["event_id"]]
            if not shown:
                raise NotFound("There is no such delivery.")
            attempt = {
                "number": 1,
                "startedAt": iso(AT_MS - 90),
                "endedAt": iso(AT_MS),
                "status": shown[0]["status"],
                "error": shown[0]["error"],
                "excerpt": None,
                "reply": gateway.reply,
            }
            body = '{"id": "evt_1", "type": "sms.failed"}'
            refused = {"replyRefused": gateway.reply_refused}
            return {"delivery": shown[0], "attempts": [attempt], "body": body, **refused}
        case "webhook.test" | "webhook.replay":
            return {"delivery": gateway.deliveries[0], "running": True}
        case "webhook.replay_failed":
            gateway.to_replay -= 200
            told = {"replayed": 200, "total": 2400, "until": AT_MS}
            return {**told, "done": gateway.to_replay <= 0}
    return {"endpoint": one}


TEXT = "Your code is {{code}}. Expires in {{expiry_minutes}} minutes."


def verify_configuration() -> dict[str, Any]:
    """What ``verify.config`` tells of an organization that has set nothing."""
    names = ("default", "en", "fr", "ar", "ha", "sw")
    return {
        "organizationId": "org_1",
        "settings": {
            "code_length": 6,
            "expiry_minutes": 10,
            "attempts_max": 5,
            "per_phone_per_hour": 5,
            "per_organization_per_hour": 100,
            "client_ip_per_hour": 0,
            "own_codes": False,
            "never_share": False,
            "language": None,
            "template": None,
            "templates": {},
            "sender": None,
            "app_hashes": [],
            "origins": [],
        },
        "bounds": {name: to_json(each) for name, each in BOUNDS.items()},
        "templateMax": 480,
        "entriesMax": 20,
        "builtIn": dict.fromkeys(names, TEXT),
        "sizes": {name: {"segments": 1, "encoding": "GSM-7", "price": "0.50"} for name in names},
        "autofillSizes": [],
        "languageNames": {each: built_in()[each].name for each in names[1:]},
        "neverShare": dict.fromkeys(names, "Never share this code."),
        "warnings": [],
        "version": 4,
    }


class OneChange:
    """A follower that is told of a gap at once, and then of nothing."""

    def __init__(self) -> None:
        self._closed = trio.Event()
        self._told = False

    async def __anext__(self) -> Told:
        if self._told:
            await self._closed.wait()
            raise StopAsyncIteration
        self._told = True
        return Lagged(1)

    def skip(self) -> None:
        """There is nothing else to tell."""

    def close(self) -> None:
        self._closed.set()


def reached() -> dict[str, Any]:
    """Countries: home, one that is open, and one that is not."""
    own = ({"prefix": "+221", "price": "12.00"}, {"prefix": "+22177", "price": "9.00"})
    listed = (("MR", "Mauritania", True, True), ("SN", "Senegal", False, True))
    return {
        "organizationId": "org_1",
        "currency": "MRU",
        "countries": [
            {
                "code": code,
                "name": name,
                "home": home,
                **dict.fromkeys(("send", "verify", "publishable"), is_open),
                "prices": [] if home else [*own],
            }
            for code, name, home, is_open in (*listed, ("FR", "France", False, False))
        ],
        "ownPrices": [],
        "generalPrices": [*own],
    }


@dataclass
class FakeWebGateway:
    """Does what is asked, and writes it down."""

    people: FakePeople = field(default_factory=FakePeople)
    console_pages: dict[str, OpenPage] = field(default_factory=dict)
    keys: dict[str, dict[str, Any]] = field(default_factory=dict)
    key_age_days: int | None = None
    key_places: list[dict[str, Any]] = field(default_factory=list)
    credentials: list[dict[str, Any]] = field(default_factory=lambda: [credential()])
    hooks: dict[str, dict[str, Any]] = field(default_factory=lambda: {"hok_1": web_hooks.hook()})
    members: dict[str, dict[str, Any]] = field(default_factory=dict)
    invitations: list[dict[str, Any]] = field(default_factory=list)
    devices: list[dict[str, Any]] = field(default_factory=list)
    change: dict[str, Any] | None = None
    entries: list[dict[str, Any]] = field(default_factory=list)
    payments: FakePayments = field(default_factory=FakePayments)
    """What ``access`` gives."""
    methods: list[dict[str, Any]] = field(default_factory=list)
    verify: dict[str, Any] = field(default_factory=verify_configuration)
    senders: list[dict[str, Any]] = field(default_factory=list)
    done: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    callers: list[Caller] = field(default_factory=list)
    endpoints: dict[str, dict[str, Any]] = field(default_factory=dict)
    deliveries: list[dict[str, Any]] = field(default_factory=list)
    disabled_by: str | None = None
    failures: list[dict[str, Any]] = field(default_factory=lambda: [failures()])
    """Who disabled the endpoint, as ``webhook.show`` tells."""
    to_replay: int = 0
    reply: str | None = None
    """What became of the reply in an endpoint's answer."""
    reply_refused: str | None = None
    """Why it does not leave though it was taken."""
    month: dict[str, Any] = field(default_factory=dict)
    invoices: tuple[dict[str, Any], ...] = ()
    customer: dict[str, Any] = field(default_factory=web_statements.invoice_customer)
    looked_to: str | None = None
    refuse: Exception | None = None
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    reverse: web_verify.FakeReverse = field(default_factory=web_verify.FakeReverse)
    addresses: list[tuple[AddressUse, Hashable]] = field(default_factory=list)
    """Calls that count for a client's address."""
    refuse_word: Exception | None = None
    refuse_address: Exception | None = None
    uploads: list[tuple[str, str, bytes]] = field(default_factory=list)
    """Organization, name and content of the files that came."""
    organization: dict[str, Any] = field(
        default_factory=lambda: {
            "id": "org_1",
            "name": "Baraka Market",
            "status": "active",
            "balance": "12480.50",
            "currency": "MRU",
            "timeZone": "Africa/Nouakchott",
            "createdAt": iso(AT_MS - 10**9),
            "pricePerSegment": None,
            "smartEncoding": True,
            "leanAnswers": False,
            "factorRequired": False,
            "keyAgeDays": None,
            "smsPerSecond": None,
            "lowBalance": None,
            "spendCap": "5000.00",
            "operatorSpendCap": "9000.00",
            "ownerSpendCap": "5000.00",
            "spentToday": "1134.50",
            "version": 7,
        }
    )

    is_self_paid = False

    def parts_today(self, organization_id: str) -> PartsToday | None:
        return PartsToday(30, 200) if self.is_self_paid else None

    def access(self, of: FeatureAccess[Any]) -> Any:
        ways = {"payments": self.payments, "factors": FakeFactors(), "providers": FakeProviders()}
        return {**ways, "reverse": self.reverse}[of.feature]

    async def take_address(self, use: AddressUse, bucket: Hashable) -> None:
        self.addresses.append((use, bucket))
        if self.refuse_address is not None:
            raise self.refuse_address

    def console_lock(self) -> str | None:
        return None

    async def permitted(self, caller: Caller) -> frozenset[str]:
        return permitted(caller)

    @contextmanager
    def follow(self, what: What, organization_id: str | None = None) -> Iterator[OneChange]:
        yield OneChange()

    def ledger(
        self,
        *,
        organization_id: str,
        limit: int,
        before: int = 10**9,
        after: int = -1,
        kinds: tuple[str, ...] = (),
        by_hand: bool = False,
        since: str = "",
        until: str = "~",
    ) -> dict[str, Any]:
        wanted = ("topup", "adjustment") if by_hand else kinds
        found = [
            each
            for each in sorted(self.entries, key=lambda each: -each["seq"])
            if after < each["seq"] < before
            and (not wanted or each["kind"] in wanted)
            and since <= each["at"] < until
        ]
        if after >= 0:
            found = found[-limit:]
        return {
            "organizationId": "org_1",
            "balance": self.organization["balance"],
            "currency": "MRU",
            "entries": found[:limit],
            "next": found[limit - 1]["seq"] if len(found) > limit else None,
            "previous": found[0]["seq"] if before < 10**9 and found else None,
            "lookedTo": self.looked_to,
            "spentADay": "1134.50",
        }

    async def receive_upload(
        self, organization_id: str, chunks: AsyncIterator[bytes], name: str, caller: Caller
    ) -> str:
        content = b""
        async for chunk in chunks:
            content += chunk
            if len(content) > FILE_BYTES_MAX:
                raise Invalid("file", "file_too_large", "The file is too large.")
        self.uploads.append((organization_id, name, content))
        return f"upl_{len(self.uploads)}"

    async def ask(self, ask: Ask[Any], arguments: dict[str, Any], caller: Caller) -> Versioned[Any]:
        told = await self.perform(ask.name, arguments, caller)
        result = web_conversations.with_untold(from_json(ask.result, told))
        return Versioned(result, told.get("version"))

    async def perform(self, name: str, arguments: dict[str, Any], caller: Caller) -> dict[str, Any]:
        await trio.lowlevel.checkpoint()
        if name == "org.show":
            return self.organization
        if self.refuse is not None:
            raise self.refuse
        self.done.append((name, arguments))
        self.callers.append(caller)
        match name:
            case "account.show":
                return {
                    "user": account(),
                    "memberships": [reachable()],
                    "invitations": self.invitations,
                    "change": self.change,
                }
            case "account.devices":
                return {"devices": self.devices}
            case "account.change_email":
                self.change = {"email": arguments["email"], "expiresAt": iso(AT_MS + 10**6)}
                self.change |= {"oldConfirmed": False, "newConfirmed": False}
                return self.change
            case "account.confirm_email":
                told = {"email": "aicha@baraka.example"}
                if arguments.get("new_code") != CODE:
                    return {**told, "change": self.change, "attemptsLeft": 4}
                self.change = None
                return {**told, "change": None, "attemptsLeft": 0}
            case "org.set":
                return self.organization
            case "org.found":
                return {**self.organization, "name": arguments["name"]}
            case "account.set":
                return account(**arguments)
            case "account.sign_out":
                return {"ended": 1}
            case "account.accept":
                return reachable()
            case "price":
                return {"perSegment": "0.50", "lowBalance": "1000.00", "currency": "MRU"}
            case "country.list":
                return reached()
            case "statement.get":
                return web_statements.month_statement(**{**arguments, **self.month})
            case "invoice.list":
                return web_statements.invoice_page(*self.invoices, month=arguments.get("month"))
            case "invoice.customer":
                return self.customer
            case "invoice.get":
                return web_statements.month_invoice()
            case "ledger.list":
                return self.ledger(**arguments)
            case "payment.methods":
                return {"methods": self.methods, "currency": "MRU"}
            case "payment.list":
                found = self.payments.given.values()
                under_way = [each for each in found if each["state"] in ("begun", "waiting")]
                return {"payments": under_way, "next": None}
            case "payment.begin":
                made = self.payments.given["pay_9"] = payment("pay_9", method=arguments["method"])
                return made
            case (
                "payment.show"
                | "payment.claim"
                | "payment.retry"
                | "payment.send_code"
                | "payment.check_payer"
            ):
                return self.payments.payment(arguments["payment_id"])
            case "member.list":
                return {"members": [*self.members.values()], "invitations": self.invitations}
            case "member.invite":
                return invitation(email=arguments["email"], role=arguments["role"])
            case "member.set_role" | "member.remove":
                return self.members[arguments["user_id"]]
            case "verify.config":
                return self.verify
            case "sender.list":
                return {"senders": self.senders}
            case "key.list":
                return {"keys": [*self.keys.values()], "ageDays": self.key_age_days}
            case "key.places":
                return {"places": self.key_places}
            case "credential.list":
                return {"credentials": self.credentials}
            case "credential.create":
                made = {**credential(), "face": arguments["face"]}
                self.credentials.append(made)
                return {"credential": made, "password": "p4ssw0rd" * 4}
            case "credential.revoke":
                gone, self.credentials = self.credentials, []
                return gone[0]
            case "key.create":
                number = len(self.keys) + 1
                made = key(
                    number,
                    type=arguments["type"],
                    mode=arguments["mode"],
                    name=arguments.get("name"),
                )
                self.keys[made["id"]] = made
                return {"key": made, "value": "sk_live_" + "4" * 28 + "x7Qd"}
            case "key.rotate":
                turned = self.keys[arguments["key_id"]]
                if arguments["overlap_s"]:
                    turned["oldLast4"], turned["oldUntil"] = turned["last4"], iso(AT_MS + 10**7)
                turned["last4"] = "9nEw"
                return {"key": turned, "value": "sk_live_" + "5" * 28 + "9nEw"}
            case "key.end_old":
                ended = self.keys[arguments["key_id"]]
                ended["oldLast4"] = ended["oldUntil"] = None
                return ended
            case "key.show" | "key.set" | "key.enable" | "key.disable" | "key.delete":
                found = self.keys.get(arguments["key_id"])
                if found is None:
                    raise NotFound("There is no such key.")
                if name == "key.delete":
                    del self.keys[found["id"]]
                elif name in ("key.enable", "key.disable"):
                    found["enabled"] = name == "key.enable"
                for field_, told_as in SET_OF_KEY:
                    if field_ in arguments:
                        found[told_as] = (
                            arguments[field_]
                            if field_ == "without_id"
                            else arguments[field_] or None
                        )
                return {**found, "version": 4}
        told = self.answers.get(name) or web_messages.answer(name, arguments)
        told = told or web_lists.answer(name, arguments)
        told = told or web_conversations.answer(name, arguments)
        told = told or web_answers.answer(name, arguments)
        told = told or web_repeats.answer(name, arguments)
        told = told or web_alarms.answer(name, arguments)
        if name == "opt_outs.add_word" and self.refuse_word is not None:
            raise self.refuse_word
        told = told or web_opt_out_words.answer(name, arguments)
        told = told or web_search.answer(name, arguments)
        told = told or web_mailings.answer(name, arguments)
        told = told or web_verify.answer(name, arguments)
        told = told or web_kept.answer(name, arguments)
        told = told or web_requests.answer(name, arguments)
        told = told or web_hooks.answer(name, arguments, self.hooks)
        return told or webhooks_told(self, name, arguments)


class RefusesTheChange:
    """In the place of a gateway's ``perform``: refuses ``org.set`` alone, so that the page that
    asked for it can be drawn again."""

    def __init__(self, perform: Any, error: Exception) -> None:
        self._perform, self._error = perform, error

    async def __call__(
        self, name: str, arguments: dict[str, Any], caller: Caller
    ) -> dict[str, Any]:
        if name == "org.set":
            raise self._error
        told: dict[str, Any] = await self._perform(name, arguments, caller)
        return told
