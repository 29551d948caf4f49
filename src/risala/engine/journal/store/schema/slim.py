"""The tables of messages, money and events: small numbers in place of words and long ids.

A message's key is the first 63 bits of its id, which are its time and a counter: rows that belong
together are stored together, and finding one needs no index. A value that can be derived is null:
each such column documents its source. Words and ids are in the views (``slim_views.py``), which
have the names and the columns of the former tables.

The numbers of words (statuses, states, kinds, types) are fixed in ``model/numbers.py``.
"""

from __future__ import annotations

from typing import Final

from sqlite_utils import Database

from risala.engine.journal.store.schema.slim_views import make_views

NUMBERS: Final = """
-- Names that rows carry as numbers: of carriers, routes and senders, and the ids of API keys. None
-- is ever taken back, so that a row tells its name also when nobody goes by that any more.
CREATE TABLE names (
  no INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

ALTER TABLE organizations ADD COLUMN no INTEGER;
UPDATE organizations SET no = rowid;
CREATE UNIQUE INDEX organizations_by_no ON organizations (no);
"""

TABLES: Final = """
CREATE TABLE message (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  organization INTEGER NOT NULL,
  -- The key that it came by, in names; null: by none.
  api_key INTEGER,
  mode INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  encoding INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  status INTEGER NOT NULL,
  -- The digits of a number as an integer; anything else as it was written.
  recipient ANY NOT NULL,
  -- In names.
  sender INTEGER NOT NULL,
  segments INTEGER NOT NULL,
  price INTEGER NOT NULL,
  currency TEXT NOT NULL,
  -- In names.
  route INTEGER NOT NULL,
  -- Null: it has left, or ended.
  due_at INTEGER,
  valid_until INTEGER NOT NULL,
  -- Null: by the key, which begins with it.
  created_at INTEGER,
  -- Null: when it was delivered, sent or accepted, whichever was last.
  updated_at INTEGER,
  sent_at INTEGER,
  delivered_at INTEGER,
  -- In names.
  carrier INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Of the only part of a message that has one: null before its first submit. Messages of several
  -- parts have rows in segment.
  part_state INTEGER,
  -- The carrier's id of the part in its one form; null: it gave none.
  carrier_key TEXT,
  -- The id as the carrier wrote it, where that is another form; of several parts the first's.
  carrier_id TEXT,
  -- How many lines its timeline has while they can all be told from here: 2 with its only
  -- attempt, 3 with the carrier's yes, 4 with the receipt; null: those after the first are in line.
  told INTEGER,
  attempt_at INTEGER,
  sent_raw TEXT,
  receipt_raw TEXT,
  -- Its entry; null: it was not charged.
  charge INTEGER,
  -- Null: the one that we made of its id.
  client_key TEXT,
  -- JSON; null: {}.
  metadata TEXT,
  send_at INTEGER,
  error_code TEXT,
  carrier_code TEXT,
  refusals INTEGER NOT NULL DEFAULT 0,
  link_losses INTEGER NOT NULL DEFAULT 0,
  -- Submits of the only part whose outcome nobody knew, and since when that is so.
  uncertain INTEGER NOT NULL DEFAULT 0,
  uncertain_at INTEGER,
  resolve_at INTEGER,
  resolve_action INTEGER,
  -- Carriers that refused it for good, with commas between them.
  tried TEXT,
  verification_id TEXT,
  -- The notice in the answer of its request, and the version of the answer's shape; null: 1.
  notice TEXT,
  answer INTEGER,
  -- Details of the first line of its timeline, where there are any.
  accepted TEXT,
  -- 1: the text is no longer kept, 2: nor timeline and segments, 3: both.
  pruned INTEGER NOT NULL DEFAULT 0,
  body TEXT NOT NULL
) STRICT;
-- The key comes last in every index by itself: messages of one millisecond keep their order.
CREATE INDEX message_queue ON message (route, priority, organization, due_at) WHERE status = 0;
CREATE INDEX message_validity ON message (valid_until) WHERE status = 0;
CREATE INDEX message_unresolved ON message (resolve_at) WHERE resolve_at IS NOT NULL;
-- Only what is in flight: a restart finds it at once among millions.
CREATE INDEX message_processing ON message (carrier) WHERE status = 1;
-- Submits without an answer, also of messages that ended so: a receipt may tell of them later.
CREATE INDEX message_uncertain ON message (carrier, uncertain_at) WHERE part_state = 2;
CREATE INDEX message_by_carrier_key ON message (carrier_key, carrier)
  WHERE carrier_key IS NOT NULL;
CREATE UNIQUE INDEX message_client_key ON message (organization, mode, client_key)
  WHERE client_key IS NOT NULL;
-- For lists, the newest first.
CREATE INDEX message_by_organization ON message (organization);
CREATE INDEX message_by_recipient ON message (recipient, organization);
CREATE INDEX message_by_sender ON message (organization, sender);
-- Nearly all are delivered in the end: those are met wherever one looks.
CREATE INDEX message_by_status ON message (organization, status) WHERE status <> 3;

-- Ids of before whose first 63 bits another message has: the keys that they were given.
CREATE TABLE remapped (
  id TEXT PRIMARY KEY,
  key INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE segment (
  message INTEGER NOT NULL,
  number INTEGER NOT NULL,
  state INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  carrier INTEGER NOT NULL,
  carrier_key TEXT,
  -- As in message.
  carrier_id TEXT,
  updated_at INTEGER NOT NULL,
  uncertain INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (message, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX segment_by_carrier_key ON segment (carrier_key, carrier)
  WHERE carrier_key IS NOT NULL;
CREATE INDEX segment_uncertain ON segment (carrier, updated_at) WHERE state = 2;

-- Lines of timelines that the messages' rows do not tell. The first is told there, unless there is
-- a row with n = 1; those after it only as long as the message's life is an ordinary one.
CREATE TABLE line (
  message INTEGER NOT NULL,
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  -- Null: the one that its kind implies.
  status INTEGER,
  carrier INTEGER,
  attempt INTEGER,
  segment INTEGER,
  details TEXT,
  raw TEXT,
  -- The sentence of a line of kind 0.
  text TEXT,
  PRIMARY KEY (message, n)
) STRICT, WITHOUT ROWID;

-- One charge for a request, however many messages it brought; a refund for a message.
CREATE TABLE entry (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  organization INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  balance_after INTEGER NOT NULL,
  -- Of a charge the first that it pays for, of a refund the one.
  message INTEGER,
  -- How many a charge pays for; null: one.
  messages INTEGER,
  -- Of what came by hand; null: the message's id.
  reference TEXT,
  note TEXT,
  -- Null: of a charge, when its message was accepted, by the key.
  at INTEGER
) STRICT;
CREATE INDEX entry_by_organization ON entry (organization);
CREATE UNIQUE INDEX entry_refunded_once ON entry (message) WHERE kind = 1;
-- People write references down in any case.
CREATE UNIQUE INDEX entry_credited_once ON entry (reference COLLATE NOCASE) WHERE kind = 2;
-- Top-ups and adjustments are few among the charges.
CREATE INDEX entry_by_hand ON entry (organization) WHERE kind >= 2;

CREATE TABLE event (
  key INTEGER PRIMARY KEY,
  type INTEGER NOT NULL,
  organization INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  -- A message's key, or the id of what else it tells of.
  subject ANY NOT NULL,
  -- Null: by the key.
  at INTEGER,
  -- JSON: what of the body its subject's rows do not say for ever.
  frozen TEXT,
  -- Of an event of before: null where they are made of the key and the subject.
  id TEXT,
  body TEXT
) STRICT;
CREATE UNIQUE INDEX event_by_id ON event (id) WHERE id IS NOT NULL;

-- Messages by the hour of their acceptance: how many were accepted, and what became of them.
CREATE TABLE hour_count (
  organization INTEGER NOT NULL,
  -- A message's status as a number; 0: accepted.
  outcome INTEGER NOT NULL,
  -- Since 1970-01-01.
  hour INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  network TEXT NOT NULL,
  -- It took less than 2 ** bucket milliseconds from when it was due, and not less than half of
  -- that; 0 for those that are merely accepted.
  bucket INTEGER NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (organization, outcome, hour, mode, kind, network, bucket)
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
  message_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX verification_deadlines ON verifications (expires_at) WHERE status = 'pending';
CREATE INDEX verification_by_phone
  ON verifications (organization_id, mode, recipient, created_at);
CREATE INDEX verification_by_organization ON verifications (organization_id, mode, created_at);

CREATE TABLE webhook_delivery (
  seq INTEGER PRIMARY KEY,
  endpoint_id TEXT NOT NULL REFERENCES webhook_endpoints (id),
  event INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'dropped')),
  due_at INTEGER NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  status INTEGER,
  error TEXT,
  excerpt TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  delivered_at INTEGER,
  UNIQUE (event, endpoint_id)
) STRICT;
CREATE INDEX webhook_delivery_due ON webhook_delivery (endpoint_id, due_at)
  WHERE state = 'pending';
CREATE INDEX webhook_delivery_failed ON webhook_delivery (endpoint_id, created_at)
  WHERE state = 'failed';
CREATE INDEX webhook_delivery_log ON webhook_delivery (endpoint_id);

CREATE TABLE webhook_attempts (
  delivery INTEGER NOT NULL REFERENCES webhook_delivery (seq),
  n INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  status INTEGER,
  error TEXT,
  excerpt TEXT,
  PRIMARY KEY (delivery, n)
) STRICT, WITHOUT ROWID;
"""

MOVED: Final = (
    "webhook_attempts",
    "webhook_deliveries",
    "verifications",
    "timeline",
    "segments",
    "messages",
    "ledger",
    "events",
    "accepted_hours",
)
"""The former tables. They are empty: a file with rows in them is refused."""
KEPT_ANSWERS: Final = "kept_answers"
"""Answers of a development version, byte for byte: read if no message has the key."""


def statements(script: str) -> list[str]:
    """A script's statements; ``executescript`` would commit the migration's own transaction."""
    return [each for each in script.split(";\n") if each.strip()]


def make_slim(db: Database) -> None:
    """Replace the former tables by those of today."""
    for name in MOVED:
        db.execute(f"ALTER TABLE {name} RENAME TO old_{name}")
    db.execute(f"ALTER TABLE idempotency RENAME TO {KEPT_ANSWERS}")
    for script in (NUMBERS, TABLES):
        for statement in statements(script):
            db.execute(statement)
    make_views(db)
    if all(db.execute(f"SELECT 1 FROM old_{name} LIMIT 1").fetchone() is None for name in MOVED):  # noqa: S608 -- constants
        for name in MOVED:
            db.execute(f"DROP TABLE old_{name}")
