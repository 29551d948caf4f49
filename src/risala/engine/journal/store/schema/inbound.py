"""The tables of incoming messages: their routes, and opt-outs."""

from __future__ import annotations

from typing import Final

from sqlite_utils import Database

from risala.engine.model.ids import derived_id

INBOUND: Final = """
CREATE TABLE inbound (
  id TEXT PRIMARY KEY,
  carrier TEXT NOT NULL,
  sender TEXT NOT NULL,
  recipient TEXT,
  body TEXT NOT NULL,
  carrier_ids TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  -- Null: nobody's.
  organization_id TEXT
) STRICT;
CREATE UNIQUE INDEX inbound_once ON inbound (carrier, carrier_ids) WHERE carrier_ids <> '';
CREATE INDEX inbound_by_organization ON inbound (organization_id, id)
  WHERE organization_id IS NOT NULL;
CREATE INDEX inbound_by_writer ON inbound (organization_id, sender)
  WHERE organization_id IS NOT NULL;
CREATE INDEX inbound_by_sender ON inbound (sender, id);

-- An empty recipient is any number, an empty keyword any first word.
CREATE TABLE inbound_routes (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  recipient TEXT NOT NULL,
  keyword TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (recipient, keyword)
) STRICT;

-- Organizations whose recipients may opt out; while there are none nobody's writing is noted.
CREATE TABLE opt_out_policies (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE last_writers (
  recipient TEXT NOT NULL,
  carrier TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  -- When, so that an older one never takes the place of a newer.
  at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (recipient, carrier)
) STRICT, WITHOUT ROWID;

CREATE TABLE opt_outs (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  recipient TEXT NOT NULL,
  carrier TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- By whom: null, by a message of the number itself, which said the keyword.
  who TEXT,
  keyword TEXT,
  PRIMARY KEY (organization_id, recipient)
) STRICT, WITHOUT ROWID;
CREATE INDEX opt_outs_by_recipient ON opt_outs (recipient, carrier, at);
CREATE INDEX opt_outs_by_organization ON opt_outs (organization_id, at);
"""

CONVERSATIONS: Final = """
-- Numbers that wrote to an organization. Their texts are in inbound, the answers in message.
CREATE TABLE conversations (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  number TEXT NOT NULL,
  -- The newest text that came in: its id in inbound.
  last_text TEXT NOT NULL,
  -- The newest text that somebody has read; empty: none.
  read_to TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'done')),
  -- The user who answers; null: nobody in particular.
  assigned_to TEXT,
  UNIQUE (organization_id, number)
) STRICT;
CREATE INDEX conversations_by_text ON conversations (last_text);
CREATE INDEX conversations_by_organization ON conversations (organization_id, last_text);
CREATE INDEX conversations_by_state ON conversations (organization_id, state, last_text);
CREATE INDEX conversations_unread ON conversations (organization_id, last_text)
  WHERE read_to < last_text;
CREATE INDEX conversations_assigned ON conversations (organization_id, assigned_to, last_text)
  WHERE assigned_to IS NOT NULL;
"""

ANSWERS: Final = """
-- Automatic answers to texts that came in: one of each text. Those that left are messages.
CREATE TABLE answers (
  -- The text's id in inbound.
  text_id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  number TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('opt_out', 'help', 'rule', 'webhook')),
  -- The rule's; empty: it has none.
  name TEXT NOT NULL,
  -- When it was put in.
  at INTEGER NOT NULL,
  -- When its turn is, and its text. Null: it left, or was refused.
  due_at INTEGER,
  body TEXT,
  message_id TEXT,
  sent_at INTEGER,
  -- Why it does not leave: a word, and for people a sentence.
  refused TEXT,
  why TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_due ON answers (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX answers_waiting ON answers (organization_id) WHERE due_at IS NOT NULL;
CREATE INDEX answers_sent ON answers (organization_id, sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX answers_by_number ON answers (organization_id, number, sent_at);
CREATE INDEX answers_by_organization ON answers (organization_id, text_id);

-- Numbers that perhaps answer by themselves too: no automatic answer leaves for them until then.
CREATE TABLE answer_pauses (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  number TEXT NOT NULL,
  until INTEGER NOT NULL,
  -- When somebody let them leave again; 0: nobody did.
  lifted_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, number)
) STRICT, WITHOUT ROWID;
"""

ANSWER_RULES: Final = """
-- Rules by which an organization answers texts that come in, in their order.
CREATE TABLE answer_rules (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  name TEXT NOT NULL,
  place INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  -- JSON: lists of words. Empty: any text, every day.
  keywords TEXT NOT NULL,
  anywhere INTEGER NOT NULL,
  first_contact INTEGER NOT NULL,
  days TEXT NOT NULL,
  -- Times of day, in the organization's time zone. Null: from or until midnight.
  from_time TEXT,
  to_time TEXT,
  language TEXT NOT NULL,
  text_fr TEXT NOT NULL,
  text_ar TEXT NOT NULL,
  text_en TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX answer_rules_by_organization ON answer_rules (organization_id, place);
"""


FORWARDS: Final = """
-- Where a rule forwards texts; empty: nowhere. Secrets are JSON: names, and what is sealed.
ALTER TABLE answer_rules ADD COLUMN forward_number TEXT NOT NULL DEFAULT '';
ALTER TABLE answer_rules ADD COLUMN forward_email TEXT NOT NULL DEFAULT '';
ALTER TABLE answer_rules ADD COLUMN forward_chat TEXT NOT NULL DEFAULT '';
ALTER TABLE answer_rules ADD COLUMN forward_url TEXT NOT NULL DEFAULT '';
ALTER TABLE answer_rules ADD COLUMN secrets TEXT;

-- Texts that rules forward, without their words: one row of each text and way.
CREATE TABLE answer_forwards (
  text_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('sms', 'mail', 'telegram', 'webhook')),
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  rule_id TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Who wrote.
  number TEXT NOT NULL,
  -- The number, the address, the chat or the URL.
  target TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- When its turn is. Null: it was forwarded, or refused.
  due_at INTEGER,
  tries INTEGER NOT NULL,
  done_at INTEGER,
  message_id TEXT,
  -- Why it is not forwarded: a word, and for people a sentence.
  refused TEXT,
  why TEXT,
  PRIMARY KEY (text_id, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_forwards_due ON answer_forwards (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX answer_forwards_waiting ON answer_forwards (organization_id)
  WHERE due_at IS NOT NULL;
CREATE INDEX answer_forwards_done ON answer_forwards (organization_id, kind, done_at);
CREATE INDEX answer_forwards_by_number ON answer_forwards (organization_id, number, kind, done_at);
CREATE INDEX answer_forwards_by_organization ON answer_forwards (organization_id, text_id);
CREATE INDEX answer_forwards_by_target ON answer_forwards (organization_id, target);
"""


def begin_conversations(db: Database) -> None:
    """Make the conversations of the texts that are there: all of them read."""
    rows = db.execute(
        "SELECT organization_id, sender, max(id), min(received_at) FROM inbound"
        " WHERE organization_id IS NOT NULL GROUP BY organization_id, sender"
    ).fetchall()
    for organization_id, number, last, at in rows:
        db.execute(
            "INSERT INTO conversations (id, organization_id, number, last_text, read_to, state)"
            " VALUES (?1, ?2, ?3, ?4, ?4, 'open')",
            (derived_id("cnv", max(0, at), organization_id, number), organization_id, number, last),
        )


SENT_TIMES: Final = """
-- A text's own time, by the network. Null: none was told, or it came before this was kept.
ALTER TABLE inbound ADD COLUMN sent_at INTEGER;
ALTER TABLE bank_texts ADD COLUMN sent_at INTEGER;
"""

LABELS: Final = """
-- How the carrier labelled the text and how it was read. Null: it was read as labelled, or came
-- before this was kept.
ALTER TABLE inbound ADD COLUMN label TEXT;
"""

OPT_OUT_WORDS: Final = """
-- What an organization chose for opt-outs; none: the words that always count, without an answer.
CREATE TABLE opt_out_words (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  -- JSON: the languages of the sets of words, that of most recipients first.
  sets TEXT NOT NULL,
  -- JSON: what is answered.
  answered TEXT NOT NULL,
  back TEXT NOT NULL CHECK (back IN ('person', 'own', 'hand')),
  -- JSON: its own words, and its own texts of answers.
  words TEXT NOT NULL,
  texts TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a network or a country asks for, by the first digits of its numbers.
CREATE TABLE opt_out_demands (
  prefix TEXT PRIMARY KEY,
  confirmation TEXT NOT NULL CHECK (confirmation IN ('free', 'required', 'forbidden')),
  -- JSON: the languages of sets of words that count.
  sets TEXT NOT NULL,
  set_at INTEGER NOT NULL,
  set_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- People who want no messages of one list, by its key; otherwise as in opt_outs.
CREATE TABLE list_opt_outs (
  list INTEGER NOT NULL,
  recipient TEXT NOT NULL,
  carrier TEXT NOT NULL,
  at INTEGER NOT NULL,
  who TEXT,
  keyword TEXT,
  PRIMARY KEY (list, recipient)
) STRICT, WITHOUT ROWID;
CREATE INDEX list_opt_outs_by_recipient ON list_opt_outs (recipient);

-- 1: the number opted out. It follows opt_outs, so that those conversations are found by an index.
ALTER TABLE conversations ADD COLUMN opted_out INTEGER NOT NULL DEFAULT 0;
UPDATE conversations SET opted_out = 1 WHERE EXISTS (SELECT 1 FROM opt_outs o
  WHERE o.organization_id = conversations.organization_id AND o.recipient = conversations.number);
CREATE INDEX conversations_opted_out ON conversations (organization_id, opted_out, last_text);
CREATE TRIGGER opt_outs_noted AFTER INSERT ON opt_outs BEGIN UPDATE conversations SET opted_out = 1
  WHERE organization_id = new.organization_id AND number = new.recipient; END;
CREATE TRIGGER opt_outs_taken_back AFTER DELETE ON opt_outs BEGIN UPDATE conversations
  SET opted_out = 0 WHERE organization_id = old.organization_id AND number = old.recipient; END;
"""
