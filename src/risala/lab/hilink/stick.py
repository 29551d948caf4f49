"""A simulated stick without its wire: what it answers to a request, and what happens at it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import trio

from risala.lab.hilink.boxes import (
    DELIVERED,
    FAILED,
    INBOX,
    LONG,
    NOT_DELIVERED,
    OUTBOX,
    PENDING,
    PLAIN,
    SIM_INBOX,
    BoxMessage,
    StickBoxes,
)
from risala.lab.hilink.config import (
    NO_SIM,
    PIN_TRIES,
    SIM_READY,
    SIM_WANTS_PIN,
    SIM_WANTS_PUK,
    HilinkConfig,
    StickBehaviour,
)
from risala.lab.hilink.gate import StickGate


@dataclass(frozen=True)
class StickRequest:
    """A request was answered."""

    path: str
    code: int
    """0: done; otherwise an error of the stick."""


@dataclass(frozen=True)
class StickSignedIn:
    """Somebody tried to sign in."""

    is_in: bool


@dataclass(frozen=True)
class StickSent:
    """The network took a text, or did not."""

    recipient: str
    text: str = field(repr=False)
    is_sent: bool


@dataclass(frozen=True)
class StickReceived:
    """A text or a report came in; it is lost where the stick is full."""

    sender: str
    text: str = field(repr=False)
    is_kept: bool


@dataclass(frozen=True)
class StickDeleted:
    """A message was deleted."""

    index: str


@dataclass(frozen=True)
class StickChanged:
    """Something was done to the stick."""

    text: str


StickHappening = (
    StickRequest | StickSignedIn | StickSent | StickReceived | StickDeleted | StickChanged
)


UNSUPPORTED: Final = 100002
BAD_REQUEST: Final = 100005
SMS_BUSY: Final = 113018
SMS_FULL: Final = 113053
WRONG_PIN: Final = 103002
GSM_LINE: Final = 160
Fields = Mapping[str, str]
Told = Mapping[str, Any] | str | int
"""Fields, ``OK``, or the code of an error."""


class SimulatedStick:
    """The device: its SIM, its messages, its session.

    Args:
        start: runs something in the background.
    """

    def __init__(
        self,
        config: HilinkConfig,
        tell: Callable[[StickHappening], None],
        start: Callable[..., None],
    ) -> None:
        self.config = config
        self.behaviour = StickBehaviour()
        self.boxes = StickBoxes(config.storage_max)
        self.gate = StickGate(config)
        self.has_card = True
        self.pin_tries = PIN_TRIES
        self.is_locked = bool(config.pin)
        self.uses_reports = False
        self.sent: list[StickSent] = []
        self._tell = tell
        self._start = start
        self._waiting: BoxMessage | None = None
        self._reached = self._failed = ""
        self._gets: Mapping[str, Callable[[], Told]] = {
            "device/information": self._information,
            "device/basic_information": lambda: {"devicename": config.model},
            "device/signal": lambda: {"rssi": "-71dBm", "rsrp": "-97dBm", "mode": 7},
            "monitoring/status": self._status,
            "monitoring/check-notifications": self._notifications,
            "net/current-plmn": self._network,
            "pin/status": self._pin_status,
            "sms/sms-count": self._count,
            "sms/send-status": self._send_status,
            "sms/config": self._sms_config,
        }
        self._posts: Mapping[str, Callable[[Fields], Told]] = {
            "pin/operate": self._type_pin,
            "sms/send-sms": self._send,
            "sms/sms-list": self._list,
            "sms/delete-sms": self._delete,
            "sms/set-read": lambda _fields: "OK",
            "sms/config": self._set_config,
        }

    # -- what somebody does to it ----------------------------------------------------------------

    def receive(self, sender: str, text: str, kind: int = 0, box: int = INBOX) -> BoxMessage | None:
        """Somebody writes to the stick; None: it is full, and the text is lost."""
        is_kept = not self.boxes.is_full
        self._tell(StickReceived(sender, text, is_kept))
        if not is_kept:
            return None
        kind = kind or (LONG if len(text) > GSM_LINE else PLAIN)
        return self.boxes.add(box, sender, text, kind)

    def unstick(self) -> None:
        """The network takes the text that stayed on its way."""
        self.behaviour.stuck = False
        if self._waiting is not None:
            self._start(self._finish, self._waiting)

    def restart(self) -> None:
        """The stick loses what it does not keep: its session, and what is on its way."""
        self.gate.forget()
        self.is_locked = bool(self.config.pin)
        if self._waiting is not None:
            self._waiting.state = FAILED
        self._waiting, self._reached, self._failed = None, "", ""
        self._tell(StickChanged("the stick restarts"))

    # -- what it answers ---------------------------------------------------------------------------

    def answer_to(self, path: str, fields: Fields | None) -> Told:
        """The answer to a request that may be done; ``fields``: of a POST."""
        if fields is None:
            question = self._gets.get(path)
            return UNSUPPORTED if question is None else question()
        ordered = self._posts.get(path)
        return UNSUPPORTED if ordered is None else ordered(fields)

    def _information(self) -> Told:
        config = self.config
        return {
            "DeviceName": config.model,
            "Imei": config.imei,
            "Imsi": "609100000000017" if self.has_card else "",
            "Iccid": "8922210000000000017" if self.has_card else "",
            "Msisdn": config.number if self._is_ready else "",
            "workmode": "LTE",
        }

    def _status(self) -> Told:
        has_service = self.behaviour.has_service and self._is_ready
        return {
            "ConnectionStatus": 902,
            "SignalIcon": 4 if has_service else 0,
            "CurrentNetworkTypeEx": 101,
            "RoamingStatus": 0,
            "ServiceStatus": 2 if has_service else 0,
            "SimStatus": int(self.has_card),
        }

    def _notifications(self) -> Told:
        unread = self.boxes.count(INBOX)
        return {"UnreadMessage": unread, "SmsStorageFull": int(self.boxes.is_full)}

    def _network(self) -> Told:
        name = self.config.operator if self.behaviour.has_service and self._is_ready else ""
        return {"State": 0, "FullName": name, "ShortName": name, "Numeric": "60910", "Rat": 7}

    def _count(self) -> Told:
        return {
            "LocalUnread": self.boxes.count(INBOX),
            "LocalInbox": self.boxes.count(INBOX),
            "LocalOutbox": self.boxes.count(OUTBOX),
            "LocalDraft": 0,
            "SimInbox": self.boxes.count(SIM_INBOX),
            "LocalMax": self.boxes.most,
            "SimMax": 30,
        }

    # -- the SIM -----------------------------------------------------------------------------------

    @property
    def _is_ready(self) -> bool:
        return self.has_card and not self.is_locked

    def _pin_status(self) -> Told:
        if not self.has_card:
            state = NO_SIM
        elif self.is_locked:
            state = SIM_WANTS_PIN if self.pin_tries else SIM_WANTS_PUK
        else:
            state = SIM_READY
        return {"SimState": state, "SimPinTimes": self.pin_tries, "SimPukTimes": 10}

    def _type_pin(self, fields: Fields) -> Told:
        if not self.is_locked or not self.pin_tries:
            return BAD_REQUEST
        if fields.get("CurrentPin") != self.config.pin:
            self.pin_tries -= 1
            self._tell(StickChanged("a wrong PIN was typed"))
            return WRONG_PIN
        self.is_locked, self.pin_tries = False, PIN_TRIES
        return "OK"

    # -- messages ----------------------------------------------------------------------------------

    def _sms_config(self) -> Told:
        kept = {"SaveMode": 0, "Validity": 10752, "Sca": "+22200000000", "SendType": 1}
        if self.config.has_reports:
            kept["UseSReport"] = int(self.uses_reports)
        return kept

    def _set_config(self, fields: Fields) -> Told:
        self.uses_reports = self.config.has_reports and fields.get("UseSReport") == "1"
        return "OK"

    def _list(self, fields: Fields) -> Told:
        try:
            box, page = int(fields["BoxType"]), int(fields["PageIndex"])
            size = int(fields["ReadCount"])
        except (KeyError, ValueError):
            return BAD_REQUEST
        if not 1 <= size <= 50:
            return BAD_REQUEST
        oldest_first = fields.get("Ascending") == "1"
        listed = self.boxes.page(box, page, size, oldest_first=oldest_first)
        return {"Count": len(listed), "Messages": [_message(each) for each in listed]}

    def _delete(self, fields: Fields) -> Told:
        index = fields.get("Index", "")
        self.boxes.delete(index)
        self._tell(StickDeleted(index))
        return "OK"

    def _send(self, fields: Fields) -> Told:
        recipient, text = fields.get("Phone", ""), fields.get("Content", "")
        if not recipient or not text or not recipient.lstrip("+").isdigit():
            return BAD_REQUEST
        if self._waiting is not None:
            return SMS_BUSY
        if self.boxes.is_full and self.behaviour.keeps_sent:
            return SMS_FULL
        message = self.boxes.add(OUTBOX, recipient, text, state=PENDING)
        if not self.behaviour.keeps_sent:
            self.boxes.delete(message.index)
        self._waiting, self._reached, self._failed = message, "", ""
        self._start(self._finish, message)
        return "OK"

    async def _finish(self, message: BoxMessage) -> None:
        await trio.sleep(self.config.sent_after_s)
        if self.behaviour.stuck or self._waiting is not message:
            return  # it stays on its way, or the stick has restarted
        is_sent = not self.behaviour.fails_sends
        message.state = self.behaviour.outbox_state if is_sent else FAILED
        if is_sent:
            self._reached = message.phone
        else:
            self._failed = message.phone
        self._waiting = None
        sent = StickSent(message.phone, message.text, is_sent)
        self.sent.append(sent)
        self._tell(sent)
        if is_sent and self.uses_reports:
            await trio.sleep(self.config.reported_after_s)
            self.report(message.phone)

    def report(self, phone: str, *, is_delivered: bool = True) -> None:
        """A delivery report comes."""
        self.receive(phone, "", DELIVERED if is_delivered else NOT_DELIVERED)

    def _send_status(self) -> Told:
        waiting = "" if self._waiting is None else self._waiting.phone
        return {
            "Phone": waiting,
            "SucPhone": self._reached,
            "FailPhone": self._failed,
            "TotalCount": 1,
            "CurIndex": 0 if waiting else 1,
        }


def _message(message: BoxMessage) -> Mapping[str, object]:
    return {
        "Smstat": message.state,
        "Index": message.index,
        "Phone": message.phone,
        "Content": message.text,
        "Date": message.date,
        "Sca": "",
        "SaveType": 0,
        "Priority": 0,
        "SmsType": message.kind,
    }
