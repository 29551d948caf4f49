"""Whether a stick can send, for whoever sets it up: nothing is sent, and no PIN is typed."""

from __future__ import annotations

from typing import Final

import trio

from risala.drivers.hilink.calls import SILENT, StickCaller
from risala.drivers.hilink.errors import LinkError, StickError, UnreadyError
from risala.drivers.hilink.life import NO_SERVICE, ODD
from risala.drivers.hilink.pin import BLOCKED, NEEDED, NO_CARD
from risala.drivers.hilink.session import StickSession
from risala.drivers.hilink.settings import HilinkSettings
from risala.drivers.hilink.stick import SIM_READY, SIM_WANTS_PIN, SIM_WANTS_PUK, Stick

CHECK_S: Final = 30.0
"""The longest that all questions take together."""
LEAVE_S: Final = 2.0


async def check_stick(settings: HilinkSettings) -> str | None:
    """Why the stick cannot send, as a sentence for the operator; None: it can."""
    caller = StickCaller(settings.url, settings.answer_s)
    session = StickSession(caller, settings)
    try:
        with trio.move_on_after(CHECK_S):
            return await _reason(Stick(session), has_pin=settings.pin is not None)
        return SILENT
    except (LinkError, UnreadyError) as fault:
        return fault.text
    except StickError as fault:
        return ODD.format(code=fault.code)
    finally:
        with trio.move_on_after(LEAVE_S, shield=True):
            await session.leave()
            await caller.aclose()


async def _reason(stick: Stick, *, has_pin: bool) -> str | None:
    await stick.storage()  # the stick tells it only to whom it lets in
    card = await stick.card()
    if card.state == SIM_WANTS_PUK:
        return BLOCKED
    if card.state == SIM_WANTS_PIN:
        return None if has_pin else NEEDED
    if card.state != SIM_READY:
        return NO_CARD
    network = await stick.network()
    return None if network.has_service else NO_SERVICE
