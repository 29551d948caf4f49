"""Texts as ModemManager has them: each is an object on the bus, whole, with its state."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import trio

from risala.dataclass import dataclass
from risala.drivers.modem.inbound.reports import SentLog
from risala.drivers.modem.manager.bus import (
    BusCallError,
    BusGoneError,
    BusTimeoutError,
    ModemBus,
)
from risala.drivers.modem.manager.objects import MESSAGING, SeenModem
from risala.drivers.modem.manager.settings import ModemManagerSettings
from risala.drivers.modem.manager.words import (
    MANAGER,
    NO_DELIVERY_STATE,
    PROPERTIES,
    RELATIVE,
    STATUS_REPORT,
    SmsState,
    outcome_of_error,
)
from risala.drivers.modem.tpdu.pdu import StatusReport
from risala.drivers.modem.tpdu.tpfields import TpAddress
from risala.plugins.contract import (
    Accepted,
    Cause,
    DriverContext,
    Inbound,
    NotStoredError,
    Outcome,
    Segment,
    Uncertain,
    Unsent,
)

SMS: Final = f"{MANAGER}.Sms"
TEXTS_MAX: Final = 1000
"""The most texts of a modem that are looked at: SIMs and modems hold some hundred."""
LEFT_S: Final = 5.0
"""Seconds for what is done after a text has left: its reference is read, and it is deleted."""
_MINUTE_MS: Final = 60_000
_VALID_MAX_MIN: Final = 63 * 7 * 24 * 60
"""The longest relative validity (23.040 §9.2.3.12.1)."""


@dataclass(frozen=True, slots=True)
class TextsSeen:
    """What a look at the modem's texts found."""

    half_received: int = 0
    """Long texts of which parts are missing."""
    is_left: bool = False
    """Something could not be stored or deleted now: look again."""


class ManagedTexts:
    """The texts of one modem, to and from it, while the driver runs.

    Args:
        log: what was sent, by which reports are matched; it outlives the connection.
        now_ms: UTC epoch milliseconds.
    """

    def __init__(
        self,
        bus: ModemBus,
        context: DriverContext,
        settings: ModemManagerSettings,
        log: SentLog,
        now_ms: Callable[[], int],
    ) -> None:
        self._bus = bus
        self._context = context
        self._settings = settings
        self._log = log
        self._now_ms = now_ms
        self._sending = trio.Lock()
        self._ours: set[str] = set()
        """Paths of texts that we made: they are deleted once they were sent, or were not."""
        self._open: set[str] = set()
        """Paths of our texts of which nobody knows whether they left."""
        self._left: set[str] = set()
        """Paths of texts that are none of ours: of other programs, or not to be handed over."""

    def forget(self) -> None:
        """Begin anew: ModemManager was restarted, and its paths are others."""
        self._ours.clear()
        self._open.clear()
        self._left.clear()

    # -- sending -------------------------------------------------------------------------------

    async def submit(self, modem: SeenModem, segment: Segment) -> Outcome:
        """Send a text; see :meth:`risala.plugins.contract.Driver.submit`."""
        async with self._sending:
            path, has_left = "", False
            try:
                path = await self._create(modem, segment)
                has_left = True
                self._ours.add(path)
                self._left.discard(path)  # a look may have seen it before we knew its path
                await self._bus.call(path, f"{SMS}.Send", timeout_s=self._settings.send_timeout_s)
            except BusCallError as error:
                outcome = outcome_of_error(error.name, str(error), has_left=has_left)
            except BusTimeoutError:
                outcome = Uncertain("", cause=Cause.NO_ANSWER) if has_left else _LOST
            except BusGoneError:
                outcome = Uncertain("", cause=Cause.LINK_LOST) if has_left else _LOST
            else:
                return await self._sent(modem, path, segment)
            if isinstance(outcome, Uncertain):
                self._open.add(path)
                name = self._log.uncertain(segment, self._now_ms())
                return Uncertain(outcome.raw, outcome.text, name, outcome.cause)
            return outcome

    async def _create(self, modem: SeenModem, segment: Segment) -> str:
        minutes = math.ceil((segment.expires_at_ms - self._now_ms()) / _MINUTE_MS)
        fields = {
            "number": ("s", segment.recipient),
            "text": ("s", segment.text),
            "delivery-report-request": ("b", self._settings.reports),
            "validity": ("(uv)", (RELATIVE, ("u", min(max(minutes, 5), _VALID_MAX_MIN)))),
        }
        if segment.message_class is not None:
            fields["class"] = ("i", segment.message_class)
        (path,) = await self._bus.call(modem.path, f"{MESSAGING}.Create", "a{sv}", (fields,))
        return str(path)

    async def _sent(self, modem: SeenModem, path: str, segment: Segment) -> Accepted:
        """The text has left. Whatever happens now, it is accepted."""
        reference: int | None = None
        try:
            with trio.move_on_after(LEFT_S):
                got = await self._bus.call(
                    path, f"{PROPERTIES}.Get", "ss", (SMS, "MessageReference")
                )
                reference = int(got[0][1])
                await self._delete(modem, path)
        except (BusCallError, BusGoneError, BusTimeoutError):
            pass  # a report then finds the text by its recipient, and the next look deletes it
        return Accepted(self._log.accepted(reference, segment.recipient, self._now_ms()))

    async def _delete(self, modem: SeenModem, path: str) -> None:
        await self._bus.call(modem.path, f"{MESSAGING}.Delete", "o", (path,))
        self._ours.discard(path)

    # -- what came -----------------------------------------------------------------------------

    async def take_in(self, modem: SeenModem) -> TextsSeen:
        """Hand over what came, and delete it from the modem once it is stored.

        Raises:
            BusGoneError: the connection has ended.
        """
        (paths,) = await self._bus.call(modem.path, f"{MESSAGING}.List")
        here = {*sorted(paths, key=_number)[:TEXTS_MAX]}
        for known in (self._left, self._ours, self._open):
            known &= here
        half, is_left = 0, False
        for path in sorted(here - self._left, key=_number):
            try:
                (raw,) = await self._bus.call(path, f"{PROPERTIES}.GetAll", "s", (SMS,))
                sms = {name: value[1] for name, value in raw.items()}
                half += sms["State"] == SmsState.RECEIVING
                if await self._is_done(path, sms):
                    await self._delete(modem, path)
            except NotStoredError:
                is_left = True
            except (BusCallError, BusTimeoutError):
                is_left = True  # it went meanwhile, or the modem did not delete it
        return TextsSeen(half, is_left)

    async def _is_done(self, path: str, sms: dict[str, Any]) -> bool:
        """Deal with a text; whether it may go.

        Raises:
            NotStoredError: it must stay.
        """
        if self._sending.locked() and (path in self._ours or sms["PduType"] == STATUS_REPORT):
            return False  # what it is of may have no reference yet; a look follows the sending
        if sms["PduType"] == STATUS_REPORT:
            await self._report(sms)
            return True
        if path in self._ours:
            if path in self._open and sms["State"] == SmsState.SENT:
                await self._left_after_all(path, int(sms["MessageReference"]))
            return bool(sms["State"] in (SmsState.SENT, SmsState.UNKNOWN))
        if sms["State"] == SmsState.RECEIVED and self._settings.inbound:
            await self._context.inbound(self._inbound(sms))
            return True
        if sms["State"] != SmsState.RECEIVING:
            self._left.add(path)
        return False

    async def _left_after_all(self, path: str, reference: int) -> None:
        """ModemManager sent a text whose answer came too late for us."""
        self._open.discard(path)
        sent = self._log.resolve(reference)
        if sent is not None and sent.uncertain is not None:
            segment, sent.uncertain = sent.uncertain, None
            await self._context.late_outcome(segment, Accepted(sent.carrier_id))

    def _inbound(self, sms: dict[str, Any]) -> Inbound:
        sender, text, stamp = str(sms["Number"]), str(sms["Text"]), str(sms["Timestamp"])
        data = bytes(sms.get("Data") or b"") if not text else b""
        same = hashlib.sha256("\0".join((sender, stamp, text, data.hex())).encode())
        sent_at = _time(stamp)
        return Inbound(
            sender=sender,
            recipient=None,
            text=text or data.hex(),
            received_at_ms=self._now_ms(),
            carrier_ids=(same.hexdigest()[:32],),
            service_centre=str(sms.get("SMSC") or "") or None,
            sent_at_ms=None if sent_at is None else round(sent_at.timestamp() * 1000),
        )

    async def _report(self, sms: dict[str, Any]) -> None:
        status = int(sms["DeliveryState"])
        if status >= NO_DELIVERY_STATE:
            return
        report = StatusReport(
            int(sms["MessageReference"]) & 0xFF,
            TpAddress.of_number(str(sms["Number"])),
            _time(str(sms["Timestamp"])),
            _time(str(sms["DischargeTimestamp"])),
            status,
        )
        match = self._log.match(report, self._now_ms())
        if match.sent is not None and (segment := match.sent.uncertain) is not None:
            match.sent.uncertain = None
            proved = Accepted(match.sent.carrier_id, "proved by its status report")
            await self._context.late_outcome(segment, proved)
        await self._context.receipt(match.receipt)


_LOST: Final = Unsent("", cause=Cause.LINK_LOST)


def _number(path: str) -> int:
    """Texts are numbered as ModemManager found them."""
    last = path.rpartition("/")[2]
    return int(last) if last.isdigit() else 0


def _time(text: str) -> datetime | None:
    """ISO 8601 with a zone, which ModemManager may write as ``+02``; None: it is no time."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
