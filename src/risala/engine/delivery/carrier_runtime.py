"""The tasks of a carrier: its worker, its driver, and the queries to the driver about segments; and
what carriers of one account share, which runs as long as any of their drivers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.actors.supervisor import RestartPolicy, Supervisor
from risala.engine.delivery.driver_context import ArrivalParts, TextTaker, WorkerContext
from risala.engine.delivery.matching_again import match_again
from risala.engine.delivery.queries import Queries
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.journal.repositories import Repositories
from risala.engine.model.ids import IdSource
from risala.plugins.contract import Driver
from risala.plugins.sharing import SharedAccount, Sharing
from risala.sms.numbering.plan import NumberingPlan

DRIVER_POLICY: Final = RestartPolicy(restarts_max=None)
"""For tasks that are restarted without limit: drivers, whose bugs must not stop the other carriers,
and services that only observe."""


TakerOf = Callable[[str], TextTaker | None]
"""What takes the incoming texts of a carrier, by its name; None: they are for customers."""


@dataclass(frozen=True, slots=True)
class CarrierRuntime:
    """Starts and ends the tasks of any carrier."""

    _supervisor: Supervisor
    _repositories: Repositories
    _ids: IdSource
    _plan: NumberingPlan
    _taker_of: TakerOf
    _texts: ItemLoop
    """Keeps texts from phones aside that cannot be stored."""
    _accounts: AccountRuntime
    _arrived: ArrivalParts

    async def start(self, lane: CarrierWorker) -> None:
        """Start a worker: its driver connects."""
        if lane.driver.capabilities.query:
            queries = Queries(lane, self._repositories)
            await self._supervisor.start_service(f"queries {lane.name}", queries.run)
        await self._supervisor.start_service(f"lane {lane.name}", lane.run)
        await self._accounts.enter(lane.name, lane.driver)
        await self._start_driver(lane)

    async def _start_driver(self, lane: CarrierWorker) -> None:
        context = WorkerContext(
            lane,
            self._repositories,
            self._ids,
            self._plan,
            self._texts,
            self._taker_of(lane.name),
            self._arrived,
        )
        await self._supervisor.start_service(
            f"driver {lane.name}", partial(self._drive, lane, context), policy=DRIVER_POLICY
        )

    async def _drive(self, lane: CarrierWorker, context: WorkerContext) -> None:
        await match_again(lane, self._repositories.receipts)
        await lane.run_driver(lane.driver, context)

    async def end(self, lane: CarrierWorker) -> None:
        """End the tasks of a worker, the driver first: it disconnects from its carrier."""
        await self._supervisor.end(f"driver {lane.name}")
        await self._accounts.leave(lane.name)
        await self._supervisor.end(f"lane {lane.name}")
        await self._supervisor.end(f"queries {lane.name}")

    async def reconnect(self, lane: CarrierWorker) -> None:
        """Let the driver disconnect from its carrier, and connect again."""
        await self._supervisor.end(f"driver {lane.name}")
        await self._start_driver(lane)


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
