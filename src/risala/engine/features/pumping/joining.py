"""The guard takes kind in all live codes; until there is one, nothing else of it is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from risala.engine.features.pumping.records import NAME
from risala.engine.model.features import Task
from risala.engine.services import Services
from risala.engine.verify.session_features import SessionFeature, SessionSources

if TYPE_CHECKING:
    from prometheus_client.core import Metric

LOOK_S: Final = 5.0
"""Between two looks at what became of codes."""


def is_joined(_: SessionSources, _organization_id: str) -> bool:
    """True: every code counts."""
    return True


def guarding_of(services: Services) -> SessionFeature | None:
    """The guard; None: no code was asked for yet."""
    return services.session_features.made(NAME)


async def _keep_settling(services: Services) -> None:
    while True:
        await trio.sleep(LOOK_S)
        if guarding_of(services) is not None:
            # Imported here: a service that sends no codes does without.
            from risala.engine.features.pumping.settling import Settling

            await services.part(Settling).settle_and_write()


def tasks(services: Services) -> Sequence[Task]:
    return (("pumping", partial(_keep_settling, services), True),)


async def stopping(services: Services) -> None:
    """Write the counts: the service ends."""
    if guarding_of(services) is not None:
        from risala.engine.features.pumping.settling import Settling

        await services.part(Settling).write()


def metrics(services: Services) -> Iterator[Metric]:
    """Codes by what the guard decided, since the start."""
    # Imported here: a service whose numbers nobody reads does without the library.
    from risala.engine.upkeep.carrier_metrics import counter

    guarding = guarding_of(services)
    decided = {} if guarding is None else guarding.decided  # type: ignore[attr-defined]
    text = "Live codes that keys asked for, by what the guard against pumping decided."
    decisions = ("pass", "watch", "challenge", "refuse")
    rows = [({"decision": each}, decided.get(each, 0)) for each in decisions]
    yield counter("codes_guarded", text, rows)
