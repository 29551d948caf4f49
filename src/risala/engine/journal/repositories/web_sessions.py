"""Web sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.people import web_sessions
from risala.engine.journal.store.signature import Signature
from risala.engine.journal.store.store import Store
from risala.engine.model.people import Device, SessionKind
from risala.engine.model.people_records.sign_in import StoredSession


@dataclass(frozen=True, slots=True)
class WebSessionRepository:
    """Where users are signed in. All reads are by an index, on the loop's thread. Who signs in is
    given a session by :class:`risala.engine.journal.repositories.sign_in.SignInRepository`.

    A command returns once it is on disk, and raises ``Unavailable`` where the disk did not take it.
    """

    _store: Store

    # -- reads

    def by_hash(self, digest: bytes, kind: SessionKind, now_ms: int) -> StoredSession | None:
        """Whose token has this hash; None: nobody's, or the session is over."""
        return web_sessions.by_hash(self._store.reader, digest, kind, now_ms)

    def of_user(self, user_id: str, now_ms: int) -> list[Device]:
        """Where a user is signed in, the newest first."""
        return web_sessions.of_user(self._store.reader, user_id, now_ms)

    # -- commands

    async def rotate(self, digest: bytes, kind: SessionKind, new: bytes, now_ms: int) -> bool:
        """Take another token for a session; False where there is none, or it was just rotated."""
        unit = partial(web_sessions.rotate, digest=digest, kind=kind, new=new, now_ms=now_ms)
        return await self._store.commit(unit)

    async def end(
        self,
        user_id: str,
        *,
        session_id: str | None = None,
        but: str | None = None,
        by: Signature | None = None,
    ) -> int:
        """End a user's sessions: one, all but one, or all; how many there were."""
        unit = partial(web_sessions.end, user_id=user_id, session_id=session_id, but=but)
        return await self._store.commit(unit, by)

    async def touch(self, used: Mapping[str, int]) -> None:
        """Write down when sessions were last used."""
        await self._store.commit(partial(web_sessions.touch, used=used))

    async def forget_over(self, now_ms: int) -> None:
        """Forget sessions that ended by time."""
        await self._store.commit(partial(web_sessions.forget_over, now_ms=now_ms))
