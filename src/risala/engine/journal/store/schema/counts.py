"""The tables of counts: messages by hour and by minute, failures by their causes."""

from __future__ import annotations

from typing import Final

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
