"""The SIM's PIN: typed once. Three wrong ones block the SIM.

That it was typed is written down before it leaves, and forgotten once the SIM is seen to be ready:
what is still written down was wrong, or its answer never came. Nothing of the PIN itself is kept.
"""

from __future__ import annotations

from typing import Final

import trio

from risala.drivers.hilink.errors import StickError, UnreadyError
from risala.drivers.hilink.settings import HilinkSettings
from risala.drivers.hilink.stick import SIM_READY, SIM_WANTS_PIN, SIM_WANTS_PUK, Stick, StickCard
from risala.plugins.contract import DriverContext, HealthState, NotStoredError

FRESH_TRIES: Final = 3
LAST_TRIES: Final = 2
"""The fewest remaining tries at which a PIN is typed: the last one is never used up, even if the
operator asks for it."""
LOOK_S: Final = 5.0
"""Between two looks at a SIM that becomes ready."""
LOOK_SOON_S: Final = 0.1
"""Before the first of them, once its PIN was taken; then twice as long each time."""
BLOCKED_S: Final = 300.0
_NOTE: Final = "pin"
_TYPED: Final = "typed"

_UNLOCK: Final = (
    "It is not typed again: three wrong ones block the SIM. Correct the setting, restart, and run "
    "`risala carriers ask NAME retry-pin`; or unlock the SIM with a phone."
)
WRONG: Final = f"The PIN is wrong. {_UNLOCK}"
BLOCKED: Final = (
    "The SIM is blocked and needs its PUK. Put it into a phone and type the PUK there; Risala "
    "never does."
)
NEEDED: Final = "The SIM needs its PIN. Set pin_env."
NO_CARD: Final = "The stick sees no SIM, or one that it cannot read."
UNSTORED: Final = "The PIN is not typed: that it was typed could not be written down."
FEW_TRIES: Final = "A wrong PIN was typed before; {tries} tries are left."
ONE_TRY: Final = "A wrong PIN was typed before; 1 try is left."


class StickPin:
    """Types the PIN of one carrier's stick."""

    def __init__(self, context: DriverContext, settings: HilinkSettings) -> None:
        self._context = context
        self._pin = settings.pin
        self.may_retry = False
        """The operator confirms that the PIN in the settings is right now: good for one try."""

    async def unlock(self, stick: Stick) -> None:
        """Return once the SIM is ready.

        Raises:
            UnreadyError: it is not.
        """
        card = await stick.card()
        if card.state == SIM_READY:
            await self._unlocked()
            return
        if card.state == SIM_WANTS_PUK:
            raise UnreadyError(HealthState.SICK, BLOCKED, BLOCKED_S)
        if card.state != SIM_WANTS_PIN:
            raise UnreadyError(HealthState.SICK, NO_CARD, LOOK_S)
        await self._type(stick, card)
        wait_s = LOOK_SOON_S
        while (await stick.card()).state != SIM_READY:
            if wait_s > LOOK_S:
                raise UnreadyError(HealthState.DOWN, "The SIM does not become ready.", LOOK_S)
            await trio.sleep(wait_s)
            wait_s *= 2
        await self._unlocked()

    async def _type(self, stick: Stick, card: StickCard) -> None:
        if self._context.recall(_NOTE) and not self.may_retry:
            raise UnreadyError(HealthState.SICK, WRONG, BLOCKED_S)
        if self._pin is None:
            raise UnreadyError(HealthState.SICK, NEEDED, BLOCKED_S)
        fewest = LAST_TRIES if self.may_retry else FRESH_TRIES
        if card.tries is not None and card.tries < fewest:
            left = ONE_TRY if card.tries == 1 else FEW_TRIES.format(tries=card.tries)
            raise UnreadyError(HealthState.SICK, f"{left} {_UNLOCK}", BLOCKED_S)
        try:
            await self._context.remember({_NOTE: _TYPED})
        except NotStoredError:
            raise UnreadyError(HealthState.DOWN, UNSTORED, LOOK_S) from None
        self.may_retry = False
        try:
            await stick.type_pin(self._pin.get_secret_value())
        except StickError:
            raise UnreadyError(HealthState.SICK, WRONG, BLOCKED_S) from None

    async def _unlocked(self) -> None:
        self.may_retry = False
        if self._context.recall(_NOTE):
            try:
                await self._context.remember({_NOTE: None})
            except NotStoredError:
                return  # it is forgotten at the next look
