"""The contract for plugins that get every event: a queue, a log shipper, a data warehouse.

A sink is registered by the hook ``risala_register_event_sinks`` (see
:mod:`risala.plugins.hookspecs`). The engine owns the choice and order of events, retries and each
sink's position, which is stored; a sink takes some events at a time, and returns once they are
safe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel


class SinkUnavailableError(Exception):
    """A sink takes nothing at the moment; ``str()`` is a sentence for the operator, without content
    of events. The same events come again, after longer and longer waits."""


@dataclass(frozen=True, slots=True)
class SinkEvent:
    """An event that is on disk."""

    seq: int
    """A later event has a greater one; a repeat has the same, so that a sink can recognise events
    that it has."""
    id: str
    """``evt_…``, as in webhooks."""
    type: str
    """``sms.delivered``, say."""
    at_ms: int
    """UTC epoch milliseconds."""
    organization_id: str
    """The event's organization."""
    is_test: bool
    """The event comes from a test key."""
    body: str = field(repr=False)
    """The whole event: JSON in one line, the same bytes as in webhooks."""


@runtime_checkable
class EventSink(Protocol):
    """Takes events to somewhere else."""

    async def take(self, events: Sequence[SinkEvent]) -> None:
        """Take the next events, in their order; return once they are safe: then they do not come
        again.

        They come again if this raises, is cancelled at its deadline, or the service ends meanwhile:
        taking an event twice must do no harm.

        Raises:
            SinkUnavailableError: the sink cannot take them now.
        """


@runtime_checkable
class AuditHeadSink(Protocol):
    """A sink that also keeps the signed heads of the audit trail, one a day: who changes the trail
    later cannot change these."""

    async def take_audit_head(self, head: str) -> None:
        """Keep a head; return once it is safe.

        It comes again if this raises, or the service ends meanwhile: taking it twice must do no
        harm.

        Args:
            head: one line of JSON, as `risala audit --heads` reads it.

        Raises:
            SinkUnavailableError: the sink cannot take it now.
        """


@runtime_checkable
class ClosingSink(Protocol):
    """A sink with something to close."""

    async def aclose(self) -> None:
        """The service stops; no more events come. Ends within some seconds; raises nothing."""


@dataclass(frozen=True, slots=True)
class SinkCarrier:
    """A carrier now."""

    name: str
    """As in the settings."""
    state: str
    """``up``, ``degraded`` or ``down``."""
    signal_dbm: float | None
    """Strength of its network's signal; None: it has none, or does not say it."""


@dataclass(frozen=True, slots=True)
class SinkOrganization:
    """An organization's day until now, from its own midnight."""

    id: str
    """``org_…``, as in events."""
    name: str
    """As people have written it."""
    delivered_today: int
    """Messages that were accepted today and have reached a phone."""
    failed_today: int
    """Messages that were accepted today and have failed, or were not delivered."""


class SinkFigures(Protocol):
    """What a running sink may read of the service. Neither waits; each is a bounded query."""

    def carriers(self) -> Sequence[SinkCarrier]:
        """All carriers."""

    def organizations(self) -> Sequence[SinkOrganization]:
        """The organizations that are not deleted, at most 50."""


@runtime_checkable
class RunningSink(Protocol):
    """A sink that works between events too, such as on a connection that stays open."""

    async def run(self, figures: SinkFigures) -> None:
        """Runs beside ``take``, from the start until it is cancelled. If it returns or raises, it
        is begun again after a pause, and the sink counts as failing until it has run for a while.

        Raises:
            SinkUnavailableError: the other side is away, for example.
        """


@dataclass(frozen=True, slots=True)
class EventSinkFactory:
    """How a sink is built from its table in the configuration."""

    name: str
    """The word for ``sink = "…"`` in ``[sinks.NAME]``, and of the table within it."""
    settings: type[BaseModel]
    """Validates that table, ``[sinks.NAME.WORD]``; unknown keys forbidden, ``_env`` keys as with
    drivers."""
    build: Callable[[str, Any], EventSink]
    """Takes the configured name and the validated settings. Opens nothing yet."""
    summary: str
    """One line for ``risala plugins``."""
