"""The clients bound to the SMPP server, for the operator."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import JsonName, Moment


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
