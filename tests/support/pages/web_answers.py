"""What a gateway tells of automatic answers, for pages."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.model.errors import NotFound
from risala.engine.model.times import iso

AT_MS: Final = 1_795_250_476_123


def rule(number: int, name: str, **changes: Any) -> dict[str, Any]:
    return {
        "ruleId": f"rul_{number}",
        "organizationId": "org_1",
        "name": name,
        "place": number,
        "enabled": True,
        "keywords": [],
        "anywhere": False,
        "firstContact": False,
        "days": [],
        "fromTime": None,
        "toTime": None,
        "language": "fr",
        "textFr": "",
        "textAr": "",
        "textEn": "",
        "createdAt": iso(AT_MS),
        "forwardNumber": "",
        "forwardEmail": "",
        "forwardChat": "",
        "forwardUrl": "",
        **changes,
    }


RULES: Final = (
    rule(
        1,
        "Heures <d'ouverture>",
        keywords=["horaires", "ساعات", "hours"],
        anywhere=True,
        textFr="Nous sommes ouverts de 8 h à 19 h, {{name}}.",
        textAr="نفتح من الساعة 8 إلى الساعة 19.",
        forwardNumber="+22236120009",
        forwardUrl="https://duty.example.com/texts?token=t0p",
    ),
    rule(2, "ترحيب", firstContact=True, language="ar", textAr="مرحبا بك في متجر البركة."),
    rule(
        3,
        "Closed",
        days=["fri", "sat"],
        fromTime="19:00",
        toTime="08:00",
        language="en",
        textEn="We answer tomorrow morning.",
    ),
    rule(4, "Silence", enabled=False, keywords=["ok"]),
)
FORWARDS: Final = (
    {
        "kind": "sms",
        "to": "+22236120009",
        "text": "De +22236120001 : Vos horaires ?",
        "segments": 2,
        "reason": "It was not forwarded: texts of this number are forwarded to it, or come back"
        " from it.",
    },
    {"kind": "mail", "to": "duty@example.com", "text": None, "segments": None, "reason": None},
)


def sent_by_rule(message_id: str) -> dict[str, Any]:
    """That of the delivered message forwards, that of the failed one is deleted."""
    sent = {"messageId": message_id, "forwards": message_id == "sms_delivered"}
    rules: dict[str, str | None] = {"sms_delivered": "rul_1", "sms_failed": None}
    name = "Prix <b>" if message_id in rules else None
    return {**sent, "ruleId": rules.get(message_id), "ruleName": name}


def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The answer of an operation on automatic answers; None for any other."""
    if not name.startswith("answer."):
        return None
    paused = {"number": "+22236120001", "until": iso(AT_MS + 80_000_000)}
    if name == "answer.list":
        return {"rules": [*RULES], "paused": [paused]}
    if name == "answer.sent":
        return sent_by_rule(arguments["message_id"])
    if name == "answer.try":
        is_known = arguments.get("text") not in ("none", None)
        if not is_known:
            return {"rule": None, "answer": None, "forwards": []}
        return {"rule": RULES[0], "answer": "De 8 h", "forwards": [*FORWARDS]}
    if name == "answer.resume":
        return paused
    if name == "answer.create":
        return rule(5, arguments["name"])
    one = next((each for each in RULES if each["ruleId"] == arguments["rule_id"]), None)
    if one is None:
        raise NotFound("There is no such rule.")
    return {**one, "version": 1}
