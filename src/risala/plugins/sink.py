"""The contract for plugins that are given every event: a queue, a log shipper, a data warehouse.

A sink is registered by the hook ``risala_register_event_sinks`` (see
:mod:`risala.plugins.hookspecs`). The engine owns which events are owed, their order, trying again
and the place where a sink has got to, which lasts; a sink takes some events at a time, and returns
once they are safe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel


class SinkUnavailableError(Exception):
    """A sink takes nothing at the moment; ``str()`` is a sentence for the operator, with nothing of
    an event in it. The same events come again, after ever longer waits."""


@dataclass(frozen=True, slots=True)
class SinkEvent:
    """An event that is on disk."""

    seq: int
    """A later event has a greater one; the same in each repetition, so that a sink may know by it
    what it has."""
    id: str
    """``evt_…``, as webhooks carry it."""
    type: str
    """``sms.delivered``, say."""
    at_ms: int
    """UTC epoch milliseconds."""
    organization_id: str
    """Whose event it is."""
    is_test: bool
    """It is of a test key."""
    body: str = field(repr=False)
    """The whole event: JSON in one line, the same bytes as webhooks carry."""


@runtime_checkable
class EventSink(Protocol):
    """Takes events to somewhere else."""

    async def take(self, events: Sequence[SinkEvent]) -> None:
        """Take the next events, in their order; return once they are safe, for they do not come
        again then.

        They come again where this raises, is cancelled at its deadline, or the service ends
        meanwhile: what was done already may be done twice, and must do no harm.

        Raises:
            SinkUnavailableError: they could not be taken now.
        """


@runtime_checkable
class ClosingSink(Protocol):
    """A sink with something to close."""

    async def aclose(self) -> None:
        """The service stops; nothing is given any more. Bounded to some seconds; raises nothing."""


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
