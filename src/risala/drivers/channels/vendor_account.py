"""How a channel's account stands at its vendor, as the operator and the doctor are told it.

A channel stays up though its account has a fault: a later code shows that it is mended. What an
operator should do is the ``attention`` of its health.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import trio

from risala.plugins.channel import DriverContext, Health, HealthState

LOOK_S: Final = 600.0
"""Seconds between two looks at an account. A look costs nothing."""
Facts = Mapping[str, str]
Examine = Callable[[], Awaitable[tuple[str, Facts] | None]]
"""Asks the vendor without cost: what the operator should do (empty: nothing), and facts to show;
None: it did not answer."""


class VendorAccount:
    """What is told of one account.

    Args:
        up: the sentence of a channel that works.
    """

    def __init__(self, up: str) -> None:
        self._up = up
        self._context: DriverContext | None = None
        self._told: Health | None = None
        self._by_code = self._by_look = ""
        self._facts: Facts = {}

    @property
    def context(self) -> DriverContext | None:
        """What the channel reports to; None: it does not run yet."""
        return self._context

    async def watch(
        self, context: DriverContext, task_status: trio.TaskStatus[None], examine: Examine
    ) -> None:
        """Look at the account now and then, for life."""
        self._context = context
        task_status.started()
        self._tell()
        while True:
            seen = await examine()
            if seen is not None:
                self._by_look, self._facts = seen
                self._tell()
            await trio.sleep(LOOK_S)

    def is_well(self) -> None:
        """A code was taken."""
        self._by_code = self._by_look = ""
        self._tell()

    def is_ill(self, text: str) -> None:
        """A code was refused because of the account.

        Args:
            text: what the operator should do.
        """
        self._by_code = text
        self._tell()

    def _tell(self) -> None:
        attention = self._by_code or self._by_look
        details = {**self._facts, **({"attention": attention} if attention else {})}
        health = Health(HealthState.UP, self._up, details)
        if self._context is not None and health != self._told:
            self._told = health
            self._context.health(health)
