"""What keeps two machines from sending, as the service asks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from risala.engine.journal.store.writer import CommitLog
from risala.engine.services import Waiting
from risala.engine.wiring.foundation import (
    followed_by_nobody,
    just_wait,
    lost_by_nobody,
    unfenced,
)


class LeaseGone(Exception):
    """The service had to stop, because it could not prove that no other may send."""


@dataclass(frozen=True, slots=True)
class LeaseGuard:
    """What keeps two machines from sending."""

    fence: Callable[[], None] = unfenced
    """The function to call before each segment leaves."""
    lost: Callable[[str], object] = lost_by_nobody
    """The function to call if the lease is found to be another machine's, with the reason."""
    while_waiting: Waiting = just_wait
    """Does what takes long before the service serves, and answers 503 meanwhile."""
    log_stands: Callable[[CommitLog], object] = followed_by_nobody
    """Told of the log that answers wait for, once it stands."""
