"""Whether all that was begun has come to its end, so that the books can be looked at."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from proofs.process.books import FINAL, MODEM, Begun
from proofs.process.faces import Told
from proofs.process.house import House


def unsettled(house: House, told: Told, since: Begun, *, forgotten: bool) -> str | None:
    """What is not at its end yet of all that was begun by then, as a sentence; None: all is."""
    since.looked_at_ms = int(time.time() * 1000)
    for check in _checks(house, told, since, forgotten=forgotten):
        if (found := check()) is not None:
            return found
    return None


def _checks(
    house: House, told: Told, since: Begun, *, forgotten: bool
) -> Iterator[Callable[[], str | None]]:
    def open_messages() -> str | None:
        sent = f" AND NOT (status = 'sent' AND ({int(forgotten)} OR carrier = '{MODEM}'))"
        query = f"SELECT id, status FROM messages WHERE status NOT IN {FINAL} {sent} LIMIT 3"
        return _said("messages are open", house.service.rows(query))

    def open_deliveries() -> str | None:
        query = (
            "SELECT event_id, state, error FROM webhook_deliveries"
            " WHERE state = 'pending' AND created_at <= ? LIMIT 3"
        )
        return _said("events wait", house.service.rows(query, since.at_ms))

    def open_calls() -> str | None:
        query = "SELECT message, state, error FROM face_call WHERE state = 'pending' LIMIT 3"
        return _said("callbacks wait", house.service.rows(query))

    def open_receipts() -> str | None:
        ids = [told.taken[word].decode() for word in told.begun["smpp"] if word in told.taken]
        missing = json.dumps([id_ for id_ in ids if id_ not in told.receipts])
        query = (
            f"SELECT id FROM messages WHERE status IN {FINAL}"
            " AND id IN (SELECT value FROM json_each(?)) LIMIT 3"
        )
        return _said("receipts wait", house.service.rows(query, missing))

    def open_sessions() -> str | None:
        query = (
            "SELECT s.verification_id FROM channel_sessions s JOIN messages m"
            " ON m.id = s.message_id WHERE s.next_at IS NOT NULL"
            " AND m.status IN ('undelivered', 'failed', 'canceled') LIMIT 3"
        )
        return _said("codes go on by the next channel", house.service.rows(query))

    def open_answers() -> str | None:
        query = "SELECT text_id FROM answers WHERE due_at IS NOT NULL LIMIT 3"
        return _said("replies wait", house.service.rows(query))

    yield open_answers
    yield open_messages
    yield open_sessions
    yield open_deliveries
    yield open_calls
    yield open_receipts

    def open_texts() -> str | None:
        stored = {
            row[0].split(" wrote")[0] for row in house.service.rows("SELECT body FROM inbound")
        }
        brought = set() if forgotten else since.heads
        return _said("texts of phones wait", sorted({*brought, *house.phones_sent} - stored)[:3])

    yield open_texts


def _said(what: str, found: list[Any]) -> str | None:
    return f"{what}: {found}" if found else None
