"""The contract for what carriers of one account share: a session, a registered webhook, a stream
of events.

A driver's factory says which carriers are of one account (``DriverFactory.account_key``), and
builds what they share (``DriverFactory.shared``). It is built once for an account, and given to
each driver of that account. The service runs it: from before the first of these drivers runs until
after the last one has ended.

**What harms whom.** A driver that fails or is built again by other settings leaves what is shared,
and the other drivers, as they are. If the shared part fails, the service starts it again, and no
driver is ended: they report what their link is like meanwhile.

**On which task.** :meth:`SharedAccount.run` has a task of its own. Drivers call the shared part
from their own tasks; what they wait for there is theirs to bound in time.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class SharedAccount(Protocol):
    """What the carriers of one account share. It can be referred to weakly, as objects of ordinary
    classes can: a class with slots has one named ``__weakref__``."""

    async def run(self) -> None:
        """Live until cancelled; then close what is open under a shielded deadline of a few seconds.

        Called after it was built, and again after it has ended, if a carrier of the account starts
        again. An exception that escapes is logged, and the service calls it again after a growing
        wait.
        """


@runtime_checkable
class Sharing(Protocol):
    """A driver of an account that several carriers may share."""

    @property
    def shared_account(self) -> SharedAccount:
        """What its factory's ``build`` was given."""
