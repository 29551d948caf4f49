"""Alarms until somebody answers: the answers of their operations, and the asks for faces."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.people import Language
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import (
    AUDITED,
    UNAUDITED,
    Count,
    JsonName,
    Maximum,
    Moment,
    OneOf,
)
from risala.engine.model.states import Mode

CHAINS_MAX: Final = 20
"""Chains of an organization, which its pages list as a whole."""
PEOPLE_MAX: Final = 20
"""People of a chain, as many as a hook writes to."""
LINE_MAX: Final = 80
"""Characters of a person's line: a number, seven days and two times."""
NAME_MAX: Final = 60
WORD_MAX: Final = 30
"""Characters of the word that ends an alarm, as of a rule's keyword."""
TEXT_MAX: Final = 1000
"""Characters of an alarm's text: a message has room for them, and for the word."""
INTERVAL_MIN_S: Final = 60
INTERVAL_MAX_S: Final = 3600
INTERVAL_S: Final = 300
"""As long as somebody takes to look at a phone."""
ROUNDS_MAX: Final = 5
ROUNDS: Final = 3
WORD: Final = "OK"
OPEN_MAX: Final = 20
"""Alarms of an organization that go on at the same time: each writes by itself, and costs money."""
RAISED_KEPT: Final = 200
"""Alarms of an organization that are kept; the oldest that have ended go first."""
KEPT_MAX: Final = RAISED_KEPT + OPEN_MAX
"""With those that go on."""
STEPS_MAX: Final = PEOPLE_MAX * ROUNDS_MAX
"""Of one alarm, also if its people change meanwhile."""


class AlarmState(StrEnum):
    GOING = "going"
    """People are written to, one after the other."""
    ANSWERED = "answered"
    """Somebody wrote the word."""
    ENDED = "ended"
    """Somebody ended it on its page, or a program."""
    UNANSWERED = "unanswered"
    """Everybody was written to as often as may be, and nobody answered."""


class StepOutcome(StrEnum):
    SENT = "sent"
    REFUSED = "refused"
    """The message was refused; the next person's turn comes at once, or, where no message of the
    organization may leave, after the interval."""


@dataclass(frozen=True, slots=True)
class AlarmChain:
    """Who is written to, in which order, until somebody answers."""

    id: Annotated[str, UNAUDITED, JsonName("chainId")]
    organization_id: Annotated[str, UNAUDITED]
    name: Annotated[str, AUDITED, Maximum(NAME_MAX)]
    people: Annotated[tuple[str, ...], UNAUDITED] = field(repr=False)
    """In their order: a number, then perhaps the days and hours of their shift:
    `mon,tue 08:00-18:00`. Without any, always. If nobody is on duty, everybody is."""
    interval_seconds: Annotated[int, AUDITED]
    """Seconds until the next person is written to."""
    rounds: Annotated[int, AUDITED]
    """How often each is written to at most."""
    word: Annotated[str, AUDITED, Maximum(WORD_MAX)]
    """The word that ends an alarm, in any script. Case, accents and signs do not matter."""
    language: Annotated[Language, AUDITED, OneOf(Language)]
    """The language of the sentence that asks for the word."""
    sender: Annotated[str | None, AUDITED, JsonName("from")]
    """Null: the service's own sender; people must be able to answer it."""
    created_at: Annotated[Moment, UNAUDITED]


@dataclass(frozen=True, slots=True)
class AlarmStep:
    """One person who was written to."""

    step: Count
    """From 1 on."""
    at: Moment
    number: str
    """Empty: it was erased."""
    outcome: Annotated[StepOutcome, OneOf(StepOutcome)]
    message_id: str | None
    """Null: it was refused."""
    why: str | None
    """Why it was refused, as a sentence; null otherwise."""


@dataclass(frozen=True, slots=True)
class RaisedAlarm:
    """An alarm that was raised."""

    id: Annotated[str, UNAUDITED, JsonName("alarmId")]
    chain_id: Annotated[str, AUDITED]
    organization_id: Annotated[str, UNAUDITED]
    mode: Annotated[Mode, AUDITED]
    text: Annotated[str, UNAUDITED, Maximum(TEXT_MAX)] = field(repr=False)
    state: Annotated[AlarmState, AUDITED, OneOf(AlarmState)]
    steps: Annotated[Count, UNAUDITED]
    """Steps so far, each of one person."""
    next_at: Annotated[Moment | None, UNAUDITED]
    """When the next step is; null: it has ended."""
    raised_at: Annotated[Moment, UNAUDITED]
    raised_by: Annotated[str, UNAUDITED]
    """A member, a key or a hook."""
    ended_at: Annotated[Moment | None, UNAUDITED]
    ended_by: Annotated[str | None, UNAUDITED]
    """The number that answered, or who ended it; null: nobody."""


@dataclass(frozen=True, slots=True)
class AlarmView:
    """An alarm with each of its steps."""

    alarm: RaisedAlarm
    chain_name: str
    past: tuple[AlarmStep, ...]
    """In their order."""


@dataclass(frozen=True, slots=True)
class ChainView:
    """A chain with its alarms."""

    chain: AlarmChain
    time_zone: str
    """The organization's, in which shifts are."""
    on_duty: tuple[str, ...]
    """The numbers of those who are on duty now, in their order."""
    alarms: tuple[RaisedAlarm, ...]
    """The newest first; an organization's last two hundred are kept."""


@dataclass(frozen=True, slots=True)
class AlarmChains:
    """The chains of an organization, by their names."""

    chains: tuple[AlarmChain, ...]
    going: tuple[RaisedAlarm, ...]
    """Alarms that nobody has answered yet, the newest first."""


CREATE: Final = Ask("alarm.create", AlarmChain)
LIST: Final = Ask("alarm.list", AlarmChains)
SHOW: Final = Ask("alarm.show", ChainView)
SET: Final = Ask("alarm.set", AlarmChain)
DELETE: Final = Ask("alarm.delete", AlarmChain)
RAISE: Final = Ask("alarm.raise", RaisedAlarm)
STEPS: Final = Ask("alarm.steps", AlarmView)
END: Final = Ask("alarm.end", RaisedAlarm)
