"""A database as the versions before the slim tables wrote it, of as many messages as are wanted.

By statements, and not by the engine of then: that one would need hours for what an operator's file
holds. What it holds is whatever a seed says; its books agree.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.model.ids import IdSource
from risala.engine.model.lines import Kind

STARTED_MS = 1_760_000_000_000
ORGANIZATIONS = ("org_01K70000000000000000000000000001", "org_01K70000000000000000000000000002")
ENDPOINT = "whe_01K70000000000000000000000000001"
BATCH_MAX = 400
FATES = ("delivered",) * 12 + ("sent", "undelivered", "failed", "canceled", "pending", "processing")


@dataclass
class _Clock:
    ms: int = STARTED_MS

    def now_ms(self) -> int:
        return self.ms


@dataclass
class _Writer:
    conn: sqlite3.Connection
    random: random.Random
    clock: _Clock = field(default_factory=_Clock)
    balances: dict[str, int] = field(default_factory=dict)
    hours: dict[tuple[str, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ids = IdSource(self.clock, self.random.randbytes)

    def insert(self, table: str, **values: Any) -> int:
        places = ", ".join("?" * len(values))
        statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})"
        return self.conn.execute(statement, [*values.values()]).lastrowid or 0

    def enter(self, organization_id: str, kind: str, amount: int, reference: str, at: int) -> None:
        balance = self.balances[organization_id] = self.balances.get(organization_id, 0) + amount
        self.insert(
            "ledger",
            organization_id=organization_id,
            kind=kind,
            amount=amount,
            balance_after=balance,
            reference=reference,
            at=at,
        )

    def accounts(self) -> None:
        for number, organization_id in enumerate(ORGANIZATIONS):
            self.insert(
                "organizations",
                id=organization_id,
                name=f"Shop {number}",
                currency="MRU",
                created_at=STARTED_MS,
            )
            self.enter(organization_id, "topup", 10**12, f"pay_{number}", STARTED_MS)
        self.insert(
            "webhook_endpoints",
            id=ENDPOINT,
            organization_id=ORGANIZATIONS[0],
            mode="live",
            url="https://example.com/",
            types="[]",
            secret="s",
            created_at=STARTED_MS,
            updated_at=STARTED_MS,
        )

    def message(self, organization_id: str, body: str) -> None:
        draw, now = self.random, self.clock.ms
        status, segments = draw.choice(FATES), draw.choice((1, 1, 1, 1, 3))
        message_id = self.ids.new("sms")
        sent_at = now + draw.randrange(50, 5000)
        left = status in ("sent", "delivered", "undelivered")
        at = sent_at + draw.randrange(1000, 60_000) if status != "sent" else sent_at
        over = status not in ("pending", "processing")
        prefix = draw.choice(("+2223", "+2224", "+336", "+22190"))
        self.insert(
            "messages",
            id=message_id,
            organization_id=organization_id,
            mode="live",
            kind="sms",
            recipient=f"{prefix}{draw.randrange(10**7):07}",
            sender=draw.choice(("RISALA", "ACME", "+22236000000")),
            body=body,
            encoding="gsm7",
            segments=segments,
            price=50 * segments,
            currency="MRU",
            metadata=draw.choice(("{}", "{}", json.dumps({"order": str(draw.randrange(99))}))),
            status=status,
            priority=1,
            route=prefix,
            due_at=now + draw.choice((0, 0, 0, 30_000)),
            valid_until=now + 86_400_000,
            carrier="mattel" if left or status in ("processing", "failed") else None,
            provider_message_id="0AF1" if left and segments > 1 else None,
            attempts=1 if left or status in ("processing", "failed") else 0,
            error_code={"undelivered": "UNDELIVERABLE", "failed": "REJECTED"}.get(status),
            send_at=now + 30_000 if status == "canceled" else None,
            sent_at=sent_at if left else None,
            delivered_at=at if status == "delivered" else None,
            created_at=now,
            updated_at=at if over else now,
        )
        self.enter(organization_id, "charge", -50 * segments, message_id, now)
        self.line(message_id, 1, now, "pending", Kind.ACCEPTED)
        if left or status in ("processing", "failed"):
            self.line(message_id, 2, now, "processing", Kind.ATTEMPT, carrier="mattel", attempt=1)
            self.parts(message_id, status, segments, sent_at)
        if over:
            raw = f"id:0AF1 stat:{status.upper()[:7]} text:…" if left else None
            self.line(message_id, 3, at, status, Kind[status.upper()], carrier="mattel", raw=raw)
        if status in ("failed", "canceled"):
            self.enter(organization_id, "refund", 50 * segments, message_id, at)
        if left:
            self.event(organization_id, f"sms.{status.replace('un', '')}", message_id, at)
        hour = organization_id, now // 3_600_000
        self.hours[hour] = self.hours.get(hour, 0) + 1
        self.insert(
            "idempotency",
            organization_id=organization_id,
            mode="live",
            key=f"idk_{message_id[4:]}",
            message_id=message_id,
            response=json.dumps({"messageId": message_id}).encode(),
            created_at=now,
        )

    def line(self, message_id: str, n: int, at: int, status: str, kind: Kind, **more: Any) -> None:
        self.insert(
            "timeline",
            message_id=message_id,
            n=n,
            at=at,
            status=status,
            text="",
            kind=kind.value,
            **more,
        )

    def parts(self, message_id: str, status: str, segments: int, at: int) -> None:
        state = {"processing": "submitting", "failed": "refused", "sent": "accepted"}.get(
            status, status
        )
        for number in range(1, segments + 1):
            carrier_id = (
                f"0{self.random.randrange(16**8):08X}"
                if state not in ("refused", "submitting")
                else None
            )
            self.insert(
                "segments",
                message_id=message_id,
                number=number,
                state=state,
                attempt=1,
                carrier="mattel",
                carrier_id=carrier_id,
                carrier_key=carrier_id and (carrier_id.casefold().lstrip("0") or "0"),
                updated_at=at,
            )
            if segments == 1 and carrier_id:
                self.conn.execute(
                    "UPDATE messages SET provider_message_id = ? WHERE id = ?",
                    (carrier_id, message_id),
                )

    def event(self, organization_id: str, kind: str, message_id: str, at: int) -> None:
        event_id = self.ids.new("evt")
        kind = "sms.failed" if kind == "sms.delivered" and self.random.random() < 0.1 else kind
        body = json.dumps({"id": event_id, "type": kind, "data": {"messageId": message_id}})
        self.insert(
            "events",
            id=event_id,
            organization_id=organization_id,
            mode="live",
            type=kind,
            subject=message_id,
            body=body,
            created_at=at,
        )
        if organization_id != ORGANIZATIONS[0]:
            return
        delivery = self.insert(
            "webhook_deliveries",
            endpoint_id=ENDPOINT,
            event_id=event_id,
            state="delivered",
            due_at=at,
            tries=1,
            attempts=1,
            status=200,
            created_at=at,
            updated_at=at,
            delivered_at=at + 9,
        )
        self.insert("webhook_attempts", delivery=delivery, n=1, started_at=at, status=200)

    def finish(self) -> None:
        for organization_id, balance in self.balances.items():
            self.conn.execute(
                "UPDATE organizations SET balance = ? WHERE id = ?", (balance, organization_id)
            )
        for (organization_id, hour), messages in self.hours.items():
            self.insert(
                "accepted_hours", organization_id=organization_id, hour=hour, messages=messages
            )


def batches(draw: random.Random, messages: int) -> Iterator[int]:
    """Sizes that add up: some requests bring one message, some hundreds in one millisecond."""
    while messages:
        size = min(messages, draw.choice((1, 1, 1, draw.randrange(2, BATCH_MAX + 1))))
        messages -= size
        yield size


def write_old_books(path: Path, messages: int, seed: int = 1) -> None:
    """Make a database of before with so many messages."""
    open_writer(path, lambda db: migrate(db, before="m024_slim")).close()
    draw = random.Random(seed)
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA synchronous = off")
        with conn:
            writer = _Writer(conn, draw)
            writer.accounts()
            for size in batches(draw, messages):
                writer.clock.ms += draw.randrange(1, 90_000)
                organization_id = draw.choice(ORGANIZATIONS)
                for number in range(size):
                    writer.message(organization_id, f"Message {number} of {size}")
            writer.finish()
