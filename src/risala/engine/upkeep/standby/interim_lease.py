"""Renews a lease that was just taken, while its new holder makes the copy ready to serve."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Final, Self

import structlog

from risala.engine.journal.shipping.notes import BadPiece
from risala.engine.model.clock import Clock
from risala.engine.upkeep.standby.lease import LeaseTaken, SendLease
from risala.engine.upkeep.standby.lease_holder import RENEWALS
from risala.engine.upkeep.standby.lease_store import LeaseStore

_END_S: Final = 5.0
"""Seconds that the end waits for a renewal under way: a hanging store hangs no takeover."""

log = structlog.get_logger(__name__)


class InterimLease:
    """Renews in a thread from ``with`` to the end of the block.

    Nothing is sent meanwhile, so that nothing has to end in time: a lease that was lost is said by
    :meth:`check`.
    """

    def __init__(self, store: LeaseStore | None, lease: SendLease | None, clock: Clock) -> None:
        """None: there is nothing to renew."""
        self._store, self._lease, self._clock = store, lease, clock
        self._over = threading.Event()
        self._taken: LeaseTaken | None = None
        self._thread = threading.Thread(target=self._keep, name="risala-lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join(_END_S)

    def check(self) -> None:
        """Refuse to go on without the lease.

        Raises:
            LeaseTaken: another machine has it.
        """
        if self._taken is not None:
            raise self._taken

    def _keep(self) -> None:
        if self._store is None or self._lease is None:
            return
        lease = self._lease
        while not self._over.wait(lease.term_s / RENEWALS):
            try:
                lease = self._store.renew(lease, lease.entries, self._clock.now_ms())
            except LeaseTaken as error:
                self._taken = error
                return
            except (OSError, BadPiece) as error:
                log.warning("lease.not_renewed", reason=str(error))
