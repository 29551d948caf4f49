"""Mailings and their rows; lists of people, and saved texts."""

from __future__ import annotations

from typing import Final

MAILINGS: Final = """
-- A message to each row of a table.
CREATE TABLE mailings (
  -- Never given twice: rows of a deleted one go later than it does.
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  name TEXT NOT NULL,
  state TEXT NOT NULL
    CHECK (state IN ('checking', 'draft', 'sending', 'paused', 'stopped', 'done')),
  source TEXT NOT NULL CHECK (source IN ('file', 'numbers', 'list', 'again')),
  -- The file that it was read from; null: it is gone, or there was none.
  upload TEXT,
  -- The list that it was made of.
  list_id TEXT,
  text TEXT NOT NULL,
  sender TEXT,
  -- How the file is read.
  encoding TEXT,
  separator TEXT,
  sheet TEXT,
  -- JSON: all sheets of a workbook.
  sheets TEXT NOT NULL,
  has_header INTEGER NOT NULL,
  -- JSON: the columns' names.
  columns TEXT NOT NULL,
  number_column INTEGER NOT NULL,
  -- Messages a minute; null: as fast as the carriers take them.
  pace INTEGER,
  from_hour INTEGER NOT NULL,
  to_hour INTEGER NOT NULL,
  send_at INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  -- What it waits for while it sends, and when it looks again.
  wait TEXT,
  again_at INTEGER,
  -- The last row that the present check has stored.
  checked INTEGER NOT NULL DEFAULT 0,
  -- 1: its rows are being deleted: of an earlier reading, or because they are no longer kept.
  clearing INTEGER NOT NULL DEFAULT 0,
  -- How many rows there are in each state, and what those that are ready or accepted come to:
  -- written with each change of a row.
  rows INTEGER NOT NULL DEFAULT 0,
  ready INTEGER NOT NULL DEFAULT 0,
  bad INTEGER NOT NULL DEFAULT 0,
  left_out INTEGER NOT NULL DEFAULT 0,
  accepted INTEGER NOT NULL DEFAULT 0,
  refused INTEGER NOT NULL DEFAULT 0,
  segments INTEGER NOT NULL DEFAULT 0,
  price INTEGER NOT NULL DEFAULT 0,
  -- 0: retention deletes its rows, or has.
  keeps_rows INTEGER NOT NULL DEFAULT 1,
  -- What had become of the messages of those rows.
  gone_sent INTEGER NOT NULL DEFAULT 0,
  gone_delivered INTEGER NOT NULL DEFAULT 0,
  gone_failed INTEGER NOT NULL DEFAULT 0,
  -- Since when nobody sees it: its rows are being deleted, then it is too.
  deleted_at INTEGER
) STRICT;
CREATE INDEX mailings_by_organization ON mailings (organization_id, key);
CREATE INDEX mailings_by_state ON mailings (state, organization_id);
CREATE INDEX mailings_by_upload ON mailings (upload) WHERE upload IS NOT NULL;
-- Those that retention looks at.
CREATE INDEX mailings_by_time ON mailings (coalesce(ended_at, created_at)) WHERE keeps_rows = 1;
CREATE INDEX mailings_clearing ON mailings (key) WHERE clearing = 1;

CREATE TABLE mailing_rows (
  mailing INTEGER NOT NULL,
  -- As the file counts its rows, from 1.
  row INTEGER NOT NULL,
  -- Null: its cell is no phone number, or it was erased.
  number TEXT,
  -- JSON: its values.
  cells TEXT NOT NULL,
  -- The numbers of states are in journal/mailings/rows.py.
  state INTEGER NOT NULL,
  -- What is wrong with it, and the column that this is about.
  fault TEXT,
  fault_column TEXT,
  segments INTEGER NOT NULL,
  price INTEGER NOT NULL,
  -- The key of its message.
  message INTEGER,
  PRIMARY KEY (mailing, row)
) STRICT, WITHOUT ROWID;
CREATE INDEX mailing_rows_by_state ON mailing_rows (mailing, state, row);
-- In blocks of 4,096 rows: engine/features/mailings/stored/rows.py says why.
CREATE INDEX mailing_rows_by_number ON mailing_rows (mailing, row >> 12, number)
  WHERE number IS NOT NULL;

-- Lists of people that an organization writes to again and again.
CREATE TABLE recipient_lists (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  name TEXT NOT NULL,
  -- JSON: the columns' names, without that of the number.
  columns TEXT NOT NULL,
  -- How many are on it: written with each change.
  people INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  -- As in mailings.
  deleted_at INTEGER
) STRICT;
CREATE INDEX recipient_lists_by_organization ON recipient_lists (organization_id, name);
CREATE INDEX recipient_lists_deleted ON recipient_lists (key) WHERE deleted_at IS NOT NULL;

CREATE TABLE list_people (
  -- The list's key.
  list INTEGER NOT NULL,
  number TEXT NOT NULL,
  -- JSON: a value for each column.
  cells TEXT NOT NULL,
  PRIMARY KEY (list, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX list_people_by_number ON list_people (number);

-- Texts that an organization sends again and again, in the languages of its recipients.
CREATE TABLE saved_texts (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  name TEXT NOT NULL,
  language TEXT NOT NULL CHECK (language IN ('fr', 'ar', 'en')),
  text TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL
) STRICT;
CREATE INDEX saved_texts_by_organization ON saved_texts (organization_id, name, language);
"""

HIDDEN: Final = """
-- What the sheet of a workbook hides, with anything in it; and 1: it is read all the same.
ALTER TABLE mailings ADD COLUMN hidden_rows INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mailings ADD COLUMN hidden_columns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mailings ADD COLUMN with_hidden INTEGER NOT NULL DEFAULT 0;
"""

STORED: Final = """
-- What its file and its rows took as they were read; of those from before, about that.
ALTER TABLE mailings ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE mailings SET bytes = 16384 + 200 * rows;
CREATE INDEX mailings_stored ON mailings (organization_id, bytes, rows) WHERE keeps_rows = 1;
-- What its people take: written with each change.
ALTER TABLE recipient_lists ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE recipient_lists SET bytes = (SELECT coalesce(sum(
  length(number) + length(CAST(cells AS BLOB))), 0) FROM list_people WHERE list = key);
"""

REPEATS: Final = """
-- Mailings that repeat; each run is a mailing of its own.
CREATE TABLE mailing_repeats (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'ended')),
  -- Why it is paused, or has ended.
  reason TEXT,
  list_id TEXT NOT NULL,
  text TEXT NOT NULL,
  sender TEXT,
  pace INTEGER,
  from_hour INTEGER NOT NULL,
  to_hour INTEGER NOT NULL,
  unit TEXT NOT NULL CHECK (unit IN ('days', 'weeks', 'months')),
  every INTEGER NOT NULL,
  -- JSON: days of the week, days of the month.
  days TEXT NOT NULL,
  month_days TEXT NOT NULL,
  time TEXT NOT NULL,
  starts_on TEXT NOT NULL,
  until TEXT,
  count INTEGER,
  runs INTEGER NOT NULL DEFAULT 0,
  -- The next run; null: none is to come.
  next_at INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  -- The user or key that made it, without which it ends; empty: the operator's machine.
  owner TEXT NOT NULL,
  -- The time zone by which next_at was reckoned.
  zone TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX mailing_repeats_by_organization ON mailing_repeats (organization_id, id);
CREATE INDEX mailing_repeats_due ON mailing_repeats (next_at) WHERE next_at IS NOT NULL;

-- Runs that were due: each takes place once.
CREATE TABLE repeat_runs (
  repeat_id TEXT NOT NULL REFERENCES mailing_repeats (id),
  due_at INTEGER NOT NULL,
  organization_id TEXT NOT NULL,
  outcome TEXT NOT NULL,
  -- How many missed runs this stands for.
  missed INTEGER NOT NULL DEFAULT 0,
  mailing_id TEXT,
  why TEXT,
  PRIMARY KEY (repeat_id, due_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX repeat_runs_made ON repeat_runs (due_at) WHERE outcome = 'made';
CREATE INDEX repeat_runs_by_organization ON repeat_runs (organization_id, repeat_id, due_at);
"""
