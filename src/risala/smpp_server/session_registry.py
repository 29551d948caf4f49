"""The open sessions: for limits, for the operator, and for deliveries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

import structlog
import trio

from risala.engine.follow.esmes import EsmeTotals
from risala.engine.model.commands import Principal
from risala.engine.model.records.upkeep.service import EsmeView


@dataclass(frozen=True, slots=True)
class SmppAccount:
    """The account of a bind: an organization, by one of its credentials of the kind ``smpp``."""

    credential_id: str
    system_id: str
    principal: Principal
    sender: str | None = None
    """The sender of a message without one; None: the service's own sender."""
    hears: bool = False
    """Texts from phones go to its receivers too."""


@dataclass(slots=True)
class SmppCounts:
    """The counts of one session, or of all of them, since the start."""

    submits: Counter[int] = field(default_factory=Counter)
    """Submits by the ``command_status`` that answered them."""
    binds: Counter[int] = field(default_factory=Counter)
    """Binds by the ``command_status`` that answered them."""
    delivered: int = 0
    """Receipts and messages that the customer's software took."""
    refused: int = 0
    """The refused ones."""


class BoundSession(Protocol):
    """A session as others see it."""

    @property
    def account(self) -> SmppAccount | None:
        """The session's account; None before its bind."""

    def view(self) -> EsmeView | None:
        """As shown to the operator; None before its bind."""

    def leave(self, reason: str) -> None:
        """Unbind it, once its requests are answered."""


class SessionRegistry:
    """All connections, bound or not."""

    def __init__(self) -> None:
        self._sessions: dict[BoundSession, None] = {}
        self.counts = SmppCounts()
        self.quiet = QuietLines()

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[BoundSession]:
        return iter(list(self._sessions))

    def add(self, session: BoundSession) -> None:
        self._sessions[session] = None

    def remove(self, session: BoundSession) -> None:
        self._sessions.pop(session, None)

    def views(self) -> list[EsmeView]:
        """The bound sessions, for the operator."""
        return [view for each in self._sessions if (view := each.view()) is not None]

    def totals(self) -> EsmeTotals:
        counts = self.counts
        return EsmeTotals(len(self), counts.binds, counts.submits, counts.delivered, counts.refused)

    def of(self, credential_id: str) -> list[BoundSession]:
        """The sessions that are bound by a credential."""
        return [
            each
            for each in self._sessions
            if each.account is not None and each.account.credential_id == credential_id
        ]


# Log lines that strangers can cause: a flood of connections must not flood the log.

log = structlog.get_logger("risala.smpp_server")

LINES_EVERY_S: Final = 1.0
"""Seconds between two such lines; suppressed lines are counted in the next one."""


class QuietLines:
    """Logs events of unbound clients, at most once a second."""

    def __init__(self) -> None:
        self._next_at_s = -1.0
        self._unsaid = 0

    def say(self, event: str, **fields: object) -> None:
        """Write a line, or count it."""
        now_s = trio.current_time()
        if now_s < self._next_at_s:
            self._unsaid += 1
            return
        self._next_at_s = now_s + LINES_EVERY_S
        log.warning(event, **fields, unsaid=self._unsaid)
        self._unsaid = 0
