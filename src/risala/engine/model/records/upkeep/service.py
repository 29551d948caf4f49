"""The service and its machine: the answers of their operations, and the asks for them."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import JsonName, Moment
from risala.engine.model.records.figures import Deciding
from risala.engine.model.records.messages import Unserved
from risala.engine.model.records.upkeep.minutes import FailureShare, Flow, FlowAt
from risala.engine.model.records.webhooks import Behind


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
class ServiceOverview:
    """Figures of live messages; nothing in it has a number or a text."""

    at: Moment
    series: tuple[FlowAt, ...]
    last_minute: Flow
    last_hour: Flow
    last_hour_yesterday: Flow
    today: Flow
    yesterday: Annotated[Flow, JsonName("yesterdayByNow")]
    """Up to the same moment."""
    failures: tuple[FailureShare, ...]
    unserved: Unserved
    webhooks: Behind
    mails: MailsWaiting
    decide: Deciding
    machine: Machine


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


OVERVIEW: Final = Ask("console.overview", ServiceOverview)
SYSTEM: Final = Ask("system.show", SystemFacts)
