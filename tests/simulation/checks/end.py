"""What must hold at the end of a history, between the disk, the carriers and what people were told.

Each check tells all that is wrong, and none of them knows how the engine works.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from itertools import chain, pairwise

from tests.simulation import channels
from tests.simulation.checks import alarms, archives, mailings, past, talks
from tests.simulation.checks.limits import limits
from tests.simulation.checks.watch import NEXT
from tests.simulation.house import House
from tests.simulation.outsiders import HEALTHY
from tests.simulation.people import strangers, submits
from tests.simulation.world import World

from risala.engine.journal.audit.books import audit_file
from risala.engine.journal.messages import timeline
from risala.engine.journal.messages.answers import known_answer
from risala.engine.model.lines import Kind
from risala.engine.model.numbers import FORGOTTEN
from risala.engine.model.sentences import sentence
from risala.engine.wiring.foundation import DATABASE

COPIES_MAX = 3
"""Of a segment: as ``delivery.uncertain_submits_max`` is unless it is set."""
EVENTS = {
    "sent": ["sms.sent"],
    "delivered": ["sms.sent", "sms.delivered"],
    "undelivered": ["sms.sent", "sms.failed"],
    "failed": ["sms.failed"],
    "canceled": ["sms.canceled"],
}
"""What is told of a message in each final state, in its order."""


def everything(world: World, house: House) -> None:
    conn = sqlite3.connect(world.folder / DATABASE)
    conn.row_factory = sqlite3.Row
    try:
        for fault in audit_file(world.folder / DATABASE).faults:
            world.fault(f"the audit says: {fault}")
        for check in (messages, copies, events, sessions, money, deliveries, limits, inbound):
            for fault in check(world, house, conn):
                world.fault(fault)
        others = (
            past.faults(world, conn),
            world.stops.faults(conn),
            archives.faults(world, conn),
            world.erased.faults(conn),
        )
        by = (strangers, submits, mailings, alarms, channels, talks)
        for fault in chain(*others, *(each.faults(world, house, conn) for each in by)):
            world.fault(fault)
        rows = conn.execute("SELECT count(*) FROM messages").fetchone()[0]
        world.tally["messages"] += rows
        by_face = len(house.by_face) + len(set(house.sids.values()))
        world.tally["accepted"] += len(world.accepted) + by_face
    finally:
        conn.close()


def messages(world: World, house: House, conn: sqlite3.Connection) -> Iterable[str]:
    """Every message that was answered for is there, and at its end."""
    rows = {row["id"]: row for row in conn.execute("SELECT * FROM messages")}
    for message_id in set(world.accepted) - set(rows):
        yield f"LOST: {message_id} was answered for"
    for (organization_id, key), response in world.told.items():
        if known_answer(conn, organization_id, "live", key) != response:
            yield f"LOST: the answer of key {key}"
    for row in rows.values():
        if row["status"] not in EVENTS:
            yield f"{row['id']} hangs in {row['status']}"
    by_face = Counter(world.erased.number_of(row) for row in rows.values())
    for number, count in Counter(house.by_face).items():
        if by_face[number] < count:
            yield f"LOST: {count} to {number} were accepted by a face, {by_face[number]} are there"


def copies(world: World, house: House, conn: sqlite3.Connection) -> Iterable[str]:
    """What carriers took is what the timelines say."""
    taken = world.copies()
    for row in conn.execute("SELECT id, status, segments, error_code, pruned FROM messages"):
        of_it = taken.pop(row["id"], {})
        if row["pruned"] & past.TIMELINE_GONE:
            continue
        entries = timeline.read(conn, row["id"])
        told = [sentence(entry) for entry in entries]
        again = sum("may arrive twice" in text for text in told)
        what = f"{row['id']} ({row['status']})"
        world.tally["uncertain sent again"] += again
        repeated = Counter(
            f"{row['id']}-{entry.attempt}-{entry.segment or 0}"
            for entry in entries
            if entry.line.kind is Kind.REPEATED
        )
        world.tally["submitted again as the same attempt"] += repeated.total()
        for carrier in world.ways:
            yield from _untold(carrier, row["id"], entries, repeated)
        for number, each in of_it.items():
            if not 1 <= number <= row["segments"]:
                yield f"{what} has no segment {number}"
            if len(each) > 1 + again:
                yield f"DOUBLED in silence: {what}: {told}"
            if len(each) > COPIES_MAX:
                yield f"{what} was sent without end: {told}"
        states = [entry.status for entry in entries]
        for before, after in pairwise(states):
            if after != before and after not in NEXT[before]:
                yield f"the timeline of {what} goes from {before} to {after}: {told}"
        begun = [entry for entry in entries if entry.line.kind is Kind.ATTEMPT]
        attempts = [entry.attempt for entry in begun]
        if attempts != sorted(attempts):
            yield f"the attempts of {what} fall: {attempts}"
        if states and states[-1] != row["status"]:
            yield f"{what} is not what its timeline ends with: {told}"
        entered = any(entry.line.kind is Kind.CODE_ENTERED for entry in entries)
        yield from _ends(row, of_it, again, told, entered=entered)
    for message_id in taken:
        yield f"a carrier has {message_id}, which was never stored"


def _untold(carrier, message_id, entries, repeated) -> Iterable[str]:
    """An attempt leaves once, and again only as its timeline says; without an answer, three times
    at the most."""
    if carrier.knows == "nothing":
        return
    uncertain = Counter(entry.attempt for entry in entries if entry.line.kind is Kind.UNCERTAIN)
    for name, times in carrier.submits.items():
        if not name.startswith(f"{message_id}-"):
            continue
        if times > 1 + repeated[name]:
            yield f"DOUBLED in silence: {name} was submitted {times} times: {repeated[name]} told"
        if repeated[name] > sum(uncertain.values()):
            yield f"{name} was repeated {repeated[name]} times without a doubt: {uncertain}"


def _ends(row, of_it, again, told, *, entered) -> Iterable[str]:
    what = f"{row['id']} ({row['status']})"
    states = [copy.state if copy.is_told else None for each in of_it.values() for copy in each]
    left = set(of_it) == set(range(1, row["segments"] + 1))
    if row["status"] in ("sent", "delivered", "undelivered") and not left:
        yield f"LOST: {what} never left: {told}"
    arrived = all(any(c.state == "DELIVERED" for c in each) for each in of_it.values())
    if row["status"] == "delivered" and not (arrived or entered):
        yield f"{what} was not delivered: {told}"
    if row["status"] == "sent" and not again and None not in states:
        yield f"every receipt of {what} came, and was not used: {told}"
    if row["status"] == "canceled" and not again and of_it:
        yield f"{what} was withdrawn and sent: {told}"
    whole = row["segments"] == 1 and not again and row["error_code"] != "UNCERTAIN"
    if row["status"] == "failed" and whole and of_it:
        yield f"{what} was sent: {told}"


def events(world: World, house: House, conn: sqlite3.Connection) -> Iterable[str]:
    """Each change is told once and in order."""
    of: dict[str, list[str]] = {}
    noted_before: Counter[str] = Counter()
    for seq, event in world.past.all_events(conn).items():
        body = json.loads(event.body)
        if "messageId" in body and body["type"] != "sms.received":
            of.setdefault(body["messageId"], []).append(body["type"])
            noted_before[body["messageId"]] += seq in world.past.events
    for row in conn.execute("SELECT id, status, kind, recipient FROM messages"):
        types = of.get(row["id"], [])
        expected = [] if row["kind"] == "code" else EVENTS.get(row["status"], types)
        if row["recipient"] == FORGOTTEN:  # what was told before is gone, what came after is not
            # Events from before days passed were noted then, and are known here all the same.
            noted, missed = noted_before[row["id"]], max(0, len(expected) - len(types))
            ways = [[*expected[:k], *expected[missed + k :]] for k in range(noted + 1)]
            expected = types if types in ways else expected
        if types != expected:
            yield f"{row['id']} is {row['status']}, and was told as {types}"


def sessions(world: World, house: House, conn: sqlite3.Connection) -> Iterable[str]:
    for row in conn.execute("SELECT * FROM verifications"):
        good, wrong = world.approved[row["id"]], world.guesses[row["id"]]
        if row["status"] == "pending":
            yield f"session {row['id']} hangs"
        if good > 1:
            yield f"session {row['id']} was approved {good} times"
        if good and row["status"] != "approved":
            yield f"session {row['id']} was approved, and is {row['status']}"
        if row["attempts"] > row["attempts_max"]:
            yield f"session {row['id']} took {row['attempts']} guesses"
        if row["status"] != "approved" and wrong < row["attempts_max"] < row["attempts"]:
            yield f"session {row['id']} counted {row['attempts']} of {wrong} guesses"


def money(world: World, house: House, conn: sqlite3.Connection) -> Iterable[str]:
    """Ledger, confirmed payments and what people were told are the same."""
    credited = {
        row["reference"]: row["amount"]
        for row in conn.execute("SELECT reference, amount FROM ledger WHERE kind = 'topup'")
    }
    folded = {str(key).upper().replace("-", ""): value for key, value in credited.items()}
    for reference, amount in world.credited.items():
        plain = reference.upper().replace("-", "")
        found = [value for key, value in folded.items() if plain in key]
        if amount not in found and not _is_confirmed(conn, plain, amount):
            yield f"MISCHARGED: {reference} of {amount} was told as credited: {found}"
    paid = conn.execute(
        "SELECT p.id, p.paid, e.amount, p.provider, p.reference_key FROM payments p"
        " LEFT JOIN entry e ON e.seq = p.entry WHERE p.state = 'confirmed'"
    ).fetchall()
    for row in paid:
        if row["amount"] != row["paid"]:
            entry = f"an entry of {row['amount']}"
            yield f"MISCHARGED: payment {row['id']} of {row['paid']} has {entry}"
    for row in conn.execute("SELECT id, state, method FROM payments WHERE method = 'till'"):
        fate = world.till.fates.get(row["id"])
        if row["state"] == "confirmed" and fate != "paid":
            yield f"MISCHARGED: payment {row['id']} is credited, the till says {fate}"
        if fate == "paid" and row["state"] != "confirmed":
            yield f"MISCHARGED: payment {row['id']} is paid, and is {row['state']}"


def _is_confirmed(conn: sqlite3.Connection, plain: str, amount: int) -> bool:
    row = conn.execute(
        "SELECT 1 FROM payments WHERE state = 'confirmed' AND reference_key = ? AND paid = ?",
        (plain, amount),
    ).fetchone()
    return row is not None


def deliveries(world: World, house: House, conn: sqlite3.Connection) -> Iterable[str]:
    """Every event came to the endpoint that was well, and to the sink."""
    stored = world.past.all_events(conn).values()
    numbers = {organization: n for n, organization in enumerate(house.organizations)}
    unseen: list[str] = []
    for event in stored:
        body = json.loads(event.body)
        if body["type"] == "webhook.test":
            continue
        box = world.receivers.got[f"{HEALTHY}{numbers[body['organizationId']]}"]
        was_forgotten = event.seq in world.erased.events or FORGOTTEN in event.body
        if event.id not in box and event.seq in world.erased.events:
            continue
        if event.id not in box and not _is_owed(world, house, conn, event.seq):
            yield f"LOST: event {event.id} ({body['type']}) never came to the healthy endpoint"
        elif not was_forgotten and box.get(event.id, event.body.encode()) != event.body.encode():
            yield f"event {event.id} came with another body"
        if event.seq not in world.sink.seen and event.seq not in world.erased.events:
            unseen.append(f"event {event.id} ({body['type']}) never came to the sink")
    # What went with time before a sink had it is counted, and the operator told.
    (missed,) = conn.execute("SELECT sum(missed) FROM event_cursors").fetchone()
    if len(unseen) > missed:
        yield f"LOST: {missed} of {len(unseen)} are said to be missed: {unseen}"
    world.tally["missed by the sink"] += len(unseen)
    known = {event.seq for event in stored} | world.erased.events
    for seq in set(world.sink.seen) - known:
        yield f"the sink has event {seq}, which was never stored"
    world.tally["events"] += len(stored)


def _is_owed(world: World, house: House, conn: sqlite3.Connection, seq: int) -> bool:
    """Whether an event will yet be delivered to an endpoint that was away after a gap of days: each
    attempt that a kill had cut short before makes the wait after it longer."""
    if not world.past.gaps:
        return False
    row = conn.execute(
        f"SELECT 1 FROM webhook_delivery WHERE event = ? AND state = 'pending' AND due_at > ?"
        f" AND endpoint_id IN ({', '.join('?' * len(house.healthy))})",
        (seq, world.now_ms(), *house.healthy),
    ).fetchone()
    return row is not None


def inbound(world: World, house: House, conn: sqlite3.Connection) -> Iterable[str]:
    """What phones wrote is there once."""
    stored = Counter(row[0] for row in conn.execute("SELECT carrier_ids FROM inbound"))
    for carrier_id, count in stored.items():
        if count > 2:  # of each carrier once
            yield f"{carrier_id} was stored {count} times"
    known = world.past.all_letters(conn) | world.erased.letters
    for message in world.written:
        if message.carrier_ids[0] not in known:
            yield f"LOST: what {message.sender} wrote, {message.text}"
