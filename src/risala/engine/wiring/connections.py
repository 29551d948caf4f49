"""The engine's outgoing connections besides carriers: events to webhooks, mail to owners."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Final

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.accounts.accounts import Accounts
from risala.engine.accounts.key_upkeep import KeyUpkeep
from risala.engine.actors.set_aside import SetAsideItems
from risala.engine.actors.supervisor import RestartPolicy, Supervisor
from risala.engine.delivery.rereading import SettingsSource
from risala.engine.follow.cursors import EventCursors
from risala.engine.follow.feed import Feed
from risala.engine.follow.live import Live
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.repositories import Repositories
from risala.engine.people.letters import Letters, SayDriver, as_written
from risala.engine.people.post import Post, keep_tidy
from risala.engine.people.tokens import Derived
from risala.engine.rules.webhooks.types import Fetches, Outbound
from risala.engine.services import Preparing, Services, nothing_to_prepare
from risala.engine.webhooks.notices import Notices
from risala.engine.webhooks.service import Webhooks, WebhookSources
from risala.plugins.face import GatewayFace
from risala.plugins.kinds import EVENT_SINKS, FACES, PAYMENT_METHODS
from risala.plugins.mail import Mailer
from risala.plugins.manager import PluginFault, PluginInfo
from risala.plugins.page import ConsolePages
from risala.plugins.payment import PaymentMethod
from risala.plugins.policy import MessagePolicy
from risala.plugins.sink import EventSink

POLICY = RestartPolicy(restarts_max=None)
"""Webhooks and mails are restarted without limit: their faults must not end the sending of
messages."""


@dataclass(frozen=True, slots=True)
class Connections:
    outbound: Outbound | None = None
    """What makes the calls of webhooks; None: events wait until a start that has it."""
    mailer: Mailer | None = None
    payments: Mapping[str, PaymentMethod] = field(default_factory=dict)
    """The methods by which organizations top up, by name."""
    faces: Mapping[str, GatewayFace] = field(default_factory=dict)
    """HTTP APIs of other gateways that are served beside the API, by name."""
    preparing: Preparing = nothing_to_prepare
    """Asked at each check whether the service is ready."""
    settings_file: Path | None = None
    """The file that the settings were read from; None: they are the defaults, environment and
    flags."""
    url: str | None = None
    """The address where the service listens; None: as in the settings."""
    console_url: str | None = None
    """The address where the console listens, if it has one of its own."""
    answers: Callable[[], Mapping[int, int]] | None = None
    """The API's answers since the start, by status; None: they are not counted."""
    call_secret: str = field(default="", repr=False)
    """Signs calls to the operator's own addresses; empty: no signature."""
    fetches: Mapping[str, Fetches] = field(default_factory=dict)
    """What reads answers of servers that settings name, as features call it."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By which such servers know this service, by the same names."""
    source: SettingsSource | None = None
    """The source from which the settings are read again; None: they stay as they are."""
    plugins: Sequence[PluginInfo] = ()
    """The plugins found when the service started, for its operator."""
    plugin_faults: Sequence[PluginFault] = ()
    """Why some of them are not used."""
    sinks: Mapping[str, EventSink] = field(default_factory=dict)
    """The event sinks of the settings, by name."""
    policies: Mapping[str, MessagePolicy] = field(default_factory=dict)
    """The message policies of the settings, by name."""
    pages: ConsolePages = field(default_factory=dict)
    """The pages of the console that plugins bring."""
    say_driver: SayDriver = as_written
    """Says what a driver wrote in the language of a mail's reader."""

    @property
    def plugged(self) -> Mapping[str, Mapping[str, object]]:
        """What plugins built for features, by the key of its kind and by its name."""
        return {
            PAYMENT_METHODS.key: self.payments,
            FACES.key: self.faces,
            EVENT_SINKS.key: self.sinks,
        }


NO_OUTSIDE: Final = Connections()
"""For an engine without outgoing connections."""


def in_words(outside: Connections) -> Mapping[str, object]:
    """The plugins' parts other than drivers, by the name to log if one blocks the loop."""
    return {
        **{f"the mailer {type(each).__name__}": each for each in (outside.mailer,) if each},
        **{f"the payment method {name}": each for name, each in outside.payments.items()},
        **{f"the event sink {name}": each for name, each in outside.sinks.items()},
        **{f"the policy {name}": each for name, each in outside.policies.items()},
        **{f"the console page {name}": each.page for name, each in outside.pages.items()},
    }


@dataclass(frozen=True, slots=True)
class Outward:
    """The parts that follow the events, and deliver them."""

    feed: Feed
    cursors: EventCursors
    live: Live
    webhooks: Webhooks | None
    """None if nothing makes calls (``Outside.outbound``)."""
    notices: Notices | None
    post: Post
    recorder: Recorder
    outside: Connections

    def hint_webhook(self, endpoint_id: str) -> None:
        """Check an endpoint's deliveries now."""
        if self.webhooks is not None:
            self.webhooks.hint(endpoint_id)

    async def start(self, supervisor: Supervisor, services: Services) -> None:
        """Run all parts until cancelled."""
        start = partial(supervisor.start_service, policy=POLICY)
        await start("post", self.post.run)
        stored, clock = services.repositories, self.recorder.clock
        await start("people's upkeep", partial(keep_tidy, stored, clock))
        keys = KeyUpkeep(
            services.accounts, stored.keys, clock, self.post.wake, services.set_aside.loop("keys")
        )
        await start("keys' upkeep", keys.run)
        if self.notices is not None:
            await start("webhooks' notices", self.notices.run)
        if self.webhooks is not None:
            await start("webhooks", self.webhooks.run)
        await start("feed of events", self.feed.run)


def public_url(settings: Settings, outside: Connections) -> str:
    """The base URL of the pages, without a slash at its end."""
    http = settings.http
    return http.public_url or outside.url or f"http://{http.host}:{http.port}"


def console_url(settings: Settings, outside: Connections) -> str:
    """The base URL of the console, without a slash at its end."""
    own = settings.http.console_url or outside.console_url
    return own or public_url(settings, outside)


def build_outward(
    settings: Settings,
    recorder: Recorder,
    repositories: Repositories,
    accounts: Accounts,
    outside: Connections,
    derived: Derived,
    set_aside: SetAsideItems,
) -> Outward:
    """Build the parts; nothing runs yet."""
    pages = (public_url(settings, outside), console_url(settings, outside))
    zone, say_driver = settings.plan.home.time_zone, outside.say_driver
    letters = Letters(repositories, accounts, derived, *pages, zone, say_driver)
    post = Post(
        recorder.clock, repositories.mails, letters, outside.mailer, set_aside.loop("mails")
    )
    webhooks = notices = None
    if outside.outbound is not None:
        notices = Notices(
            repositories.endpoints,
            recorder.clock,
            settings.mail.operator,
            post.wake,
            set_aside.loop("webhook_notices"),
        )
        webhooks = Webhooks(
            WebhookSources(
                settings.webhooks,
                repositories.deliveries,
                recorder.clock,
                outside.outbound,
                notices.wake,
                set_aside.loop("webhooks"),
            )
        )
    events = set_aside.loop("feed")
    cursors = EventCursors(repositories.events, recorder.clock, broken=events.broken_row)
    listeners = (cursors.wake,) if webhooks is None else (cursors.wake, webhooks.wake)
    feed = Feed(repositories.events, recorder.journal.committed, events, listeners)
    live = Live(repositories.events, recorder.clock, feed.events, recorder.life, events.broken_row)
    return Outward(
        feed,
        cursors,
        live,
        webhooks,
        notices,
        post,
        recorder,
        outside,
    )
