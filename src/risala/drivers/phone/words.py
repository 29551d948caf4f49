"""What the app writes and reads: its JSON, as values. Pure.

Whatever comes from a phone is judged here: a field of the wrong type is a
:class:`StrangeWordsError`, and fields that are not known are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from risala.dataclass import dataclass

REPORTS_MAX: Final = 200
"""The most states that one request may bring; the app brings one."""
SIMS_MAX: Final = 8
NAME_CHARACTERS_MAX: Final = 80
WORD_CHARACTERS_MAX: Final = 200
"""The longest id, number or error; the rest is cut off."""
TEXT_CHARACTERS_MAX: Final = 10_000


class StrangeWordsError(Exception):
    """What came is not what the app writes."""


class PhoneState(StrEnum):
    """What the app says of a message, in its own words."""

    PENDING = "Pending"
    CANCELLING = "Cancelling"
    CANCELLED = "Cancelled"
    PROCESSED = "Processed"
    """Android has it, and said nothing yet."""
    SENT = "Sent"
    """The network took it."""
    DELIVERED = "Delivered"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True)
class SimCard:
    """A SIM as the app describes it."""

    number: int
    """1 or 2."""
    operator: str
    phone: str = ""
    """The phone number; the app hides all but the last four digits, or does not know it."""

    @property
    def line(self) -> str:
        return f"{self.number}: {self.operator or '?'}"


@dataclass(frozen=True, slots=True)
class PhoneRegistration:
    """A phone that introduces itself."""

    name: str
    """Maker and model."""
    sims: tuple[SimCard, ...]


@dataclass(frozen=True, slots=True)
class StateReport:
    """What the app reports of one message."""

    id: str
    state: PhoneState
    reached: frozenset[PhoneState]
    """All states that it has had. Android's answers may overtake each other, so that a message that
    was sent may stand as ``Processed``."""
    error: str
    """Why it failed, in the app's words; empty: it did not say."""
    recipient: str
    """The number that it was for, as we gave it."""
    newest_ms: int | None
    """The latest time in the report, by the phone's clock, UTC epoch milliseconds."""


@dataclass(frozen=True, slots=True)
class PhoneEvent:
    """What a webhook of the app brings."""

    id: str
    """Stays as it is at each repetition."""
    event: str
    sender: str = ""
    recipient: str | None = None
    text: str = field(default="", repr=False)
    sim: int | None = None
    sent_at_ms: int | None = None


def registration_of(body: bytes) -> PhoneRegistration:
    """Reads the body of ``POST /device``, or the part of it that ``PATCH /device`` has."""
    fields = _object(_json(body))
    cards = fields.get("simCards") or []
    if not isinstance(cards, list):
        raise StrangeWordsError
    sims = []
    for card in cards[:SIMS_MAX]:
        each = _object(card)
        number = each.get("simNumber")
        if not isinstance(number, int):
            raise StrangeWordsError
        operator = _word(each, "carrierName")[:NAME_CHARACTERS_MAX]
        sims.append(SimCard(number, operator, _word(each, "phoneNumber")[:NAME_CHARACTERS_MAX]))
    return PhoneRegistration(_word(fields, "name")[:NAME_CHARACTERS_MAX], tuple(sims))


def reports_of(body: bytes) -> list[StateReport]:
    """Reads the body of ``PATCH /message``."""
    fields = _json(body)
    if not isinstance(fields, list) or len(fields) > REPORTS_MAX:
        raise StrangeWordsError
    return [_report(_object(each)) for each in fields]


def _report(fields: Mapping[str, Any]) -> StateReport:
    times = _object(fields.get("states") or {})
    people = fields.get("recipients") or []
    if not isinstance(people, list):
        raise StrangeWordsError
    reached, error, recipient = {_state(fields.get("state"))}, "", ""
    for each in map(_object, people):
        reached.add(_state(each.get("state")))
        error = error or _word(each, "error")
        recipient = recipient or _word(each, "phoneNumber")
    reached.update(map(_state, times))
    moments = [ms for ms in map(time_of, times.values()) if ms is not None]
    return StateReport(
        _word(fields, "id"),
        _state(fields.get("state")),
        frozenset(reached),
        error,
        recipient,
        max(moments, default=None),
    )


def event_of(body: bytes) -> PhoneEvent:
    """Reads the body of a webhook."""
    fields = _object(_json(body))
    payload = _object(fields.get("payload") or {})
    text, sim = payload.get("message", ""), payload.get("simNumber")
    if not isinstance(text, str) or not isinstance(sim, int | None):
        raise StrangeWordsError
    return PhoneEvent(
        _word(fields, "id"),
        _word(fields, "event"),
        _word(payload, "sender") or _word(payload, "phoneNumber"),
        _word(payload, "recipient") or None,
        text[:TEXT_CHARACTERS_MAX],
        sim,
        time_of(payload.get("receivedAt")),
    )


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise StrangeWordsError from None


def _object(fields: object) -> Mapping[str, Any]:
    if not isinstance(fields, dict):
        raise StrangeWordsError
    return fields


def _word(fields: Mapping[str, Any], name: str) -> str:
    word = fields.get(name)
    if not isinstance(word, str | None):
        raise StrangeWordsError
    return (word or "")[:WORD_CHARACTERS_MAX]


def _state(word: object) -> PhoneState:
    if not isinstance(word, str):
        raise StrangeWordsError
    try:
        return PhoneState(word)
    except ValueError:
        raise StrangeWordsError from None


def time_of(word: object) -> int | None:
    """UTC epoch milliseconds of a time as the app writes it; None: it is none."""
    if not isinstance(word, str):
        return None
    try:
        moment = datetime.fromisoformat(word)
        return round(moment.timestamp() * 1000) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def written_time(at_ms: int) -> str:
    """A time as the app reads it: with milliseconds and a zone."""
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
