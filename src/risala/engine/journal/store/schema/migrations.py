"""The tables, as migrations that are applied in order, each in a transaction of its own.

Times are UTC epoch milliseconds, money is integer minor units. The queue is no table: it is the
partial index ``messages_queue`` over the messages that are pending.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlite_utils import Database, Migrations

from risala.engine.journal.store.schema.account_data import KEPT, RETENTION
from risala.engine.journal.store.schema.alerts import ALERTS
from risala.engine.journal.store.schema.audit import make_audit_log
from risala.engine.journal.store.schema.bank import fold_references, make_bank
from risala.engine.journal.store.schema.carriers import CARRIER_GATES, CARRIERS
from risala.engine.journal.store.schema.console import CONSOLE
from risala.engine.journal.store.schema.countries import COUNTRIES
from risala.engine.journal.store.schema.faces import FACES, HOOKS, SMPP
from risala.engine.journal.store.schema.inbound import INBOUND, LAST_WRITERS, WHO_AND_WHEN
from risala.engine.journal.store.schema.keys import KEY_CONTACTS, KEY_LIMITS
from risala.engine.journal.store.schema.mailings import MAILINGS, NUMBERS_IN_BLOCKS
from risala.engine.journal.store.schema.money import CREDITED_ONCE, SPEND_CAPS, WHOLE_MINUTES
from risala.engine.journal.store.schema.outcome import OUTCOME, UNCERTAIN
from risala.engine.journal.store.schema.payments import PAYMENTS
from risala.engine.journal.store.schema.people import SIGN_IN_FAILURES, SLOW_FAILURES, make_people
from risala.engine.journal.store.schema.receipts import RECEIPTS, RESENDS
from risala.engine.journal.store.schema.slim import make_slim
from risala.engine.journal.store.schema.slim_views import make_views
from risala.engine.journal.store.schema.webhooks import (
    EVENT_CURSORS,
    HOSTED_CLIENTS,
    MOVING_HERE,
    SHAPES,
    WEBHOOKS,
)

migrations = Migrations("risala")

_SLIM: Final = "m024_slim"
"""The migration that made the tables of today; those before it only make a new file."""
_OLD_TABLE: Final = "old_messages"
"""A development version moved rows out of it, and was stopped on the way."""


class WrongSchema(Exception):
    """The file was written by a version whose files this one cannot use; the sentence says why."""


class NewerSchema(WrongSchema):
    """It was a newer Risala."""


class EarlySchema(WrongSchema):
    """It was a development version from before the first release."""


def migrate(db: Database, *, before: str | None = None) -> None:
    """Bring the file up to this version's schema, or to where it was ``before`` a migration.

    Raises:
        WrongSchema: this version cannot use the file.
    """
    refuse_wrong(db)
    done = applied(db)
    names = known()
    later = names[names.index(before) :] if before is not None else []
    migrations.apply(db, stop_before=[name for name in later if name not in done])
    if _SLIM in applied(db):
        _renew_views(db)


def _renew_views(db: Database) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        make_views(db)
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def refuse_wrong(db: Database) -> None:
    """
    Raises:
        NewerSchema: the file holds a migration that this version does not know.
        EarlySchema: its rows are in tables that no released version had.
    """
    refuse_early(db)
    newer = sorted(applied(db).difference(known()))
    if newer:
        raise NewerSchema(
            f"the database was written by a newer Risala (it has {newer[-1]!r}). Install that "
            f"version, or restore an older backup"
        )


def refuse_early(db: Database) -> None:
    """
    Raises:
        EarlySchema: its rows are in tables that no released version had.
    """
    done = applied(db)
    if _OLD_TABLE in db.table_names() or (done and _SLIM not in done and _has_rows(db)):
        raise EarlySchema(
            "the database was written by a development version from before the first release. "
            "Start with a new data directory, or install the version that wrote it and export "
            "what you need"
        )


def _has_rows(db: Database) -> bool:
    """Whether anything was written. If not, the file is new, and its first start was cut short."""
    names = [name for name in db.table_names() if name != migrations.migrations_table]
    return any(db.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() for name in names)  # noqa: S608 -- names of ours


def known() -> list[str]:
    """The names of all migrations, in order."""
    return [migration.name for migration in migrations.pending(Database(memory=True))]


def applied(db: Database) -> set[str]:
    """The names of those that a file has.

    ``migrations.applied`` lists all tables and views first; a start asks six times.
    """
    table = migrations.migrations_table
    known_table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
    if db.execute(known_table, (table,)).fetchone() is None:
        return set()
    rows = db.execute(f"SELECT name FROM {table} WHERE migration_set = ?", (migrations.name,))  # noqa: S608 -- a name of ours
    return {name for (name,) in rows}


def following(name: str) -> str | None:
    """The migration after one; None: it is the last."""
    names = known()
    return next(iter(names[names.index(name) + 1 :]), None)


ACCOUNTS = """
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE organizations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  balance INTEGER NOT NULL DEFAULT 0 CHECK (balance >= 0),
  currency TEXT NOT NULL,
  price_per_segment INTEGER CHECK (price_per_segment >= 0),
  smart_encoding INTEGER NOT NULL DEFAULT 0,
  sms_per_s REAL CHECK (sms_per_s > 0),
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  type TEXT NOT NULL CHECK (type IN ('secret', 'publishable')),
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  name TEXT,
  hash BLOB NOT NULL UNIQUE,
  last4 TEXT NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;
CREATE INDEX api_keys_by_organization ON api_keys (organization_id, created_at);

CREATE TABLE senders (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied')),
  cleared INTEGER NOT NULL DEFAULT 0,
  description TEXT NOT NULL DEFAULT '',
  reason TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (organization_id, folded)
) STRICT;
CREATE INDEX senders_by_name ON senders (folded);

-- Accepted live messages by hour: a week's volume is a sum of at most 169 small rows.
CREATE TABLE accepted_hours (
  organization_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  PRIMARY KEY (organization_id, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  kind TEXT NOT NULL CHECK (kind IN ('topup', 'charge', 'refund', 'adjustment')),
  amount INTEGER NOT NULL,
  balance_after INTEGER NOT NULL,
  reference TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX ledger_by_organization ON ledger (organization_id, seq);
-- A message is charged once and refunded once, whatever runs twice.
CREATE UNIQUE INDEX ledger_once ON ledger (reference, kind) WHERE kind IN ('charge', 'refund');
"""

MESSAGES = """
CREATE TABLE messages (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  kind TEXT NOT NULL CHECK (kind IN ('sms', 'code')),
  recipient TEXT NOT NULL,
  sender TEXT NOT NULL,
  body TEXT NOT NULL,
  encoding TEXT NOT NULL CHECK (encoding IN ('gsm7', 'ucs2')),
  segments INTEGER NOT NULL,
  price INTEGER NOT NULL,
  currency TEXT NOT NULL,
  metadata TEXT NOT NULL DEFAULT '{}',
  status TEXT NOT NULL CHECK (status IN (
    'pending', 'processing', 'sent', 'delivered', 'undelivered', 'failed', 'canceled')),
  priority INTEGER NOT NULL,
  route TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  valid_until INTEGER NOT NULL,
  resolve_at INTEGER,
  resolve_action TEXT CHECK (resolve_action IN ('resend', 'fail')),
  carrier TEXT,
  provider_message_id TEXT,
  verification_id TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  refusals INTEGER NOT NULL DEFAULT 0,
  tried TEXT NOT NULL DEFAULT '',
  error_code TEXT,
  error_text TEXT,
  send_at INTEGER,
  sent_at INTEGER,
  delivered_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
-- Messages of one millisecond keep the order in which they were accepted.
CREATE INDEX messages_queue ON messages (route, priority, organization_id, due_at, seq)
  WHERE status = 'pending';
CREATE INDEX messages_validity ON messages (valid_until) WHERE status = 'pending';
CREATE INDEX messages_unresolved ON messages (resolve_at) WHERE resolve_at IS NOT NULL;
-- Only what is in flight: a restart finds it at once among millions.
CREATE INDEX messages_processing ON messages (id) WHERE status = 'processing';

CREATE TABLE segments (
  message_id TEXT NOT NULL REFERENCES messages (id),
  number INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN (
    'waiting', 'submitting', 'uncertain', 'accepted', 'delivered', 'undelivered', 'refused')),
  attempt INTEGER NOT NULL,
  carrier TEXT NOT NULL,
  carrier_id TEXT,
  carrier_key TEXT,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (message_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX segments_by_carrier_id ON segments (carrier, carrier_key)
  WHERE carrier_key IS NOT NULL;

CREATE TABLE timeline (
  message_id TEXT NOT NULL REFERENCES messages (id),
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  status TEXT NOT NULL,
  text TEXT NOT NULL,
  carrier TEXT,
  attempt INTEGER,
  segment INTEGER,
  raw TEXT,
  PRIMARY KEY (message_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  organization_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  key TEXT NOT NULL,
  message_id TEXT NOT NULL,
  response BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, mode, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  organization_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE held_receipts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  carrier TEXT NOT NULL,
  carrier_id TEXT NOT NULL,
  carrier_key TEXT NOT NULL,
  state TEXT NOT NULL,
  raw TEXT NOT NULL,
  error_code TEXT,
  received_at INTEGER NOT NULL
) STRICT;
CREATE INDEX held_receipts_by_key ON held_receipts (carrier, carrier_key);
CREATE INDEX held_receipts_by_age ON held_receipts (received_at);

CREATE TABLE inbound (
  id TEXT PRIMARY KEY,
  carrier TEXT NOT NULL,
  sender TEXT NOT NULL,
  recipient TEXT,
  body TEXT NOT NULL,
  carrier_ids TEXT NOT NULL,
  received_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX inbound_once ON inbound (carrier, carrier_ids) WHERE carrier_ids <> '';
"""

VERIFICATIONS = """
CREATE TABLE verify_settings (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  settings TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE verifications (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  recipient TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'expired', 'canceled')),
  reason TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  attempts_max INTEGER NOT NULL,
  code_length INTEGER NOT NULL,
  message_id TEXT NOT NULL REFERENCES messages (id),
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX verifications_deadlines ON verifications (expires_at) WHERE status = 'pending';
CREATE INDEX verifications_by_phone
  ON verifications (organization_id, mode, recipient, created_at);
CREATE INDEX verifications_by_organization ON verifications (organization_id, mode, created_at);
"""


ALLOWED_ORIGINS = """
-- A JSON list; null: any origin.
ALTER TABLE api_keys ADD COLUMN allowed_origins TEXT;
"""

CARRIER_NOTES = """
-- What drivers must not forget. Theirs alone: nothing here is read by the engine.
CREATE TABLE carrier_notes (
  carrier TEXT NOT NULL,
  key TEXT NOT NULL,
  text TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (carrier, key)
) STRICT, WITHOUT ROWID;
"""

LOW_BALANCE = """
-- Null: the general one.
ALTER TABLE organizations ADD COLUMN low_balance INTEGER CHECK (low_balance >= 0);
"""

BEGUN_NARROW = """
-- Long messages that are on their way: the version before this one cut them elsewhere.
INSERT INTO meta (key, value)
  SELECT 'begun_narrow', group_concat(id, ' ') FROM messages m
  WHERE status IN ('pending', 'processing') AND segments > 1
    AND EXISTS (SELECT 1 FROM segments s WHERE s.message_id = m.id)
  HAVING count(*) > 0;
"""

HELD_REFERENCES = """
-- By these two a receipt names a submit whose answer, and with it the carrier's id, never came.
ALTER TABLE held_receipts ADD COLUMN recipient TEXT;
ALTER TABLE held_receipts ADD COLUMN reference INTEGER;
CREATE INDEX held_receipts_by_reference ON held_receipts (carrier, reference)
  WHERE reference IS NOT NULL;
"""


def _script(db: Database, sql: str) -> None:
    # executescript() would commit the migration's own transaction before it runs.
    for statement in sql.split(";\n"):
        if statement.strip():
            db.execute(statement)


MIGRATIONS: Final[Mapping[str, Sequence[str | Callable[[Database], None]]]] = {
    "m001_accounts": (ACCOUNTS,),
    "m002_messages": (MESSAGES,),
    "m003_verifications": (VERIFICATIONS,),
    "m004_allowed_origins": (ALLOWED_ORIGINS,),
    "m005_webhooks": (WEBHOOKS,),
    "m006_inbound": (INBOUND,),
    "m007_carrier_notes": (CARRIER_NOTES,),
    "m008_low_balance": (LOW_BALANCE,),
    "m009_begun_narrow": (BEGUN_NARROW,),
    "m010_retention": (RETENTION,),
    "m011_held_references": (HELD_REFERENCES,),
    "m012_last_writers": (LAST_WRITERS,),
    "m013_outcome": (OUTCOME,),
    "m014_uncertain": (UNCERTAIN,),
    "m015_receipts_and_resends": (RECEIPTS, RESENDS),
    "m017_credited_once": (CREDITED_ONCE, WHOLE_MINUTES),
    "m022_spend_caps": (SPEND_CAPS,),
    "m023_audit_log": (make_audit_log,),
    "m024_slim": (make_slim,),
    "m025_people": (make_people,),
    "m026_key_limits": (KEY_LIMITS,),
    "m027_payments": (PAYMENTS,),
    "m028_kept": (KEPT,),
    "m029_who_and_when": (WHO_AND_WHEN,),
    "m030_bank": (make_bank,),
    "m031_alerts": (ALERTS,),
    "m032_carriers": (CARRIERS,),
    "m033_console": (CONSOLE,),
    "m034_faces": (FACES,),
    "m035_event_cursors": (EVENT_CURSORS,),
    "m036_smpp": (SMPP,),
    "m037_moving_here": (MOVING_HERE,),
    "m038_references_and_sign_ins": (fold_references, SIGN_IN_FAILURES),
    "m039_carrier_gates": (CARRIER_GATES,),
    "m040_slow_failures": (SLOW_FAILURES,),
    "m041_hosted_clients": (HOSTED_CLIENTS,),
    "m042_key_contacts": (KEY_CONTACTS,),
    "m043_countries": (COUNTRIES,),
    "m044_hooks": (HOOKS,),
    "m045_shapes": (SHAPES,),
    "m046_mailings": (MAILINGS,),
    "m047_numbers_in_blocks": (NUMBERS_IN_BLOCKS,),
}
"""What each migration runs: scripts of SQL, and functions for what SQL alone cannot do. Files hold
the names of those that they have had, so that a name never changes."""


def _register(name: str, steps: Sequence[str | Callable[[Database], None]]) -> None:
    @migrations(name=name)
    def run(db: Database) -> None:
        for step in steps:
            if isinstance(step, str):
                _script(db, step)
            else:
                step(db)


for _name, _steps in MIGRATIONS.items():
    _register(_name, _steps)
