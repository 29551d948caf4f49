"""What a gateway tells of mailings, for pages: one of each state, and rows with each fault."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.features.mailings.records import MailingState, RowState
from risala.engine.features.tables.records import RowFault
from risala.engine.model.errors import NotFound
from risala.engine.model.times import iso

AT_MS: Final = 1_795_250_476_123
"""21 Nov 2026, 08:41:16 in Nouakchott."""
TEXT: Final = "السلام عليكم {{الولي}}، غاب {{التلميذ}} اليوم عن المدرسة."
COLUMNS: Final = ("الهاتف", "الولي", "التلميذ")
LISTS: Final = (("lst_1", "Parents 6e", 118), ("lst_2", "أولياء السابعة", 97))
TEXTS: Final = (
    ("txt_1", "Absence", "fr", "Bonjour, votre enfant était absent aujourd'hui."),
    ("txt_2", "غياب", "ar", "السلام عليكم، غاب ابنكم اليوم عن المدرسة."),
)
STATES: Final = tuple(each.value for each in MailingState)


def mailing(mailing_id: str = "mlg_draft", **changes: Any) -> dict[str, Any]:
    """One in the state that its id names; ``mlg_wait_balance`` waits, ``mlg_gone`` has no rows."""
    name = mailing_id.removeprefix("mlg_")
    wait = name.removeprefix("wait_") if name.startswith("wait_") else None
    state = "sending" if wait else name if name in STATES else "done"
    before = state in ("checking", "draft")
    accepted = 0 if before else 118 if state in ("done", "stopped") else 70
    return {
        "id": mailing_id,
        "organizationId": "org_1",
        "mode": "live",
        "name": "école-absences.xlsx",
        "state": state,
        "source": "file",
        "text": TEXT,
        "from": "Baraka Shop",
        "encoding": "utf-8",
        "separator": ";",
        "sheet": None,
        "sheets": [],
        "hasHeader": True,
        "columns": [*COLUMNS],
        "numberColumn": 0,
        "hiddenRows": 0,
        "hiddenColumns": 0,
        "withHidden": False,
        "pace": None,
        "fromHour": 8,
        "toHour": 20,
        "sendAt": None,
        "createdAt": iso(AT_MS - 3_600_000),
        "createdBy": "aicha@baraka.example",
        "startedAt": None if before else iso(AT_MS - 600_000),
        "endedAt": iso(AT_MS) if state in ("done", "stopped") else None,
        "wait": wait,
        "againAt": iso(AT_MS + 3_600_000) if wait else None,
        "rows": 131,
        "ready": 120 - accepted if state != "done" else 0,
        "bad": 11 if state != "checking" else 2,
        "leftOut": 0,
        "accepted": accepted,
        "refused": 0 if before else 2,
        "segments": 240,
        "price": "120.00",
        "keepsRows": mailing_id != "mlg_gone",
        **changes,
    }


def view(mailing_id: str, **changes: Any) -> dict[str, Any]:
    one = mailing(mailing_id, **changes)
    accepted = one["accepted"]
    failed = 4 if one["state"] in ("done", "stopped") else 0
    return {
        "mailing": one,
        "outcomes": {
            "pending": accepted // 3,
            "sent": accepted // 3,
            "delivered": accepted - 2 * (accepted // 3) - failed,
            "failed": failed,
        },
        "balance": "12480.50",
        "run": [
            {"at": iso(AT_MS + at * 60_000), "made": at * 4, "sent": at * 3, "delivered": at * 2}
            for at in range(1, 25)
        ]
        if accepted
        else [],
        "shares": [
            {"carriers": ["mattel"], "messages": 80, "seconds": 16},
            {"carriers": ["mauritel", "mattel"], "messages": 40, "seconds": None},
        ],
        "seconds": 480,
        "version": 7,
    }


def row(number: int, state: RowState, fault: RowFault | None = None, **changes: Any) -> dict:
    is_number = fault is RowFault.NUMBER
    return {
        "row": number,
        "number": None if is_number else f"+2223612{number:04}",
        "cells": ["bonjour" if is_number else f"3612{number:04}", f"محمد {number}", "سيدي"],
        "state": state.value,
        "fault": None if fault is None else fault.value,
        "column": COLUMNS[2] if fault is RowFault.VALUE_MISSING else None,
        "segments": 2,
        "price": "1.00",
        "messageId": f"sms_{number}" if state is RowState.ACCEPTED else None,
        "status": "delivered" if state is RowState.ACCEPTED else None,
        **changes,
    }


def rows() -> list[dict[str, Any]]:
    """A row with each fault, two that are ready, one of each other state."""
    faults = [row(2 + at, RowState.BAD, fault) for at, fault in enumerate(RowFault)]
    place = 2 + len(faults)
    others = (RowState.READY, RowState.READY, RowState.LEFT_OUT, RowState.ACCEPTED)
    return [
        *faults,
        *(row(place + at, state) for at, state in enumerate(others)),
        row(place + len(others), RowState.REFUSED, RowFault.OPTED_OUT),
    ]


def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The answer of an operation on mailings, lists or saved texts; None for any other."""
    match name:
        case "list.list":
            made = {"organizationId": "org_1", "columns": [], "createdBy": "aicha@baraka.example"}
            at = dict.fromkeys(("createdAt", "changedAt"), iso(AT_MS))
            return {"lists": [{"id": i, "name": n, "people": p, **made, **at} for i, n, p in LISTS]}
        case "text.list":
            made = {"organizationId": "org_1", "createdBy": "aicha@baraka.example"}
            made["createdAt"] = iso(AT_MS)
            return {
                "texts": [
                    {"id": i, "name": n, "language": one, "text": text, **made}
                    for i, n, one, text in TEXTS
                ]
            }
        case "mailing.list":
            names = [f"mlg_{each}" for each in STATES] if "older" not in arguments else []
            return {"mailings": [*map(mailing, names)], "older": "7" if names else None}
        case "mailing.columns":
            return {"columns": ["Nom", "Tel", "Classe"], "numberColumn": 1, "rows": 3}
        case "mailing.create":
            return mailing("mlg_draft", mode=arguments["mode"])
    if not name.startswith("mailing."):
        return None
    mailing_id = arguments["mailing_id"]
    if mailing_id == "mlg_none":
        raise NotFound("There is no such mailing.")
    match name:
        case "mailing.show":
            return view(mailing_id)
        case "mailing.rows":
            wanted, after = arguments.get("state"), arguments.get("after") or 0
            found = [
                each for each in rows() if wanted in (None, each["state"]) and each["row"] > after
            ]
            limit = arguments.get("limit", 100)
            table = {"columns": [*COLUMNS], "numberColumn": 0, "rows": found[:limit]}
            return {**table, "after": found[limit - 1]["row"] if len(found) > limit else None}
        case "mailing.person":
            step = {"next": 1, "previous": -1, "random": 41}.get(arguments.get("step", ""), 0)
            place = arguments.get("place") or max(1, arguments.get("row", 1) - 100 + step)
            text = TEXT.replace("{{الولي}}", f"محمد {place}").replace("{{التلميذ}}", "سيدي")
            one = row(100 + place, RowState.READY)
            return {"row": one, "text": text, "characters": 60, "encoding": "ucs2", "place": place}
        case "mailing.mend":
            is_right = all(arguments["cells"])
            return row(arguments["row"], RowState.READY if is_right else RowState.BAD)
        case "mailing.report":
            return {"columns": [*COLUMNS], "rows": rows(), "after": None, "export": 3}
        case "mailing.again":
            return mailing("mlg_draft", source="again")
    return mailing(mailing_id)
