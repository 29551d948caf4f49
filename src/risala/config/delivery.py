"""Settings of the way out: how a message is tried, and the carriers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from risala.config.kinds import Name, NationalPrefix, Prefix, Section
from risala.sms.address import Network
from risala.sms.limits import VALIDITY_S


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

    validity_s: Annotated[int, Field(ge=VALIDITY_S[0], le=VALIDITY_S[1])] = 172800
    """Life of a message whose sender does not say ``validitySeconds``; then it has failed."""
    retry: RetrySection = RetrySection()
    """Waits between attempts."""
    breaker_failures: Annotated[int, Field(ge=1, le=1000)] = 10
    """Refusals for now, one after another, that open a carrier's circuit breaker."""
    breaker_open_s: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """How long an open breaker keeps messages from a carrier before one tries again."""
    uncertain_submits_max: Annotated[int, Field(ge=1, le=100)] = 3
    """Submits of one segment whose answers never came, at most: then the message has failed with
    `UNCERTAIN`, though `resend` is set."""
    receipts_held_s: Annotated[float, Field(gt=0, le=86400)] = 600.0
    """How long a receipt that matches nothing is kept and tried again."""


class CarrierSection(BaseModel):
    """One ``[[carriers]]`` table. Its own sub-table (``[carriers.smpp]``) is kept raw."""

    model_config = ConfigDict(
        frozen=True, extra="allow", hide_input_in_errors=True, defer_build=True
    )

    name: Name
    """What the carrier is called in the timeline, the console and the commands; unique."""
    driver: Name
    """The plugin that serves it: ``smpp``, ``modem``, ``loopback`` or an installed one."""
    enabled: bool = True
    """False keeps the table and sends nothing that way."""
    prefixes: tuple[Prefix, ...] = ("+222",)
    """Beginnings of the numbers that it takes. Where ``networks`` is given and ``prefixes`` is not,
    the networks alone decide."""
    networks: tuple[Network, ...] = ()
    """Networks whose mobile numbers it takes, by the national plan: ``chinguitel`` (``+2222``),
    ``mattel`` (``+2223``), ``mauritel`` (``+2224``), each without its fixed lines (second digit
    5)."""
    receipt_group: Name | None = None
    """A word that carriers have in common whose receipts may come through each other. Those with
    the same driver, host and account are one group without it."""
    receives_only: bool = False
    """True: nothing is sent that way, only what comes in is used, such as a bank's confirmations
    of payments."""
    national_prefix: NationalPrefix = "+222"
    """Where numbers in messages that come in belong if they are written as at home: `22236…`,
    `0022236…` and `36…` become `+22236…`. `""`: they stay as they are written."""
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

    @model_validator(mode="before")
    @classmethod
    def _networks_stand_alone(cls, values: object) -> object:
        if isinstance(values, dict) and values.get("networks") and "prefixes" not in values:
            return {**values, "prefixes": ()}
        return values

    @property
    def serves_numbers(self) -> bool:
        """False for the carrier that plays for test keys: no live message is routed to it."""
        return bool(self.prefixes or self.networks)

    @property
    def sends(self) -> bool:
        """Whether live messages may be routed to it."""
        return self.serves_numbers and not self.receives_only

    @property
    def settings(self) -> dict[str, Any]:
        """The raw table of this carrier's driver."""
        table = (self.__pydantic_extra__ or {}).get(self.driver, {})
        return dict(table) if isinstance(table, dict) else {}
