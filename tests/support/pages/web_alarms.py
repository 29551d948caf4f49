"""What a gateway tells of alarms until somebody answers, for pages."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.model.errors import NotFound
from risala.engine.model.times import iso

AT_MS: Final = 1_795_250_476_123
MINUTE_MS: Final = 60_000
ONE, TWO, THREE = "+22236123456", "+22222123457", "+22246123458"


def chain(number: int, name: str, **changes: Any) -> dict[str, Any]:
    return {
        "chainId": f"alc_{number}",
        "organizationId": "org_1",
        "name": name,
        "people": [f"{ONE} mon-fri 08:00-18:00", f"{TWO} sat,sun", THREE],
        "intervalSeconds": 300,
        "rounds": 3,
        "word": "OK",
        "language": "en",
        "from": None,
        "createdAt": iso(AT_MS),
        **changes,
    }


def alarm(number: int, state: str, **changes: Any) -> dict[str, Any]:
    goes = state == "going"
    return {
        "alarmId": f"alm_{number}",
        "chainId": "alc_1",
        "organizationId": "org_1",
        "mode": "live",
        "text": "The cold room is at 9 °C <now>.",
        "state": state,
        "steps": 3,
        "nextAt": iso(AT_MS + 15 * MINUTE_MS) if goes else None,
        "raisedAt": iso(AT_MS),
        "raisedBy": "hok_1",
        "endedAt": None if goes else iso(AT_MS + 20 * MINUTE_MS),
        "endedBy": {"answered": TWO, "ended": "owner@demo.example"}.get(state),
        **changes,
    }


CHAINS: Final = (
    chain(1, "Cold room <first>"),
    chain(2, "غرفة التبريد", word="وصل", language="ar", people=[ONE]),
    chain(3, "Servers", people=[f"{ONE} mon 08:00-18:00", f"{TWO} tue 08:00-18:00"]),
)
ALARMS: Final = (
    alarm(1, "going"),
    alarm(2, "answered", raisedBy="owner@demo.example"),
    alarm(3, "ended", raisedBy="key_1"),
    alarm(4, "unanswered"),
    alarm(5, "ended", mode="test", endedBy="restore"),
)


def _steps() -> list[dict[str, Any]]:
    steps = [
        (ONE, "sent", "sms_1", None),
        (TWO, "refused", None, "The organization is not active."),
    ]
    steps.append(("", "sent", "sms_2", None))
    return [
        {
            "step": n,
            "at": iso(AT_MS + n * MINUTE_MS),
            "number": number,
            "outcome": outcome,
            "messageId": message_id,
            "why": why,
        }
        for n, (number, outcome, message_id, why) in enumerate(steps, 1)
    ]


def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The answer of an operation on alarms; None for any other."""
    if not name.startswith("alarm."):
        return None
    if name == "alarm.list":
        return {"chains": [*CHAINS], "going": [ALARMS[0]]}
    if name == "alarm.create":
        return chain(1, arguments["name"])
    if name in ("alarm.steps", "alarm.end"):
        one = next((each for each in ALARMS if each["alarmId"] == arguments["alarm_id"]), None)
        if one is None:
            raise NotFound("There is no such alarm.")
        view = {"alarm": one, "chainName": "Cold room <first>", "past": _steps()}
        return view if name == "alarm.steps" else one
    one = next((each for each in CHAINS if each["chainId"] == arguments["chain_id"]), None)
    if one is None:
        raise NotFound("There is no such chain.")
    if name == "alarm.raise":
        return alarm(1, "going")
    if name == "alarm.show":
        duty = [ONE, TWO] if one["chainId"] == "alc_3" else [ONE]
        alarms = [*ALARMS] if one["chainId"] == "alc_1" else []
        shown = {"chain": one, "timeZone": "Africa/Nouakchott", "onDuty": duty, "alarms": alarms}
        return {**shown, "version": 1}
    return one
