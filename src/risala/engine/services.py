"""The parts of the engine that the gateway, the operations and the statistics use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.accounts.accounts import Accounts
from risala.engine.accounts.senders import Senders
from risala.engine.actors.actor import Ref
from risala.engine.actors.answer_window import AnswerWindow
from risala.engine.actors.broadcast import Broadcast
from risala.engine.actors.set_aside import SetAsideItems
from risala.engine.billing.claims import BillingMessage
from risala.engine.delivery.rereading import Rereading
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.follow.cursors import EventCursors
from risala.engine.follow.esmes import Esmes
from risala.engine.follow.live import Follower
from risala.engine.intake.intake import Intake
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.repositories import Repositories
from risala.engine.journal.store.sealing_key import SealingKeys
from risala.engine.journal.store.server_key import ServerKeys
from risala.engine.journal.store.writer import CommitLog, Journal
from risala.engine.limits.claims import LimitsMessage
from risala.engine.model.audit import AuditedReads
from risala.engine.model.clock import Clock, ClockJumps
from risala.engine.model.features import features
from risala.engine.model.following import What
from risala.engine.model.ids import IdSource
from risala.engine.model.lines import Line
from risala.engine.model.records.carriers.routes import RouteAnswer, TrafficLine, UnservedNumbers
from risala.engine.model.records.carriers.state import Carrier
from risala.engine.model.records.carriers.stored import Override
from risala.engine.model.records.messages import DueRow
from risala.engine.model.states import Gate
from risala.engine.people.people import People
from risala.engine.rules.router import Router
from risala.engine.rules.sealing import Seal
from risala.engine.rules.trail.heads import TrailState
from risala.engine.rules.verify_settings import VerifySettings
from risala.engine.rules.webhooks.types import Fetches, Outbound
from risala.engine.verify.session_features import SessionFeatures
from risala.engine.verify.sessions import SessionsMessage
from risala.plugins.contract import DriverCommand
from risala.plugins.manager import PluginFault, PluginInfo
from risala.plugins.page import ConsolePages
from risala.sms.numbering.plan import NumberingPlan


class Delivery(Protocol):
    """Delivery, as the rest of the engine sees it: in a running service, or in a command that opens
    the engine alone and delivers nothing."""

    @property
    def running(self) -> bool: ...

    def unready(self) -> tuple[str, ...]:
        """The reasons why no message can be delivered now."""

    def statistics(self) -> dict[str, Any]:
        """The core's numbers that are kept in memory; empty if no service runs."""

    def carriers(self) -> list[Carrier]:
        """Each carrier, and how much waits for it."""

    def workers(self) -> Iterable[CarrierWorker]:
        """What runs each carrier; empty if no service runs."""

    def waits(self, row: DueRow, send_at: int | None, is_active: bool) -> Line | None:
        """What a pending message waits for; None if it only waits for its turn.

        Args:
            send_at: the time it is scheduled for (UTC epoch milliseconds), if any.
            is_active: False if its organization is suspended.
        """

    def offered(self, carrier: str) -> tuple[DriverCommand, ...]:
        """The commands that a carrier's driver offers.

        Raises:
            NotFound: the carrier does not exist.
        """

    def refuse_ask(self, carrier: str, command: str, arguments: Sequence[str]) -> None:
        """Raise what :meth:`ask` would raise now, without asking the driver."""

    async def ask(self, carrier: str, command: str, arguments: Sequence[str]) -> dict[str, Any]:
        """Send a command to a carrier's driver and return the answer.

        Raises:
            NotFound: the carrier does not exist.
            Invalid: its driver has no such command.
            Conflict: the command was not done, or no service runs.
        """

    async def set_gate(self, carrier: str, gate: Gate) -> None:
        """Pause, resume or drain a carrier.

        Raises:
            NotFound: the carrier does not exist.
            Conflict: no service runs.
        """

    @property
    def rereading(self) -> Rereading:
        """The object that reads the settings again.

        Raises:
            Conflict: no service runs, or the settings have no source.
        """

    async def reconnect(self, carrier: str) -> None:
        """Drop a carrier's link and connect again.

        Raises:
            NotFound: the carrier does not exist.
            Conflict: no service runs, or the carrier is about to end.
        """

    def paces(self) -> Mapping[str, float]:
        """Messages a second that each carrier takes at most, by its name."""

    def override(self, carrier: str, override: Override | None) -> None:
        """Apply another pace or weight, which is already stored; None: the settings apply."""

    def traffic(self, carrier: str, after: int, count: int) -> list[TrafficLine]:
        """What went over a carrier's wire lately.

        Raises:
            NotFound: the carrier does not exist.
            Conflict: no service runs.
        """

    def route(self, recipient: str, segments: int, key: str | None = None) -> RouteAnswer:
        """The route of a message that came now, and why; ``key``: if not the number's own."""

    def unserved(self, plan: NumberingPlan) -> UnservedNumbers:
        """The numbers of a plan that no carrier serves now, and how many messages wait for that
        reason."""

    async def reload_organization(self, organization_id: str) -> None:
        """Hold or release an organization's messages, according to its present state."""

    def hint_webhook(self, endpoint_id: str) -> None:
        """Check an endpoint's deliveries now."""

    def follow(
        self, what: What, organization_id: str | None, position: str | None
    ) -> AbstractContextManager[Follower]:
        """See :meth:`Gateway.follow`.

        Raises:
            Conflict: nothing runs.
        """


Preparing = Callable[[], str | None]
"""What is still missing before messages can be sent; None: nothing."""


def nothing_to_prepare() -> None:
    """For a service that is ready as soon as a carrier is."""


@dataclass(frozen=True, slots=True)
class Birth:
    """When this process opened the engine, and the settings it was opened with."""

    at_ms: int
    """UTC epoch milliseconds."""
    at_s: float
    """On Trio's clock, which cannot be set."""
    settings_file: Path | None
    """None if there is no settings file."""
    plugins: Sequence[PluginInfo]
    """All that were found, usable or not."""
    plugin_faults: Sequence[PluginFault] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is around a running service besides carriers, as far as it is there."""

    outbound: Outbound | None = None
    """What makes calls to addresses on the network."""
    fetches: Mapping[str, Fetches] = field(default_factory=dict)
    """What reads answers of servers that settings name, as features call it."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By which such servers know this service, by the same names."""
    call_secret: str = field(default="", repr=False)
    """Signs calls to the operator's own addresses; empty: they have no signature."""
    wake_post: Callable[[], None] | None = None
    """Called when a mail is owed; None: nothing sends mails."""
    answers: Callable[[], Mapping[int, int]] | None = None
    """The API's answers since the start: how many, by status. None: they are not counted."""
    cursors: EventCursors | None = None
    """For consumers that must get every event."""
    jumps: ClockJumps | None = None
    """The steps of the wall clock; None: nothing notices them."""
    plugged: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What plugins built for features by the settings, by the key of its kind and by its name."""


T = TypeVar("T")
Parts = dict[Callable[["Services"], Any], Any]
"""What features made, by the class or function of the services that makes it otherwise."""
Waiting = Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]
"""Does what takes long, and answers meanwhile that it is under way. It returns before that is over
if a stop is ordered."""


@dataclass(frozen=True, slots=True)
class EngineStart:
    """What there is before the services, for a feature that has to stand before them."""

    settings: Settings
    journal: Journal
    clock: Clock
    answers: AnswerWindow
    while_waiting: Waiting
    lease_lost: Callable[[str], object]
    """To be told that another machine has the lease, with the reason: the service has to stop."""
    log_stands: Callable[[CommitLog], object]
    """To be told of the log that answers wait for, once it stands."""
    parts: Parts
    """The parts of the services to come."""


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of the engine that the gateway and the operations use."""

    settings: Settings
    recorder: Recorder
    repositories: Repositories
    ids: IdSource
    accounts: Accounts
    senders: Senders
    intake: Intake
    billing: Ref[BillingMessage]
    limits: Ref[LimitsMessage]
    sessions: Ref[SessionsMessage]
    session_features: SessionFeatures
    people: People
    delivery: Delivery
    preparing: Preparing
    birth: Birth
    server_keys: ServerKeys
    sealing: SealingKeys
    seal: Seal
    """Seals codes that other software made, until they have left."""
    public_url: str
    """Without a slash at its end."""
    router: Router
    credits: Broadcast[str]
    """Organizations whose balance has grown."""
    set_aside: SetAsideItems
    pages: ConsolePages = field(default_factory=dict)
    """Pages that plugins add to the console."""
    surroundings: Surroundings = field(default_factory=Surroundings)
    esmes: Esmes = field(default_factory=Esmes)
    looks: AuditedReads = field(default_factory=AuditedReads)
    trail: TrailState = field(default_factory=TrailState)
    parts: Parts = field(default_factory=dict)
    """What features made of the services, by what makes it."""

    def part(self, kind: Callable[[Services], T]) -> T:
        """The one object that ``kind``, a class or function of a feature, makes of the services: it
        is made when it is first wanted."""
        made: T | None = self.parts.get(kind)
        if made is None:
            made = self.parts[kind] = kind(self)
        return made

    def statistics(self) -> dict[str, Any]:
        """All numbers that are kept in memory, and those of features; empty if no service runs."""
        numbers = self.delivery.statistics()
        for feature in features():
            if feature.statistics is not None:
                numbers |= feature.statistics()(self)
        return numbers

    def code_settings(self, organization_id: str) -> VerifySettings:
        """An organization's Verify configuration."""
        stored, texts = self.repositories.verifications, self.settings.code_texts
        return stored.settings(organization_id, texts)

    def forget_organization(self, organization_id: str) -> None:
        """An organization was changed or deleted: features read again what they remember of it."""
        for feature in features():
            if feature.forgets is not None:
                feature.forgets()(self, organization_id)
