"""Accepts messages that another Risala passes on, unless they return to where they were.

Each service has an id, by which others know it in the header ``Risala-Hops``: of a message, the ids
of all services that it came through, the first one first. A service refuses a message that came
through itself. What it passes on, it passes on with its own id as the last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Final

from risala.engine.features.hops.stored import HopRepository
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import MessageLoop, Refusal
from risala.engine.services import Services

HOPS_MAX: Final = 8
"""Services that a message may come through: real chains have two or three, and where ids were lost
on the way, as with a service that does not pass them on, this ends a loop."""
ID_CHARACTERS: Final = 16
"""Characters of an id: 64 random bits as hexadecimal digits."""
HEADER_CHARACTERS_MAX: Final = HOPS_MAX * (ID_CHARACTERS + len(", "))
"""More than that is not looked at."""
MALFORMED: Final = (
    f"The header Risala-Hops is 1 to {HOPS_MAX} ids of {ID_CHARACTERS} hexadecimal digits, with"
    " commas between. Only another Risala sends it: leave it out."
)
RETURNS: Final = (
    "This message has come through this service before: a carrier of a service that it was passed"
    " on to leads back here. Correct the routes of that service."
)
TOO_MANY: Final = (
    f"This message has come through {HOPS_MAX} services, and no more may pass it on. Correct their"
    " routes: send it by a shorter way."
)
_ID: Final = f"[0-9a-f]{{{ID_CHARACTERS}}}"
_is_list: Final = re.compile(f"{_ID}(?:, ?{_ID}){{0,{HOPS_MAX - 1}}}").fullmatch


def hops_in(values: Sequence[bytes]) -> tuple[str, ...]:
    """The ids in a header, of all its lines.

    Raises:
        Refusal: it is no list of ids.
    """
    text = b",".join(values).decode("latin-1")
    if len(text) > HEADER_CHARACTERS_MAX or not _is_list(text):
        raise Refusal(MALFORMED)
    return tuple(each.strip() for each in text.split(","))


class HopAccess:
    """See the module's text."""

    def __init__(self, services: Services) -> None:
        self._intake = services.intake
        self._stored = services.repositories.part(HopRepository)

    async def send(
        self, principal: Principal, command: SendMessage, values: Sequence[bytes]
    ) -> bytes:
        """Accept a message, and store what it came through, in one unit.

        Args:
            values: the lines of its header.

        Raises:
            MessageLoop: it came through this service, or through too many.
            Refusal: the header is wrong; or as for
                :meth:`risala.engine.gateway.gateway.Gateway.send_message`, as the next.
            Unavailable: not now.
        """
        hops = hops_in(values)
        if self._stored.own() in hops:
            raise MessageLoop(RETURNS)
        if len(hops) >= HOPS_MAX:
            raise MessageLoop(TOO_MANY)
        return await self._intake.send(
            principal, command, around=partial(HopRepository.storing, hops)
        )
