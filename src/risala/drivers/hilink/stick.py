"""What a stick can be told and asked, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import Final

from risala.dataclass import dataclass
from risala.drivers.hilink.errors import StickError
from risala.drivers.hilink.session import StickSession
from risala.drivers.hilink.words import StickWords, number_in
from risala.plugins.contract import Alphabet

INBOX: Final = 1
OUTBOX: Final = 2
SIM_INBOX: Final = 5
PAGE: Final = 20
"""Messages in one list: what every stick gives."""
SENT: Final = 3
FAILED: Final = 4
"""States (``Smstat``) of a message in the outbox."""
LONG: Final = 2
REPORT_DELIVERED: Final = 7
REPORT_FAILED: Final = 8
"""Types (``SmsType``) of received messages."""
SIM_READY: Final = 257
SIM_WANTS_PIN: Final = 260
SIM_WANTS_PUK: Final = 261
_FULL_SERVICE: Final = 2
_RSSI_NONE: Final = 0


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message in one of the stick's boxes."""

    index: str
    """By which it is deleted; used again, some time after that."""
    phone: str
    text: str = field(repr=False)
    date: str
    """By the stick's clock, in a zone that it does not tell."""
    kind: int
    state: int

    @property
    def identity(self) -> str:
        """Tells it from every other one that the stick ever has, whatever its text is."""
        return f"{self.index} {self.date}"

    @staticmethod
    def read(fields: Mapping[str, str]) -> StoredMessage:
        """A message of a list."""
        return StoredMessage(
            fields.get("Index", "").strip()[:20],
            fields.get("Phone", "").strip()[:40],
            fields.get("Content", ""),
            fields.get("Date", "").strip()[:30],
            number_in(fields.get("SmsType", "1"), 1),
            number_in(fields.get("Smstat", "0")),
        )


@dataclass(frozen=True, slots=True)
class StickNetwork:
    """The stick's place in the network."""

    has_service: bool
    is_roaming: bool
    operator: str
    signal_dbm: int | None


@dataclass(frozen=True, slots=True)
class StickCard:
    """The SIM."""

    state: int
    tries: int | None
    """Tries of the PIN that are left; None: the stick does not say."""


@dataclass(frozen=True, slots=True)
class StickStorage:
    """How many messages the stick keeps."""

    inbox: int
    sim_inbox: int
    used: int
    most: int
    """0: the stick does not say."""

    @property
    def is_full(self) -> bool:
        return 0 < self.most <= self.used


@dataclass(frozen=True, slots=True)
class SendState:
    """What the stick says of what it sends."""

    waiting: frozenset[str]
    """Numbers that it has yet to send to; empty: it has done."""
    reached: frozenset[str]
    failed: frozenset[str]


class Stick:
    """One stick. Each method may raise what :meth:`StickSession.get` does."""

    def __init__(self, session: StickSession) -> None:
        self._session = session

    async def identity(self) -> Mapping[str, str]:
        """Facts that stay: ``model``, ``imei``, ``imsi``, ``iccid``, ``number``; those it tells."""
        words = await self._maybe("device/information")
        names = {
            "model": "DeviceName",
            "imei": "Imei",
            "imsi": "Imsi",
            "iccid": "Iccid",
            "number": "Msisdn",
        }
        facts = {name: words.fields.get(field, "").strip()[:40] for name, field in names.items()}
        return {name: value for name, value in facts.items() if value}

    async def network(self) -> StickNetwork:
        """How the stick is in the network."""
        status = await self._session.get("monitoring/status")
        plmn = await self._maybe("net/current-plmn")
        signal = await self._maybe("device/signal")
        rssi = number_in(signal.fields.get("rssi", "")) or number_in(signal.fields.get("rsrp", ""))
        return StickNetwork(
            status.number("ServiceStatus", _FULL_SERVICE) == _FULL_SERVICE,
            status.number("RoamingStatus") == 1,
            (plmn.fields.get("FullName") or plmn.fields.get("ShortName") or "").strip()[:40],
            None if rssi == _RSSI_NONE else rssi,
        )

    async def card(self) -> StickCard:
        """How the SIM is."""
        words = await self._maybe("pin/status")
        tries = words.number("SimPinTimes", -1)
        return StickCard(words.number("SimState", SIM_READY), None if tries < 0 else tries)

    async def storage(self) -> StickStorage:
        """How full the stick is."""
        words = await self._session.get("sms/sms-count")
        kept = ("LocalInbox", "LocalOutbox", "LocalDraft")
        return StickStorage(
            words.number("LocalInbox"),
            words.number("SimInbox"),
            sum(words.number(name) for name in kept),
            words.number("LocalMax"),
        )

    async def type_pin(self, pin: str) -> None:
        """Type the SIM's PIN."""
        fields = {"OperateType": 0, "CurrentPin": pin, "NewPin": "", "PukCode": ""}
        await self._session.post("pin/operate", fields)

    async def ask_reports(self) -> bool:
        """Ask the network for delivery reports from now on; False: the stick has none."""
        words = await self._maybe("sms/config")
        if "UseSReport" not in words.fields:
            return False
        if words.fields["UseSReport"] == "1":
            return True
        order = ("SaveMode", "Validity", "Sca", "UseSReport", "SendType")
        fields = {name: words.fields[name] for name in order if name in words.fields}
        try:
            await self._session.post("sms/config", {**fields, "UseSReport": 1})
        except StickError:
            return False
        return True

    # -- messages --------------------------------------------------------------------------------

    async def send(self, recipient: str, text: str, alphabet: Alphabet, now_ms: int) -> None:
        """Have a text sent; :meth:`send_state` says what becomes of it."""
        fields = {
            "Index": -1,
            "Phones": {"Phone": recipient},
            "Sca": "",
            "Content": text,
            "Length": len(text),
            "Reserved": int(alphabet is Alphabet.GSM7),
            "Date": f"{datetime.fromtimestamp(now_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}",
        }
        await self._session.post("sms/send-sms", fields)

    async def send_state(self) -> SendState:
        """What becomes of the text that is sent."""
        words = await self._session.get("sms/send-status")
        return SendState(
            _numbers(words, "Phone"), _numbers(words, "SucPhone"), _numbers(words, "FailPhone")
        )

    async def listed(self, box: int, *, oldest_first: bool = True) -> Sequence[StoredMessage]:
        """The first page of a box."""
        fields = {
            "PageIndex": 1,
            "ReadCount": PAGE,
            "BoxType": box,
            "SortType": 0,
            "Ascending": int(oldest_first),
            "UnreadPreferred": 0,
        }
        words = await self._session.post("sms/sms-list", fields)
        read = [StoredMessage.read(each) for each in words.messages]
        return [each for each in read if each.index]

    async def delete(self, message: StoredMessage) -> None:
        """Delete a message; one that is gone already is no fault."""
        await self._session.post("sms/delete-sms", {"Index": message.index})

    async def _maybe(self, path: str) -> StickWords:
        """An answer; nothing where the stick does not have this."""
        try:
            return await self._session.get(path)
        except StickError:
            return StickWords()


def _numbers(words: StickWords, name: str) -> frozenset[str]:
    written = words.fields.get(name, "").replace(";", ",")
    return frozenset(each.strip() for each in written.split(",") if each.strip())
