"""What a gateway tells of messages and figures, for pages: one of each state and some figures."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.model.errors import NotFound
from risala.engine.model.records.keys import ApiKey, KeyType
from risala.engine.model.records.record import to_json
from risala.engine.model.states import Mode
from risala.engine.model.times import iso

AT_MS: Final = 1_795_250_476_123
"""21 Nov 2026, 08:41:16 in Nouakchott."""
MESSAGE_ID: Final = "sms_06GZR7G2S8Y82F86A5D9RSE7XH300HSN"
FRENCH: Final = "Bonjour Aminetou, votre commande 4832 est prête."
ARABIC: Final = "مرحبا محمد، تم استلام طلبكم رقم 4821. شكرا لثقتكم."
STATES: Final = (
    *("delivered", "uncertain", "processing", "sent", "undelivered", "failed", "pending"),
    "canceled",
)


def listed(number: int, state: str, **changes: Any) -> dict[str, Any]:
    status = "processing" if state == "uncertain" else state
    cause = {"failed": "UNKNOWN_NUMBER", "undelivered": "ABSENT"}.get(state)
    is_sent = state in ("sent", "delivered", "undelivered")
    created = AT_MS - number * 60_000
    return {
        "messageId": f"{MESSAGE_ID[:-1]}{number}",
        "kind": "sms",
        "to": f"+222{2 + number % 3}6{number:06}",
        "from": "Baraka Shop",
        "status": status,
        "uncertain": state == "uncertain",
        "segments": 1,
        "encoding": "ucs2" if number % 2 else "gsm7",
        "price": "0.50",
        "currency": "MRU",
        "attempts": 1,
        "carrier": "mattel",
        "providerMessageId": None,
        "errorCode": cause,
        "errorText": None,
        "carrierCode": "stat:UNDELIV err:011" if cause else None,
        "keyId": "key_1",
        "sendAt": iso(AT_MS + 9_000_000) if state == "pending" else None,
        "sentAt": iso(created + 400) if is_sent else None,
        "deliveredAt": iso(created + 3900) if state == "delivered" else None,
        "createdAt": iso(created),
        "updatedAt": iso(created),
        "body": ARABIC if number % 2 else FRENCH,
        "metadata": {},
        "part": None,
        **changes,
    }


def line(code: str, status: str, after_ms: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "at": iso(AT_MS + after_ms),
        "status": status,
        "text": f"The engine's own words for {code}.",
        "code": code,
        "cause": None,
        "values": {},
        "carrier": "mattel",
        "attempt": 1,
        "segment": None,
        "raw": None,
        **changes,
    }


def story(state: str = "uncertain", **changes: Any) -> dict[str, Any]:
    """A message with its timeline, as ``message.show`` tells it."""
    message = listed(1, state)
    del message["uncertain"], message["part"]
    lines = [line("ACCEPTED", "pending")]
    if state not in ("pending", "canceled"):
        lines.append(line("ATTEMPT", "processing", 17))
    if state == "uncertain":
        lines.append(
            line("UNCERTAIN", "processing", 5000, cause="LINK_LOST", raw="connection reset")
        )
    if message["sentAt"]:
        lines.append(line("SENT", "sent", 400, raw="ESME_ROK"))
    if state in ("delivered", "undelivered", "failed", "canceled"):
        cause = message["errorCode"]
        values = {"refunded": 50} if state in ("failed", "canceled") else {}
        raw = "stat:DELIVRD err:000" if state == "delivered" else message["carrierCode"]
        lines.append(line(state.upper(), state, 3900, cause=cause, values=values, raw=raw))
    more = {
        "id": message["messageId"],
        "organizationId": "org_1",
        "mode": "live",
        "keyId": "key_1",
        "attempts": 1,
        "providerMessageId": "1a1fc1de3d500001",
        "metadata": {"order": "4821"},
        "updatedAt": iso(AT_MS + 3900),
    }
    return {"message": {**message, **more, **changes}, "timeline": lines, "part": None}


def overview() -> dict[str, Any]:
    start = AT_MS // 86_400_000 * 86_400_000
    hours = [
        {
            "at": iso(start + hour * 3_600_000),
            "accepted": 30 * hour + 4,
            "delivered": 28 * hour,
            "undelivered": hour,
            "failed": hour // 3,
            "canceled": 0,
        }
        for hour in range(9)
    ]
    networks = [
        {"network": name, "accepted": 100, "delivered": well, "undelivered": 100 - well}
        | {"failed": 0, "canceled": 0, "medianMs": took, "mostMs": took and took * 4}
        for name, well, took in (("mauritel", 98, 2900), ("mattel", 96, 4400), ("+33", 90, None))
    ]
    return {
        "hours": hours,
        "networks": networks,
        "medianMs": 3812,
        "before": [{**hours[0], "accepted": 1000}],
        "verifications": {"sessions": 381, "tried": 334, "approved": 312, "expired": 47}
        | {"pending": 3, "latestOnly": False},
        "approvedHours": [{"at": each["at"], "count": 30} for each in hours],
        "spent": "1142.50",
        "spentByDay": ["1100.00", "1200.00", "0.00", "1300.00", "900.00", "1000.00", "1142.50"],
        "spentADay": "1134.00",
        "feed": [listed(number, state) for number, state in enumerate(STATES[:6])],
        "uncertain": [MESSAGE_ID],
        "waitingSince": None,
        "disabledEndpoints": 0,
        "failures": [{"cause": "UNKNOWN_NUMBER", "count": 12}, {"cause": None, "count": 2}],
    }


def steps(**changes: Any) -> dict[str, Any]:
    """How far a new organization has come, as ``start.show`` tells it: two steps of five, and two
    under way."""
    key = ApiKey(
        id="key_1",
        organization_id="org_1",
        type=KeyType.SECRET,
        mode=Mode.LIVE,
        name="First key",
        last4="x7Qd",
        enabled=True,
        created_at=AT_MS - 120_000,
        last_used_at=None,
    )
    return {
        "key": to_json(key),
        "delivered": True,
        "message": {**listed(0, "delivered"), "mode": "test"},
        "verification": {"verificationId": "ver_1", "status": "pending", "to": "+22246123400"}
        | {"mode": "test", "createdAt": iso(AT_MS - 30_000)},
        "webhook": {"endpointId": "whe_1", "mode": "live", "deliveredAt": None},
        "paid": False,
        **changes,
    }


def events(state: str) -> dict[str, Any]:
    """What was told of a message: to one endpoint, which answered, or refused."""
    types = {"delivered": ["sms.sent", "sms.delivered"], "sent": ["sms.sent"]}
    told = types.get(state, ["sms.failed"] if state in ("failed", "undelivered") else [])
    found = []
    for number, kind in enumerate(told):
        at = iso(AT_MS + 400 + 3500 * number)
        delivery = {"endpointId": "whe_1", "eventId": f"evt_{number}", "type": kind}
        is_well = kind != "sms.failed"
        delivery |= {
            "state": "delivered" if is_well else "failed",
            "attempts": 1 + 4 * (not is_well),
        }
        delivery |= {"status": 200 if is_well else 502, "nextAttemptAt": None, "createdAt": at}
        delivery |= {"deliveredAt": at if is_well else None, "error": None, "excerpt": None}
        delivery["updatedAt"] = at
        found.append(
            {"eventId": f"evt_{number}", "type": kind, "createdAt": at, "deliveries": [delivery]}
        )
    return {"events": found}


def estimate(body: str) -> dict[str, Any]:
    odd = [
        {"character": each, "index": place, "suggestion": {"ê": "e"}.get(each), "name": None}
        for place, each in enumerate(body)
        if each in "ê" + ARABIC.replace(" ", "")
    ]
    told = {"encoding": "ucs2" if odd else "gsm7", "segments": 1, "characters": len(body)}
    return {**told, "price": "0.50", "currency": "MRU", "unicodeCharacters": odd}


def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What an operation tells; empty for one that is not about messages."""
    match name:
        case "message.list":
            found = [listed(number, state) for number, state in enumerate(STATES)]
            return {"messages": found, "newer": None, "older": "7", "lookedTo": None}
        case "message.newer":
            return {"newer": 3, "more": False}
        case "message.export":
            numbers = range(3, 5) if "before" in arguments else range(3)
            found = [listed(number, STATES[number]) for number in numbers]
            older = None if "before" in arguments else "7"
            places = {"newer": None, "older": older, "lookedTo": None}
            return {"messages": found, **places, "export": "11"}
        case "message.show" | "message.cancel":
            if arguments["message_id"] == "sms_none":
                raise NotFound("There is no such thing.")
            state = arguments["message_id"].removeprefix("sms_")
            return story(state if state in STATES else "uncertain")
        case "message.events":
            return events(arguments["message_id"].removeprefix("sms_"))
        case "message.estimate":
            return estimate(arguments["body"])
        case "overview.show":
            return overview()
        case "start.show":
            return steps()
        case "send":
            return {"messageId": MESSAGE_ID, "from": "Baraka Shop"}
    return {}
