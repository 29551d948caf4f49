"""The views over the tables of messages and money: words, texts and ids, for people to read.

Frequent code reads the tables themselves, by their keys.
"""

from __future__ import annotations

from typing import Final

from sqlite_utils import Database

_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def _words(column: str, *words: str) -> str:
    """A number as its word; the words in the order of their numbers."""
    cases = " ".join(f"WHEN {number} THEN '{word}'" for number, word in enumerate(words))
    return f"CASE {column} {cases} END"


def _name(column: str) -> str:
    return f"(SELECT name FROM names WHERE no = {column})"  # noqa: S608 -- constants


def _organization(column: str) -> str:
    return f"(SELECT id FROM organizations WHERE no = {column})"  # noqa: S608 -- constants


_MODES: Final = ("live", "test")
_KINDS: Final = ("sms", "code")
_STATUSES: Final = (
    *("pending", "processing", "sent", "delivered", "undelivered", "failed", "canceled"),
)
_STATES: Final = (
    *("waiting", "submitting", "uncertain", "accepted", "delivered", "undelivered", "refused"),
)
_TYPES: Final = (
    *("sms.sent", "sms.delivered", "sms.failed", "verify.sent", "verify.approved"),
    *("verify.failed", "sms.received", "balance.low", "sender.approved", "sender.denied"),
    *("webhook.test", "sms.canceled", "conversation.received", "conversation.assigned"),
    *("conversation.paused", "repeat.begun", "repeat.skipped", "repeat.ended"),
)
_CREATED: Final = "coalesce(created_at, key >> 15)"
_RECIPIENT: Final = "CASE typeof(recipient) WHEN 'integer' THEN '+' || recipient ELSE recipient END"
_LINE_STATUS: Final = (
    "CASE l.kind WHEN 3 THEN 2 WHEN 4 THEN 3 WHEN 5 THEN 4 WHEN 6 THEN 5 WHEN 7 THEN 6"
    " WHEN 2 THEN 1 WHEN 8 THEN 1 ELSE 0 END"
)
# 63 bits are twelve digits and three bits: those begin the thirteenth, and the subject's last
# nineteen digits follow.
_EVENT_DIGITS: Final = " || ".join(
    f"substr('{_CROCKFORD}', (e.key >> {shift} & 31) + 1, 1)" for shift in range(58, 2, -5)
)
_EVENT_ID: Final = (
    f"'evt_' || {_EVENT_DIGITS} || substr('{_CROCKFORD}', (e.key & 7) * 4 + 1, 1)"
    " || substr(coalesce(m.id, e.subject), -19)"
)

_MESSAGES: Final = f"""
CREATE VIEW messages AS SELECT
  key AS seq, id, {_organization("organization")} AS organization_id,
  {_words("mode", *_MODES)} AS mode, {_words("kind", *_KINDS)} AS kind,
  {_RECIPIENT} AS recipient, {_name("sender")} AS sender, body,
  {_words("encoding", "gsm7", "ucs2")} AS encoding, segments, price, currency,
  coalesce(metadata, '{{}}') AS metadata, {_words("status", *_STATUSES)} AS status, priority,
  {_name("route")} AS route, coalesce(due_at, send_at, {_CREATED}) AS due_at, valid_until,
  resolve_at, {_words("resolve_action", "resend", "fail")} AS resolve_action,
  {_name("carrier")} AS carrier, coalesce(carrier_id, carrier_key) AS provider_message_id,
  verification_id, attempts, refusals, coalesce(tried, '') AS tried, error_code, send_at, sent_at,
  delivered_at, {_CREATED} AS created_at,
  coalesce(updated_at, delivered_at, sent_at, {_CREATED}) AS updated_at, pruned, carrier_code,
  link_losses, {_name("api_key")} AS api_key_id, charge,
  CASE WHEN substr({_name("route")}, 1, 1) = '!' THEN 0 END AS message_class
FROM message;
"""  # noqa: S608 -- constants
"""A message: ids, numbers, text, price, status, carrier, times.

- ``seq``, ``id``: the key of the row, and the message's id
- ``organization_id``, ``mode``, ``kind``: whose it is; ``kind`` is ``message`` or ``code``
- ``recipient``, ``sender``, ``body``, ``metadata``: as it was accepted; ``body`` is empty once it
  is no longer kept
- ``encoding``, ``segments``, ``price``, ``currency``: ``gsm7`` or ``ucs2``; how many parts; what
  all of it costs
- ``message_class``: 0 of a flash message, as the mark ``!`` of its route says
- ``status``, ``error_code``, ``carrier_code``: [state](message-states.md); why it failed, in our
  word and the carrier's
- ``priority``, ``route``, ``due_at``, ``send_at``, ``valid_until``: its place in the queue: 0
  codes, then 1 messages, then 2 those of mailings; whose numbers, from when, scheduled for when,
  until when
- ``carrier``, ``provider_message_id``: who had it last, and that carrier's id of it
- ``attempts``, ``refusals``, ``tried``, ``link_losses``: how often a carrier was about to get it,
  how often it was refused for the moment, by which carriers for good, how often the link was lost
  under it
- ``resolve_at``, ``resolve_action``: of an uncertain one: when the waiting ends, and what
  follows, ``resend`` or ``fail``; null: the carrier is asked, or gets the same attempt again
- ``verification_id``, ``api_key_id``, ``charge``: the verification that a code is for, the key
  that sent it, the ledger's entry that paid it
- ``created_at``, ``updated_at``, ``sent_at``, ``delivered_at``: when
- ``pruned``: what is no longer kept, as bits: 1 the text, 2 the timeline and the parts
"""

_SEGMENTS: Final = f"""
CREATE VIEW segments AS SELECT
  m.id AS message_id, 1 AS number, {_words("part_state", *_STATES)} AS state,
  attempts AS attempt, {_name("carrier")} AS carrier,
  coalesce(carrier_id, carrier_key) AS carrier_id, carrier_key,
  coalesce(uncertain_at, updated_at, delivered_at, sent_at, {_CREATED}) AS updated_at, uncertain
FROM message m WHERE part_state IS NOT NULL
UNION ALL SELECT
  m.id, s.number, {_words("s.state", *_STATES)}, s.attempt, {_name("s.carrier")},
  coalesce(s.carrier_id, s.carrier_key), s.carrier_key, s.updated_at, s.uncertain
FROM segment s JOIN message m ON m.key = s.message;
"""  # noqa: S608 -- constants
"""A part of a message that was handed to a carrier, with the carrier's id of it.

- ``message_id``, ``number``, ``state``: which part of which message, and how it stands
- ``attempt``, ``carrier``, ``carrier_id``, ``carrier_key``: by which attempt through whom; the
  carrier's id as it said it, and as receipts are compared
- ``uncertain``, ``updated_at``: how many of its submits had no answer; when it was written last
"""

_LAST: Final = "coalesce((SELECT max(n) FROM line WHERE message = m.key), 1)"
"""The number of the last line with a separate row: the lines in the message's row follow it."""

_TIMELINE: Final = f"""
CREATE VIEW timeline AS SELECT
  id AS message_id, 1 AS n, {_CREATED} AS at, 'pending' AS status, NULL AS carrier,
  NULL AS attempt, NULL AS segment, NULL AS raw, 1 AS kind, accepted AS details
FROM message m
WHERE pruned & 2 = 0 AND NOT EXISTS (SELECT 1 FROM line WHERE message = m.key AND n = 1)
UNION ALL SELECT
  id, {_LAST} + 1, attempt_at, 'processing', {_name("carrier")}, attempts, 1, NULL, 2, NULL
FROM message m WHERE told >= 2
UNION ALL SELECT
  id, {_LAST} + 2, sent_at, 'sent', {_name("carrier")}, attempts, NULL, sent_raw, 3, NULL
FROM message m WHERE told >= 3
UNION ALL SELECT
  id, {_LAST} + 3, delivered_at, 'delivered', {_name("carrier")}, attempts, NULL, receipt_raw,
  4, NULL
FROM message m WHERE told >= 4
UNION ALL SELECT
  m.id, l.n, l.at, {_words(f"coalesce(l.status, {_LINE_STATUS})", *_STATUSES)},
  {_name("l.carrier")}, l.attempt, l.segment, l.raw, l.kind, l.details
FROM line l JOIN message m ON m.key = l.message;
"""  # noqa: S608 -- constants
"""A line of a message's life; ``n`` counts them. ``kind`` and ``details`` are what its sentence is
made of, ``raw`` is the carrier's own word.

- ``message_id``, ``n``, ``at``: which line of which message, and when
- ``status``, ``kind``, ``details``: the state then, and what the sentence is made of
- ``carrier``, ``attempt``, ``segment``, ``raw``: through whom, which attempt, which part, and the
  carrier's own word
"""

_LEDGER: Final = f"""
CREATE VIEW ledger AS SELECT
  e.seq, {_organization("e.organization")} AS organization_id,
  {_words("e.kind", "charge", "refund", "topup", "adjustment")} AS kind, e.amount,
  e.balance_after, coalesce(e.reference, m.id) AS reference, coalesce(e.at, e.message >> 15) AS at,
  e.note, coalesce(e.messages, 1) AS messages
FROM entry e LEFT JOIN message m ON m.key = e.message;
"""  # noqa: S608 -- constants
"""An entry: a charge of one request (``messages``: how many it paid for; ``reference``: the first
of them), a refund of one message, a top-up or an adjustment.

- ``seq``, ``organization_id``, ``at``: the number of the entry, whose it is, when
- ``kind``, ``amount``, ``balance_after``: ``charge``, ``refund``, ``topup`` or ``adjustment``;
  what it changes, and the balance then
- ``reference``, ``messages``, ``note``: the message or payment that it is about, how many
  messages it paid for, and the note of the person who entered it
"""

_EVENTS: Final = f"""
CREATE VIEW events AS SELECT
  e.key AS seq, {_EVENT_ID} AS id, {_organization("e.organization")} AS organization_id,
  {_words("e.mode", *_MODES)} AS mode, {_words("e.type", *_TYPES)} AS type,
  coalesce(m.id, e.subject) AS subject, coalesce(e.at, e.key >> 15) AS created_at, e.frozen, e.body
FROM event e LEFT JOIN message m ON typeof(e.subject) = 'integer' AND m.key = e.subject;
"""  # noqa: S608 -- constants
"""An event of the outbox. Its body is built when it is delivered, so ``body`` is null unless its
subject has no row.

- ``seq``, ``id``, ``type``: the key of the row, the event's id, [what happened](events.md)
- ``organization_id``, ``mode``, ``subject``, ``created_at``: whose, about what, when
- ``frozen``, ``body``: what of the body may have changed since, kept as it was; the body of those
  of versions before 0.2
"""

_DELIVERIES: Final = """
CREATE VIEW webhook_deliveries AS SELECT
  d.seq, d.endpoint_id, (SELECT id FROM events WHERE seq = d.event) AS event_id, d.state, d.due_at,
  d.tries, d.attempts, d.status, d.error, d.excerpt, d.created_at, d.updated_at, d.delivered_at
FROM webhook_delivery d;
"""
"""An event that is owed to an endpoint, or was.

- ``seq``, ``event_id``, ``endpoint_id``: which event is owed to whom
- ``state``, ``due_at``, ``tries``, ``attempts``: how it stands, when it is next due, how often it
  was tried in all, and how far it is in the schedule
- ``status``, ``error``, ``excerpt``: of the last answer: its status, or why there was none, and
  how it began
- ``created_at``, ``updated_at``, ``delivered_at``: when
"""

_IDEMPOTENCY: Final = f"""
CREATE VIEW idempotency AS SELECT
  {_organization("organization")} AS organization_id, {_words("mode", *_MODES)} AS mode,
  coalesce(client_key, 'idk_' || substr(id, 5)) AS key, id AS message_id,
  {_CREATED} AS created_at
FROM message WHERE kind = 0;
"""  # noqa: S608 -- constants
"""A key, and the message that was accepted by it.

- ``organization_id``, ``mode``, ``key``: whose key
- ``message_id``, ``created_at``: the message that was accepted by it, and when
"""

_HOURS: Final = f"""
CREATE VIEW hour_counts AS SELECT
  {_organization("organization")} AS organization_id, hour * 3600000 AS since,
  {_words("mode", *_MODES)} AS mode, {_words("kind", *_KINDS)} AS kind, network,
  {_words("outcome", "accepted", *_STATUSES[1:])} AS outcome,
  1 << bucket AS took_less_than_ms, n AS messages
FROM hour_count;

CREATE VIEW accepted_hours AS SELECT
  {_organization("organization")} AS organization_id, hour, sum(n) AS messages
FROM hour_count WHERE outcome = 0 AND mode = 0 GROUP BY organization, hour;
"""  # noqa: S608 -- constants
"""``hour_counts``: how many messages of one hour (``since``) were accepted, and how many came to
each outcome, by network, within less than ``took_less_than_ms``. ``accepted_hours``: accepted
live messages by hour, counted since 1970-01-01.

- ``organization_id``, ``mode``, ``kind``, ``network``: of whom, of what
- ``since``, ``outcome``, ``took_less_than_ms``, ``messages``: of which hour, how many came to
  which end, within which time
- ``hour``: of ``accepted_hours``: hours since 1970-01-01
"""

VIEWS: Final = tuple(
    statement.strip()
    for view in (
        *(_MESSAGES, _SEGMENTS, _TIMELINE, _LEDGER, _EVENTS, _DELIVERIES, _IDEMPOTENCY),
        _HOURS,
    )
    for statement in view.split(";\n")
    if statement.strip()
)


def make_views(db: Database) -> None:
    """Create the views of this version; unchanged ones stay.

    They have no data, so they need no migrations.
    """
    there = dict(db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'view'").fetchall())
    changed = [view for view in VIEWS if there.get(_name_of(view)) != view]
    for view in changed:
        db.execute(f"DROP VIEW IF EXISTS {_name_of(view)}")
    for view in changed:
        db.execute(view)


def _name_of(view: str) -> str:
    return view.split()[2]
