"""The reference of alarms until somebody answers, for secret keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from risala.http.api.answers import Component
from risala.http.api.management import alarms as bodies
from risala.http.api.management.list_bodies import EmptyBody
from risala.http.api.openapi.sms import WITH_BODY, ApiOperation
from risala.sms.numbering.plan import EXAMPLE

_TAIL: Final = "06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"
_PEOPLE: Final = [f"{EXAMPLE} mon-fri 08:00-18:00", f"{EXAMPLE} sat,sun"]
_NEW: Final[dict[str, Any]] = {"name": "Cold room", "people": _PEOPLE}
_CHAIN: Final[dict[str, Any]] = {
    "chainId": f"alc_{_TAIL}",
    **_NEW,
    "intervalSeconds": 300,
    "rounds": 3,
    "word": "OK",
    "language": "en",
    "from": None,
    "createdAt": "2026-11-21T08:30:00.123Z",
}
_ALARM: Final[dict[str, Any]] = {
    "alarmId": f"alm_{_TAIL}",
    "chainId": f"alc_{_TAIL}",
    "text": "The cold room is at 9 °C.",
    "state": "going",
    "steps": 1,
    "nextAt": "2026-11-30T10:05:00.000Z",
    "raisedAt": "2026-11-30T10:00:00.000Z",
    "raisedBy": f"key_{_TAIL}",
    "endedAt": None,
    "endedBy": None,
}
_STEP: Final[dict[str, Any]] = {
    "step": 1,
    "at": "2026-11-30T10:00:00.000Z",
    "number": EXAMPLE,
    "outcome": "sent",
    "messageId": f"sms_{_TAIL}",
    "why": None,
}
_WHICH_CHAIN: Final = {"chainId": f"alc_{_TAIL}"}
_WHICH_ALARM: Final = {"alarmId": f"alm_{_TAIL}"}
_ENDED: Final = {
    **_ALARM,
    "state": "ended",
    "nextAt": None,
    "endedAt": "2026-11-30T10:02:00.000Z",
    "endedBy": f"key_{_TAIL}",
}


def _of(
    name: str,
    operation: str,
    summary: str,
    words: str,
    *,
    body: type[BaseModel],
    body_example: Mapping[str, Any],
    answer: Component = bodies.CHAIN,
    answer_example: Mapping[str, Any] = _CHAIN,
) -> ApiOperation:
    return ApiOperation(
        path=f"/api/alarms/{name}",
        name=operation,
        tag="Alarms",
        summary=summary,
        description=words,
        body=body,
        answer=answer,
        errors=WITH_BODY if name == "chains/list" else (*WITH_BODY, 404),
        body_examples={"one": {"summary": summary, "value": body_example}},
        answer_examples={"one": {"summary": summary, "value": answer_example}},
    )


OPERATIONS: Final = (
    _of(
        "chains/list",
        "listAlarmChains",
        "Chains",
        "Who is written to when an alarm is raised, and the alarms that nobody has answered yet.",
        body=EmptyBody,
        body_example={},
        answer=bodies.ALL,
        answer_example={"items": [_CHAIN], "going": [_ALARM]},
    ),
    _of(
        "chains/get",
        "getAlarmChain",
        "One chain",
        "A chain, who is on duty now, and its alarms.",
        body=bodies.ChainBody,
        body_example=_WHICH_CHAIN,
        answer=bodies.CHAIN_VIEW,
        answer_example={
            "chain": _CHAIN,
            "timeZone": "UTC",
            "onDuty": [EXAMPLE],
            "alarms": [_ALARM],
        },
    ),
    _of(
        "chains/create",
        "createAlarmChain",
        "Make a chain",
        "Says who is written to, in which order, by a live key. Shifts are in the organization’s"
        " time zone. 400"
        " with `data.code` `CONFLICT`: there are 20 chains.",
        body=bodies.CreateChainBody,
        body_example=_NEW,
    ),
    _of(
        "chains/update",
        "updateAlarmChain",
        "Change a chain",
        "Changes a chain, by a live key. Alarms that go on take it from their next step.",
        body=bodies.UpdateChainBody,
        body_example={**_WHICH_CHAIN, "intervalSeconds": 120},
        answer_example={**_CHAIN, "intervalSeconds": 120},
    ),
    _of(
        "chains/delete",
        "deleteAlarmChain",
        "Delete a chain",
        "By a live key. Deletes a chain with its alarms, and answers it as it was.",
        body=bodies.ChainBody,
        body_example=_WHICH_CHAIN,
    ),
    _of(
        "raise",
        "raiseAlarm",
        "Raise an alarm",
        "Writes to the people of a chain, one after the other, until one of them writes the word."
        " Who cannot be written to is passed over. By a test key it is a trial. With an"
        " `idempotencyKey` the same alarm is raised once. 400 with `data.code` `CONFLICT`: 20"
        " alarms go on.",
        body=bodies.RaiseBody,
        body_example={**_WHICH_CHAIN, "text": "The cold room is at 9 °C."},
        answer=bodies.ALARM,
        answer_example={**_ALARM, "steps": 0, "nextAt": "2026-11-30T10:00:00.000Z"},
    ),
    _of(
        "get",
        "getAlarm",
        "One alarm",
        "An alarm with each of its steps.",
        body=bodies.AlarmBody,
        body_example=_WHICH_ALARM,
        answer=bodies.ALARM_VIEW,
        answer_example={"alarm": _ALARM, "chainName": "Cold room", "past": [_STEP]},
    ),
    _of(
        "end",
        "endAlarm",
        "End an alarm",
        "Nobody is written to any more.",
        body=bodies.AlarmBody,
        body_example=_WHICH_ALARM,
        answer=bodies.ALARM,
        answer_example=_ENDED,
    ),
)
REFERENCE: Final = (OPERATIONS, bodies.COMPONENTS)
