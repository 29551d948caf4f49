"""What a gateway tells of one recipient list and one saved text, for pages."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.model.errors import NotFound
from risala.engine.model.times import iso

AT_MS: Final = 1_795_250_476_123
COLUMNS: Final = ("Nom", "الفصل")
NUMBERS: Final = tuple(f"+2223612{number:04}" for number in range(1, 61))
TEXT: Final = "Bonjour {{nom}}, réunion à 16 h."


def recipient_list(list_id: str = "lst_1", **changes: Any) -> dict[str, Any]:
    return {
        "id": list_id,
        "organizationId": "org_1",
        "name": "Parents <6e>",
        "columns": [*COLUMNS],
        "people": len(NUMBERS),
        "createdAt": iso(AT_MS - 10**9),
        "createdBy": "aicha@baraka.example",
        "changedAt": iso(AT_MS),
        **changes,
    }


def people(arguments: dict[str, Any]) -> dict[str, Any]:
    """A page of ``lst_1``; nobody is on ``lst_empty``."""
    list_id = arguments["list_id"]
    is_empty = list_id == "lst_empty"
    after, limit = arguments.get("after") or "", arguments.get("limit", 100)
    left = [] if is_empty else [each for each in NUMBERS if each > after]
    shown = [
        {"number": each, "cells": ["Amina", "" if at else "الرابع"], "optedOut": at == 1}
        for at, each in enumerate(left[:limit])
    ]
    found = recipient_list(list_id, **({"people": 0, "columns": []} if is_empty else {}))
    last = shown[-1]["number"] if len(left) > limit else None
    return {"list": found, "people": shown, "after": last, "optedOut": 1, "version": 4}


def growth(list_id: str, **changes: Any) -> dict[str, Any]:
    told = {"added": 2, "changed": 1, "bad": 0, "badRows": []}
    return {"list": recipient_list(list_id), **told, **changes}


def saved_text(text_id: str = "txt_1", **changes: Any) -> dict[str, Any]:
    return {
        "id": text_id,
        "organizationId": "org_1",
        "name": "Réunion <1>",
        "language": "fr",
        "text": TEXT,
        "createdAt": iso(AT_MS),
        "createdBy": "aicha@baraka.example",
        **changes,
    }


def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The answer of an operation on a list or a saved text; None for any other."""
    if "none" in (arguments.get("list_id", ""), arguments.get("saved_text_id", "")):
        raise NotFound("There is no such thing in this organization.")
    match name:
        case "list.create":
            return growth("lst_9")
        case "list.add":
            return growth(arguments["list_id"])
        case "list.show":
            return people(arguments)
        case "list.set" | "list.remove" | "list.delete":
            return recipient_list(arguments["list_id"])
        case "text.create":
            return saved_text("txt_9")
        case "text.show" | "text.set" | "text.delete":
            return {**saved_text(arguments["saved_text_id"]), "version": 4}
    return None
