"""A modem's life under ModemManager, as the operator sees it: found, unlocked, ready, gone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import trio

from risala.drivers.modem.card import limits
from risala.drivers.modem.card.tally import QuotaTally
from risala.drivers.modem.inbound.reports import SentLog
from risala.drivers.modem.manager.bus import BusCallError, BusTimeoutError, ModemBus
from risala.drivers.modem.manager.objects import MODEM, SeenModem, chosen, dbm_of, modems_of
from risala.drivers.modem.manager.settings import ModemManagerSettings
from risala.drivers.modem.manager.texts import ManagedTexts, TextsSeen
from risala.drivers.modem.manager.unlock import USABLE, identity_of, unlock
from risala.drivers.modem.manager.words import (
    DENIED,
    OBJECTS,
    REGISTRATIONS,
    ROOT,
    SIM_MISSING,
    ModemState,
    is_absent,
    is_forbidden,
)
from risala.drivers.modem.notefile import short_name
from risala.drivers.modem.ready.pin import Unready
from risala.drivers.modem.ready.pinmemory import PinMemory
from risala.plugins.contract import (
    Cause,
    DriverContext,
    Health,
    HealthState,
    NotStoredError,
    Outcome,
    Segment,
    Throttled,
    Unsent,
)
from risala.sms.segment import count

AGAIN_S: Final = 2.0
"""Seconds until a text that could not be stored or deleted is looked at again."""
_ENABLE_S: Final = 30.0
"""Seconds for switching the radio on; after them the modem is looked at again, and may be on."""
ENABLE_AGAIN_S: Final = 10.0
"""Seconds from one try to switch the radio on to the next."""

_OUR_CAUSES: Final = (Cause.QUOTA_USED, Cause.BUSY)
"""Why a text did not leave that is no fault of the modem."""
PREPARES: Final = "ModemManager prepares the modem."
NO_MANAGER: Final = (
    "ModemManager does not run. `sudo systemctl start ModemManager`; where it is not wanted, take "
    'driver = "modem".'
)
NO_RIGHT: Final = (
    "This user may not use the modem: a rule of polkit must let it do "
    "org.freedesktop.ModemManager1.Messaging and .Device.Control."
)
NO_TEXTS: Final = "ModemManager cannot send texts by this modem; mostly another port of it can."
SILENT: Final = "ModemManager does not answer."


class ManagedLife:
    """The modem while one connection to D-Bus lasts.

    Args:
        log: what was sent; it outlives the connection.
        memory: which PINs were typed.
        tally: what the SIM has sent.
        now_ms: UTC epoch milliseconds.
    """

    def __init__(
        self,
        bus: ModemBus,
        context: DriverContext,
        settings: ModemManagerSettings,
        log: SentLog,
        memory: PinMemory,
        tally: QuotaTally,
        now_ms: Callable[[], int],
    ) -> None:
        self._bus = bus
        self._context = context
        self._settings = settings
        self._memory = memory
        self._tally = tally
        self._now_ms = now_ms
        self._texts = ManagedTexts(bus, context, settings, log, now_ms)
        self._lives = bus.lives
        self._modem: SeenModem | None = None
        """The modem while it can send."""
        self._told: Health | None = None
        self._again = trio.Event()
        self._blocked: tuple[SeenModem, Unready, float] | None = None
        """Why the SIM is not unlocked, and until when it is not tried again."""
        self._enabled = ("", 0.0, "")
        """The modem whose radio was last switched on, when that may be tried again, and what is
        told until then."""

    def look_again(self) -> None:
        """Something changed that D-Bus does not tell."""
        self._blocked = None
        self._again.set()

    async def submit(self, segment: Segment) -> Outcome:
        """Send a text, if the modem can now."""
        if self._modem is None:
            await trio.lowlevel.checkpoint()
            return Unsent("")
        outcome = await self._counted(self._modem, segment)
        if isinstance(outcome, Unsent) and outcome.cause not in _OUR_CAUSES:
            self._down(HealthState.DOWN, "The modem does not answer.")  # until the next look
        else:
            self._again.set()  # a report may have come meanwhile
        return outcome

    async def _counted(self, modem: SeenModem, segment: Segment) -> Outcome:
        """Send a text, and count its parts in the SIM's quota, on disk before it leaves."""
        quota, parts = self._tally.quota, count(segment.text).segments
        now_ms = self._now_ms()
        declined = limits.declined(quota, segment.recipient, parts, now_ms, is_next=True)
        if declined is not None:
            return Unsent("", declined.text, Cause.QUOTA_USED)
        try:
            counted = await self._tally.count(segment, parts)
        except NotStoredError:
            return Unsent("", cause=Cause.BUSY)
        outcome = await self._texts.submit(modem, segment)
        if isinstance(outcome, (Unsent, Throttled)):
            self._tally.give_back(counted)
        return outcome

    async def run(self) -> None:
        """Look after the modem until cancelled.

        Raises:
            BusGoneError: the connection has ended.
        """
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._hear)
            while True:
                self._again = trio.Event()
                wait_s = await self._check()
                with trio.move_on_after(wait_s):
                    await self._again.wait()

    async def _hear(self) -> None:
        while True:
            await self._bus.wait_news()
            self._again.set()

    async def _check(self) -> float:
        """One look; seconds until the next, if nothing happens."""
        try:
            return await self._check_once()
        except Unready as why:
            return self._down(why.state, str(why), why.retry_s)
        except BusTimeoutError:
            return self._down(HealthState.DOWN, SILENT)
        except BusCallError as error:
            if is_absent(error.name):
                return self._down(HealthState.DOWN, NO_MANAGER)
            if is_forbidden(error.name):
                return self._down(HealthState.SICK, NO_RIGHT)
            return self._down(HealthState.DOWN, f"ModemManager refuses: {error.name}.")

    def _down(self, state: HealthState, text: str, wait_s: float | None = None) -> float:
        self._modem = None
        self._publish(Health(state, text))
        return wait_s or self._settings.check_every_s

    async def _check_once(self) -> float:
        if self._lives != self._bus.lives:
            self._lives, self._modem, self._enabled = self._bus.lives, None, ("", 0.0, "")
            self._texts.forget()
        (objects,) = await self._bus.call(ROOT, f"{OBJECTS}.GetManagedObjects")
        modem = chosen(modems_of(objects), self._settings.modem)
        if isinstance(modem, str):
            return self._down(HealthState.DOWN, modem)
        if self._modem is not None and self._modem.path != modem.path:
            self._texts.forget()
        await self._ready(modem)
        if not modem.is_registered:
            self._modem = None
            return self._searching(modem)
        if self._modem is None or self._modem.path != modem.path:
            self._tally.take_sim(short_name((await identity_of(self._bus, modem)).iccid))
        texts = await self._texts.take_in(modem)
        self._modem = modem
        self._publish(self._up(modem, texts))
        return AGAIN_S if texts.is_left else self._settings.check_every_s

    async def _ready(self, modem: SeenModem) -> None:
        """Unlock the SIM and switch the radio on.

        Raises:
            Unready: it cannot send; the text is what to do.
        """
        if modem.state == ModemState.FAILED:
            if modem.failed == SIM_MISSING:
                raise Unready(HealthState.SICK, "There is no SIM in the modem.")
            raise Unready(HealthState.SICK, "ModemManager says that the modem or its SIM failed.")
        if modem.lock not in USABLE:
            await self._unlock(modem)
            raise Unready(HealthState.DOWN, "The SIM was unlocked; the modem starts.", AGAIN_S)
        if self._memory.has_notes and modem.state >= ModemState.DISABLED:
            await self._memory.unlocked(await identity_of(self._bus, modem))
        if modem.state < ModemState.DISABLED:
            raise Unready(HealthState.DOWN, PREPARES)
        if modem.state == ModemState.DISABLED:
            await self._enable(modem)
            raise Unready(HealthState.DOWN, PREPARES, AGAIN_S)
        if not modem.has_messaging:
            raise Unready(HealthState.SICK, NO_TEXTS)

    async def _enable(self, modem: SeenModem) -> None:
        """Switch the radio on, and not again for a while: a try that fails is news of the modem,
        so that the next would follow at once.

        Raises:
            Unready: it was tried before; the text is what came of it.
        """
        path, again_at, text = self._enabled
        wait_s = again_at - trio.current_time()
        if path == modem.path and wait_s > 0:
            raise Unready(HealthState.DOWN, text, wait_s)
        again_at = trio.current_time() + ENABLE_AGAIN_S
        self._enabled = modem.path, again_at, PREPARES
        try:
            await self._bus.call(modem.path, f"{MODEM}.Enable", "b", (True,), timeout_s=_ENABLE_S)
        except BusCallError as error:
            if is_absent(error.name) or is_forbidden(error.name):
                raise
            refused = f"ModemManager refuses: {error.name}."
            self._enabled = modem.path, again_at, refused
            raise Unready(HealthState.DOWN, refused, ENABLE_AGAIN_S) from error

    async def _unlock(self, modem: SeenModem) -> None:
        before = self._blocked
        if before is not None:
            seen, reason, until = before
            is_same = seen.path == modem.path and seen.lock == modem.lock
            if is_same and trio.current_time() < until:
                raise reason  # news of the modem are no reason to count again
        try:
            await unlock(self._bus, modem, self._settings.pin, self._memory)
        except Unready as why:
            wait_s = math.inf if why.state is HealthState.SICK else why.retry_s or 0.0
            self._blocked = modem, why, trio.current_time() + wait_s
            raise

    # -- what is told ----------------------------------------------------------------------------

    def _searching(self, modem: SeenModem) -> float:
        if modem.registration == DENIED:
            text = "The network denies this SIM; ask its operator."
            return self._down(HealthState.SICK, text)
        return self._down(HealthState.DOWN, "Searching for a network.")

    def _up(self, modem: SeenModem, texts: TextsSeen) -> Health:
        where = f" on {modem.operator}" if modem.operator else ""
        details: dict[str, str | int | float | None] = {
            "model": modem.name,
            "imei": modem.imei or None,
            "number": modem.number or None,
            "operator": modem.operator or None,
            "registration": REGISTRATIONS.get(modem.registration),
            "signal_dbm": dbm_of(modem.signal),
            "half_received": texts.half_received,
        }
        quota, now_ms = self._tally.quota, self._now_ms()
        if quota.segments_max is not None:
            details["segments_today"] = quota.segments
            details["segments_per_day_max"] = quota.segments_max
        if quota.recipients_max is not None:
            details["recipients_this_month"] = quota.recipients
            details["recipients_per_month_max"] = quota.recipients_max
        over = limits.day_over(quota, now_ms) or limits.month_over(quota, now_ms)
        details["attention"] = over or None
        text, reports = f"{modem.name} is ready{where}.", self._settings.reports
        return Health(HealthState.UP, text, details, receipts=reports)

    def _publish(self, health: Health) -> None:
        if health != self._told:
            self._told = health
            self._context.health(health)
