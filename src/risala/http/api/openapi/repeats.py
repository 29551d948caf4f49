"""The reference of mailings that repeat, for secret keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from risala.http.api.answers import Component
from risala.http.api.management import repeats as bodies
from risala.http.api.management.list_bodies import EmptyBody
from risala.http.api.openapi.sms import WITH_BODY, ApiOperation

_TAIL: Final = "06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"
_NEW: Final[dict[str, Any]] = {
    "name": "Rent",
    "listId": f"lst_{_TAIL}",
    "text": "Your rent is due, {{name}}.",
    "unit": "months",
    "monthDays": [31],
    "time": "10:00",
}
_REPEAT: Final[dict[str, Any]] = {
    "repeatId": f"rpt_{_TAIL}",
    "name": "Rent",
    "state": "active",
    "reason": None,
    "listId": f"lst_{_TAIL}",
    "text": "Your rent is due, {{name}}.",
    "from": None,
    "pace": None,
    "fromHour": 8,
    "toHour": 20,
    "unit": "months",
    "every": 1,
    "days": [],
    "monthDays": [31],
    "time": "10:00",
    "startsOn": "2026-11-21",
    "until": None,
    "count": None,
    "runs": 1,
    "nextAt": "2026-12-31T10:00:00.000Z",
    "createdAt": "2026-11-21T08:30:00.123Z",
}
_VIEW: Final[dict[str, Any]] = {
    "repeat": _REPEAT,
    "timeZone": "UTC",
    "upcoming": [
        {"at": "2026-12-31T10:00:00.000Z", "note": None},
        {"at": "2027-01-31T10:00:00.000Z", "note": None},
        {"at": "2027-02-28T10:00:00.000Z", "note": "short_month"},
    ],
    "past": [
        {
            "dueAt": "2026-11-30T10:00:00.000Z",
            "outcome": "started",
            "missed": 0,
            "mailingId": f"mlg_{_TAIL}",
            "why": None,
        }
    ],
}
_WHICH: Final = {"repeatId": f"rpt_{_TAIL}"}


def _of(
    name: str,
    operation: str,
    summary: str,
    words: str,
    *,
    body: type[BaseModel] = bodies.RepeatBody,
    body_example: Mapping[str, Any] = _WHICH,
    answer: Component = bodies.REPEAT,
    answer_example: Mapping[str, Any] = _REPEAT,
) -> ApiOperation:
    return ApiOperation(
        path=f"/api/repeats/{name}",
        name=operation,
        tag="Mailings that repeat",
        summary=summary,
        description=words,
        body=body,
        answer=answer,
        errors=WITH_BODY if name == "list" else (*WITH_BODY, 404),
        body_examples={"one": {"summary": summary, "value": body_example}},
        answer_examples={"one": {"summary": summary, "value": answer_example}},
    )


OPERATIONS: Final = (
    _of(
        "list",
        "listRepeats",
        "Repeats",
        "The mailings of the key’s mode that repeat.",
        body=EmptyBody,
        body_example={},
        answer=bodies.ALL,
        answer_example={"items": [_REPEAT]},
    ),
    _of(
        "get",
        "getRepeat",
        "One repeat",
        "A mailing that repeats, with its next runs and those that were due.",
        answer=bodies.VIEW,
        answer_example=_VIEW,
    ),
    _of(
        "create",
        "createRepeat",
        "Repeat a mailing",
        "Sends a text to a list again and again, in the organization’s time zone. Each run is a"
        " mailing of its own, with the list and the prices as they are then. A run that could not"
        " begin for an hour does not take place; nor does one while the mailing before waits for"
        " money, and then the repeat ends. It also ends when its list or its key is gone. 400 with"
        " `data.code` `CONFLICT`: there are 50 repeats.",
        body=bodies.CreateRepeatBody,
        body_example=_NEW,
    ),
    _of(
        "update",
        "updateRepeat",
        "Change a repeat",
        "Changes a repeat. Runs that have begun stay as they are.",
        body=bodies.UpdateRepeatBody,
        body_example={**_WHICH, "time": "09:00"},
        answer_example={**_REPEAT, "time": "09:00"},
    ),
    _of(
        "pause",
        "pauseRepeat",
        "Pause a repeat",
        "Runs that come due meanwhile do not take place, also later.",
        answer_example={**_REPEAT, "state": "paused", "reason": "hand", "nextAt": None},
    ),
    _of("resume", "resumeRepeat", "Go on", "Goes on with the next run from now."),
    _of(
        "end",
        "endRepeat",
        "End a repeat",
        "Ends a repeat for good. Mailings that have begun go on.",
        answer_example={**_REPEAT, "state": "ended", "reason": "hand", "nextAt": None},
    ),
    _of(
        "delete",
        "deleteRepeat",
        "Delete a repeat",
        "Deletes a repeat with its list of runs, and answers it as it was. Its mailings stay.",
    ),
)
REFERENCE: Final = (OPERATIONS, bodies.COMPONENTS)
