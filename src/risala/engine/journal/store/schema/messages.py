"""The tables of messages: small numbers in place of words and long ids.

A message's key is the first 63 bits of its id, which are its time and a counter: rows that belong
together are stored together, and finding one needs no index. A value that can be derived is null:
each such column documents its source. Words and ids are in the views (``views.py``).

The numbers of words (statuses, states, kinds, types) are fixed in ``model/numbers.py``.
"""

from __future__ import annotations

from typing import Final

MESSAGES: Final = """
-- Names that rows carry as numbers: of carriers, routes and senders, and the ids of API keys. None
-- is ever taken back, so that a row tells its name also when nobody goes by that any more.
CREATE TABLE names (
  no INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

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
  -- The notice in the answer of its request.
  notice TEXT,
  -- Details of the first line of its timeline, where there are any.
  accepted TEXT,
  -- 1: the text is no longer kept, 2: nor timeline and segments, 3: both.
  pruned INTEGER NOT NULL DEFAULT 0,
  body TEXT NOT NULL,
  -- Of a message that is one part of a longer one, which its customer cut by themselves: the
  -- part's place as one number (model/numbers.py). Null: it is no such part.
  part INTEGER
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
  PRIMARY KEY (message, n)
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
"""


HOPS: Final = """
-- The Risala services by which a message came here, until it has left: of those alone that another
-- Risala passed on.
CREATE TABLE message_hops (
  -- The message's key.
  message INTEGER PRIMARY KEY,
  -- Their ids, the first one first, with commas between.
  hops TEXT NOT NULL
) STRICT;

-- What other services know this one by: random, for ever.
INSERT INTO meta (key, value) VALUES ('hops.own', lower(hex(randomblob(8))));
"""

SESSION_DETAILS: Final = """
-- The features that have a part in a session, with spaces between; null: none has.
ALTER TABLE verifications ADD COLUMN features TEXT;

-- What a caller with a secret key said of a code that it asked for: of those alone that said
-- something, for thirty days.
CREATE TABLE session_details (
  verification_id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- A keyed mark of the user's address.
  client TEXT,
  user_agent TEXT,
  -- A JSON list.
  tags TEXT NOT NULL,
  -- Names of what is sealed, with spaces between.
  secrets TEXT NOT NULL,
  -- A code of the caller's own, a payment: encrypted, until the session ends.
  sealed BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX session_details_by_organization ON session_details (organization_id, verification_id);
CREATE INDEX session_details_by_client
  ON session_details (organization_id, mode, client, created_at) WHERE client IS NOT NULL;
"""

CODE_TEMPLATES: Final = """
-- Texts of codes that requests choose by name; no language: for all others.
CREATE TABLE code_templates (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  name TEXT NOT NULL,
  language TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (organization_id, name, language)
) STRICT, WITHOUT ROWID;
"""

# The tables of counts: messages by hour and by minute, failures by their causes.

COUNTS: Final = """
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

-- Live messages by the minute in which they were accepted, or came to their end.
CREATE TABLE minute_count (
  -- Since 1970-01-01.
  minute INTEGER NOT NULL,
  -- A message's status as a number; 0: accepted.
  outcome INTEGER NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (minute, outcome)
) STRICT, WITHOUT ROWID;

-- Why live messages failed or were not delivered, by the hour of their end.
CREATE TABLE failure_count (
  hour INTEGER NOT NULL,
  cause TEXT NOT NULL,
  -- Empty: none was asked.
  carrier TEXT NOT NULL,
  -- The carrier's own; empty: it said none, or there were too many different ones.
  word TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (hour, cause, carrier, word)
) STRICT, WITHOUT ROWID;
"""

CODE_COUNTS: Final = """
-- Codes by the day on which they were asked for, each counted once its session is settled. A text
-- is empty where nothing is known, and * where a day has too many different rows.
CREATE TABLE code_counts (
  cell INTEGER PRIMARY KEY,
  organization INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  -- In the organization's time zone, since 1970-01-01.
  day INTEGER NOT NULL,
  network TEXT NOT NULL,
  country TEXT NOT NULL,
  carrier TEXT NOT NULL,
  channel TEXT NOT NULL,
  -- The key's id; empty: it was asked for by hand.
  api_key TEXT NOT NULL,
  asked INTEGER NOT NULL,
  sent INTEGER NOT NULL,
  delivered INTEGER NOT NULL,
  entered INTEGER NOT NULL,
  -- Those entered within 60 seconds of being asked for.
  in_minute INTEGER NOT NULL,
  -- Charged and not refunded, in minor units.
  cost INTEGER NOT NULL,
  UNIQUE (organization, mode, day, network, country, carrier, channel, api_key)
) STRICT;
CREATE INDEX code_counts_by_day ON code_counts (day);

-- How many codes of a row of code_counts took how long from asking to entering.
CREATE TABLE code_times (
  cell INTEGER NOT NULL,
  -- Rounded: below a minute to one, below ten minutes to five, then to sixty.
  seconds INTEGER NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (cell, seconds)
) STRICT, WITHOUT ROWID;

-- Live codes of all organizations since they are counted, for metrics: these never go.
CREATE TABLE code_totals (
  carrier TEXT NOT NULL,
  channel TEXT NOT NULL,
  asked INTEGER NOT NULL,
  sent INTEGER NOT NULL,
  delivered INTEGER NOT NULL,
  entered INTEGER NOT NULL,
  in_minute INTEGER NOT NULL,
  PRIMARY KEY (carrier, channel)
) STRICT, WITHOUT ROWID;
"""

CODE_LANGUAGES: Final = """
-- The language of the code's text; null: it is not known.
ALTER TABLE verifications ADD COLUMN language TEXT;

-- As before, by the language of the text too: a table's own key cannot be changed.
CREATE TABLE code_counts_by_language (
  cell INTEGER PRIMARY KEY,
  organization INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  -- In the organization's time zone, since 1970-01-01.
  day INTEGER NOT NULL,
  network TEXT NOT NULL,
  country TEXT NOT NULL,
  carrier TEXT NOT NULL,
  channel TEXT NOT NULL,
  -- The key's id; empty: it was asked for by hand.
  api_key TEXT NOT NULL,
  language TEXT NOT NULL,
  asked INTEGER NOT NULL,
  sent INTEGER NOT NULL,
  delivered INTEGER NOT NULL,
  entered INTEGER NOT NULL,
  -- Those entered within 60 seconds of being asked for.
  in_minute INTEGER NOT NULL,
  -- Charged and not refunded, in minor units.
  cost INTEGER NOT NULL,
  UNIQUE (organization, mode, day, network, country, carrier, channel, api_key, language)
) STRICT;
INSERT INTO code_counts_by_language
  SELECT cell, organization, mode, day, network, country, carrier, channel, api_key, '',
    asked, sent, delivered, entered, in_minute, cost FROM code_counts;
DROP TABLE code_counts;
ALTER TABLE code_counts_by_language RENAME TO code_counts;
CREATE INDEX code_counts_by_day ON code_counts (day);
"""

PUMPING: Final = """
-- What organizations chose for the guard against pumped codes.
CREATE TABLE pumping_settings (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  -- Per cent of the codes an hour that secret keys alone may use.
  secret_share INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What becomes of suspicious codes of a key, where somebody chose.
CREATE TABLE pumping_keys (
  key_id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  reaction TEXT NOT NULL CHECK (reaction IN ('watch', 'refuse'))
) STRICT, WITHOUT ROWID;
CREATE INDEX pumping_keys_by_organization ON pumping_keys (organization_id);

-- Codes of an organization that were not entered, and that were, by what they have in common; each
-- counts half after the time that the column names. For thirty days.
CREATE TABLE pumping_groups (
  organization_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  -- A block of numbers, a network, a key's id, a tag; of an address its keyed mark.
  name TEXT NOT NULL,
  -- The time as of which the counts are.
  at INTEGER NOT NULL,
  -- Whether its codes are suspicious.
  held INTEGER NOT NULL,
  missed_hour REAL NOT NULL,
  missed_day REAL NOT NULL,
  missed_week REAL NOT NULL,
  entered_hour REAL NOT NULL,
  entered_day REAL NOT NULL,
  entered_week REAL NOT NULL,
  PRIMARY KEY (organization_id, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX pumping_groups_by_age ON pumping_groups (at);

-- What was suspicious, with the figures of the last code, and what became of these codes.
CREATE TABLE pumping_suspicions (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  missed REAL NOT NULL,
  entered REAL NOT NULL,
  half_life_ms INTEGER NOT NULL,
  -- What was usual, as the test expects it.
  usual_missed REAL NOT NULL,
  usual_entered REAL NOT NULL,
  -- How many times more likely it was that they are pumped.
  factor REAL NOT NULL,
  watched INTEGER NOT NULL,
  challenged INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  -- Until when somebody let its codes pass; null: nobody did.
  passes_until INTEGER,
  PRIMARY KEY (organization_id, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX pumping_suspicions_by_age ON pumping_suspicions (last_at);
"""
