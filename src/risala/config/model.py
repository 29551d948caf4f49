"""The settings of one Risala, frozen, with units in their names.

Every field is a line of ``risala.toml`` and an environment variable: ``http.port`` is
``RISALA_HTTP__PORT``. The text below a field is its meaning in the file that ``risala init``
writes and in the reference; ``words`` tells what a pattern wants. A carrier's own table stays raw
here; the plugin that serves it validates it
(:meth:`risala.plugins.manager.PluginManager.build_driver`).
"""

from __future__ import annotations

from enum import StrEnum
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from risala.sms.address import sender_fault


def _as_sender(text: str) -> str:
    if fault := sender_fault(text):
        raise ValueError(fault)
    return text


UpperSender = Annotated[
    str,
    Field(
        pattern=r"^[A-Z0-9 ]+$",
        json_schema_extra={"words": "1 to 11 upper-case letters, digits and spaces"},
    ),
    AfterValidator(_as_sender),
]
Money = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{1,12}(\.[0-9]{1,2})?$",
        json_schema_extra={"words": 'an amount in quotes, such as "0.50"'},
    ),
]
Prefix = Annotated[
    str,
    Field(
        pattern=r"^\+222[0-9]{0,8}$",
        json_schema_extra={"words": 'the beginning of a number in quotes, such as "+2223"'},
    ),
]
Name = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$",
        json_schema_extra={
            "words": 'a name of lower-case letters, digits, "-" and "_", at most 40 characters'
        },
    ),
]
Currency = Annotated[
    str,
    Field(
        pattern=r"^[A-Z]{3}$",
        json_schema_extra={"words": 'three upper-case letters in quotes, such as "MRU"'},
    ),
]


def _as_network(text: str) -> str:
    try:
        ip_network(text, strict=False)
    except ValueError:
        raise ValueError("is no address or network, such as 10.0.0.2 or 10.0.0.0/24") from None
    return text


Network = Annotated[
    str,
    Field(
        json_schema_extra={
            "words": 'an address or a network in quotes, such as "127.0.0.1" or "10.0.0.0/24"'
        }
    ),
    AfterValidator(_as_network),
]


class Section(BaseModel):
    """One table of the file: unknown keys are faults, values never change at run time."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True
    )


class ServiceSection(Section):
    """What the service calls itself."""

    default_sender: UpperSender = "RISALA"
    """Sender when ``from`` is omitted or awaits approval."""
    currency: Currency = "MRU"
    """ISO 4217 code of all prices and balances."""


class MetricsSection(Section):
    """``/metrics`` for Prometheus: at the main address for this machine alone, or elsewhere."""

    enabled: bool = True
    """False: there is no ``/metrics``."""
    host: str | None = None
    """An address of its own to serve it on, to everybody who reaches that; behind a reverse
    proxy on this machine too. Not set: on the main address, to clients on this machine."""
    port: Annotated[int, Field(ge=0, le=65535)] = 9464
    """The port at ``host``; 0 takes a free one and prints it."""


class HttpSection(Section):
    """Where the API and the dashboard listen, and how patient they are."""

    host: str = "127.0.0.1"
    """Address to listen on; ``0.0.0.0`` is every IPv4 address of the machine."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    """0 takes a free port and prints it."""
    body_max_bytes: Annotated[int, Field(ge=1024, le=16 * 1024 * 1024)] = 64 * 1024
    """Largest request body; a batch has a limit of its own. A larger one is answered 413."""
    batch_body_max_bytes: Annotated[int, Field(ge=1024, le=64 * 1024 * 1024)] = 8 * 1024 * 1024
    """Largest body of ``POST /api/sms/batch``."""
    batches_read_max: Annotated[int, Field(ge=1, le=1000)] = 8
    """Bodies of batches being read at one moment, which bounds the memory that they take;
    beyond it 503."""
    body_timeout_s: Annotated[float, Field(gt=0, le=300)] = 15.0
    """Time that a request's body may take to arrive; beyond it 408."""
    keep_alive_s: Annotated[float, Field(gt=0, le=600)] = 75.0
    """How long a connection may stay open without a request."""
    connections_max: Annotated[int, Field(ge=16, le=1_000_000)] = 10_000
    """Connections at once; beyond it the longest idle is closed, or the new one answered 503."""
    graceful_stop_s: Annotated[float, Field(ge=0, le=120)] = 10.0
    """How long a stop waits for requests under way."""
    metrics: MetricsSection = MetricsSection()
    """Numbers for Prometheus."""
    trusted_proxies: tuple[Network, ...] = ()
    """Reverse proxies whose ``X-Forwarded-For`` tells the client's address. From anybody else
    the header is ignored."""


class StorageSection(Section):
    """The data directory and the queue before the disk."""

    data_dir: Path = Path("risala-data")
    """Everything that lasts: database, server key, control socket. ``RISALA_DATA`` sets it too."""
    commit_units_max: Annotated[int, Field(ge=1, le=4096)] = 512
    """Units of work that share one disk sync, at most."""
    queue_units_max: Annotated[int, Field(ge=16, le=65536)] = 4096
    """Units that may wait for the writer; beyond it sends are answered 503."""


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
    """The same in any hour."""
    verify_ip_checks_per_minute: Annotated[int, Field(ge=1, le=10_000)] = 120
    """Codes that may be checked with publishable keys from one address in any minute."""


class EngineSection(Section):
    """Limits of what is held in memory."""

    intake_max: Annotated[int, Field(ge=1, le=100000)] = 5000
    """Messages being accepted at one moment, those of batches included; beyond it 503."""
    buffer_rows_max: Annotated[int, Field(ge=8, le=4096)] = 64
    """Queued messages that the scheduler holds in memory for each route."""
    mailbox_max: Annotated[int, Field(ge=16, le=65536)] = 1024
    """Messages that may wait for one of the engine's actors."""
    drain_s: Annotated[float, Field(ge=0, le=120)] = 10.0
    """How long a stop waits for carriers' answers."""


class OnUncertain(Section):
    """What to do with a submit whose answer never came, when nothing else settles it."""

    action: Literal["resend", "fail"]
    """``resend`` may deliver twice; ``fail`` refunds, and may have delivered."""
    after_s: Annotated[float, Field(ge=0, le=86400)]
    """How long to wait for a late answer, a receipt or a query first."""


class RetrySection(Section):
    """Waits between attempts that the carrier refused for now."""

    first_wait_s: Annotated[float, Field(gt=0, le=3600)] = 5.0
    """Wait after the first refusal."""
    wait_max_s: Annotated[float, Field(gt=0, le=86400)] = 1800.0
    """No wait is longer."""
    factor: Annotated[float, Field(ge=1, le=10)] = 3.0
    """Each wait is this many times the one before it."""
    attempts_max: Annotated[int, Field(ge=1, le=100)] = 12
    """Attempts after which the message has failed and is refunded."""


class DeliverySection(Section):
    """How long and how stubbornly a message is tried."""

    validity_s: Annotated[int, Field(ge=60, le=259200)] = 172800
    """Life of a message whose sender does not say ``validitySeconds``; then it has failed."""
    retry: RetrySection = RetrySection()
    """Waits between attempts."""
    breaker_failures: Annotated[int, Field(ge=1, le=1000)] = 10
    """Refusals for now, one after another, that open a carrier's circuit breaker."""
    breaker_open_s: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """How long an open breaker keeps messages from a carrier before one tries again."""
    receipts_held_s: Annotated[float, Field(gt=0, le=86400)] = 600.0
    """How long a receipt that matches nothing is kept and tried again."""


class WebhooksSection(Section):
    """Where events are delivered to, and how many at once."""

    allow_insecure: bool = False
    """Allow ``http://``, any port and this machine itself, to try things; on in the demo."""
    ports: tuple[Annotated[int, Field(ge=1, le=65535)], ...] = (443, 8443)
    """Ports that an endpoint's URL may name."""
    allow_networks: tuple[Network, ...] = ()
    """Private networks that may be reached nevertheless, such as ``"10.1.0.0/16"``: any customer
    may then make requests to whatever listens there."""
    attempts_max: Annotated[int, Field(ge=4, le=1000)] = 96
    """Deliveries under way at once; a third of them is for endpoints that are slow or failing."""
    attempts_per_endpoint_max: Annotated[int, Field(ge=1, le=100)] = 8
    """Deliveries to one endpoint at once."""


class MailSection(Section):
    """The server that takes e-mail; without it what would be mailed is logged and shown."""

    host: str | None = None
    """Not set: no e-mail is sent."""
    port: Annotated[int, Field(ge=1, le=65535)] = 587
    """Usually 587 with ``starttls``, 465 with ``tls``."""
    security: Literal["starttls", "tls", "none"] = "starttls"
    """How the connection is encrypted; ``none`` sends a password in the clear."""
    user: str | None = None
    """Not set: no log-in."""
    password_env: str | None = None
    """Name of the environment variable that holds the password."""
    sender: str = "risala@localhost"
    """The address that mails are from."""
    operator: str | None = None
    """Told what concerns an organization of which no address is known."""


class LogFormat(StrEnum):
    AUTO = "auto"
    JSON = "json"
    CONSOLE = "console"


class LogSection(Section):
    """What is written to standard error. Never a code, a body or a secret."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least important line that is written."""
    format: LogFormat = LogFormat.AUTO
    """``auto``: readable lines in a terminal, JSON elsewhere."""


class PluginsSection(Section):
    """Carriers and other parts that are not built in."""

    folder: Path | None = None
    """Python files here are loaded as plugins."""
    disabled: tuple[str, ...] = ()
    """Names of installed plugins to leave out; ``risala plugins`` lists them."""


class CarrierSection(BaseModel):
    """One ``[[carriers]]`` table. Its own sub-table (``[carriers.smpp]``) is kept raw."""

    model_config = ConfigDict(
        frozen=True, extra="allow", hide_input_in_errors=True, use_attribute_docstrings=True
    )

    name: Name
    """What the carrier is called in the timeline, the console and the commands; unique."""
    driver: Name
    """The plugin that serves it: ``smpp``, ``modem``, ``loopback`` or an installed one."""
    enabled: bool = True
    """False keeps the table and sends nothing that way."""
    prefixes: tuple[Prefix, ...] = ("+222",)
    """Beginnings of the numbers that it takes."""
    priority: Annotated[int, Field(ge=0, le=100)] = 0
    """Lower goes first; a higher number serves only while all lower ones are unhealthy."""
    weight: Annotated[int, Field(ge=1, le=1000)] = 1
    """Share among carriers of equal priority."""
    rate_per_s: Annotated[float, Field(gt=0, le=100000)] = 100.0
    """Segments a second that we let through, at most."""
    window_max: Annotated[int, Field(ge=1, le=10000)] | None = None
    """Submits unanswered at once; lowers the driver's own limit."""
    on_uncertain_code: OnUncertain = OnUncertain(action="resend", after_s=15)
    """When no answer came to a one-time code."""
    on_uncertain_message: OnUncertain = OnUncertain(action="fail", after_s=120)
    """When no answer came to any other message."""

    @property
    def settings(self) -> dict[str, Any]:
        """The raw table of this carrier's driver."""
        table = (self.__pydantic_extra__ or {}).get(self.driver, {})
        return dict(table) if isinstance(table, dict) else {}


class Settings(Section):
    """Everything; see :func:`risala.config.load.load_settings`."""

    service: ServiceSection = ServiceSection()
    """What the service calls itself."""
    http: HttpSection = HttpSection()
    """The API's and the dashboard's socket."""
    storage: StorageSection = StorageSection()
    """The data directory."""
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
    log: LogSection = LogSection()
    """What is written to standard error."""
    plugins: PluginsSection = PluginsSection()
    """What is not built in."""
    carriers: tuple[CarrierSection, ...] = ()
    """The ways out, one table each."""
