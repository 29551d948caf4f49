"""Mailings: a message to each row of a table. The answers of their operations, and the asks for
faces."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.features.tables.records import NAME_MAX, Chosen, RowFault
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import (
    AUDITED,
    N_,
    UNAUDITED,
    Count,
    Hint,
    JsonName,
    Label,
    Maximum,
    Moment,
    Money,
)
from risala.engine.model.states import Mode
from risala.sms.limits import TEXT_CHARACTERS_MAX

PACE_MAX: Final = 60_000
"""Messages a minute."""
FROM_HOUR: Final = 8
TO_HOUR: Final = 20
"""The usual hours in which a mailing sends, in the organization's time zone."""


class MailingState(StrEnum):
    CHECKING = "checking"
    """The mailing's rows are being stored and checked."""
    DRAFT = "draft"
    """Each row is checked; nothing is sent before somebody starts it."""
    SENDING = "sending"
    PAUSED = "paused"
    STOPPED = "stopped"
    """Somebody ended it; the rows that were left are never sent."""
    DONE = "done"
    """Each ready row has become a message, or was refused."""


class MailingWait(StrEnum):
    """What a mailing that sends waits for."""

    SEND_AT = "send_at"
    HOURS = "hours"
    BALANCE = "balance"
    SPEND_CAP = "spend_cap"
    LIMIT = "limit"
    """The organization's limit of messages a second."""
    QUEUE = "queue"
    """The mailing has so many messages waiting for a carrier that no more are made."""
    SUSPENDED = "suspended"
    SENDER = "sender"
    """The mailing's sender is no longer allowed."""
    POLICY = "policy"
    """A policy of the operator fails."""
    SERVICE = "service"
    """The service accepts no messages for the moment."""


class RowState(StrEnum):
    READY = "ready"
    BAD = "bad"
    LEFT_OUT = "left_out"
    ACCEPTED = "accepted"
    """The row has become a message."""
    REFUSED = "refused"
    """The row was ready, and the message was refused."""


class MailingSource(StrEnum):
    FILE = "file"
    NUMBERS = "numbers"
    """Pasted lines."""
    LIST = "list"
    AGAIN = "again"
    """The failed rows of another mailing."""


@dataclass(frozen=True, slots=True)
class Mailing:
    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    mode: Annotated[Mode, AUDITED]
    name: Annotated[str, AUDITED, Label(N_("Name")), Maximum(NAME_MAX)]
    state: Annotated[MailingState, AUDITED]
    source: Annotated[MailingSource, AUDITED]
    text: Annotated[
        str,
        UNAUDITED,
        Label(N_("Text")),
        Hint(N_("{{name}} stands for what the column “name” has for each person.")),
        Maximum(TEXT_CHARACTERS_MAX),
    ]
    """The message's text, with ``{{column}}`` where each person has a value of their own."""
    sender: Annotated[str | None, AUDITED, JsonName("from"), Label(N_("Sender"))]
    """None: the service's own sender."""
    encoding: Annotated[str | None, UNAUDITED]
    separator: Annotated[str | None, UNAUDITED]
    sheet: Annotated[str | None, UNAUDITED]
    sheets: Annotated[tuple[str, ...], UNAUDITED]
    has_header: Annotated[bool, UNAUDITED]
    columns: Annotated[tuple[str, ...], UNAUDITED]
    number_column: Annotated[int, UNAUDITED]
    hidden_rows: Annotated[Count, UNAUDITED]
    hidden_columns: Annotated[Count, UNAUDITED]
    with_hidden: Annotated[bool, UNAUDITED]
    """What the sheet hides, as :class:`Recognised` has it."""
    pace: Annotated[int | None, AUDITED, Label(N_("Messages a minute"))]
    """None: as fast as the carriers take them."""
    from_hour: Annotated[int, AUDITED]
    to_hour: Annotated[int, AUDITED]
    """The hours of the organization's day between which the mailing sends: 8 and 20; 0 and 24 is
    all day."""
    send_at: Annotated[Moment | None, AUDITED]
    """Nothing is sent before."""
    created_at: Annotated[Moment, UNAUDITED]
    created_by: Annotated[str, UNAUDITED]
    started_at: Annotated[Moment | None, UNAUDITED]
    ended_at: Annotated[Moment | None, UNAUDITED]
    wait: Annotated[MailingWait | None, UNAUDITED]
    again_at: Annotated[Moment | None, UNAUDITED]
    """When it looks again, where it waits; None: when something happens."""
    rows: Annotated[Count, AUDITED]
    """All rows of the table."""
    ready: Annotated[Count, UNAUDITED]
    bad: Annotated[Count, UNAUDITED]
    left_out: Annotated[Count, UNAUDITED]
    accepted: Annotated[Count, UNAUDITED]
    refused: Annotated[Count, UNAUDITED]
    segments: Annotated[Count, UNAUDITED]
    """Segments of all rows that are ready or accepted."""
    price: Annotated[Money, UNAUDITED]
    """The price of all rows that are ready or accepted; of the accepted ones it is what was
    charged."""
    keeps_rows: Annotated[bool, UNAUDITED]
    """False: retention has deleted its rows and its file."""


SETTINGS: Final = ("name", "text", "sender", "pace", "from_hour", "to_hour", "send_at")
"""What can be changed without reading the file again, but for the text, by which each row is
checked again."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What became of a mailing's messages."""

    pending: Count
    sent: Count
    delivered: Count
    failed: Count
    """Failed, undelivered or canceled."""


@dataclass(frozen=True, slots=True)
class CarrierShare:
    """A part of a mailing by its route."""

    carriers: tuple[str, ...]
    messages: Count
    seconds: int | None
    """How long it takes with nothing else to send, by the carriers' pace; None: the carriers have
    none."""


@dataclass(frozen=True, slots=True)
class RunPoint:
    """How far a mailing's messages were at a time."""

    at: Moment
    made: Count
    sent: Count
    """Messages that left, also those that were delivered."""
    delivered: Count


@dataclass(frozen=True, slots=True)
class MailingView:
    """A mailing as its page shows it."""

    mailing: Mailing
    outcomes: Outcomes
    balance: Money
    """The organization's, now."""
    shares: tuple[CarrierShare, ...]
    """Through which carriers the ready rows go."""
    seconds: int | None
    """How long the ready rows take in all, by pace and carriers, without the hours of the night;
    None: unknown."""
    run: tuple[RunPoint, ...] = ()
    """How it went from its first message on, as far as its messages are kept."""


@dataclass(frozen=True, slots=True)
class Mailings:
    """A page of an organization's mailings, the newest first."""

    mailings: tuple[Mailing, ...]
    older: str | None
    """The mailing that the next page begins at; None: this is the last page."""


@dataclass(frozen=True, slots=True)
class MailingRow:
    row: int
    """The row's number, as the file counts its rows, from 1."""
    number: str | None
    """None: its cell is no phone number."""
    cells: tuple[str, ...]
    state: RowState
    fault: RowFault | None
    column: str | None
    """The column that the fault is about."""
    segments: Count
    price: Money
    message_id: str | None
    status: str | None
    """The status of the row's message."""
    country: str | None = None
    """The country of the number, if that country is not served: its ISO 3166-1 letters."""
    same_as: int | None = None
    """The first row with the same number, which gets the message in place of this one."""


@dataclass(frozen=True, slots=True)
class MailingRows:
    columns: tuple[str, ...]
    number_column: int
    rows: tuple[MailingRow, ...]
    after: int | None
    """The last row of this page, where the next one begins; None: this is the last page."""


@dataclass(frozen=True, slots=True)
class Person:
    """One row with the text that its person gets."""

    row: MailingRow
    text: str
    characters: Count
    encoding: str
    """``gsm7`` or ``ucs2``."""
    place: Count
    """The place among the rows that are ready or accepted, from 1; 0: it is none of them."""


@dataclass(frozen=True, slots=True)
class ReportPart:
    """Some rows of a mailing's report, in their order."""

    columns: tuple[str, ...]
    rows: tuple[MailingRow, ...]
    after: int | None
    """The last row of this part, where the next one begins; None: this is the last part."""
    export: int = 0
    """The number of the report's line in the audit trail, which reading later parts gives."""


@dataclass(frozen=True, slots=True)
class Workbook:
    """The report of a mailing as a file for spreadsheets (XLSX)."""

    mailing: Mailing
    path: str
    """The path on the machine of the service; the file is deleted within a day or two."""


@dataclass(frozen=True, slots=True)
class TableColumns:
    """What an uploaded file has, before anything is made of it."""

    columns: tuple[str, ...]
    number_column: int
    """The place of the phone numbers among the columns, from 0."""
    rows: Count


COLUMNS: Final = Ask("mailing.columns", TableColumns)
CREATE: Final = Ask("mailing.create", Mailing)
LIST: Final = Ask("mailing.list", Mailings)
SHOW: Final = Ask("mailing.show", MailingView)
SET: Final = Ask("mailing.set", Mailing)
READ: Final = Ask("mailing.read", Mailing)
ROWS: Final = Ask("mailing.rows", MailingRows)
PERSON: Final = Ask("mailing.person", Person)
MEND: Final = Ask("mailing.mend", MailingRow)
LEAVE_OUT: Final = Ask("mailing.leave_out", Mailing)
START: Final = Ask("mailing.start", Mailing)
PAUSE: Final = Ask("mailing.pause", Mailing)
GO_ON: Final = Ask("mailing.go_on", Mailing)
STOP: Final = Ask("mailing.stop", Mailing)
AGAIN: Final = Ask("mailing.again", Mailing)
REPORT: Final = Ask("mailing.report", ReportPart)
WORKBOOK: Final = Ask("mailing.workbook", Workbook)
DELETE: Final = Ask("mailing.delete", Mailing)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMailing:
    """A mailing that is to be made. Its rows come from just one of upload, list and numbers."""

    organization_id: str
    mode: Mode
    created_by: str
    name: str | None = None
    """None: the file's or the list's, or the day."""
    text: str = field(default="", repr=False)
    sender: str | None = None
    upload: str | None = None
    list_id: str | None = None
    numbers: str | None = field(default=None, repr=False)
    """Pasted lines."""
    chosen: Chosen = field(default_factory=Chosen)
