"""Runs what carriers of one account share: from before the first of their drivers runs until after
the last one has ended."""

from __future__ import annotations

from itertools import count
from typing import Final

import trio

from risala.engine.actors.supervisor import RestartPolicy, Supervisor
from risala.plugins.contract import Driver
from risala.plugins.sharing import SharedAccount, Sharing

_POLICY: Final = RestartPolicy(restarts_max=None)
"""As of drivers: a bug of one account must not stop the service."""


class AccountRuntime:
    """The shared parts that run now. They are children of the supervisor, and no driver's: a driver
    that ends, fails or is built anew leaves them to the others."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._by_carrier: dict[str, SharedAccount] = {}
        """By the carrier whose driver runs with it."""
        self._names: dict[int, str] = {}
        """What the supervisor calls each, by its identity."""
        self._numbers = count(1)
        self._turn = trio.Lock()

    async def enter(self, carrier: str, driver: Driver) -> None:
        """A carrier's driver is about to run: what it shares runs already then."""
        if not isinstance(driver, Sharing):
            return
        async with self._turn:
            shared = driver.shared_account
            self._by_carrier[carrier] = shared
            if id(shared) not in self._names:
                name = f"account {next(self._numbers)} of {carrier}"
                await self._supervisor.start_service(name, shared.run, policy=_POLICY)
                self._names[id(shared)] = name

    async def leave(self, carrier: str) -> None:
        """A carrier's driver has ended: what only it had ends too."""
        if carrier not in self._by_carrier:
            return
        async with self._turn:
            shared = self._by_carrier.pop(carrier)
            if all(each is not shared for each in self._by_carrier.values()):
                await self._supervisor.end(self._names.pop(id(shared)))
