"""What an organization keeps, and what is taken out of it, as operations tell pages of it."""

from __future__ import annotations

from typing import Any

from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.times import iso
from risala.sms.numbering.plan import DEFAULT

AT_MS = 1_795_250_476_123
OFFERED = [1, 7, 30]


def kept(version: int = 5, **chosen: int) -> dict[str, Any]:
    return {
        "organizationId": "org_1",
        "stored": [
            {"name": "mailings", "count": 12, "rows": 4300, "bytes": 52_400_000},
            {"name": "lists", "count": 3, "rows": 900, "bytes": 81_000},
            {"name": "uploads", "count": 0, "rows": 0, "bytes": 0},
            {"name": "exports", "count": 1, "rows": 5200, "bytes": 2_000_000},
        ],
        "storedBytesMax": 1_000_000_000,
        "kept": [
            {
                "name": name,
                "days": chosen.get(name, 90),
                "chosen": chosen.get(name),
                "operatorDays": 90,
                "offered": OFFERED,
            }
            for name in ("texts", "events", "inbound")
        ],
        "version": version,
    }


def erasure(which: int = 1, /, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"del_{which}",
        "organizationId": "org_1",
        "number": "…3456",
        "state": "under way",
        "step": 3,
        "steps": 8,
        "waits": False,
        "gone": {"canceled": 1, "messages": 240, "events": 31},
        "askedBy": "aicha@baraka.example",
        "createdAt": iso(AT_MS - 60_000),
        "endedAt": None,
        **changes,
    }


def export(state: str = "writing", **changes: Any) -> dict[str, Any]:
    is_over = state != "writing"
    return {
        "id": f"exp_{state}",
        "organizationId": "org_1",
        "state": state,
        "reason": "no room" if state == "failed" else None,
        "written": 9610 if state == "writing" else 48_211,
        "expected": 48_211,
        "bytes": 0 if state == "writing" else 7_340_032,
        "askedBy": "aicha@baraka.example",
        "createdAt": iso(AT_MS - 120_000),
        "endedAt": iso(AT_MS) if is_over else None,
        "expiresAt": iso(AT_MS + 7 * 86_400_000) if state == "ready" else None,
        **changes,
    }


def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What an operation on what is kept answers; nothing for one that is of something else."""
    match name:
        case "kept.show" | "kept.set":
            return kept(texts=7)
        case "erasure.list":
            done = erasure(2, state="done", number="…9888", endedAt=iso(AT_MS - 10**8))
            return {"erasures": [erasure(), done]}
        case "erasure.show":
            if not arguments["erasure_id"].startswith("del_"):
                raise NotFound("There is no such deletion.")
            return erasure(waits=arguments["erasure_id"] == "del_3")
        case "export.list":
            return {"exports": [export(), export("ready"), export("gone")]}
        case "export.show" | "export.delete" | "export.ask":
            state = arguments.get("export_id", "exp_writing").removeprefix("exp_")
            return export(state if state in ("ready", "failed", "gone") else "writing")
        case "export.fetch":
            return {"export": export("ready"), "path": "/nowhere"}
        case "number.show":
            try:
                typed = arguments["number"]
                number = typed if "@" in typed else DEFAULT.read(typed)
            except ValueError:
                raise Invalid("number", "invalid_phone_number", "`number` is none.") from None
            known = number in ("+22236123456", "nour@example.org")
            counts = {"messages": 241, "pending": 1, "inbound": 12, "verifications": 3}
            counts |= {"mailingRows": 7, "lists": 2}
            told = counts if known else dict.fromkeys(counts, 0)
            return {"number": number, **told, "optedOut": known}
        case "number.forget" | "org.delete":
            return erasure()
        case "org.deletion":
            few = {"keys": 4, "members": 3, "endpoints": 2, "senders": 1, "pending": 12}
            whose = {"organizationId": "org_1", "name": "Baraka Market", "balance": "12480.50"}
            return {**whose, "currency": "MRU", "messages": 48_211, **few}
    return {}
