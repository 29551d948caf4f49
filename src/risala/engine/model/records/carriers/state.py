"""Carriers as they stand now: their links, their numbers, and the settings in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import UNAUDITED, JsonName, Moment, SnakeCase

Fact = str | int | float | None
"""A driver's fact: each driver has its own."""


@dataclass(frozen=True, slots=True)
class CarrierCondition:
    """A code and values; the sentence is written elsewhere."""

    code: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One event of a link."""

    at: Moment
    text: str


@dataclass(frozen=True, slots=True)
class LastError:
    """The latest error: an answer of the carrier, or the link itself."""

    at: Moment
    code: str
    """A value of :class:`~risala.sms.cause.Cause`: each has a sentence in every language."""
    raw: str
    """The carrier's own code; empty if it gave none."""
    text: str
    """The driver's sentence, if it says more than the code."""


@dataclass(frozen=True, slots=True)
class CarrierSignal:
    dbm: Fact = None
    bars: int | None = None
    """0 to 4, as on phones."""


@dataclass(frozen=True, slots=True)
class CarrierNetwork:
    registration: Fact = None
    operator: Fact = None


@dataclass(frozen=True, slots=True)
class CarrierSim:
    number: Fact = None
    imsi: Fact = None
    iccid: Fact = None


@dataclass(frozen=True, slots=True)
class CarrierQuota:
    used: Fact = None
    limit: Fact = None


@dataclass(frozen=True, slots=True)
class CarrierQuotas:
    day: CarrierQuota = CarrierQuota()
    """The day's quota of segments."""
    month: CarrierQuota = CarrierQuota()
    """The month's quota of recipients."""


@dataclass(frozen=True, slots=True)
class SimBalance(SnakeCase):
    amount: Fact = None
    is_low: bool = False
    text: Fact = None


@dataclass(frozen=True, slots=True)
class ServedNumbers:
    prefixes: tuple[str, ...]
    networks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileValues(SnakeCase):
    """What the settings' file says."""

    rate_per_s: float
    weight: int


@dataclass(frozen=True, slots=True)
class OverrideInForce(SnakeCase):
    """What an operator has put over the settings' file. None: the file's own value applies."""

    rate_per_s: float | None
    weight: int | None
    at: Moment
    who: str | None
    """None: the user's account is deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStatistics(SnakeCase):
    """A worker's numbers for the operator."""

    name: str
    carrier: str
    """The name again."""
    driver: str
    state: str
    text: str
    receipts: bool = True
    """False if its messages get no delivery reports."""
    gate: str
    in_flight: int | None = None
    window_max: int = 0
    rate_per_s: float | None = None
    rate_max_per_s: float
    submitted: int = 0
    accepted: int = 0
    throttled: int = 0
    refused: int = 0
    uncertain: int = 0
    late: int = 0
    """Answers that came after their submit became uncertain."""
    receipts_taken: int = 0
    """The carrier's receipts since the start that are on disk, matched or not."""
    receipts_final: int = 0
    """The carrier's receipts since the start that say how a message ended."""
    answer_buckets: tuple[int, ...] = ()
    """Answers within each of :data:`~.latency.BUCKETS_S`; at the end all of them."""
    answer_sum_s: float = 0.0
    """The total time of all answers."""
    silent: int = 0
    """Submits without an answer long after their time."""
    breaker_open: bool = False
    details: dict[str, Fact] = field(default_factory=dict)
    trace: tuple[TraceLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Carrier(WorkerStatistics):
    """A carrier as it stands. Fields with a default have it where no service runs."""

    condition: CarrierCondition
    since: Moment | None = None
    signal: CarrierSignal = CarrierSignal()
    network: CarrierNetwork = CarrierNetwork()
    sim: CarrierSim = CarrierSim()
    quota: CarrierQuotas = CarrierQuotas()
    sim_balance: SimBalance = SimBalance()
    last_error: LastError | None = None
    breaker_until: Moment | None = None
    numbers: ServedNumbers
    priority: int
    weight: int
    file: FileValues
    override: OverrideInForce | None
    queue: int | None
    """None: the storage could not be asked."""
    queue_is_longer: bool
    oldest: Moment | None
    """When the oldest message was accepted that waits for it."""
    unmatched_receipts: int = 0


@dataclass(frozen=True, slots=True)
class Carriers:
    """All carriers with their health and numbers."""

    carriers: Annotated[tuple[Carrier, ...], UNAUDITED]


@dataclass(frozen=True, slots=True)
class OfferedCommand:
    """A command that a carrier's driver can be asked."""

    name: str
    summary: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class LatestReceipt:
    """A receipt that matched no message."""

    received_at: Annotated[Moment, JsonName("at")]
    carrier_id: Annotated[str, JsonName("id")]
    raw: Annotated[str, JsonName("says")]
    recipient: str | None
    why: str


@dataclass(frozen=True, slots=True)
class CarrierReceipts:
    """A carrier's receipts that match no message."""

    total: int
    waiting: int
    """Receipts that may still find their message."""
    latest: tuple[LatestReceipt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CarrierDetails(Carrier):
    """One carrier with all that is known of it."""

    commands: tuple[OfferedCommand, ...]
    unmatched: CarrierReceipts
    refunded_uncertain: int = 0
    """Messages that failed as uncertain here in the last 30 days. They were refunded, and each may
    have reached its phone."""


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What a carrier's driver answered."""

    carrier: Annotated[str, UNAUDITED]
    command: Annotated[str, UNAUDITED]
    answer: Annotated[Mapping[str, Any], UNAUDITED]


LIST: Final = Ask("carriers", Carriers)
SHOW: Final = Ask("carriers.show", CarrierDetails)
ASK: Final = Ask("carriers.ask", CommandAnswer)
PAUSE: Final = Ask("carriers.pause", Carriers)
RESUME: Final = Ask("carriers.resume", Carriers)
DRAIN: Final = Ask("carriers.drain", Carriers)
RECONNECT: Final = Ask("carriers.reconnect", Carriers)
OVERRIDE: Final = Ask("carriers.override", Carriers)
END_OVERRIDE: Final = Ask("carriers.end_override", Carriers)
