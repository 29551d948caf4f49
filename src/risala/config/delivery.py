"""Settings of sending: attempts at a message, and the carriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from risala.config.kinds import Name, NationalPrefix, Network, OwnNumber, Prefix, Section
from risala.sms.limits import VALIDITY_S
from risala.sms.numbering.countries import prefixes_of
from risala.sms.numbering.plan import DEFAULT


class OnUncertain(Section):
    """What to do with a submit whose answer never came, if nothing else settles it."""

    action: Literal["resend", "fail"]
    """``resend`` may deliver twice; ``fail`` refunds, and may have delivered."""
    after_s: Annotated[float, Field(ge=0, le=86400)]
    """How long to wait for a late answer, a receipt or a query first."""


class RetrySection(Section):
    """Waits between attempts after the carrier's temporary refusals."""

    first_wait_s: Annotated[float, Field(gt=0, le=3600)] = 5.0
    """The wait after the first refusal."""
    wait_max_s: Annotated[float, Field(gt=0, le=86400)] = 1800.0
    """The longest wait."""
    factor: Annotated[float, Field(ge=1, le=10)] = 3.0
    """Each wait is this many times the one before it."""
    attempts_max: Annotated[int, Field(ge=1, le=100)] = 12
    """The number of attempts after which a message has failed and is refunded."""


class DeliverySection(Section):
    """How long and how often a message is tried."""

    validity_s: Annotated[int, Field(ge=VALIDITY_S[0], le=VALIDITY_S[1])] = 172800
    """How long a message without ``validitySeconds`` is tried; then it has failed."""
    retry: RetrySection = RetrySection()
    """Waits between attempts."""
    breaker_failures: Annotated[int, Field(ge=1, le=1000)] = 10
    """The number of temporary refusals in a row that open a carrier's circuit breaker."""
    breaker_open_s: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """How long an open breaker keeps messages from a carrier before one is tried again."""
    uncertain_submits_max: Annotated[int, Field(ge=1, le=100)] = 3
    """The most submits of one segment without an answer: then the message has failed with
    `UNCERTAIN`, even with `resend`."""
    receipts_held_s: Annotated[float, Field(gt=0, le=86400)] = 600.0
    """How long a receipt that matches nothing is kept and tried again."""


class CarrierSection(BaseModel):
    """One ``[[carriers]]`` table. Its own sub-table (``[carriers.smpp]``) is kept raw."""

    model_config = ConfigDict(
        frozen=True, extra="allow", hide_input_in_errors=True, defer_build=True
    )

    is_channel: ClassVar[bool] = False
    """True: it is a channel of codes, with a route of its own and no numbers."""

    name: Name
    """The carrier's name in the timeline, which customers read too, the console and the commands;
    unique."""
    driver: Name
    """The plugin that serves it: ``smpp``, ``modem``, ``loopback`` or an installed one."""
    enabled: bool = True
    """False: the carrier is not used, and its table stays."""
    prefixes: tuple[Prefix, ...] = DEFAULT.prefixes
    """Prefixes of the numbers that it takes. Not set: the numbers of all countries that are served.
    If only ``networks`` is given, the networks alone decide."""
    networks: tuple[str, ...] = ()
    """Networks whose mobile numbers it takes, by the numbering plan: ``chinguitel``, ``mattel``,
    ``mauritel``; in other countries the country and the network to which the number was allotted,
    such as ``SN/Orange``. Fixed lines belong to no network."""
    receipt_group: Name | None = None
    """A word shared by all carriers whose receipts may come through each other. Carriers with the
    same driver, host and account are a group without it."""
    receives_only: bool = False
    """True: it only receives, such as a bank's confirmations of payments, and sends nothing."""
    national_prefix: NationalPrefix = DEFAULT.prefixes[0]
    """The country code of local numbers in inbound messages: numbers without it, or with ``00`` in
    place of ``+``, get it. Not set: home's. ``""``: they stay as they are written."""
    origin: Literal["network", "trusted", "untrusted"] | None = None
    """Whether the sender of a text or call that comes in by it is believed: `network` and `trusted`
    let it prove a number, `untrusted` never. Not set: `network` where the driver receives on a SIM
    of its own (`modem`, `phone`), else `untrusted`."""
    own_number: OwnNumber | None = None
    """The number that people write to or call to reach it, where its driver does not know it."""
    priority: Annotated[int, Field(ge=0, le=100)] = 0
    """Lower goes first; a higher number is used only while all lower ones are unhealthy."""
    weight: Annotated[int, Field(ge=1, le=1000)] = 1
    """The carrier's share among carriers of equal priority."""
    sticky: bool = False
    """True: a number that it served last, or that wrote to it last, stays with it, even where its
    turn or ``priority`` say otherwise. While it cannot send, the others take over."""
    rate_per_s: Annotated[float, Field(gt=0, le=100000)] = 100.0
    """The most segments that we send in a second."""
    window_max: Annotated[int, Field(ge=1, le=10000)] | None = None
    """The most unanswered submits at once; lowers the driver's own limit."""
    path: Name | None = None
    """The word of its address, ``/carriers/PATH/…``, if the carrier calls its driver; unique. Not
    set: its name."""
    allowed_addresses: tuple[Network, ...] = ()
    """The only IP addresses and networks that may call it; empty: any."""
    on_uncertain_code: OnUncertain = OnUncertain(action="resend", after_s=15)
    """If no answer came to a one-time code."""
    on_uncertain_message: OnUncertain = OnUncertain(action="fail", after_s=120)
    """If no answer came to any other message."""

    @model_validator(mode="before")
    @classmethod
    def _networks_stand_alone(cls, values: object) -> object:
        if isinstance(values, dict) and values.get("networks") and "prefixes" not in values:
            return {**values, "prefixes": ()}
        return values

    @property
    def address(self) -> str:
        """The word of its address: ``/carriers/WORD/…``."""
        return self.path or self.name

    @property
    def serves_numbers(self) -> bool:
        """False for the simulated carrier of test keys: no live message is routed to it."""
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


def refuse_useless_sticky(carriers: Sequence[CarrierSection]) -> None:
    """Refuse ``sticky`` where it keeps nobody on anything.

    Raises:
        ValueError: a carrier that has it sends nothing, or no other carrier, enabled or not, takes
            any of its numbers.
    """
    for carrier in carriers:
        if carrier.sticky and not carrier.sends:
            raise ValueError(
                f"carriers: {carrier.name} has sticky = true, which chooses the carrier that a"
                " message leaves by, but it sends no messages to numbers. Remove sticky from it."
            )
        others = (each for each in carriers if each is not carrier and each.sends)
        if carrier.sticky and not any(_share_numbers(carrier, each) for each in others):
            raise ValueError(
                f"carriers: {carrier.name} has sticky = true, which keeps each person on one of"
                " several carriers, but no other carrier takes its numbers. Remove sticky, or add"
                " the other carrier."
            )


def _share_numbers(one: CarrierSection, other: CarrierSection) -> bool:
    """Whether a number may be one that both take."""
    mine, theirs = _beginnings(one), _beginnings(other)
    return any(a.startswith(b) or b.startswith(a) for a in mine for b in theirs)


def _beginnings(carrier: CarrierSection) -> set[str]:
    by_network = (prefixes_of(network) for network in carrier.networks)
    return {*carrier.prefixes, *(each for prefixes in by_network for each in prefixes)}
