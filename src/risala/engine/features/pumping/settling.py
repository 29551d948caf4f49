"""Finds out what became of codes, counts it, and writes the counts: a service.

A code counts as entered when its session is approved, and as missed if it was not within
:data:`SETTLED_MS`; if it is entered later, that is taken back. One instead of which another one was
asked for counts with that: each as missed if the last one is, since each was paid for. One that
could not be sent, or that was withdrawn, counts against nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

import structlog

from risala.engine.features.pumping.guarding import (
    ORGANIZATIONS_MAX,
    GuardedOrganization,
    Guarding,
)
from risala.engine.features.pumping.records import AT_ONCE, NAME
from risala.engine.features.pumping.rules.groups import CodeGroup
from risala.engine.features.pumping.stored import StoredGroup
from risala.engine.model.errors import Draining, Unavailable
from risala.engine.model.states import SessionState
from risala.engine.services import Services

T = TypeVar("T")
log = structlog.get_logger(__name__)

WRITE_LOOKS: Final = 6
"""Looks between two writings: a kill loses the counts of half a minute."""
OLD_LOOKS: Final = 720
"""Looks between two deletions of old counts: an hour."""
SETTLED_MS: Final = 180_000
"""A code that is not entered within three minutes counts as missed: nine of ten that are entered at
all are by then."""
LOST_MS: Final = 30_000
"""A session that is not there after so long was not accepted: a limit or the balance refused it."""


class Settling:
    """See the module's text."""

    def __init__(self, services: Services) -> None:
        part = services.session_features.part(NAME)
        assert isinstance(part, Guarding)
        self._guard = part
        self._clock = services.recorder.clock
        self._looks = 0

    async def settle_and_write(self) -> None:
        """Count what became of codes; every few times write the counts, and forget old ones."""
        self.settle()
        self._looks += 1
        try:
            if self._looks % WRITE_LOOKS == 0:
                await self.write()
            if self._looks % OLD_LOOKS == 0:
                await self._guard.stored.forget_old(self._clock.now_ms())
        except Draining:
            raise
        except Unavailable as error:
            log.warning("pumping.storage", reason=str(error))

    def settle(self) -> None:
        """Count what became of codes."""
        for ids in _batched(tuple(self._guard.pending), AT_ONCE):
            now_ms, ends = self._clock.now_ms(), self._guard.stored.ends_of(ids)
            for session in ids:
                self._settle(session, ends.get(session), now_ms)

    def _settle(self, session: str, end: tuple[str, str | None] | None, now_ms: int) -> None:
        guard = self._guard
        code = guard.pending.get(session)
        if code is None:  # another one was asked for meanwhile
            return
        if end is None:
            if now_ms - code.at_ms >= LOST_MS:
                guard.settled(session)
            return
        status, reason = end
        missed = float(code.codes)
        whose = guard.organization(code.organization_id)
        if status == SessionState.APPROVED:
            late = -missed if code.is_missed else 0.0
            whose.windows.count(code.groups, now_ms, missed=late, entered=1.0)
            if code.probe is not None:
                whose.windows.probe_entered(code.probe, now_ms)
            guard.settled(session)
        elif status == SessionState.PENDING:
            if now_ms - code.at_ms >= SETTLED_MS and not code.is_missed:
                whose.windows.count(code.groups, now_ms, missed=missed)
                guard.pending[session] = replace(code, is_missed=True)
        else:
            is_missed = status == SessionState.EXPIRED or reason == "max_attempts"
            if is_missed != code.is_missed:
                whose.windows.count(code.groups, now_ms, missed=missed if is_missed else -missed)
            guard.settled(session)

    async def write(self) -> None:
        """Write what changed.

        Raises:
            Unavailable: the disk did not take it; it is written with the next call.
        """
        for organization_id, whose in [*self._guard.organizations.items()]:
            await self._write_one(organization_id, whose)
        self._forget_idle()

    async def _write_one(self, organization_id: str, whose: GuardedOrganization) -> None:
        stored, windows = self._guard.stored, whose.windows
        for groups in _batched(tuple(windows.changed), AT_ONCE):
            # Removed first: what changes during the writing is written with the next one.
            windows.changed.difference_update(groups)
            there = [_stored(whose, group) for group in groups if group in windows.groups]
            gone = [group for group in groups if group not in windows.groups]
            try:
                await stored.write_groups(organization_id, there, gone)
            except BaseException:
                windows.changed.update(groups)
                raise
        suspicions, whose.held = whose.held, {}
        if suspicions:
            try:
                await stored.write_suspicions(organization_id, suspicions)
            except BaseException:
                for group, held in suspicions.items():
                    whose.held.setdefault(group, held)
                raise

    def _forget_idle(self) -> None:
        """Forget the organizations that sent no code for longest: their counts are on disk."""
        organizations = self._guard.organizations
        for organization_id, whose in [*organizations.items()]:
            if len(organizations) <= ORGANIZATIONS_MAX:
                return
            if not whose.windows.changed and not whose.held:
                del organizations[organization_id]


def _stored(whose: GuardedOrganization, group: CodeGroup) -> StoredGroup:
    counts = whose.windows.groups[group]
    values = (*counts.missed, *counts.entered)
    return StoredGroup(group, counts.at_ms, group in whose.windows.held, values)


def forget(services: Services, organization_id: str) -> None:
    """An organization was changed or deleted: its settings are read again."""
    part = services.session_features.made(NAME)
    if isinstance(part, Guarding):
        part.refresh(organization_id)


def _batched(ids: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (ids[at : at + size] for at in range(0, len(ids), size))
