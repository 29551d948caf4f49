"""Requests of the API in the log, and pages of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


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
    """Of the statuses."""
    most: int = 999
    path: str | None = None
    made: str | None = None
    """The id of the object that they made."""
    since_id: str | None = None
    """The least id that is still kept."""


@dataclass(frozen=True, slots=True)
class RequestPage:
    """A page, the newest first, and where the next ones begin; None: no further page."""

    requests: tuple[RequestRow, ...]
    newer: str | None
    older: str | None
