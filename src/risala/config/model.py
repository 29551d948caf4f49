"""The settings of one Risala, frozen, with units in their names.

Every field is a line of ``risala.toml`` and an environment variable: ``http.port`` is
``RISALA_HTTP__PORT``. The text below a field is its meaning in the file that ``risala init``
writes and in the reference; ``words`` tells what a pattern wants. A carrier's own table stays raw
here; the plugin that serves it validates it
(:meth:`risala.plugins.manager.PluginManager.build_driver`).
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from risala.config.alerts import AlertsSection
from risala.config.delivery import CarrierSection, DeliverySection, OnUncertain, RetrySection
from risala.config.faces import FacesSection, HttpSection, MetricsSection
from risala.config.hooks import PoliciesSection, SinksSection
from risala.config.kinds import Currency, Money, Prefix, Section, UpperSender
from risala.config.legal import LegalSection
from risala.config.outward import MailSection, StandbySection, WebhooksSection
from risala.config.payments import PaymentsSection
from risala.config.people import PeopleSection
from risala.config.requests import RequestLogSection
from risala.config.senders import SendersSection
from risala.config.smpp_server import SmppServerSection
from risala.sms.address import Network

__all__ = [
    "AlertsSection",
    "CarrierSection",
    "DeliverySection",
    "EngineSection",
    "FacesSection",
    "HttpSection",
    "LegalSection",
    "LimitsSection",
    "LogFormat",
    "LogSection",
    "MailSection",
    "MetricsSection",
    "OnUncertain",
    "PaymentsSection",
    "PeopleSection",
    "PluginsSection",
    "PoliciesSection",
    "PricingSection",
    "RequestLogSection",
    "RetentionSection",
    "RetrySection",
    "Section",
    "SendersSection",
    "ServiceSection",
    "Settings",
    "SinksSection",
    "SmppServerSection",
    "StandbySection",
    "StorageSection",
    "WebhooksSection",
]


class ServiceSection(Section):
    """What the service calls itself."""

    default_sender: UpperSender = "RISALA"
    """Sender when ``from`` is omitted or awaits approval."""
    currency: Currency = "MRU"
    """ISO 4217 code of all prices and balances."""


class StorageSection(Section):
    """The data directory and the queue before the disk."""

    data_dir: Path = Path("risala-data")
    """Everything that lasts: database, server key, control socket. ``RISALA_DATA`` sets it too."""
    commit_units_max: Annotated[int, Field(ge=1, le=4096)] = 512
    """Units of work that share one disk sync, at most."""
    queue_units_max: Annotated[int, Field(ge=16, le=65536)] = 4096
    """Units that may wait for the writer; beyond it sends are answered 503."""


Days = Annotated[int, Field(ge=0, le=36_500)]


class RetentionSection(Section):
    """How many days things are kept; 0 is for ever. The ledger, the idempotency keys and a row for
    each message stay in any case, and whatever is still under way."""

    texts_days: Days = 90
    """Texts of messages, counted from their acceptance; and carriers' raw words, which may hold
    the beginning of a text."""
    timelines_days: Days = 365
    """Timelines of messages, and their carriers' ids for each segment: a receipt that comes later
    finds nothing any more."""
    events_days: Days = 90
    """Events, and what is known of their deliveries; they cannot be replayed any more then."""
    inbound_days: Days = 90
    """Received messages."""


class PricingSection(Section):
    """What a message costs."""

    per_segment: Money = "0.50"
    """Price of one segment in ``service.currency``; an organization may have its own."""
    low_balance: Money = "50.00"
    """An organization whose balance a charge takes below this is told so (event ``balance.low``);
    it may have its own. ``"0"``: nobody is."""


class LimitsSection(Section):
    """Limits on what organizations may do, beside their balance."""

    sms_per_s: Annotated[float, Field(gt=0, le=100000)] | None = None
    """Messages that each organization may send a second; an organization may have its own
    limit. Not set: no limit."""
    verify_ip_sends_per_minute: Annotated[int, Field(ge=1, le=10_000)] = 30
    """Codes that may be asked for with publishable keys from one IPv4 address or IPv6 /64 in any
    minute. Many people share an address behind a mobile network."""
    verify_ip_sends_per_hour: Annotated[int, Field(ge=1, le=10_000)] = 60
    """Codes that may be asked for with publishable keys from one address in any hour."""
    verify_ip_checks_per_minute: Annotated[int, Field(ge=1, le=10_000)] = 120
    """Codes that may be checked with publishable keys from one address in any minute."""
    verify_networks: tuple[Network, ...] = ()
    """Networks whose mobile numbers get codes, beside ``verify_prefixes``. With neither set, every
    number does; any other is refused with 429 (``network``)."""
    verify_prefixes: tuple[Prefix, ...] = ()
    """Beginnings of numbers that get codes, beside ``verify_networks``."""
    verify_cooldown_s: Annotated[int, Field(ge=1, le=3600)] | None = None
    """After a code, how long an organization sends no other to the same number: so long after
    the first of an hour, and twice as long after each further one; 429 (``cooldown``). Not set:
    there is no such wait."""
    verify_cooldown_max_s: Annotated[int, Field(ge=1, le=3600)] = 1800
    """That wait at most."""


class EngineSection(Section):
    """Limits of what is held in memory."""

    intake_max: Annotated[int, Field(ge=1, le=100000)] = 5000
    """Messages being accepted at one moment, those of batches included; beyond it 503."""
    buffer_rows_max: Annotated[int, Field(ge=8, le=4096)] = 256
    """Queued messages that the scheduler holds in memory before carriers have taken them."""
    mailbox_max: Annotated[int, Field(ge=16, le=65536)] = 1024
    """Messages that may wait for one of the engine's actors."""
    drain_s: Annotated[float, Field(ge=0, le=120)] = 10.0
    """How long a stop waits for carriers' answers."""


class LogFormat(StrEnum):
    """How the log is written."""

    AUTO = "auto"
    JSON = "json"
    CONSOLE = "console"


class LogSection(Section):
    """What is written to standard error. Never a code, a body or a secret, and of phone numbers the
    last digits."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least important line that is written."""
    format: LogFormat = LogFormat.AUTO
    """``auto``: readable lines in a terminal, JSON elsewhere."""
    show_numbers: bool = False
    """Write phone numbers whole. Otherwise a line has their last four digits."""


class PluginsSection(Section):
    """Carriers and other parts that are not built in."""

    folder: Path | None = None
    """Python files here are loaded as plugins, unless every user of the machine may write them,
    this folder, its ``__pycache__``, or a folder above it that is not sticky."""
    disabled: tuple[str, ...] = ()
    """Names of installed plugins to leave out; ``risala plugins`` lists them."""
    load_s: Annotated[float, Field(gt=0, le=600)] = 10.0
    """How long one that is not built in may take to load. Beyond it, it is set aside, and the
    service starts without it."""


class Settings(Section):
    """Everything; see :func:`risala.config.load.load_settings`."""

    service: ServiceSection = ServiceSection()
    """What the service calls itself."""
    http: HttpSection = HttpSection()
    """The API's and the dashboard's socket."""
    faces: FacesSection = FacesSection()
    """Other gateways' HTTP beside the API."""
    storage: StorageSection = StorageSection()
    """The data directory."""
    retention: RetentionSection = RetentionSection()
    """How long things are kept."""
    request_log: RequestLogSection = RequestLogSection()
    """What is known of each request of the API."""
    pricing: PricingSection = PricingSection()
    """What a message costs."""
    limits: LimitsSection = LimitsSection()
    engine: EngineSection = EngineSection()
    """Limits of what is held in memory."""
    delivery: DeliverySection = DeliverySection()
    """How long a message is tried."""
    webhooks: WebhooksSection = WebhooksSection()
    """Where events are delivered to."""
    mail: MailSection = MailSection()
    """The server that takes e-mail."""
    people: PeopleSection = PeopleSection()
    """Who signs in to the dashboard."""
    legal: LegalSection = LegalSection()
    """Who runs the service, by law."""
    payments: PaymentsSection = PaymentsSection()
    """How organizations top up."""
    senders: SendersSection = SendersSection()
    """Names that are marked for the operator."""
    alerts: AlertsSection = AlertsSection()
    """What operators are told of."""
    sinks: SinksSection = SinksSection()
    """Where every event goes."""
    smpp_server: SmppServerSection = SmppServerSection()
    """What customers' SMPP software binds to."""
    policies: PoliciesSection = PoliciesSection()
    """What may be sent."""
    standby: StandbySection = StandbySection()
    """A second machine that can take over."""
    log: LogSection = LogSection()
    """What is written to standard error."""
    plugins: PluginsSection = PluginsSection()
    """What is not built in."""
    carriers: tuple[CarrierSection, ...] = ()
    """The ways out, one table each."""
