"""The service's books held against what customers were answered and what others have taken."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from proofs.process.channels import ChannelBooks
from proofs.process.faces import SENDING, Told
from proofs.process.hooks import REPLY
from proofs.process.house import PRICE, WROTE, House
from proofs.process.replies import MODEM, ReplyBooks
from risala.engine.journal.audit.books import audit_file
from risala.engine.model.lines import Kind
from risala.engine.model.times import iso

FINAL: Final = ("delivered", "undelivered", "failed", "canceled")
_REFUNDED: Final = ("failed", "canceled")
_EVENT_OF: Final = {
    "sent": "sms.sent",
    "delivered": "sms.delivered",
    "undelivered": "sms.failed",
    "failed": "sms.failed",
    "canceled": "sms.canceled",
}
"""What is told of a message that is at its end."""
_ROUTED: Final = "SELECT id FROM inbound WHERE organization_id IS NOT NULL"
"""What came in before anybody had asked for it is told to nobody."""
_AGAIN: Final = Kind.RESENT.name
"""The line of a timeline that says: it may arrive twice."""
_ONCE: Final = ("verify.sent", "verify.failed", "verify.approved")
FAULTS_MAX: Final = 20
"""Of a round: what went wrong once goes wrong for hundreds."""


_STORED_MS: Final = 2000
"""What ended is in the file by then."""
_READ_S: Final = 0.1
"""What another process has printed is read by then."""


@dataclass
class Tally:
    """A row of the table: one face."""

    asked: int = 0
    accepted: int = 0
    """Customers were told so."""
    lost: int = 0
    """Accepted, and not in the file, or without an end, or without a phone that has it."""
    doubled: int = 0
    """Reached its phone twice or more often."""
    unsaid: int = 0
    """Of these: nothing in its timeline says that this may be."""
    mischarged: int = 0
    """Charged or refunded otherwise than once, and by its price."""
    uncertain: int = 0
    """The carrier may have taken it when the service was killed, and its timeline says so."""
    unreported: int = 0
    """A carrier or a modem that was killed had the receipt, or it lay in the modem's wire: the
    message stays ``sent``."""
    owed: int = 0
    """Events, receipts and callbacks that its customers are to get."""
    told: int = 0
    """Of these, how many came."""


@dataclass
class Row:
    """A message in the file."""

    id: str
    status: str
    price: int
    charge: int | None
    carrier: str | None
    timeline: str
    uncertain: bool
    ended_at_ms: int
    """When it came to its state, if that is an end."""


@dataclass
class Begun:
    """A moment, after which it is waited for the end of all that was begun: phones write on, and
    what they bring later may be on its way."""

    at_ms: int
    brought: Counter[str]
    """Parts that the carrier's phones had brought by then, by their texts."""
    looked_at_ms: int = 0
    """When it was last asked whether all is at its end. Where a carrier was killed, a receipt that
    nobody waits for may come later, and so its customer hears of it after the books."""

    @property
    def heads(self) -> set[str]:
        """How the messages begin whose first part was among them: the second follows at once."""
        return {text.split(" wrote")[0] for text in self.brought if text.startswith("phone ")}


def begun(house: House) -> Begun:
    """Now."""
    return Begun(int(time.time() * 1000), house.carrier.brought())


@dataclass
class Books:
    """One look at everything."""

    house: House
    told: Told
    begun: Begun
    """What must have come to its end."""
    forgotten: bool = False
    """The carrier was killed: it brings no receipts of before."""
    read_s: float = _READ_S
    """How long others' words may be on their way here."""
    tallies: dict[str, Tally] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def look(self) -> Books:
        # What the file says, others must have taken by now: phones write on meanwhile.
        self._events_then = self.house.service.events()
        self._deliveries = {
            event: (state, attempts)
            for event, state, attempts in self._sql(
                "SELECT event_id, state, attempts FROM webhook_deliveries WHERE endpoint_id = ?",
                self.house.endpoint,
            )
        }
        self.tallies["replies"] = Tally()
        replies = ReplyBooks(self, self.tallies["replies"])
        replied = replies.queue()
        self._rows = self._messages()
        time.sleep(self.read_s)
        self._refunds = Counter(
            row[0] for row in self._sql("SELECT reference FROM ledger WHERE kind = 'refund'")
        )
        self._calls = Counter(_target(each) for each in self.house.hooks.told())
        for face in SENDING:
            self.tallies[face] = self._texts(face)
        self.tallies["verify"] = self._codes()
        self.tallies["channels"] = self._by_channels()
        self.tallies["payments"] = self._payments()
        self.tallies["inbound"] = self._inbound()
        replies.look(replied, self._rows)
        self.tallies["webhooks"] = self._events()
        self._owed()
        self._whole()
        return self

    # -- messages

    def _texts(self, face: str) -> Tally:
        words = self.told.begun[face]
        tally = Tally(asked=len(words))
        for word in words:
            is_taken = word in self.told.taken
            tally.accepted += is_taken
            rows = self._rows.get(self.told.texts[word], [])
            if len(rows) > 1:
                self.fault(f"{word}: it is {len(rows)} messages in the file")
                tally.doubled += 1
                tally.unsaid += 1
            if not rows:
                if is_taken:
                    self.fault(f"{word}: accepted, and not in the file")
                    tally.lost += 1
                elif self._arrived(word):
                    self.fault(f"{word}: a phone has it, and the file does not")
                    tally.lost += 1
                continue
            self._message(word, rows[0], tally)
            self._callback(face, word, rows[0], tally)
        return tally

    def _arrived(self, word: str) -> int:
        number = self.told.number(word)
        at_modem = number.startswith("+2222")
        return (self.house.modem if at_modem else self.house.carrier).taken(number)

    def _message(self, word: str, row: Row, tally: Tally) -> None:
        text = self.told.texts[word]
        arrived = self._arrived(word)
        answer = self.told.taken.get(word, b"")
        if word.startswith(("api", "batch")) and answer and row.id.encode() not in answer:
            self.fault(f"{word}: answered with another id than that in the file")
            tally.lost += 1
        tally.uncertain += row.uncertain
        self._fate(word, row, arrived, tally)
        self.money(word, row, PRICE * (3 if "رسالة" in text else 1), tally)

    def _fate(self, word: str, row: Row, arrived: int, tally: Tally) -> None:
        """Its state against what its phone has."""
        # A report that lay in the wire of a modem is gone with whoever should have read it.
        is_sent = row.status == "sent" and (self.forgotten or row.carrier == MODEM)
        tally.unreported += is_sent
        ended = row.status in FINAL or is_sent
        if not ended:
            self.fault(f"{word}: {row.status}, and nothing moves it on")
            tally.lost += 1
        elif row.status in ("sent", "delivered") and not arrived:
            self.fault(f"{word}: {row.status}, and no phone has it")
            tally.lost += 1
        elif row.status in _REFUNDED and not row.uncertain:
            self.fault(f"{word}: {row.status}, and no carrier had refused it: {row.timeline}")
            tally.lost += 1
        if arrived > 1:
            tally.doubled += 1
            if _AGAIN not in row.timeline:
                self.fault(f"{word}: {arrived} times at its phone, and not a word: {row.timeline}")
                tally.unsaid += 1

    def money(self, word: str, row: Row, price: int, tally: Tally) -> None:
        refunds = self._refunds[row.id]
        if (row.price, row.charge is not None) != (price, True):
            self.fault(f"{word}: priced {row.price} in place of {price}, charge {row.charge}")
            tally.mischarged += 1
        elif refunds != (row.status in _REFUNDED):
            self.fault(f"{word}: {row.status}, and refunded {refunds} times")
            tally.mischarged += 1

    def _callback(self, face: str, word: str, row: Row, tally: Tally) -> None:
        """What its customer asked to be told by this face, once it has an end."""
        came: int | None = None
        is_late = self.forgotten and row.ended_at_ms >= self.begun.looked_at_ms - _STORED_MS
        if row.status not in FINAL or is_late:
            return
        if face == "smpp":
            came = self.told.receipts[row.id]
        elif face == "kannel":
            came = sum(self._calls[f"/dlr?word={word}&d={bit}"] for bit in (1, 2, 16))
        elif face == "twilio":
            came = self._calls[f"/twilio?word={word}"]
        if came is not None:
            tally.owed += 1
            tally.told += came > 0
            if not came:
                self.fault(f"{word}: {row.status}, and its customer was not told")

    # -- what else was asked

    def _codes(self) -> Tally:
        known = {
            row[0]: row[1:]
            for row in self._sql("SELECT id, status, recipient, message_id FROM verifications")
        }
        tally = Tally(asked=len(self.told.begun["verify"]), accepted=len(self.told.codes))
        by_id = {row.id: row for rows in self._rows.values() for row in rows}
        for verification, to in self.told.codes.items():
            status, recipient, message_id = known.get(verification, ("missing", to, None))
            row = by_id.get(str(message_id))
            if recipient != to or row is None:
                self.fault(f"{verification}: {status}, and its message is missing")
                tally.lost += 1
                continue
            if verification in self.told.approved and status != "approved":
                self.fault(f"{verification}: approved, and {status} in the file")
                tally.lost += 1
            tally.uncertain += row.uncertain
            self.money(verification, row, PRICE, tally)
            texts = self.house.carrier.taken(to)
            if texts > 1:
                tally.doubled += 1
                if _AGAIN not in row.timeline:
                    self.fault(f"{verification}: {texts} texts, and not a word: {row.timeline}")
                    tally.unsaid += 1
        return tally

    def _by_channels(self) -> Tally:
        told = self.told
        tally = Tally(asked=len(told.begun["channels"]), accepted=len(told.by_channels))
        known = {
            session: (status, recipient)
            for session, status, recipient in self._sql(
                "SELECT id, status, recipient FROM verifications"
            )
        }
        by_id = {row.id: row for rows in self._rows.values() for row in rows}
        ChannelBooks(self, tally).look(known, by_id)
        return tally

    def _payments(self) -> Tally:
        rows = {
            row[0]: row[1:]
            for row in self._sql(
                "SELECT p.id, p.state, e.amount FROM payments p"
                " LEFT JOIN entry e ON e.seq = p.entry"
            )
        }
        tally = Tally(asked=len(self.told.payments), accepted=len(self.told.credited))
        for payment in self.told.payments:
            state, _ = rows.get(payment, ("missing", None))
            if state == "missing" or (payment in self.told.credited and state != "confirmed"):
                self.fault(f"{payment}: {state}, and its customer was told otherwise")
                tally.lost += 1
        credits_ = self._sql("SELECT count(*), count(DISTINCT reference) FROM entry WHERE kind = 2")
        for payment, (state, _) in rows.items():
            if state == "confirmed" and not self.told.payments.get(payment):
                self.fault(f"{payment}: confirmed, and nobody has paid it")
                tally.mischarged += 1
        confirmed = [amount for state, amount in rows.values() if state == "confirmed"]
        # One top-up is the organization's first money.
        if credits_[0][0] != len(confirmed) + 1 or any(amount != 500 for amount in confirmed):
            self.fault(f"{credits_[0][0] - 1} credits for {len(confirmed)} confirmed payments")
            tally.mischarged += abs(credits_[0][0] - 1 - len(confirmed)) or 1
        return tally

    def _inbound(self) -> Tally:
        stored = Counter(row[0] for row in self._sql("SELECT body FROM inbound"))
        by_carrier = [text for text in stored if text.startswith("phone ")]
        typed = self.house.phones_sent
        whole = self.begun.heads
        heads = {text.split(" wrote")[0] for text in by_carrier}
        tally = Tally(asked=len(typed) + len(whole), accepted=len(typed) + len(whole))
        tally.owed, tally.told = tally.accepted, len(stored)
        for text in typed:
            if not stored[text]:
                self.fault(f"{text}: it was sent to the modem, and is not in the file")
                tally.lost += 1
        for head in whole - heads:
            if not self.forgotten:
                self.fault(f"{head}: acknowledged, and not in the file")
                tally.lost += 1
        for text, times in stored.items():
            if times > 1:
                self.fault(f"{text[:30]}: {times} times in the file")
                tally.doubled += 1
                tally.unsaid += 1
            if text in by_carrier and not text.endswith(WROTE) and not self.forgotten:
                self.fault(f"{text[:30]}: a part of it is not in the file")
                tally.lost += 1
        return tally

    def _events(self) -> Tally:
        bodies: dict[str, set[str]] = {}
        came: Counter[str] = Counter()
        for call in self.house.hooks.calls("/hook"):
            event_id = call["headers"]["webhook-id"]
            came[event_id] += 1
            bodies.setdefault(event_id, set()).add(call["body"])
        tally = Tally()
        for event in self._events_then:
            state, attempts = self._deliveries.get(event.id, ("owed to nobody", 0))
            if state == "pending" and _created(event.body) > iso(self.begun.at_ms):
                continue
            tally.owed += 1
            tally.told += came[event.id] > 0
            if not came[event.id]:
                self.fault(f"{event.id}: {json.loads(event.body)['type']} did not arrive: {state}")
                tally.lost += 1
            elif bodies[event.id] != {event.body}:
                self.fault(f"{event.id}: it arrived with another body than that in the file")
                tally.lost += 1
            if came[event.id] > 1:
                tally.doubled += 1
                if attempts < came[event.id]:
                    self.fault(f"{event.id}: {came[event.id]} times, {attempts} logged")
                    tally.unsaid += 1
        tally.asked = tally.accepted = len(self._deliveries)
        return tally

    def _owed(self) -> None:
        """Whether each end is an event: one that was never written is missed by nobody else."""
        reached = (
            "SELECT DISTINCT v.id FROM verifications v"
            " LEFT JOIN channel_deliveries d ON d.verification_id = v.id"
            " LEFT JOIN message k ON k.key = d.message"
            " JOIN messages m ON m.id = coalesce(k.id, v.message_id)"
            " WHERE m.status IN ('sent', 'delivered', 'undelivered')"
        )
        ends = [
            *((kind, row.id) for row in self._texts_alone() for kind in _events_of(row)),
            *(("verify.sent", row[0]) for row in self._sql(reached)),
            *(("verify.approved", verification) for verification in self.told.approved),
            *(("sms.received", row[0]) for row in self._sql(_ROUTED)),
        ]
        # Read after them: phones write on, and each text is told with what stores it.
        told: Counter[tuple[str, str]] = Counter()
        for event in self.house.service.events():
            body = json.loads(event.body)
            told[body["type"], body.get("messageId") or body.get("verificationId")] += 1
        for kind, identity in ends:
            if told[kind, identity] != 1:
                self.fault(f"{identity}: {told[kind, identity]} events {kind} in the file")
                self.tallies["webhooks"].lost += not told[kind, identity]
                self.tallies["webhooks"].unsaid += told[kind, identity] > 1

        for (kind, identity), times in told.items():
            if kind in _ONCE and times > 1:
                self.fault(f"{identity}: {times} events {kind} in the file, of one session")
                self.tallies["webhooks"].unsaid += 1

    def _texts_alone(self) -> Iterator[Row]:
        """Messages at their end that are no codes: of a code its session is told."""
        words = set(self.told.texts.values())
        rows = (row for text in words for row in self._rows.get(text, ()))
        return (row for row in rows if row.status in _EVENT_OF)

    # -- everything together

    def _whole(self) -> None:
        self.faults += audit_file(self.house.service.data / "risala.db").faults
        self.faults += [f"answered {each}" for each in self.told.refused]
        unsaid = set(self._rows) - set(self.told.texts.values())
        own = ("{{code}}", REPLY)
        unknown = [text for text in unsaid if not any(word in text for word in own)]
        self.faults += [f"nobody sent {text[:40]!r}" for text in unknown]

    def _messages(self) -> dict[str, list[Row]]:
        told: dict[str, list[str]] = {}
        uncertain = set()
        query = "SELECT message_id, kind FROM timeline ORDER BY message_id, n"
        for message_id, kind in self._sql(query):
            told.setdefault(message_id, []).append(Kind(kind).name)
            if kind == Kind.UNCERTAIN.value:
                uncertain.add(message_id)
        rows: dict[str, list[Row]] = {}
        for body, ended_at_ms, *values in self._sql(
            "SELECT body, updated_at, id, status, price, charge, carrier FROM messages"
        ):
            message_id = values[0]
            line = "; ".join(told.get(message_id, ["no timeline"]))
            rows.setdefault(body, []).append(
                Row(*values, line, message_id in uncertain, ended_at_ms)
            )
        return rows

    def _sql(self, query: str, *given: object) -> list[tuple[Any, ...]]:
        return self.house.service.rows(query, *given)

    @property
    def price(self) -> int:
        """Of a segment, in minor units."""
        return PRICE

    def says_again(self, row: Row) -> bool:
        """Whether a message's timeline says that it may arrive twice."""
        return _AGAIN in row.timeline

    def fault(self, text: str) -> None:
        if len(self.faults) < FAULTS_MAX:
            self.faults.append(text)


def _events_of(row: Row) -> set[str]:
    """What is told of a message by now."""
    was_sent = {"sms.sent"} if f"; {Kind.SENT.name}" in row.timeline else set()
    return was_sent | {_EVENT_OF[row.status]}


def _created(body: str) -> str:
    return str(json.loads(body)["createdAt"])


def _target(call: dict[str, Any]) -> str:
    return str(call.get("target", "")).partition("&bodySHA256")[0]
