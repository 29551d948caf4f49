"""What a gateway tells of mailings that repeat, for pages."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.model.errors import NotFound
from risala.engine.model.times import iso

AT_MS: Final = 1_795_250_476_123
DAY_MS: Final = 86_400_000


def repeat(number: int, name: str, **changes: Any) -> dict[str, Any]:
    return {
        "repeatId": f"rpt_{number}",
        "organizationId": "org_1",
        "mode": "live",
        "name": name,
        "state": "active",
        "reason": None,
        "listId": "lst_1",
        "text": "Your rent is due, {{name}}.",
        "from": None,
        "pace": None,
        "fromHour": 8,
        "toHour": 20,
        "unit": "weeks",
        "every": 1,
        "days": ["mon"],
        "monthDays": [],
        "time": "10:00",
        "startsOn": "2026-11-21",
        "until": None,
        "count": None,
        "runs": 3,
        "nextAt": iso(AT_MS + DAY_MS),
        "createdAt": iso(AT_MS),
        "createdBy": "owner@demo.example",
        **changes,
    }


REPEATS: Final = (
    repeat(1, "Rent <first>", unit="months", days=[], monthDays=[1, 31]),
    repeat(2, "حصة يوم الاثنين", every=2),
    repeat(3, "Market", state="paused", reason="restored", nextAt=None, unit="days", days=[]),
    repeat(4, "Old", state="ended", reason="no_money", nextAt=None, listId="lst_gone"),
)


def _view(one: dict[str, Any]) -> dict[str, Any]:
    notes = (None, "short_month", "skipped_hour", "second_hour")
    ahead = [{"at": iso(AT_MS + n * 31 * DAY_MS), "note": note} for n, note in enumerate(notes, 1)]
    refused = "The organization is not active."
    past = [
        ("started", 0, "mlg_1", None),
        ("missed", 3, None, None),
        ("no_money", 0, None, None),
        ("empty", 0, None, "There is nobody on this list yet."),
        ("refused", 0, None, refused),
        ("made", 0, "mlg_2", None),
    ]
    return {
        "repeat": one,
        "timeZone": "Africa/Nouakchott",
        "upcoming": ahead if one["nextAt"] else [],
        "past": [
            {
                "dueAt": iso(AT_MS - n * DAY_MS),
                "outcome": outcome,
                "missed": missed,
                "mailingId": mailing_id,
                "why": why,
            }
            for n, (outcome, missed, mailing_id, why) in enumerate(past, 1)
        ],
        "version": 1,
    }


def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The answer of an operation on mailings that repeat; None for any other."""
    if not name.startswith("repeat."):
        return None
    if name == "repeat.list":
        return {"repeats": [*REPEATS]}
    if name == "repeat.create":
        return repeat(1, arguments["name"])
    one = next((each for each in REPEATS if each["repeatId"] == arguments["repeat_id"]), None)
    if one is None:
        raise NotFound("There is no such repeat.")
    return _view(one) if name == "repeat.show" else one
