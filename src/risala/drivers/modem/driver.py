"""The modem driver: one GSM modem on a serial port, kept running until cancelled."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import trio

from risala.drivers.modem import commands
from risala.drivers.modem.card.balance import Balance
from risala.drivers.modem.life import Life, OpenPort, Port
from risala.drivers.modem.port import serial
from risala.drivers.modem.port.usb import UsbReset
from risala.drivers.modem.session import ModemSession
from risala.drivers.modem.settings import ModemSettings
from risala.drivers.modem.talk.ladder import ResetUsb
from risala.drivers.modem.tpdu.pdu import PduError
from risala.plugins.contract import (
    SUBMIT_S_MAX,
    Capabilities,
    Cause,
    CommandRefusedError,
    Declined,
    DriverCommand,
    DriverContext,
    Outcome,
    Receipt,
    Refused,
    Scope,
    Segment,
    Unsent,
)


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


ROOM_S: Final = 120.0
"""The longest that making room in a full modem takes, with the commands before a message."""


def longest_submit_s(settings: ModemSettings) -> float:
    """The longest that a submit takes: it waits for its turn, is sent, and is sent once more if the
    modem was full."""
    attempt_s = settings.prompt_timeout_s + settings.send_timeout_s
    return min(settings.send_timeout_s + 2 * attempt_s + ROOM_S, SUBMIT_S_MAX)


class ModemDriver:
    """See :class:`risala.plugins.contract.Driver`.

    Args:
        carrier: its configured name.
        open_port: opens the port; raises PortError.
        is_there: whether the device is plugged in.
        reset_usb: resets the USB device behind the port.
        now_ms: UTC epoch milliseconds.
    """

    def __init__(
        self,
        carrier: str,
        settings: ModemSettings,
        *,
        open_port: OpenPort = serial.open_port,
        is_there: Callable[[str], bool] = serial.is_there,
        reset_usb: ResetUsb | None = None,
        now_ms: Callable[[], int] = _wall_ms,
    ) -> None:
        self.carrier = carrier
        self.settings = settings
        self.capabilities = Capabilities(
            alphanumeric_sender=False,
            receipts=settings.reports,
            inbound=settings.inbound,
            query=False,
            validity=True,
            window_max=1,
            own_sim=True,
            calls=settings.calls,
            submit_s=longest_submit_s(settings),
            flash=True,
        )
        self._port = Port(settings.port, open_port, is_there, reset_usb or UsbReset(settings.port))
        self._now_ms = now_ms
        self._balance = Balance(settings.ussd_balance)
        self._life: Life | None = None

    @property
    def _session(self) -> ModemSession | None:
        return self._life.session if self._life is not None else None

    # -- submitting --------------------------------------------------------------------------

    async def submit(self, segment: Segment) -> Outcome:
        session = self._session
        if session is None or not session.ready:
            return Unsent("")
        refusal = session.over_quota(segment)
        if refusal is not None:
            return refusal
        try:
            outcome = await session.sender.submit(segment)
        except PduError:
            # The error's own text is not passed on: it may quote the message's text.
            return Refused(
                Scope.CARRIER,
                "",
                "The message does not fit into an SMS in this alphabet.",
                Cause.NOT_ENCODABLE,
            )
        self._balance.learn(outcome)
        session.publish()
        return outcome

    def declines(self, recipient: str, segments: int, *, is_next: bool = False) -> Declined | None:
        """See :class:`~risala.plugins.contract.Choosy`: the SIM's day or month may be used up."""
        if self._session is None:
            return None
        return self._session.declines(recipient, segments, is_next=is_next)

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        """Always None: a modem cannot query the state of a message."""
        await trio.lowlevel.checkpoint()
        return None

    # -- commands of the operator --------------------------------------------------------------

    @property
    def commands(self) -> tuple[DriverCommand, ...]:
        return (commands.USSD, commands.BALANCE, commands.RETRY_PIN, commands.NETWORK)

    async def command(
        self, name: str, arguments: Sequence[str]
    ) -> Mapping[str, str | int | float | None]:
        await trio.lowlevel.checkpoint()
        match name:
            case commands.USSD.name:
                return await commands.dial(self._session, arguments)
            case commands.BALANCE.name:
                has_code = self._balance.is_asked
                return await commands.balance(self._session, arguments, has_code=has_code)
            case commands.NETWORK.name:
                return await commands.network(self._session, arguments)
            case commands.RETRY_PIN.name:
                self.retry_pin()
                return {}
        raise CommandRefusedError(f"A modem has no command {name!r}.")

    def retry_pin(self) -> None:
        """The operator has corrected the PIN in the settings: it is typed once more."""
        if self.settings.pin is None:
            raise CommandRefusedError(
                "The settings have no PIN: set pin_env in [carriers.modem] to the name of the "
                "environment variable that has it, and restart."
            )
        if self._life is None or self._session is not None:
            raise CommandRefusedError("The carrier does not wait for a PIN.")
        self._life.retry_pin()

    # -- the modem's life --------------------------------------------------------------------

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        task_status.started()
        self._life = Life(context, self.settings, self._port, self._balance, self._now_ms)
        await self._life.run()
