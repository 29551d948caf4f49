"""The settings of one Risala, frozen, with units in their names.

Every field is a line of ``risala.toml`` and an environment variable: ``http.port`` is
``RISALA_HTTP__PORT``. A carrier's own table stays raw here; the plugin that serves it validates it
(:meth:`risala.plugins.manager.PluginManager.build_driver`).
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from risala.sms.address import sender_fault


def _as_sender(text: str) -> str:
    if fault := sender_fault(text):
        raise ValueError(fault)
    return text


UpperSender = Annotated[str, Field(pattern=r"^[A-Z0-9 ]+$"), AfterValidator(_as_sender)]
Money = Annotated[str, Field(pattern=r"^[0-9]{1,12}(\.[0-9]{1,2})?$")]
Prefix = Annotated[str, Field(pattern=r"^\+222[0-9]{0,8}$")]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]


class Section(BaseModel):
    """One table of the file: unknown keys are faults, values never change at run time."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ServiceSection(Section):
    default_sender: UpperSender = "RISALA"
    """Sender when ``from`` is omitted or awaits approval; 1 to 11 upper-case characters."""
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "MRU"


class HttpSection(Section):
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    """0 takes a free port and prints it."""
    body_max_bytes: Annotated[int, Field(ge=1024, le=16 * 1024 * 1024)] = 64 * 1024
    body_timeout_s: Annotated[float, Field(gt=0, le=300)] = 15.0
    keep_alive_s: Annotated[float, Field(gt=0, le=600)] = 75.0
    graceful_stop_s: Annotated[float, Field(ge=0, le=120)] = 10.0


class StorageSection(Section):
    data_dir: Path = Path("risala-data")
    commit_units_max: Annotated[int, Field(ge=1, le=4096)] = 512
    """Units of work that share one disk sync, at most."""
    queue_units_max: Annotated[int, Field(ge=16, le=65536)] = 4096
    """Units that may wait for the writer; beyond it sends are answered 503."""


class PricingSection(Section):
    per_segment: Money = "0.50"
    """Price of one segment in ``service.currency``; an organization may have its own."""


class EngineSection(Section):
    intake_max: Annotated[int, Field(ge=1, le=10000)] = 1000
    """Sends being accepted at one moment; beyond it 503."""
    buffer_rows_max: Annotated[int, Field(ge=8, le=4096)] = 64
    """Queued messages that the scheduler holds in memory for each route."""
    mailbox_max: Annotated[int, Field(ge=16, le=65536)] = 1024
    drain_s: Annotated[float, Field(ge=0, le=120)] = 10.0
    """How long a stop waits for carriers' answers."""


class OnUncertain(Section):
    """What to do with a submit whose answer never came, when nothing else settles it."""

    action: Literal["resend", "fail"]
    after_s: Annotated[float, Field(ge=0, le=86400)]


class RetrySection(Section):
    """Waits between attempts that the carrier refused for now."""

    first_wait_s: Annotated[float, Field(gt=0, le=3600)] = 5.0
    wait_max_s: Annotated[float, Field(gt=0, le=86400)] = 1800.0
    factor: Annotated[float, Field(ge=1, le=10)] = 3.0
    attempts_max: Annotated[int, Field(ge=1, le=100)] = 12


class DeliverySection(Section):
    validity_s: Annotated[int, Field(ge=60, le=259200)] = 172800
    retry: RetrySection = RetrySection()
    breaker_failures: Annotated[int, Field(ge=1, le=1000)] = 10
    """Refusals for now, one after another, that open a carrier's circuit breaker."""
    breaker_open_s: Annotated[float, Field(gt=0, le=3600)] = 30.0
    receipts_held_s: Annotated[float, Field(gt=0, le=86400)] = 600.0
    """How long a receipt that matches nothing is kept and tried again."""


class LogFormat(StrEnum):
    AUTO = "auto"
    JSON = "json"
    CONSOLE = "console"


class LogSection(Section):
    level: Literal["debug", "info", "warning", "error"] = "info"
    format: LogFormat = LogFormat.AUTO
    """``auto``: readable lines in a terminal, JSON elsewhere."""


class PluginsSection(Section):
    folder: Path | None = None
    """Python files here are loaded as plugins."""
    disabled: tuple[str, ...] = ()


class CarrierSection(BaseModel):
    """One ``[[carriers]]`` table. Its own sub-table (``[carriers.smpp]``) is kept raw."""

    model_config = ConfigDict(frozen=True, extra="allow", hide_input_in_errors=True)

    name: Name
    driver: Name
    enabled: bool = True
    prefixes: tuple[Prefix, ...] = ("+222",)
    priority: Annotated[int, Field(ge=0, le=100)] = 0
    """Lower goes first; a higher number serves only while all lower ones are unhealthy."""
    weight: Annotated[int, Field(ge=1, le=1000)] = 1
    """Share among carriers of equal priority."""
    rate_per_s: Annotated[float, Field(gt=0, le=100000)] = 100.0
    """Segments a second that we let through, at most."""
    window_max: Annotated[int, Field(ge=1, le=10000)] | None = None
    """Submits unanswered at once; lowers the driver's own limit."""
    on_uncertain_code: OnUncertain = OnUncertain(action="resend", after_s=15)
    on_uncertain_message: OnUncertain = OnUncertain(action="fail", after_s=120)

    @property
    def settings(self) -> dict[str, Any]:
        """The raw table of this carrier's driver."""
        table = (self.__pydantic_extra__ or {}).get(self.driver, {})
        return dict(table) if isinstance(table, dict) else {}


class Settings(Section):
    """Everything; see :func:`risala.config.load.load_settings`."""

    service: ServiceSection = ServiceSection()
    http: HttpSection = HttpSection()
    storage: StorageSection = StorageSection()
    pricing: PricingSection = PricingSection()
    engine: EngineSection = EngineSection()
    delivery: DeliverySection = DeliverySection()
    log: LogSection = LogSection()
    plugins: PluginsSection = PluginsSection()
    carriers: tuple[CarrierSection, ...] = ()
