"""Fixed codes end by themselves: owners are told before, and the codes are deleted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import structlog
import trio

from risala.engine.features.fixed_numbers.stored import FixedNumberRepository
from risala.engine.model.audit import masked
from risala.engine.model.errors import Unavailable
from risala.engine.model.features import Task
from risala.engine.model.people_records import OwedMail
from risala.engine.people.letters import Letters, Values, Words, moment, named
from risala.engine.services import Services

log = structlog.get_logger(__name__)

LOOK_EVERY_S: Final = 3600.0
"""A mail comes this much late at most. A code ends on time, whenever its row goes."""


async def care(services: Services) -> None:
    """Tell owners of ends that come near, and delete what has ended.

    Raises:
        Unavailable: it could not be written.
    """
    stored = services.repositories.part(FixedNumberRepository)
    items, wake = services.set_aside.loop("fixed_numbers"), services.surroundings.wake_post
    now_ms = services.recorder.clock.now_ms()
    for fixed_id in stored.to_remind(now_ms):
        if items.is_free(fixed_id):
            with items.item(fixed_id):
                await stored.owe(fixed_id, now_ms)
                if wake is not None:
                    wake()
    for fixed_id in await stored.end_due(now_ms):
        log.info("fixed_number.ended", id=fixed_id)


async def _keep_caring(services: Services) -> None:
    while True:
        try:
            await care(services)
        except Unavailable as error:
            log.warning("fixed_numbers.upkeep", reason=str(error))
        await trio.sleep(LOOK_EVERY_S)


def tasks(services: Services) -> Sequence[Task]:
    return (("fixed numbers", partial(_keep_caring, services), True),)


def letter(letters: Letters, owed: OwedMail, _: Words) -> Values | None:
    """What fills the words of a mail about an end; None: the number was removed meanwhile."""
    fixed = letters.repositories.part(FixedNumberRepository).by_id(owed.details["fixed"])
    if fixed is None:
        return None
    organization = letters.accounts.organization(fixed.organization_id)
    return {
        "organization": named(organization),
        "number": masked(fixed.number),
        "when": moment(fixed.ends_at, owed.language, organization.time_zone),
        "url": f"{letters.url}/app/{organization.id}/verify/settings",
    }
