"""Figures of an organization and of the whole service, and a new organization's first steps."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import JsonName, Moment, Money
from risala.engine.model.records.keys import ApiKey
from risala.engine.model.records.message_lists import FeedMessage
from risala.engine.model.records.messages import Unserved
from risala.engine.model.records.upkeep.service import (
    Deciding,
    FailureShare,
    Flow,
    FlowAt,
    Machine,
    MailsWaiting,
)
from risala.engine.model.records.verify.sessions import Funnel
from risala.engine.model.records.webhooks import Behind


@dataclass(frozen=True, slots=True)
class HourFigures:
    """What was accepted in an hour, and its result until now."""

    at: Moment
    """The beginning of the hour."""
    accepted: int
    delivered: int
    undelivered: int
    failed: int
    canceled: int


@dataclass(frozen=True, slots=True)
class HourCount:
    """How many in an hour; hours without any are left out."""

    at: Moment
    """The beginning of the hour."""
    count: int


@dataclass(frozen=True, slots=True)
class NetworkFigures:
    network: str
    accepted: int
    delivered: int
    undelivered: int
    failed: int
    canceled: int
    median_ms: int | None
    """Until delivery, within a factor of two; None: nothing was delivered."""
    most_ms: int | None = None
    """Within this time 95 of 100 were delivered, as exact as the median."""


@dataclass(frozen=True, slots=True)
class FailureFigures:
    """How many of the latest messages failed for one cause."""

    cause: str | None
    """None: no cause is stored."""
    count: int


@dataclass(frozen=True, slots=True)
class Overview:
    """Figures, from what is counted; nothing in it has a text of a message."""

    hours: tuple[HourFigures, ...]
    networks: tuple[NetworkFigures, ...]
    median_ms: int | None
    before: tuple[HourFigures, ...]
    """Figures of the same hours a week, or a whole time, earlier: up to the same moment."""
    funnel: Annotated[Funnel, JsonName("verifications")]
    approved_hours: tuple[HourCount, ...]
    """Sessions that were approved, by the hours in which they began."""
    spent: Money
    spent_by_day: tuple[Money, ...]
    """Amounts spent on each day of the time, in their order; of seven days at least, the last of
    which is its last."""
    spent_a_day: Money
    """On the average of the last days in which there was anything."""
    feed: tuple[FeedMessage, ...]
    uncertain: tuple[str, ...]
    waiting_since: Moment | None
    disabled_endpoints: int
    failures: tuple[FailureFigures, ...] = ()
    """Why messages failed or were not delivered, the most frequent cause first."""


@dataclass(frozen=True, slots=True)
class FirstMessage(FeedMessage):
    """A message with its mode."""

    mode: str = ""


@dataclass(frozen=True, slots=True)
class FirstSession:
    """A verification session that was approved, else one that waits for its code."""

    id: Annotated[str, JsonName("verificationId")]
    status: str
    recipient: Annotated[str, JsonName("to")]
    mode: str
    created_at: Moment


@dataclass(frozen=True, slots=True)
class FirstHook:
    """A webhook endpoint, and when its first event arrived; None: not yet."""

    endpoint_id: str
    mode: str
    delivered_at: Moment | None


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """The first object of each step; None: the step is not done."""

    key: ApiKey | None
    delivered: bool
    """A message has reached a phone, or the end of a test."""
    message: FirstMessage | None
    """A message that was delivered, else the newest."""
    session: Annotated[FirstSession | None, JsonName("verification")]
    webhook: FirstHook | None
    paid: bool
    """Money came in, by a top-up or from the operator."""


@dataclass(frozen=True, slots=True)
class ServiceOverview:
    """Figures of live messages; nothing in it has a number or a text."""

    at: Moment
    series: tuple[FlowAt, ...]
    last_minute: Flow
    last_hour: Flow
    last_hour_yesterday: Flow
    today: Flow
    yesterday: Annotated[Flow, JsonName("yesterdayByNow")]
    """Up to the same moment."""
    failures: tuple[FailureShare, ...]
    unserved: Unserved
    webhooks: Behind
    mails: MailsWaiting
    decide: Deciding
    machine: Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDestination:
    """Where messages went."""

    network: str | None
    """A network of the plan, or a country's code (`+33`); None: all others."""
    country: str | None
    """Two letters; None: it is not known."""
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CarrierRun:
    """What a carrier made of messages that have ended."""

    carrier: str
    ended: int
    delivered: int
    median_ms: int | None
    """From when it was due until it arrived; None: nothing was delivered."""
    most_ms: int | None
    """Within this time 95 of 100 were delivered."""


@dataclass(frozen=True, slots=True)
class LatestMessages:
    """The newest live messages of all organizations, without a number or a text."""

    messages: int
    since: Moment | None
    """When the oldest of them was accepted; None: there is none."""
    destinations: tuple[MessageDestination, ...]
    """Those with most messages first, all others last."""
    carriers: tuple[CarrierRun, ...]
    """The busiest first."""


OVERVIEW: Final = Ask("overview.show", Overview)
STEPS: Final = Ask("start.show", FirstSteps)
SERVICE: Final = Ask("console.overview", ServiceOverview)
LATEST: Final = Ask("console.latest", LatestMessages)
