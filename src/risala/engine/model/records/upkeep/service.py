"""The service and its machine: the answers of their operations, and the asks for them."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, Final

from risala.dataclass import dataclass
from risala.engine.model.cause_sentences import cause_text
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import JsonName, Moment

# What happened to live messages, by the minute, and why some failed.

MINUTE_MS: Final = 60_000
HOUR_MINUTES: Final = 60
KEPT_FAILURE_HOURS: Final = 30 * 24
"""How long the causes of failures are counted: what is rare shows only over weeks."""
DAY_MINUTES: Final = 24 * HOUR_MINUTES


@dataclass(frozen=True, slots=True)
class Flow:
    """What happened to live messages within a period."""

    accepted: int = 0
    delivered: int = 0
    undelivered: int = 0
    failed: int = 0
    canceled: int = 0


@dataclass(frozen=True, slots=True)
class FlowAt:
    """What happened to live messages within the period that begins at a time."""

    at: Moment
    accepted: int
    delivered: int
    undelivered: int
    failed: int
    canceled: int


@dataclass(frozen=True, slots=True)
class FailureShare:
    """How many live messages failed to arrive for one reason."""

    cause: str
    """A value of :class:`risala.sms.cause.Cause`."""
    text: str | None = field(init=False)
    """The cause's sentence."""
    carrier: str | None
    """None: no carrier was asked."""
    word: Annotated[str | None, JsonName("carrierCode")]
    """The carrier's own code; None: it gave none, or there are too many."""
    messages: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", cause_text(self.cause))


DECIDING_MAX: Final = 100
"""The limit of each count for an operator: a page shows "99+", and counting stays cheap."""


@dataclass(frozen=True, slots=True)
class Deciding:
    """How much waits; :data:`DECIDING_MAX` stands for that many or more."""

    senders: int
    """Requests that are neither cleared nor denied."""
    payments: int = 0
    """Payments that their customers reported as paid, and that an operator settles."""
    approvals: int = 0
    """What an operator asked for, and another one confirms."""


@dataclass(frozen=True, slots=True)
class MailsWaiting:
    """What is owed of mails."""

    waiting: int
    """Owed; counted up to a thousand."""
    failing: int
    """Mails that the mailer refused at least once."""
    oldest: Annotated[Moment | None, JsonName("oldestAt")]


@dataclass(frozen=True, slots=True)
class BackupNote:
    at: Moment
    """When the copy was begun: later data is not in it."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Machine:
    """The disk and the service's files on it, in bytes; None: unknown."""

    disk_free_bytes: int | None
    disk_total_bytes: int | None
    database_bytes: int | None
    wal_bytes: int | None
    request_log_bytes: int | None
    backup: BackupNote | None
    """The last that was made here."""


@dataclass(frozen=True, slots=True)
class ClockState:
    ok: bool
    text: str


@dataclass(frozen=True, slots=True)
class FoundPlugin:
    name: str
    source: str
    brings: tuple[str, ...]
    disabled: bool
    fault: str | None


@dataclass(frozen=True, slots=True)
class StandbyFacts:
    """The second machine's copy, and who may send; None: unknown."""

    store: str
    """``directory`` or ``postgresql``."""
    mode: str
    """When the copy gets what was written: ``async``, or ``before_answer``."""
    lag_s: float | None
    """How long ago the copy had everything."""
    room_bytes: int | None
    """What the copy takes there."""
    epoch: int | None
    """The number of the lease."""
    holder: str | None
    """The machine that has it."""
    fault: str | None
    """Why something reaches the store no more, or nothing is known of it."""


@dataclass(frozen=True, slots=True)
class SystemFacts:
    version: str
    python: str
    sqlite: str
    schema: str
    """The newest migration of the tables."""
    pid: int
    started_at: Moment
    uptime_s: int
    now: Moment
    settings_file: str | None
    """None: the service runs on defaults, environment and flags."""
    data_dir: str
    disk_free_bytes: int | None
    disk_total_bytes: int | None
    database_bytes: int | None
    wal_bytes: int | None
    request_log_bytes: int | None
    backup: BackupNote | None
    last_upkeep_at: Moment | None
    """When everything that is too old was last looked through."""
    clock: ClockState
    plugins: tuple[FoundPlugin, ...]
    standby: StandbyFacts | None = None
    """None: there is no second machine."""


WAITING: Final = Ask("console.waiting", Deciding)
SYSTEM: Final = Ask("system.show", SystemFacts)


# The progress of migrating an older version's database.

_MINUTE_S: Final = 60
_HOUR_S: Final = 3600


@dataclass(frozen=True, slots=True)
class Upgrading:
    """A step of the migration, and its progress."""

    step: str
    """The present action: ``copying``, ``moving rows`` …"""
    done: int
    total: int
    """The total of the step; 0: not known."""
    left_s: int | None
    """Seconds until the step is done, by its pace so far; None: not known yet."""

    @property
    def sentence(self) -> str:
        words = [self.step]
        if self.total:
            words.append(f"{100 * self.done // self.total} %")
        if self.left_s is not None:
            words.append(_left(self.left_s))
        return f"The database is being upgraded to this version: {', '.join(words)}."

    def wire(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "done": self.done,
            "total": self.total,
            "secondsLeft": self.left_s,
        }


def _left(left_s: int) -> str:
    if left_s < _MINUTE_S:
        return "less than a minute left"
    unit, size = ("hour", _HOUR_S) if left_s >= _HOUR_S else ("minute", _MINUTE_S)
    count = -(-left_s // size)
    return f"about {count} {unit}{'' if count == 1 else 's'} left"


# The clients bound to the SMPP server.


@dataclass(frozen=True, slots=True)
class EsmeView:
    """One bound session."""

    system_id: str
    credential_id: str
    organization_id: str
    mode: str
    kind: str
    """``transmitter``, ``receiver`` or ``transceiver``."""
    version: str
    """The version that the customer's software announces: ``3.4``."""
    peer: Annotated[str | None, JsonName("address")]
    is_tls: Annotated[bool, JsonName("tls")]
    since: Moment
    accepted: int
    """Submits that became messages."""
    refused: int
    """Submits that did not."""
    delivered: int
    """Receipts and texts that it accepted."""


@dataclass(frozen=True, slots=True)
class BoundEsmes:
    """The bound sessions, the longest bound first."""

    is_open: Annotated[bool, JsonName("open")]
    """Whether anybody could bind: the server runs."""
    sessions: tuple[EsmeView, ...]


SESSIONS: Final = Ask("smpp.sessions", BoundEsmes)
