"""What decides which of two machines may send: files in a directory, or a row of PostgreSQL."""

from __future__ import annotations

from typing import Protocol

from risala.engine.upkeep.standby.lease import SendLease


class LeaseStore(Protocol):
    """Each call may take as long as the store does: call it in a thread."""

    settles_s: float
    """Seconds until each machine sees what another one has written."""

    def highest(self) -> SendLease | None:
        """The present holder's lease; None: it was never held.

        Raises:
            OSError: the store cannot be read.
        """
        ...

    def before(self, lease: SendLease) -> SendLease | None:
        """The lease from which this one was taken, as it was then; None: it was the first.

        Raises:
            OSError: the store cannot be read.
        """
        ...

    def last_right(self) -> SendLease | None:
        """The last lease with a number up to :data:`~.lease.EPOCH_MAX`; None: there is none.

        Raises:
            OSError: the store cannot be read.
        """
        ...

    def mend(self, lease: SendLease) -> None:
        """Put this lease in the place of one with a higher number than that.

        Raises:
            OSError: the store refuses.
        """
        ...

    def take(self, holder: str, term_s: int, entries: int, at: int, epoch: int) -> SendLease:
        """Make the lease of this number, which must be new.

        Raises:
            LeaseTaken: another machine was faster.
            OSError: the store refuses.
        """
        ...

    def renew(
        self, lease: SendLease, entries: int, at: int, *, released: bool = False
    ) -> SendLease:
        """Write a lease again, if it is still the highest.

        Raises:
            LeaseTaken: it is not.
            OSError: the store refuses; whether it was renewed is unknown.
        """
        ...
