"""What an operator may ask of a phone's driver, beside what every carrier does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import trio

from risala.drivers.phone.devices import RegisteredPhone, called
from risala.drivers.phone.link import PhoneLink
from risala.plugins.contract import CommandRefusedError, DriverCommand, NotStoredError

PAIR: Final = DriverCommand("pair", "Wait up to 45 seconds for a phone that registers.")
REPLACE: Final = DriverCommand(
    "replace",
    "Let the phone that registered last take the present phone's place.",
    needs_fresh_sign_in=True,
)
FORGET: Final = DriverCommand(
    "forget",
    "Forget the phone: it can no longer call, and the next one that registers is new.",
    needs_fresh_sign_in=True,
)
TOKEN: Final = DriverCommand(
    "token", "Show the private token that is typed on the phone.", needs_fresh_sign_in=True
)
COMMANDS: Final = (PAIR, TOKEN, REPLACE, FORGET)
PAIR_S: Final = 45.0
"""Below the time that a command may take at most."""
_NOT_RUNNING: Final = "The carrier's driver is not running. See risala carriers show."

Results = Mapping[str, str | int | float | None]


async def obey(link: PhoneLink | None, name: str) -> Results:
    """Do a command.

    Raises:
        CommandRefusedError: why it was not done.
    """
    if name not in [each.name for each in COMMANDS]:
        raise CommandRefusedError(f"A phone has no command {name!r}.")
    if link is None:
        raise CommandRefusedError(_NOT_RUNNING)
    try:
        match name:
            case PAIR.name:
                return await _pair(link)
            case TOKEN.name:
                await link.book.opened.wait()
                return {"token": link.book.private_token}
            case REPLACE.name:
                return await _replace(link)
            case _:
                await link.book.forget()
                link.phone_changed()
                return {"forgotten": link.context.carrier}
    except NotStoredError as error:
        raise CommandRefusedError(
            "That could not be written: the disk is full or has a fault. Try again."
        ) from error


async def _pair(link: PhoneLink) -> Results:
    """Wait for a phone that registers, or is registered and calls."""
    before, strangers = link.book.phone, link.strangers
    with trio.move_on_after(PAIR_S):
        while not _has_come(link, before):
            await link.wait_change()
    if (candidate := link.book.candidate) is not None:
        return {"phone": called(candidate), "state": "waits", "strangers": 0}
    if (phone := link.book.phone) is not None:
        state = "registered" if link.last_seen_ms is not None else "silent"
        return {"phone": called(phone), "state": state, "strangers": 0}
    return {"phone": None, "state": "none", "strangers": link.strangers - strangers}


def _has_come(link: PhoneLink, before: RegisteredPhone | None) -> bool:
    return link.book.candidate is not None or (
        link.book.phone is not None and link.last_seen_ms is not None
    )


async def _replace(link: PhoneLink) -> Results:
    former = link.book.phone
    phone = await link.book.let_in()
    if phone is None:
        raise CommandRefusedError("No other phone has registered. Nothing has changed.")
    link.phone_changed()
    return {"phone": called(phone), "replaced": None if former is None else called(former)}
