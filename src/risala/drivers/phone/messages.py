"""The messages that a phone is to send: made ready, fetched, reported.

The id of a message at the phone is ours, one for each attempt. A phone that knows an id never sends
it again: asked again, it reports its state again. So a message stays in the list that the phone
fetches until its fate is known, and an answer that was lost resolves itself. Another phone does not
know the id, and would send the message a second time: so it is kept, over a restart too, which
phone fetched which.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.drivers.phone.states import Meaning
from risala.drivers.phone.words import PhoneState, written_time
from risala.plugins.contract import Outcome, Segment
from risala.sms.message import submit_reference

PROOF_CHARACTERS: Final = 12
"""48 bits: a phone can't guess an id that was never given to it."""
LATE_MAX: Final = 2000
"""The most messages that are remembered whose submit is over."""
LIST_MAX: Final = 20
"""The most messages in one answer: the phone sends one after the other."""
URGENT: Final = 100
"""From this priority on the app neither waits between messages nor heeds a limit of its own."""
_LONG_AGO_MS: Final = 946_684_800_000
_NOBODY: Final = "0"
FETCHED: Final = "fetched/"
"""What a note begins with that says which phone fetched a message."""
KEPT_MS: Final = 86_400_000
"""How long such a note is kept: the app remembers an id for a day at least, and so long an attempt
may be submitted again."""
FETCHED_MAX: Final = 5000
"""The most such notes: half of those that a carrier may have."""


@dataclass(frozen=True, slots=True)
class PhoneId:
    """Which submit an id stands for."""

    message_id: str
    number: int
    attempt: int

    @property
    def reference(self) -> int:
        """By which a receipt finds its message, as :attr:`Segment.submit_reference` does."""
        return submit_reference(self.message_id, self.number, self.attempt)


class PhoneIds:
    """Makes the ids that a phone gets, and knows its own again, also after a restart.

    Args:
        proof_key: the secret that proves an id.
        carrier: another carrier's ids are none of ours, even with the same key.
    """

    def __init__(self, proof_key: str, carrier: str) -> None:
        self._key = f"{carrier}\0{proof_key}".encode()

    def of(self, segment: Segment) -> str:
        """The id of a submit."""
        name = f"{segment.message_id}.{segment.number}.{segment.attempt}"
        return f"{name}.{self._proof(name)}"

    def read(self, text: str) -> PhoneId | None:
        """Which submit an id stands for; None: it is none of ours."""
        name, _, proof = text.rpartition(".")
        if not proof.isascii() or not hmac.compare_digest(proof, self._proof(name)):
            return None
        message_id, number, attempt = name.rsplit(".", 2)
        return PhoneId(message_id, int(number), int(attempt))

    def _proof(self, name: str) -> str:
        return hmac.new(self._key, name.encode(), sha256).hexdigest()[:PROOF_CHARACTERS]


class PhoneMessage:
    """One message that the phone is to send.

    Args:
        parts: how many segments it is counted as.
        put_at_ms: when it was made ready, UTC epoch milliseconds.
    """

    def __init__(self, phone_id: str, segment: Segment, parts: int, put_at_ms: int) -> None:
        self.id = phone_id
        self.segment = segment
        self.parts = parts
        self.put_at_ms = put_at_ms
        self.is_leaving = False
        """A request of the phone is about to take it."""
        self.fetched_by: str | None = None
        """The phone that has ever fetched it; None: none has yet."""
        self.is_fetched = False
        """Whether it has done so since the present submit began."""
        self.is_unwanted = False
        """To be called back: the submit was cancelled after the phone had fetched the message."""
        self.is_open = True
        """Whether a submit waits for the outcome."""
        self.meaning: Meaning | None = None
        """What the phone reported last."""
        self.changed = trio.Event()
        """Set, and made again, whenever anything of it changes."""

    @property
    def outcome(self) -> Outcome | None:
        """What its submit came to; None: that is not decided."""
        return None if self.meaning is None else self.meaning.outcome

    def open(self) -> None:
        """Begin a submit of the message, maybe not the first one."""
        self.is_open, self.is_unwanted, self.is_fetched = True, False, False

    def is_news(self, meaning: Meaning) -> bool:
        """Whether a report says more than those before: some come late, or again."""
        if self.meaning is None:
            return True
        if self.meaning.outcome is None:
            return meaning != self.meaning
        return not self.meaning.is_final and meaning.receipt is not None

    def learn(self, meaning: Meaning) -> None:
        """Take over a report."""
        self.meaning = meaning
        self.notify()

    def notify(self) -> None:
        """Wake what waits for a change of it."""
        changed, self.changed = self.changed, trio.Event()
        changed.set()


class PhoneMessages:
    """All messages of one carrier's phone, by id."""

    def __init__(self) -> None:
        self._messages: dict[str, PhoneMessage] = {}

    def __iter__(self) -> Iterator[PhoneMessage]:
        return iter(tuple(self._messages.values()))

    def get(self, phone_id: str) -> PhoneMessage | None:
        """The message with this id; None: it is not known, or no longer."""
        return self._messages.get(phone_id)

    def put(self, message: PhoneMessage) -> None:
        """Take a message on; the oldest ones that nobody waits for are forgotten."""
        self._messages[message.id] = message
        if len(self._messages) > LATE_MAX:
            late = [each.id for each in self._messages.values() if not each.is_open]
            for phone_id in late[: len(self._messages) - LATE_MAX]:
                del self._messages[phone_id]

    def drop(self, phone_id: str) -> None:
        """Forget a message."""
        self._messages.pop(phone_id, None)

    @property
    def waiting(self) -> int:
        """How many messages have no fate yet."""
        return sum(each.is_open for each in self._messages.values())

    def to_list(self, phone_id: str, now_ms: int) -> list[PhoneMessage]:
        """What a phone is told when it fetches, urgent and old ones first: what is ready, what it
        fetched and has not reported, and what it is to give back.

        A message that another phone fetched is never listed: this one would send it again.
        """
        listed = [
            each
            for each in self._messages.values()
            if each.outcome is None
            and (each.is_open or each.is_unwanted)
            and each.fetched_by in (None, phone_id)
            and each.segment.expires_at_ms > now_ms
        ]
        return sorted(listed, key=lambda each: (not each.segment.urgent, each.put_at_ms))


# -- as the app reads them ---------------------------------------------------------------------


def listed(message: PhoneMessage, sim: int | None) -> dict[str, object]:
    """A message that the phone is to send, or to give back if nobody wants it any more.

    Args:
        sim: the SIM that sends; None: the phone chooses.
    """
    segment = message.segment
    state = PhoneState.CANCELLING if message.is_unwanted else PhoneState.PENDING
    fields: dict[str, object] = {
        "id": message.id,
        "textMessage": {"text": segment.text},
        "phoneNumbers": [segment.recipient],
        "withDeliveryReport": True,
        "isEncrypted": False,
        "validUntil": written_time(segment.expires_at_ms),
        "state": state.value,
        "createdAt": written_time(message.put_at_ms),
    }
    if sim is not None:
        fields["simNumber"] = sim
    if segment.urgent:
        fields["priority"] = URGENT
    return fields


def probe(phone_id: str) -> dict[str, object]:
    """A question about a message that the phone has sent. A phone that knows the id reports its
    state again; one that does not finds the validity over, and sends nothing."""
    return {
        "id": phone_id,
        "textMessage": {"text": "?"},
        "phoneNumbers": [_NOBODY],
        "withDeliveryReport": False,
        "isEncrypted": False,
        "validUntil": written_time(_LONG_AGO_MS),
        "state": PhoneState.PENDING.value,
    }


# -- which phone has them -----------------------------------------------------------------------


class FetchedMessages:
    """What phones have fetched in the last day.

    Args:
        notes: what was remembered, by key.
    """

    def __init__(self, notes: Mapping[str, str]) -> None:
        self._fetched: dict[str, tuple[int, str]] = {}
        for key, text in notes.items():
            at_ms, _, phone_id = text.partition(" ")
            self._fetched[key.removeprefix(FETCHED)] = int(at_ms), phone_id
        self._fetched = dict(sorted(self._fetched.items(), key=lambda each: each[1]))

    def phone_of(self, message_id: str) -> str | None:
        """The phone that fetched a message; None: none has, or it is too long ago."""
        entry = self._fetched.get(message_id)
        return None if entry is None else entry[1]

    def give(
        self, messages: Iterable[PhoneMessage], phone_id: str, now_ms: int
    ) -> dict[str, str | None]:
        """Count messages as fetched; the notes to write before they leave."""
        notes: dict[str, str | None] = {}
        for message in messages:
            self._fetched[message.id] = now_ms, phone_id
            notes[FETCHED + message.id] = f"{now_ms} {phone_id}"
        for message_id in self._outdated(now_ms):
            del self._fetched[message_id]
            notes[FETCHED + message_id] = None
        return notes

    def _outdated(self, now_ms: int) -> list[str]:
        over = len(self._fetched) - FETCHED_MAX
        return [
            message_id
            for index, (message_id, (at_ms, _)) in enumerate(self._fetched.items())
            if index < over or now_ms - at_ms > KEPT_MS
        ]
