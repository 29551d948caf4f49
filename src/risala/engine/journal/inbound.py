"""Messages that came in, each stored once however often the carrier brings it."""

from __future__ import annotations

import sqlite3

from risala.sms.message import Inbound


def store(conn: sqlite3.Connection, message_id: str, carrier: str, message: Inbound) -> bool:
    """Store one; False where the carrier had brought it before."""
    stored = conn.execute(
        "INSERT INTO inbound (id, carrier, sender, recipient, body, carrier_ids, received_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            *(message_id, carrier, message.sender, message.recipient, message.text),
            *(" ".join(message.carrier_ids), message.received_at_ms),
        ),
    )
    return stored.rowcount > 0
