"""One life of a stick's driver: ready, attended, and looked for when it is gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import trio

from risala.drivers.hilink.errors import LinkError, StickError, UnreadyError
from risala.drivers.hilink.inbox import StickInbox
from risala.drivers.hilink.pin import StickPin
from risala.drivers.hilink.quota import StickQuota
from risala.drivers.hilink.reports import StickReports
from risala.drivers.hilink.sender import StickSender
from risala.drivers.hilink.session import StickSession
from risala.drivers.hilink.settings import HilinkSettings
from risala.drivers.hilink.stick import Stick, StickNetwork, StickStorage
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

AGAIN_FIRST_S: Final = 1.0
AGAIN_MAX_S: Final = 30.0
"""Between two tries to reach a stick that is gone: at first, and at most."""
_SIM: Final = ("imsi", "iccid")
_TAIL: Final = 4
"""Digits of the SIM's own numbers that are told: enough to tell SIMs apart."""
READY: Final = "The stick is ready."
NO_SERVICE: Final = "The stick has no network."
ODD: Final = "The stick answered with error {code}."
FULL: Final = (
    "The stick's storage is full, and it receives nothing. Delete messages on its page, or let "
    "Risala take them over: inbound = true."
)
NO_REPORTS: Final = "This stick has no delivery reports: texts stay sent."
_FAULTS: Final = (StickError, LinkError, UnreadyError)


class StickLife:
    """The stick while its driver runs.

    Args:
        now_ms: UTC epoch milliseconds.
    """

    def __init__(
        self,
        context: DriverContext,
        settings: HilinkSettings,
        session: StickSession,
        now_ms: Callable[[], int],
    ) -> None:
        self._context = context
        self._settings = settings
        self._stick = stick = Stick(session)
        self._pin = StickPin(context, settings)
        self._reports = StickReports(context, now_ms) if settings.reports else None
        self._sender = StickSender(context, stick, self._reports, now_ms, settings.send_timeout_s)
        self._inbox = StickInbox(context, stick, self._reports, now_ms, hands_over=settings.inbound)
        self.quota = StickQuota(context, settings.segments_per_day_max, now_ms)
        self._identity: Mapping[str, str] = {}
        self._gives_reports = True
        self._told: Health | None = None
        self._wake = trio.Event()
        self._is_ended = False
        self._submits: set[trio.CancelScope] = set()

    @property
    def state(self) -> HealthState:
        """How the stick was at the last look."""
        return HealthState.DOWN if self._told is None else self._told.state

    @property
    def is_ready(self) -> bool:
        return self.state is HealthState.UP and not self._is_ended

    def end(self) -> None:
        """The driver ends: submits are broken off, and nothing is told any more."""
        self._is_ended = True
        for scope in self._submits:
            scope.cancel()

    def retry_pin(self) -> None:
        """The operator has corrected the PIN in the settings: it is typed once more."""
        self._pin.may_retry = True
        self._wake.set()

    async def submit(self, segment: Segment) -> Outcome:
        """Send a text; a stick that is lost over it is looked at at once."""
        if not self.is_ready:
            return Unsent("")
        parts = count(segment.text).segments
        if (declined := self.quota.declines(parts)) is not None:
            return Unsent("", declined.text, Cause.QUOTA_USED)
        try:
            await self.quota.count(parts)
        except NotStoredError:
            return Unsent("", cause=Cause.BUSY)
        outcome = await self._send(segment)
        if isinstance(outcome, (Unsent, Throttled)):
            self.quota.give_back(parts)
        return outcome

    async def _send(self, segment: Segment) -> Outcome:
        outcome: Outcome | None = None
        with trio.CancelScope() as scope:
            self._submits.add(scope)
            try:
                outcome = await self._sender.submit(segment)
            finally:
                self._submits.discard(scope)
        if outcome is None:
            return self._sender.stopped(segment)
        if self._sender.is_lost:
            self._wake.set()
        if not self._is_ended:
            digits = segment.recipient[-4:]
            self._context.traffic(True, _sent_line, digits)
            self._context.traffic(False, _answer_line, outcome)
        return outcome

    async def run(self) -> None:
        """Look after the stick, until cancelled."""
        again_s = AGAIN_FIRST_S
        while True:
            try:
                await self._meet()
                again_s = AGAIN_FIRST_S
                await self._attend()
            except UnreadyError as fault:
                self._tell(Health(fault.state, fault.text, self._details()))
                await self._pause(fault.again_s)
            except (LinkError, StickError) as fault:
                self._tell(Health(HealthState.DOWN, _text_of(fault), self._details()))
                await self._pause(again_s)
                again_s = min(2 * again_s, AGAIN_MAX_S)

    async def _meet(self) -> None:
        """Learn which stick it is, and have its SIM ready."""
        self._sender.is_lost = False
        await self._pin.unlock(self._stick)
        network = await self._stick.network()
        self._identity = await self._stick.identity()
        number = self._settings.number or self._identity.get("number")
        self._inbox.number = number
        await self._sender.begin()
        self._gives_reports = self._reports is None or await self._stick.ask_reports()
        self._publish(network, await self._stick.storage())

    async def _attend(self) -> None:
        """Take what comes, and look at the stick now and then, until it is lost."""
        looked_s = trio.current_time()
        while True:
            await self._pause(self._settings.poll_s)
            storage = await self._stick.storage()
            await self._sender.settle()
            try:
                await self._inbox.take(storage)
            except NotStoredError:
                self._context.trace("What the stick has received could not be stored; it keeps it.")
            if storage.is_full:
                await self._sender.make_room()
            now_s = trio.current_time()
            is_due = now_s - looked_s >= self._settings.check_every_s
            if is_due or self._sender.is_lost or not self.is_ready:
                self._sender.is_lost = False
                looked_s = now_s
                await self._pin.unlock(self._stick)
                self._publish(await self._stick.network(), await self._stick.storage())

    async def _pause(self, for_s: float) -> None:
        with trio.move_on_after(for_s):
            await self._wake.wait()
        self._wake = trio.Event()

    # -- what is told ------------------------------------------------------------------------------

    def _publish(self, network: StickNetwork, storage: StickStorage) -> None:
        details = self._details()
        details["registration"] = _registration(network)
        details["operator"] = network.operator or None
        details["signal_dbm"] = network.signal_dbm
        if self.quota.most is not None:
            details["segments_today"] = self.quota.today
            details["segments_per_day_max"] = self.quota.most
        if storage.most:
            details["storage"] = f"{storage.used}/{storage.most}"
        if storage.is_full:
            details["attention"] = FULL
        elif self.quota.attention is not None:
            details["attention"] = self.quota.attention
        elif not self._gives_reports:
            details["attention"] = NO_REPORTS
        state = HealthState.UP if network.has_service else HealthState.DOWN
        text = READY if network.has_service else NO_SERVICE
        self._tell(Health(state, text, details, receipts=self._gives_reports))

    def _details(self) -> dict[str, str | int | float | None]:
        details: dict[str, str | int | float | None] = {**self._identity}
        tails = {name: f"…{value[-_TAIL:]}" for name, value in self._identity.items()}
        details |= {name: tails[name] for name in _SIM if name in tails}
        if self._settings.number is not None:
            details["number"] = self._settings.number
        return details

    def _tell(self, health: Health) -> None:
        if health != self._told and not self._is_ended:
            self._told = health
            self._context.health(health)


def _registration(network: StickNetwork) -> str:
    if not network.has_service:
        return "searching"
    return "roaming" if network.is_roaming else "home"


def _text_of(fault: LinkError | StickError) -> str:
    return fault.text if isinstance(fault, LinkError) else ODD.format(code=fault.code)


def _sent_line(digits: str) -> str:
    """A submit as an operator watches it."""
    return f"POST /api/sms/send-sms …{digits}"


def _answer_line(outcome: Outcome) -> str:
    return f"{type(outcome).__name__} {outcome.raw}"
