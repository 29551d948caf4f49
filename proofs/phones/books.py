"""What left the phones, and what customers were told, held against the database."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from proofs.phones.street import Street, moods
from proofs.process.books import FINAL
from proofs.process.house import PRICE
from risala.engine.journal.audit.books import audit_file
from risala.engine.model.lines import Kind

REFUNDED: Final = ("failed", "canceled")
FAULTS_MAX: Final = 30


@dataclass
class PhoneBooks:
    """One look at everything, with the service stopped."""

    street: Street
    tally: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def look(self) -> PhoneBooks:
        """Compare all of it."""
        handsets, rows = self.street.handsets, self.street.service.rows
        self._left = sum((each.left for each in handsets), Counter[str]())
        self._told = set().union(*(each.told for each in handsets))
        self._kinds = self._timelines()
        self._refunds = Counter(
            row[0] for row in rows("SELECT reference FROM ledger WHERE kind = 'refund'")
        )
        by_number: dict[str, list[tuple[str, str, int, int, object]]] = {}
        for number, *row in rows(
            "SELECT recipient, id, status, price, segments, charge FROM messages"
        ):
            by_number.setdefault(number, []).append(tuple(row))
        for key, (number, _) in self.street.texts.items():
            self._message(key, number, by_number.pop(number, []))
        self.faults += [f"nobody sent to {number}" for number in by_number]
        self._stores()
        self._received()
        self.faults += self.street.refused
        self.faults += audit_file(self.street.service.data / "risala.db").faults
        return self

    def _fault(self, kind: str, text: str) -> None:
        self.tally[kind] += 1
        if len(self.faults) < FAULTS_MAX:
            self.faults.append(f"{kind}: {text}")

    def _timelines(self) -> dict[str, list[str]]:
        kinds: dict[str, list[str]] = {}
        query = "SELECT message_id, kind FROM timeline ORDER BY message_id, n"
        for message_id, kind in self.street.service.rows(query):
            kinds.setdefault(message_id, []).append(Kind(kind).name)
        return kinds

    def _message(self, key: str, number: str, rows: list) -> None:
        left, was_accepted = self._left[number], key in self.street.accepted
        self.tally["accepted"] += was_accepted
        if not rows:
            if was_accepted or left:
                self._fault("lost", f"{key}: accepted or sent, and not in the file")
            return
        if len(rows) > 1:
            self._fault("unsaid", f"{key}: it is {len(rows)} messages in the file")
        message_id, status, price, segments, charge = rows[0]
        kinds = self._kinds.get(message_id, [])
        is_uncertain, again = Kind.UNCERTAIN.name in kinds, kinds.count(Kind.RESENT.name)
        what = f"{key} ({status}), left {left} times: {kinds}"
        if was_accepted and self.street.accepted[key] != message_id:
            self._fault("lost", f"{key}: answered with another id than that in the file")
        self.tally[status] += 1
        self.tally["uncertain"] += is_uncertain
        self.tally["submitted again"] += kinds.count(Kind.REPEATED.name)
        if status not in FINAL and status != "sent":
            self._fault("lost", f"nothing moves it on: {what}")
        elif status == "sent" and number in self._told:
            self._fault("lost", f"its receipt was taken, and not used: {what}")
        elif status in ("sent", "delivered", "undelivered") and not left:
            self._fault("lost", f"no phone has it: {what}")
        elif status in REFUNDED and left and not is_uncertain:
            self._fault("lost", f"refunded, and nobody had a doubt: {what}")
        self.tally["doubled"] += left > 1
        if left > 1 + again:
            self._fault("unsaid", what)
        refunds = self._refunds[message_id]
        if price != PRICE * segments or charge is None or refunds != (status in REFUNDED):
            self._fault("mischarged", f"{price}, refunded {refunds} times: {what}")

    def _stores(self) -> None:
        """Whatever a phone keeps is a message of the file; none left twice under one id."""
        ids: Counter[str] = sum((each.ids for each in self.street.handsets), Counter())
        for text_id, times in ids.items():
            if times > 1:
                self._fault("unsaid", f"{text_id} left a phone {times} times")
        known = dict(self.street.service.rows("SELECT id, recipient FROM messages"))
        for handset in self.street.handsets:
            for text in handset.phone.store.texts.values():
                self.tally["in the stores of the phones"] += 1
                if known.get(text.id.partition(".")[0]) != text.recipient:
                    self._fault("lost", f"{handset.name} has {text.id}, which is not in the file")
                if text.state == "Pending":
                    self._fault("lost", f"{text.id} still waits at {handset.name}")

    def _received(self) -> None:
        stored = Counter(row[0] for row in self.street.service.rows("SELECT sender FROM inbound"))
        brought = set().union(*(each.brought for each in self.street.handsets))
        self.tally["received"] = len(brought)
        for sender in brought - set(stored):
            self._fault("lost", f"what {sender} wrote was taken, and is not in the file")
        for sender, times in stored.items():
            if times > 1:
                self._fault("unsaid", f"what {sender} wrote is there {times} times")

    def rows(self) -> list[tuple[str, str]]:
        """The table of the page."""
        tally, street = self.tally, self.street
        left, bad = sum(self._left.values()), moods(street)
        return [
            ("messages accepted", f"{tally['accepted']:,}"),
            ("kills of the service, at any instant", f"{street.kills:,}"),
            ("phones", f"{len(street.handsets)}, {street.wipes} of them wiped and let in anew"),
            *((f"… {mood}", f"{times:,} times") for mood, times in bad.items()),
            ("texts that left the phones", f"{left:,}"),
            *(
                (f"messages that are {status} at the end", f"{tally[status]:,}")
                for status in ("delivered", "sent", "failed")
            ),
            ("messages of which nobody knew for a while, as they say", f"{tally['uncertain']:,}"),
            (
                "attempts that were submitted again, with the same id",
                f"{tally['submitted again']:,}",
            ),
            ("messages in the stores of the phones", f"{tally['in the stores of the phones']:,}"),
            ("texts that phones received and brought, each once", f"{tally['received']:,}"),
            ("twice at their recipient, as the timeline says", f"{tally['doubled']:,}"),
            ("lost", f"{tally['lost']:,}"),
            ("doubled without a word", f"{tally['unsaid']:,}"),
            ("mis-charged", f"{tally['mischarged']:,}"),
        ]
