"""The books of mailings: who got what, what was charged, and what the report says of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any, Final

from proofs.process.books import FAULTS_MAX, FINAL
from proofs.process.house import PRICE, House
from risala.engine.journal.audit.books import audit_file
from risala.engine.model.lines import Kind
from risala.engine.model.numbers import MODES
from risala.engine.model.states import Mode

TEXT: Final = "Dear {{name}}, bring your card on Monday."
"""One segment, with a name that nobody else has."""
_REFUNDED: Final = ("failed", "canceled")


@dataclass(frozen=True)
class Person:
    """A row of a mailing's file."""

    name: str
    number: str

    @property
    def text(self) -> str:
        return TEXT.replace("{{name}}", self.name)


def people(first: int, count: int) -> list[Person]:
    """Each with a phone of their own."""
    return [Person(f"Person {n:06d}", f"+2223{n:07d}") for n in range(first, first + count)]


def file_of(persons: list[Person]) -> bytes:
    """Their table, as a spreadsheet writes it."""
    lines = ("name;phone", *(f"{each.name};{each.number}" for each in persons))
    return "\r\n".join(lines).encode()


@dataclass
class Message:
    id: str
    body: str
    status: str
    price: int
    is_charged: bool
    refunds: int
    is_uncertain: bool
    is_resent: bool


@dataclass
class MailingTally:
    """A table's rows."""

    people: int = 0
    messages: int = 0
    twice: int = 0
    """Got it twice, and its timeline says that this may be."""
    uncertain: int = 0
    lost: int = 0
    """Accepted and not at a phone, without an end, or never accepted by a mailing that is done."""
    doubled: int = 0
    """Two messages of one person, or twice at a phone without a word."""
    mischarged: int = 0
    misreported: int = 0
    """The report or the counts say otherwise than the messages do."""


@dataclass
class MailingBooks:
    """One look at all mailings of a house, each of which has ended.

    Args:
        mailings: who is in each.
    """

    house: House
    mailings: dict[str, list[Person]]
    tally: MailingTally = field(default_factory=MailingTally)
    faults: list[str] = field(default_factory=list)

    def look(self) -> MailingBooks:
        messages = self._messages()
        for mailing_id, persons in self.mailings.items():
            shown = self.house.service.perform("mailing.show", mailing_id=mailing_id)["mailing"]
            report = self._report(mailing_id)
            if {row["number"] for row in report.values()} != {each.number for each in persons}:
                self._fault("misreported", f"{mailing_id}: its rows are not those of its file")
            for person in persons:
                found = messages.pop(person.number, [])
                self._person(shown, person, found, report.get(person.number))
            self._counts(shown, report)
        for number, found in messages.items():
            self._fault("doubled", f"{number} is in no mailing, and has {len(found)} messages")
        self.faults += audit_file(self.house.service.data / "risala.db").faults
        return self

    # -- one person

    def _person(
        self,
        mailing: dict[str, Any],
        person: Person,
        found: list[Message],
        row: dict[str, Any] | None,
    ) -> None:
        self.tally.people += 1
        self.tally.messages += len(found)
        arrived = self.house.carrier.taken(person.number)
        if len(found) > 1:
            self._fault("doubled", f"{person.name} has {len(found)} messages")
        if not found:
            if mailing["state"] == "done" or arrived:
                what = f"{arrived} times at the phone, and no message in the file"
                self._fault("lost", f"{person.name} of a mailing {mailing['state']}: {what}")
            return
        message = found[0]
        self._fate(person, message, arrived)
        self._money(person, message)
        said = row and (row["state"], row["messageId"], row["status"])
        if said != ("accepted", message.id, message.status):
            self._fault("misreported", f"{person.name}: {message.status}, reported as {said}")
        if arrived and self.house.carrier.text(person.number) != person.text:
            self._fault("lost", f"{person.name} got another text than theirs")

    def _fate(self, person: Person, message: Message, arrived: int) -> None:
        what = f"{person.name}: {message.status}, {arrived} times at the phone"
        self.tally.uncertain += message.is_uncertain
        if message.status not in FINAL:
            self._fault("lost", f"{what}, and nothing moves it on")
        elif message.status == "delivered" and not arrived:
            self._fault("lost", what)
        elif message.status != "delivered" and not message.is_uncertain:
            self._fault("lost", f"{what}, and no carrier had refused it")
        if arrived > 1 and message.is_resent:
            self.tally.twice += 1
        elif arrived > 1:
            self._fault("doubled", f"{what}, and not a word")

    def _money(self, person: Person, message: Message) -> None:
        if (message.price, message.is_charged) != (PRICE, True):
            self._fault("mischarged", f"{person.name}: priced {message.price}")
        elif message.refunds != (message.status in _REFUNDED):
            self._fault("mischarged", f"{person.name}: {message.status}, {message.refunds} refunds")

    # -- one mailing

    def _report(self, mailing_id: str) -> dict[str, dict[str, Any]]:
        """Its rows by number, as the operation tells them, part by part."""
        rows: dict[str, dict[str, Any]] = {}
        after: int | None = 0
        while after is not None:
            part = self.house.service.perform("mailing.report", mailing_id=mailing_id, after=after)
            for row in part["rows"]:
                if row["number"] in rows:
                    self._fault("misreported", f"{row['number']} is in two rows of the report")
                rows[row["number"]] = row
            after = part["after"]
        return rows

    def _counts(self, shown: dict[str, Any], report: dict[str, dict[str, Any]]) -> None:
        counted = Counter(row["state"] for row in report.values())
        said = {name: shown[name] for name in ("ready", "accepted") if shown[name]}
        if counted != said or shown["rows"] != len(report):
            self._fault("misreported", f"{shown['id']} says {said} of {dict(counted)}")
        if shown["state"] == "done" and shown["ready"]:
            self._fault("lost", f"{shown['id']} is done with {shown['ready']} rows ready")

    # -- what the file has

    def _messages(self) -> dict[str, list[Message]]:
        service = self.house.service
        refunds = Counter(
            row[0] for row in service.rows("SELECT reference FROM ledger WHERE kind = 'refund'")
        )
        kinds: dict[str, set[int]] = defaultdict(set)
        wanted = (Kind.UNCERTAIN.value, Kind.RESENT.value)
        query = "SELECT message_id, kind FROM timeline WHERE kind IN (?, ?)"
        for message_id, kind in service.rows(query, *wanted):
            kinds[message_id].add(kind)
        found: dict[str, list[Message]] = defaultdict(list)
        query = "SELECT recipient, id, body, status, price, charge IS NOT NULL FROM messages"
        for recipient, *values, is_charged in service.rows(query):
            uncertain, resent = (kind in kinds[values[0]] for kind in wanted)
            told = Message(*values, bool(is_charged), refunds[values[0]], uncertain, resent)
            found[recipient].append(told)
        return found

    def _fault(self, kind: str, text: str) -> None:
        setattr(self.tally, kind, getattr(self.tally, kind) + 1)
        if len(self.faults) < FAULTS_MAX:
            self.faults.append(text)


def unnoted(house: House) -> int:
    """Rows whose messages were accepted, and which the file still has as ready: a kill came between
    a batch and its note."""
    query = (
        "SELECT count(*) FROM mailing_rows r JOIN mailings m ON m.key = r.mailing"
        " JOIN organizations o ON o.id = m.organization_id JOIN message x"
        " ON x.organization = o.no AND x.mode = ? AND x.client_key = m.id || ':' || r.row"
        " WHERE r.message IS NULL"
    )
    return int(house.service.rows(query, MODES.number(Mode.LIVE))[0][0])
