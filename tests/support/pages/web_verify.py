"""What a gateway tells of verification sessions and inbound messages, for pages."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.features.reverse.records import CarrierOrigin, HostedVerification, TextFault
from risala.engine.model.errors import NotFound
from risala.engine.model.records.verify.sessions import Method
from risala.engine.model.states import SessionState
from risala.engine.model.times import iso
from web_messages import AT_MS, MESSAGE_ID

SESSION_ID: Final = "ver_06GZR7G2S8Y82F86A5D9RSE7XH300HS"
SESSIONS: Final = (
    ("pending", None, 1),
    ("approved", None, 0),
    ("expired", "expired", 2),
    ("canceled", "max_attempts", 5),
    ("canceled", "delivery_failed", 0),
    ("canceled", "canceled", 0),
)
ARABIC: Final = "شكرا لكم، وصلت الطلبية."


def session(number: int, **changes: Any) -> dict[str, Any]:
    status, reason, attempts = SESSIONS[number % len(SESSIONS)]
    created = AT_MS - number * 7_200_000
    return {
        "id": f"{SESSION_ID}{number}",
        "organizationId": "org_1",
        "mode": "live",
        "to": f"+222{2 + number % 3}6{number:06}",
        "status": status,
        "reason": reason,
        "attempts": attempts,
        "attemptsMax": 5,
        "expiresAt": iso(created + 600_000),
        "createdAt": iso(created),
        "updatedAt": iso(created + 30_000),
        "messageId": MESSAGE_ID,
        **changes,
    }


def fixed_number(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"fix_{number}",
        "organizationId": "org_1",
        "number": f"+22236550{number:03}",
        "endsAt": iso(AT_MS + 20 * 86_400_000),
        "setAt": iso(AT_MS - 86_400_000),
        "setBy": "amina@baraka.example",
        **changes,
    }


def suspicious(number: int, **changes: Any) -> dict[str, Any]:
    kind, name = (("block", "+22237100"), ("network", "mattel"), ("address", "9f2c41d07ab3e655"))[
        number % 3
    ]
    return {
        "kind": kind,
        "name": name,
        "firstAt": iso(AT_MS - 7_200_000),
        "lastAt": iso(AT_MS - number * 60_000),
        "missed": 12.0,
        "entered": 1.0,
        "halfLifeS": 86_400,
        "usualMissed": 3.0,
        "usualEntered": 17.0,
        "factor": 25_036.4 * 10 ** (5 * number),
        "watched": 14,
        "challenged": 0,
        "refused": 120,
        "cost": 13_400,
        "isHeld": number != 1,
        "passesUntil": iso(AT_MS + 86_400_000) if number == 2 else None,
        **changes,
    }


def guard(**changes: Any) -> dict[str, Any]:
    keys = [("key_1", "Shop", "secret", "watch"), ("key_2", None, "publishable", "refuse")]
    keys.append(("faces", None, "secret", "watch"))
    return {
        "organizationId": "org_1",
        "secretShare": 20,
        "reserved": 20,
        "keys": [
            {"id": key_id, "name": name, "type": kind, "last4": "7K2m", "reaction": reaction}
            for key_id, name, kind, reaction in keys
        ],
        "suspicious": [suspicious(number) for number in range(3)],
        **changes,
    }


def received(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"inb_{number}",
        "organizationId": "org_1",
        "carrier": "mattel",
        "from": f"+222{2 + number % 3}6{number:06}",
        "to": "1234",
        "text": ARABIC if number % 2 else "Merci, c'est bien arrivé <3",
        "receivedAt": iso(AT_MS - number * 3_600_000),
        "sentAt": iso(AT_MS - number * 3_660_000),
        **changes,
    }


def opt_outs() -> dict[str, Any]:
    heard = {"number": "+22236000001", "carrier": "mattel", "who": None, "keyword": "stop"}
    by_hand = {"number": "+22226000002", "carrier": None, "who": "sidi@baraka.example"}
    return {
        "organizationId": "org_1",
        "heeds": True,
        "numbers": [
            {**heard, "at": iso(AT_MS - 3_600_000)},
            {**by_hand, "keyword": None, "at": iso(AT_MS - 90_000_000)},
        ],
        "newer": None,
        "older": None,
    }


OF: Final = {
    "day": ("2026-11-20", "2026-11-21"),
    "network": ("mattel", None),
    "country": ("MR", "SN"),
    "carrier": ("sim-1", None),
    "channel": ("sms",),
    "key": ("key_1", "*", None),
    "language": ("ar", "fr", None),
}


def code_figure(of: str | None, asked: int = 400) -> dict[str, Any]:
    """Of what an item is: 71 % of the codes were entered within a minute."""
    return {
        "of": of,
        "asked": asked,
        "sent": asked - 2,
        "delivered": asked - 9,
        "entered": asked * 8 // 10,
        "withinMinute": asked * 71 // 100,
        "medianSeconds": 21,
        "p90Seconds": 80,
        "cost": "199.00",
    }


def code_days(by: str, of: str | None) -> dict[str, Any]:
    """Of thirty days: more codes from day to day, of which fewer are entered."""
    asked = [4 * day for day in range(30)]
    return {"by": by, "of": of, "asked": asked, "entered": [each - each // 4 for each in asked]}


_DAILY: Final = (
    code_days("day", None),
    *(code_days(by, of) for by in ("network", "language") for of in OF[by]),
)


def code_figures(by: str, *, daily: bool = False, **changes: Any) -> dict[str, Any]:
    return {
        "by": by,
        "currency": "MRU",
        "whole": code_figure(None),
        "items": [code_figure(of) for of in OF[by]],
        "countedUntil": None,
        "daily": [*_DAILY] if daily else [],
        **changes,
    }


def channels() -> dict[str, Any]:
    opened = ["sms", "telegram", "email"]
    return {
        "use": {
            "organizationId": "org_1",
            "channels": ["telegram", "sms"],
            "secret": opened,
            "publishable": ["sms"],
            "fallbackS": 30,
            "addresses": True,
        },
        "offered": [
            {"name": name, "price": price, "reaches": "address" if name == "email" else "number"}
            for name, price in zip(opened, ("0.50", "0.40", "0.05"), strict=True)
        ],
    }


def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What an operation tells; empty for one that is about something else."""
    match name:
        case "verify.list":
            found = [session(number) for number in range(len(SESSIONS))]
            wanted = arguments.get("status")
            kept = [each for each in found if wanted in (None, each["status"])]
            return {"sessions": kept, "newer": None, "older": "1.ver_1", "lookedTo": None}
        case "verify.figures":
            funnel = {"sessions": 1240, "tried": 1100, "approved": 1042, "expired": 150}
            return {**funnel, "pending": 3, "latestOnly": False}
        case "codes.figures":
            return code_figures(arguments["by"], daily=arguments.get("daily", False))
        case "verify.guard":
            return guard()
        case "verify.templates":
            text = {"organizationId": "org_1", "text": "{{shop}}: {{code}}"}
            named = [("login", ""), ("login", "fr"), ("pay", "ar")]
            texts = [{"name": name, "language": language, **text} for name, language in named]
            return {"organizationId": "org_1", "templates": texts}
        case "verify.channels":
            return channels()
        case "verify.get" | "verify.cancel":
            if arguments["verification_id"] == "ver_none":
                raise NotFound("There is no such thing.")
            return session(0, id=arguments["verification_id"])
        case "verify.send":
            return {"verificationId": f"{SESSION_ID}0"}
        case "verify.check":
            return {"status": "approved" if arguments["code"] == "482193" else "denied"}
        case "fixed_number.list":
            return {"numbers": [fixed_number(1)]}
        case "fixed_number.set" | "fixed_number.remove":
            return fixed_number(1)
        case "inbound.list":
            found = [received(number) for number in range(4)]
            older = None if "before" in arguments else "inb_9"
            return {"messages": found, "newer": None, "older": older, "lookedTo": None}
        case "inbound.opt_outs":
            return opt_outs()
        case "inbound.opt_in" | "inbound.opt_out":
            return {"organizationId": "org_1", "number": arguments["number"]}
    return {}


HOSTED: Final = "Zx3vTn0q2cJ8hYkWb1LrAg"
"""The address of a page for a customer's user, of a text; with `call-` before it, of a call."""


class FakeReverse:
    """Verifications in which the user sends a text or calls, by their pages' addresses."""

    def __init__(self) -> None:
        self.status = SessionState.PENDING
        self.refused: TextFault | None = None
        self.locale: str | None = None

    async def hosted(self, token: str) -> HostedVerification:
        if token.removeprefix("call-") != HOSTED:
            raise NotFound("There is no such verification.")
        is_call = token.startswith("call-")
        text, number = "Boutique Nour 7K3MX9QD", "+22241000000"
        drawn = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" class="qr"/>'
        return HostedVerification(
            verification_id=SESSION_ID,
            organization_id="org_1",
            status=self.status,
            method=Method.MISSED_CALL if is_call else Method.INBOUND_SMS,
            name="Boutique Nour",
            send_to=number,
            text=None if is_call else text,
            link=f"tel:{number}" if is_call else f"sms:{number}?&body=Boutique%20Nour",
            qr_svg=drawn if self.status is SessionState.PENDING else "",
            locale=self.locale,
            refused=self.refused,
        )

    def origin(self, carrier: str) -> CarrierOrigin | None:
        return None
