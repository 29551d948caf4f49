"""What runs for features beside sending, and which of it waits until it has anything to do.

A feature rests while nothing is stored for it and nobody has performed an operation yet: only an
operation makes its first row. So a service that only sends has the modules of none that rests.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import trio

from risala.engine.actors.supervisor import RestartPolicy, Supervisor
from risala.engine.delivery.carrier_runtime import DRIVER_POLICY
from risala.engine.gateway.gateway import Gateway
from risala.engine.model.errors import Draining
from risala.engine.model.features import Feature, features

_WAKING: Final = "features at rest"


class FeatureTasks:
    """The tasks of all features, in a supervisor that runs."""

    def __init__(self, supervisor: Supervisor, gateway: Gateway) -> None:
        self._supervisor = supervisor
        self._services = gateway.services
        self._operated = gateway.operated
        self._resting = [] if self._operated.is_set() else [*filter(self._may_rest, features())]

    def _may_rest(self, feature: Feature) -> bool:
        if feature.rests_without is None:
            return False
        plugged = self._services.surroundings.plugged
        if any(plugged.get(kind) for kind in feature.rests_without):
            return False
        return self._services.repositories.storage.has_nothing_of(feature)

    async def start(self) -> None:
        """Start what does not rest; the rest starts with the first operation."""
        for feature in features():
            if feature not in self._resting:
                await self._start(feature)
        if self._resting:
            await self._supervisor.start_service(_WAKING, self._wake)

    async def _wake(self) -> None:
        await self._operated.wait()
        with suppress(Draining):  # the service ends: nothing starts any more
            while self._resting:
                await self._start(self._resting[0])
                del self._resting[0]
        await trio.sleep_forever()  # a service that returns has failed

    async def _start(self, feature: Feature) -> None:
        if feature.tasks is None:
            return
        for name, run, is_patient in feature.tasks()(self._services):
            policy: RestartPolicy | None = DRIVER_POLICY if is_patient else None
            await self._supervisor.start_service(name, run, policy=policy)

    async def end(self) -> None:
        """Write what only the memory of features has: the service ends."""
        for feature in features():
            if feature.stopping is not None and feature not in self._resting:
                await feature.stopping()(self._services)
