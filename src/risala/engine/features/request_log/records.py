"""Requests of the API in the log, and pages of them."""

from __future__ import annotations

from typing import Annotated, Any, Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import JsonName, Moment


class RequestsUnwritable(Exception):
    """The log cannot be written now; the sentence is the reason."""


class RequestRow(NamedTuple):
    """A request of the API, as it is stored. Made by the hundred, and so a tuple."""

    id: str
    organization_id: str
    key_id: str
    mode: str
    at: int
    """UTC epoch milliseconds."""
    method: str
    path: str
    status: int
    took_us: int
    address: str | None
    asked: str | None
    """JSON of what is kept of the request's body; None: it was not read."""
    answered: str
    made: str | None
    """The id of the message or verification that it made."""


@dataclass(frozen=True, slots=True)
class RequestFilter:
    """Which requests are in a page; None: any."""

    organization_id: str | None
    key_id: str | None = None
    least: int = 0
    """The least status."""
    most: int = 999
    path: str | None = None
    made: str | None = None
    """The id of the object that they made."""
    since_id: str | None = None
    """The least id that is still kept."""


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A request of the API in the log, without its bodies."""

    request_id: str
    organization_id: str
    key_id: str
    mode: str
    at: Moment
    method: str
    path: str
    status: int
    took_ms: float
    address: str | None
    made: str | None
    """The id of the message or verification that it made."""


@dataclass(frozen=True, slots=True)
class ShownRequest(LoggedRequest):
    """One request, with what is kept of its bodies."""

    asked: Any
    """JSON; None: it was not read."""
    answered: Any


@dataclass(frozen=True, slots=True)
class RequestPage:
    """A page, the newest first, and where the next ones begin; None: no further page."""

    requests: tuple[LoggedRequest, ...]
    newer: str | None
    older: str | None


@dataclass(frozen=True, slots=True)
class AnsweredDay:
    """The requests of one day by their answers."""

    at: Moment
    """When the day began where the organization is."""
    successful: int
    """Answered below 400."""
    refused: int
    """400 to 499."""
    failed: int
    """500 and above."""


@dataclass(frozen=True, slots=True)
class ListedRequests(RequestPage):
    """A page of the log, and what is known to be missing in it."""

    dropped: int
    """Requests since the service's start that were not written down."""
    is_written: Annotated[bool, JsonName("written")]
    """Whether the log is being written at this moment."""
    keep_days: int
    days: tuple[AnsweredDay, ...] = ()
    """The last days, the oldest first, where they are asked for; fewer, if the latest requests that
    are counted do not go back so far."""


LIST: Final = Ask("request.list", ListedRequests)
SHOW: Final = Ask("request.show", ShownRequest)
