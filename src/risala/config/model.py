"""The settings of one Risala, frozen, with units in their names.

Every field is a line of ``risala.toml`` and an environment variable: ``http.port`` is
``RISALA_HTTP__PORT``. The text below a field is its meaning in the file that ``risala init``
writes and in the reference; ``words`` says what a pattern wants. A carrier's own table stays raw
here; the plugin that serves it validates it
(:meth:`risala.plugins.manager.PluginManager.build_driver`).
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import Field, PrivateAttr, model_validator

from risala.config.alerts import AlertsSection
from risala.config.channels import ChannelsSection, with_channels
from risala.config.delivery import (
    CarrierSection,
    DeliverySection,
    OnUncertain,
    RetrySection,
    refuse_useless_sticky,
)
from risala.config.faces import CompatSection, HttpSection, MailToSmsSection, MetricsSection
from risala.config.hooks import PoliciesSection, SinksSection
from risala.config.kinds import (
    Currency,
    Money,
    Prefix,
    RequestLogSection,
    Section,
    SendersSection,
    UpperSender,
)
from risala.config.numbers import NumbersSection, PriceSection
from risala.config.outward import MailSection, RepliesSection, StandbySection, WebhooksSection
from risala.config.payments import BillingSection, LegalSection, PaymentsSection
from risala.config.people import PeopleSection
from risala.config.smpp_server import SmppServerSection
from risala.config.verify import VerifySection
from risala.sms.code_texts.catalogue import CodeTexts
from risala.sms.currencies import DEFAULT_CURRENCY
from risala.sms.numbering.plan import NumberingPlan, plan_of

__all__ = [
    "AlertsSection",
    "BillingSection",
    "CarrierSection",
    "ChannelsSection",
    "CompatSection",
    "DeliverySection",
    "EngineSection",
    "HttpSection",
    "LegalSection",
    "LimitsSection",
    "LogFormat",
    "LogSection",
    "MailSection",
    "MailToSmsSection",
    "MetricsSection",
    "NumbersSection",
    "OnUncertain",
    "PaymentsSection",
    "PeopleSection",
    "PluginsSection",
    "PoliciesSection",
    "PriceSection",
    "PricingSection",
    "RepliesSection",
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
    "VerifySection",
    "WebhooksSection",
]


class ServiceSection(Section):
    """What the service calls itself, and the kind of its machine."""

    profile: Literal["usual", "small"] = "usual"
    """The kind of the machine. ``small``, for one of 1 GB with a slow card, changes the defaults
    under "Profiles" below; what you set yourself stays as you set it."""
    default_sender: UpperSender = "RISALA"
    """The sender if ``from`` is omitted or awaits approval."""
    currency: Currency = DEFAULT_CURRENCY
    """The ISO 4217 code of all prices and balances, which have the decimals of that currency: none
    in XOF, three in TND. Once there are organizations, the service starts only in a currency of
    as many decimals. In another currency than MRU, set ``[pricing]`` too."""


class StorageSection(Section):
    """The data directory, and the queue for the disk."""

    data_dir: Path = Path("risala-data")
    """The directory of the database, server key and control socket. ``RISALA_DATA`` sets it too."""
    commit_units_max: Annotated[int, Field(ge=1, le=4096)] = 512
    """The most units of work that share one disk sync."""
    page_cache_mb: Annotated[int, Field(ge=1, le=1024)] = 8
    """The memory for each connection to the database, in megabytes, in which its pages are kept. It
    is used only as pages are read."""
    sign_backups: bool = False
    """Whether each ``risala backup`` is signed by the key of the audit trail, as ``--sign`` has
    it."""
    queue_units_max: Annotated[int, Field(ge=16, le=65536)] = 4096
    """The most units that wait for the writer; beyond it sends are answered 503."""


Days = Annotated[int, Field(ge=0, le=36_500)]


class RetentionSection(Section):
    """How many days things are kept; 0: forever. The ledger, the idempotency keys, a row for each
    message and everything unfinished stay in any case."""

    texts_days: Days = 90
    """Texts of messages, from their acceptance on; and carriers' raw words, which may hold the
    beginning of a text."""
    timelines_days: Days = 365
    """Timelines of messages, and carriers' ids for each segment: a later receipt finds no
    message."""
    events_days: Days = 90
    """Events and their deliveries; after that they cannot be replayed."""
    inbound_days: Days = 90
    """Received messages."""
    mailings_days: Days = 30
    """Files and rows of mailings, from the mailing's end on; of drafts, from when they were made.
    What became of how many of their messages stays."""


class PricingSection(Section):
    """The price of a message."""

    per_segment: Money = "0.50"
    """The price of one segment in ``service.currency``; an organization may have its own. The
    default is a price in MRU; in a currency without decimals the service does not start with it."""
    low_balance: Money = "50.00"
    """An organization gets the event ``balance.low`` when a charge takes its balance below this; it
    may have its own limit. ``"0"``: no event. The default is one in MRU."""


class LimitsSection(Section):
    """Organizations' limits, besides their balance."""

    sms_per_s: Annotated[float, Field(gt=0, le=100000)] | None = None
    """The most messages that an organization may send in a second; an organization may have its
    own limit. Not set: no limit."""
    key_age_days: Annotated[int, Field(ge=1, le=3650)] | None = None
    """The most days that a value of an API key works; an organization may have a shorter time. Keys
    that are older when this is set work for thirty more days, and their owners get three mails.
    Not set: for ever."""
    verify_ip_sends_per_minute: Annotated[int, Field(ge=1, le=10_000)] = 30
    """The most codes requested with publishable keys from one IPv4 address or IPv6 /64 in any
    minute. Many people share an address behind a mobile network."""
    verify_ip_sends_per_hour: Annotated[int, Field(ge=1, le=10_000)] = 60
    """The most codes requested with publishable keys from one address in any hour."""
    verify_ip_checks_per_minute: Annotated[int, Field(ge=1, le=10_000)] = 120
    """The most codes checked with publishable keys from one address in any minute."""
    mails_per_minute: Annotated[int, Field(ge=1, le=10_000)] = 30
    """The most messages by mail from one address in any minute. The mail server tries the others
    again later."""
    mails_per_hour: Annotated[int, Field(ge=1, le=10_000)] = 200
    """The most messages by mail from one address in any hour."""
    hook_requests_per_s: Annotated[float, Field(gt=0, le=100000)] = 20.0
    """The most requests to one hook in a second; those of two seconds may come together. Beyond it
    the program is told to try again later."""
    stored_mb: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    """The most megabytes that mailings, lists and uploaded files of an organization may take.
    Beyond it another one is refused, until some are deleted or ``retention.mailings_days`` have
    passed."""
    verify_challenge_bits: Annotated[int, Field(ge=8, le=18)] = 14
    """How hard the challenges of publishable keys are: one more doubles the work of the visitor's
    browser. Challenges that are being solved when this changes are asked again."""
    verify_networks: tuple[str, ...] = ()
    """Networks whose mobile numbers get codes, besides ``verify_prefixes``; others are refused with
    429 (``network``). With neither set, every number gets codes."""
    verify_prefixes: tuple[Prefix, ...] = ()
    """Prefixes of numbers that get codes, besides ``verify_networks``."""
    verify_cooldown_s: Annotated[int, Field(ge=1, le=3600)] | None = None
    """How long an organization must wait before another code to the same number: this long after
    the first code of an hour, and twice as long after each further one; 429 (``cooldown``). A
    channel that follows another one by itself does not wait. Not set: no wait."""
    verify_cooldown_max_s: Annotated[int, Field(ge=1, le=3600)] = 1800
    """The longest such wait."""

    @property
    def stored_bytes(self) -> int:
        """``stored_mb`` in bytes."""
        return 1_000_000 * self.stored_mb


class EngineSection(Section):
    """Limits of memory."""

    intake_max: Annotated[int, Field(ge=1, le=100000)] = 5000
    """The most messages accepted at once, including those of batches; beyond it 503."""
    buffer_rows_max: Annotated[int, Field(ge=8, le=4096)] = 256
    """The most queued messages that the scheduler holds in memory."""
    mailbox_max: Annotated[int, Field(ge=16, le=65536)] = 1024
    """The most messages that wait for one of the engine's actors."""
    drain_s: Annotated[float, Field(ge=0, le=120)] = 10.0
    """How long a stop waits for carriers' answers."""


class LogFormat(StrEnum):
    """The form of the log."""

    AUTO = "auto"
    JSON = "json"
    CONSOLE = "console"


class LogSection(Section):
    """The log on standard error. It never has codes, bodies or secrets, and only the last digits of
    phone numbers."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The lowest level that is written."""
    format: LogFormat = LogFormat.AUTO
    """``auto``: readable lines in a terminal, JSON elsewhere."""
    show_numbers: bool = False
    """Write whole phone numbers. Otherwise a line has their last four digits."""


class PluginsSection(Section):
    """Carriers and other parts that are not built in."""

    folder: Path | None = None
    """The folder whose Python files are loaded as plugins, unless every user of the machine may
    write to them, to this folder, its ``__pycache__``, or a folder above it that is not sticky."""
    disabled: tuple[str, ...] = ()
    """Names of installed plugins to leave out; ``risala plugins`` lists them."""
    load_s: Annotated[float, Field(gt=0, le=600)] = 10.0
    """How long a plugin that is not built in may take to load. Beyond it, the service starts
    without the plugin."""


class Settings(Section):
    """Everything; see :func:`risala.config.load.load_settings`."""

    service: ServiceSection = ServiceSection()
    """The service's name for itself."""
    http: HttpSection = HttpSection()
    """The API's and the dashboard's socket."""
    compat: CompatSection = CompatSection()
    """The HTTP of other gateways besides the API."""
    storage: StorageSection = StorageSection()
    """The data directory."""
    retention: RetentionSection = RetentionSection()
    """How long things are kept."""
    request_log: RequestLogSection = RequestLogSection()
    """The log of the API's requests."""
    numbers: NumbersSection = NumbersSection()
    """The countries that are served."""
    billing: BillingSection = BillingSection()
    """The side that pays for messages."""
    pricing: PricingSection = PricingSection()
    """The price of a message."""
    prices: tuple[PriceSection, ...] = ()
    """The prices of messages abroad."""
    limits: LimitsSection = LimitsSection()
    engine: EngineSection = EngineSection()
    """Limits of memory."""
    delivery: DeliverySection = DeliverySection()
    """How long a message is tried."""
    webhooks: WebhooksSection = WebhooksSection()
    """The delivery of events to customers' endpoints."""
    replies: RepliesSection = RepliesSection()
    """Automatic answers."""
    mail: MailSection = MailSection()
    """The server that takes e-mail."""
    people: PeopleSection = PeopleSection()
    """Sign-in to the dashboard."""
    legal: LegalSection = LegalSection()
    """The company that runs the service, by law."""
    payments: PaymentsSection = PaymentsSection()
    """How organizations top up."""
    senders: SendersSection = SendersSection()
    """Names that are marked for the operator."""
    alerts: AlertsSection = AlertsSection()
    """Alerts to operators."""
    sinks: SinksSection = SinksSection()
    """Plugins that get every event."""
    smpp_server: SmppServerSection = SmppServerSection()
    """The SMPP server for customers."""
    policies: PoliciesSection = PoliciesSection()
    """Plugins that may refuse messages."""
    standby: StandbySection = StandbySection()
    """A second machine that can take over."""
    log: LogSection = LogSection()
    """The log on standard error."""
    plugins: PluginsSection = PluginsSection()
    """Plugins."""
    mail_to_sms: tuple[MailToSmsSection, ...] = ()
    """Senders that may send messages by mail."""
    verify: VerifySection = VerifySection()
    """One-time codes."""
    channels: ChannelsSection = ChannelsSection()
    """Ways besides SMS by which codes leave."""
    carriers: tuple[CarrierSection, ...] = ()
    """The carriers, one table each."""

    _old_names: tuple[str, ...] = PrivateAttr(default=())

    @property
    def old_names(self) -> tuple[str, ...]:
        """Sentences on settings that were found by their names of before, for the log."""
        return self._old_names

    @model_validator(mode="before")
    @classmethod
    def _channels_are_carriers(cls, values: object) -> object:
        return with_channels(values) if isinstance(values, dict) else values

    @model_validator(mode="after")
    def _channels_have_own_names(self) -> Settings:
        names = [each.name for each in self.carriers]
        for name in self.channels.by_name:
            if names.count(name) > 1:
                raise ValueError(f"channels.{name} has the name of a carrier: choose another one")
        return self

    @model_validator(mode="after")
    def _sticky_has_a_choice(self) -> Settings:
        refuse_useless_sticky(self.carriers)
        return self

    @model_validator(mode="before")
    @classmethod
    def _carriers_of_the_countries(cls, values: object) -> object:
        """Fill in what a carrier's table leaves to the countries that are served."""
        match values:
            case {"numbers": {"countries": [*codes]}, "carriers": [*carriers]}:
                try:
                    prefixes = plan_of(tuple(map(str, codes))).prefixes
                except ValueError:
                    return values  # the section tells what is wrong with them
                filled_in = {"carriers": [_filled_in(each, prefixes) for each in carriers]}
                return {**cast("dict[str, object]", values), **filled_in}
        return values

    @property
    def plan(self) -> NumberingPlan:
        """The numbering plan of the countries that are served."""
        return plan_of(self.numbers.countries)

    @property
    def code_texts(self) -> CodeTexts:
        """The texts of codes by language."""
        return self.verify.texts


def _filled_in(carrier: object, prefixes: tuple[str, ...]) -> object:
    if not isinstance(carrier, dict):
        return carrier
    served = {} if carrier.get("networks") else {"prefixes": prefixes}
    return {**served, "national_prefix": prefixes[0], **carrier}
