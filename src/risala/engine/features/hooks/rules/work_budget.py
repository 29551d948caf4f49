"""A budget of work: what one request may cause, whatever its parts multiply to. Pure.

Bounds on each part of a request are no bounds on their product: 50 sources in a template, each
looked up in 100 messages of 1,000 items, are five million look-ups. So work that a stranger's
request and a customer's template multiply is counted, and ends at a budget that stays below what
the loop can spare (:data:`LOOP_MS`).
"""

from __future__ import annotations

from typing import Final

LOOP_MS: Final = 20
"""Milliseconds of processor time for which pure work may hold the loop; what may take longer goes
into a thread or a process. Others wait meanwhile: a send is answered within some milliseconds."""


class WorkBudgetSpent(Exception):
    """A request causes more work than it may. Nothing has been changed by it."""


class WorkBudget:
    """Counts the steps of one request."""

    __slots__ = ("most", "used")

    def __init__(self, most: int) -> None:
        """
        Args:
            most: the budget: after so many steps the next raises.
        """
        self.most = most
        self.used = 0

    def take(self, steps: int = 1) -> None:
        """Count steps that are about to be made.

        Raises:
            WorkBudgetSpent: they are too many.
        """
        self.used += steps
        if self.used > self.most:
            raise WorkBudgetSpent
