"""Requests that wait for a second operator."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.journal import approval_changes
from risala.engine.journal.people import approvals
from risala.engine.journal.repositories.store import Store, command, read


@dataclass(frozen=True, slots=True)
class ApprovalRepository:
    """Who asked for what. All reads are by an index, of a bounded number of rows.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    approval = read(approvals.approval)
    waiting = read(approvals.waiting)
    decided = read(approvals.decided)

    take_alone = command(approvals.take_alone)
    give_back = command(approvals.give_back)
    ask = command(approval_changes.ask)
    refuse = command(approval_changes.refuse)
