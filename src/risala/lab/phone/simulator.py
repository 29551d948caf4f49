"""An Android phone with the SMSGate app, which calls a service as the app does.

In a test or another program, under Trio::

    phone = PhoneSimulator(PhoneConfig(url="https://…/carriers/phone/mobile/v1", token="…"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(phone.run)
        sent = await phone.wait(TextSent)              # a recipient has a text
        phone.receive("+33612345678", "Yes")           # somebody writes to the phone
        phone.behaviour.is_dozing = True                   # Android puts it to sleep
        nursery.cancel_scope.cancel()

It is made after the app's public source, and is no proof that the app itself does the same.
"""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from typing import Any, Final, TypeVar

import trio

from risala.lab.phone.config import PhoneBehaviour, PhoneConfig
from risala.lab.phone.events import (
    MessageFetched,
    NetworkLost,
    PhoneChanged,
    PhoneHappening,
    PhoneRefused,
    PhoneRegistered,
    StateReported,
    StreamChanged,
    TextSent,
    TextUploaded,
)
from risala.lab.phone.network import DroppingNetwork, HttpNetwork, NetworkLostError, PhoneNetwork
from risala.lab.phone.store import AppStore, StoredText, written

REPORT_TRIES: Final = 10
"""The app tries so often to report a state."""
HALF_HOUR_S: Final = 1800.0
LIMIT_EXCEEDED: Final = "Send result: RESULT_ERROR_LIMIT_EXCEEDED (Failed because …)"

Happened = TypeVar("Happened")


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _unheard(_event: PhoneHappening) -> None:
    """Nobody watches the phone."""


def _any_event(_event: object) -> bool:
    return True


class PhoneSimulator:
    """A phone that runs until it is cancelled.

    Args:
        network: carries its calls; None: real HTTP.
        on_event: hears what happens.
        now_ms: the true time, UTC epoch milliseconds.
    """

    def __init__(
        self,
        config: PhoneConfig,
        *,
        network: PhoneNetwork | None = None,
        on_event: Callable[[PhoneHappening], None] = _unheard,
        now_ms: Callable[[], int] = _wall_ms,
    ) -> None:
        self._true_ms = now_ms
        self.config = config
        self.behaviour = PhoneBehaviour()
        self.events: list[PhoneHappening] = []
        self.network: DroppingNetwork | None = None if network is None else DroppingNetwork(network)
        self.store = AppStore(self.now_ms)
        self.is_open = True
        """Whether the app runs; Android may have killed it."""
        self._on_event = on_event
        self._changed = trio.Event()
        self._account: dict[str, str] | None = None
        self._webhooks: list[dict[str, str]] = []
        self._settings: dict[str, Any] = {}
        self._received: list[tuple[str, dict[str, Any]]] = []
        self._sent_s: list[float] = []
        self._app: trio.Nursery | None = None
        self._wanted = {"pull": False, "webhooks": False, "settings": False}
        self._number = 0

    def now_ms(self) -> int:
        """The phone's own clock, UTC epoch milliseconds."""
        return self._true_ms() + round(self.behaviour.clock_off_s * 1000)

    # -- what somebody does to it ----------------------------------------------------------------

    def kill(self) -> None:
        """Android ends the app. What it keeps stays."""
        self.is_open = False
        if self._app is not None:
            self._app.cancel_scope.cancel()
        self.tell(PhoneChanged("the app is killed"))

    def open(self) -> None:
        """Somebody opens the app, or Android starts it again."""
        self.is_open = True
        self.tell(PhoneChanged("the app is open"))

    def restart(self) -> None:
        """Somebody restarts the app, which registers where the service does not know it."""
        self.tell(PhoneChanged("the app is restarted"))
        if self._app is not None:
            self._app.cancel_scope.cancel()

    def wipe(self) -> None:
        """The app's data is deleted: its messages, and who it is."""
        self.store = AppStore(self.now_ms)
        self._account, self._webhooks, self._settings = None, [], {}
        self.tell(PhoneChanged("the app's data is wiped"))
        if self._app is not None:
            self._app.cancel_scope.cancel()

    def doze(self, *, is_dozing: bool) -> None:
        """Android puts the phone to sleep, or lets it wake."""
        self.behaviour.is_dozing = is_dozing
        self.tell(PhoneChanged("the phone dozes" if is_dozing else "the phone is awake"))

    def receive(self, sender: str, text: str, sim: int = 1) -> None:
        """Somebody writes to the phone."""
        self._number += 1
        received = {
            "messageId": f"in{self._number:06x}",
            "sender": sender,
            "recipient": None,
            "simNumber": sim,
            "phoneNumber": sender,
            "message": text,
            "receivedAt": written(self.now_ms()),
        }
        for webhook in self._webhooks:
            if webhook["event"] == "sms:received":
                self._queue_event(webhook, received)
        self._kick()

    def _queue_event(self, webhook: dict[str, str], payload: dict[str, Any]) -> None:
        self._number += 1
        event = {
            "id": f"event-{self._number}-{self.now_ms()}",
            "webhookId": webhook["id"],
            "event": webhook["event"],
            "deviceId": (self._account or {}).get("id", ""),
            "payload": payload,
        }
        self._received.append((webhook["url"], event))

    # -- its life ----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Live, until cancelled."""
        own = None
        if self.network is None:
            own = HttpNetwork(self.config.url)
            self.network = DroppingNetwork(own)
        try:
            while True:
                await self._until(lambda: self.is_open)
                async with trio.open_nursery() as self._app:
                    await self._live(self._app)
                self._app = None
        finally:
            self._app = None
            if own is not None:
                with trio.move_on_after(2, shield=True):
                    await own.aclose()

    async def _live(self, app: trio.Nursery) -> None:
        self._wanted.update(pull=True, webhooks=True, settings=True)
        await self._registered()
        for text in self.store.texts.values():
            if text.state == "Processed":  # Android has it, whatever became of the app
                self._start(self._finish, text)
        for task in (self._listen, self._pull_regularly, self._work, self._send, self._bring):
            app.start_soon(task)

    async def _registered(self) -> None:
        """Register, again and again until the service takes it."""
        is_known = False
        while not is_known:
            is_known = await self._register()
            if not is_known:
                await trio.sleep(self.config.retry_s)

    async def _register(self) -> bool:
        """Whether the service knows the phone: it introduces itself where it does not."""
        sims = [
            {"slotIndex": index, "simNumber": index + 1, "carrierName": name}
            for index, name in enumerate(self.config.sims)
        ]
        if self._account is not None:
            fields = {"id": self._account["id"], "pushToken": None, "simCards": sims}
            answer = await self._ask("PATCH", "/device", fields)
            if answer is None or answer[0] != 401:
                return answer is not None and answer[0] < 300
            self._account = None
        fields = {"name": self.config.name, "pushToken": None, "simCards": sims}
        answer = await self._ask("POST", "/device", fields, token=self.config.token)
        if answer is None or answer[0] != 201:
            return False
        self._account = json.loads(answer[1])
        assert self._account is not None
        self.tell(PhoneRegistered(self._account["id"]))
        return True

    async def _listen(self) -> None:
        """Hear events, and connect again whenever the stream ends."""
        assert self.network is not None
        while True:
            await self._until(lambda: not self.behaviour.is_dozing)
            try:
                async with self.network.listen("/events", self._headers()) as (status, octets):
                    if status == 200:
                        self.tell(StreamChanged(True))
                        self._want("pull")
                        await self._hear(octets)
                    else:
                        self.tell(PhoneRefused("GET /events", status))
            except NetworkLostError:
                pass
            self.tell(StreamChanged(False))
            await trio.sleep(self.config.reconnect_s)

    async def _hear(self, octets: AsyncIterator[bytes]) -> None:
        begun = b""
        async for some in octets:
            *blocks, begun = (begun + some).split(b"\n\n")
            for block in blocks:
                lines = dict(line.split(": ", 1) for line in block.decode().splitlines())
                await self._until(lambda: not self.behaviour.is_dozing)
                self._heard(lines.get("event", "MessageEnqueued"), lines.get("data", ""))

    def _heard(self, event: str, data: str) -> None:
        match event:
            case "MessageEnqueued":
                self._want("pull")
            case "WebhooksUpdated":
                self._want("webhooks")
            case "SettingsUpdated":
                self._want("settings")
            case "MessageCancelled":
                self._cancel(json.loads(data)["messageId"])

    async def _pull_regularly(self) -> None:
        while True:
            await trio.sleep(self.config.pull_s)
            self._want("pull")

    def _want(self, what: str) -> None:
        self._wanted[what] = True
        self._kick()

    async def _work(self) -> None:
        """Fetch what is to be fetched; again after a while where that failed."""
        while True:
            await self._until(lambda: any(self._wanted.values()) and not self.behaviour.is_dozing)
            what = next(what for what, is_wanted in self._wanted.items() if is_wanted)
            self._wanted[what] = False
            path = {"pull": "/message?order=fifo"}.get(what, f"/{what}")
            answer = await self._ask("GET", path)
            if answer is None or answer[0] >= 300:
                self._wanted[what] = True
                await trio.sleep(self.config.retry_s)
            elif what == "pull":
                self._fetched(json.loads(answer[1]))
            elif what == "webhooks":
                self._webhooks = json.loads(answer[1])
            else:
                self._settings = json.loads(answer[1])
            self._kick()

    def _fetched(self, messages: list[dict[str, Any]]) -> None:
        for fields in messages:
            known = self.store.texts.get(fields["id"])
            if fields["state"] == "Cancelling":
                self._cancel(fields["id"], fields)
            elif known is not None:
                self._report(known)
            else:
                self.store.add(fields)
                self.tell(MessageFetched(fields["id"]))

    def _cancel(self, text_id: str, fields: dict[str, Any] | None = None) -> None:
        text = self.store.cancel(text_id)
        if text is None and fields is not None and text_id not in self.store.texts:
            text = StoredText(text_id, fields["phoneNumbers"][0], "", None, None, 0, reports=False)
            text.become("Cancelled", self.now_ms())  # it is told, and not kept
        if text is not None:
            self._report(text)

    # -- what it sends -----------------------------------------------------------------------------

    async def _send(self) -> None:
        """Send what is pending, one after the other."""
        while True:
            await self._until(lambda: self.store.next_pending() is not None)
            text = self.store.next_pending()
            assert text is not None
            if (error := self._fault(text)) is not None:
                self._become(text, "Failed", error)
                continue
            if not self.behaviour.is_out_of_order:
                self._become(text, "Processed")
            else:
                text.state = "Processed"
            await self._finish(text)

    async def _finish(self, text: StoredText) -> None:
        await trio.sleep(self.config.sent_after_s)
        self._leave(text)

    def _fault(self, text: StoredText) -> str | None:
        """Why Android never gets a message; None: it does."""
        if text.valid_until_ms is not None and text.valid_until_ms < self.now_ms():
            return "TTL expired"
        if text.sim is not None and text.sim > len(self.config.sims):
            return f"Can't send message: SIM {text.sim} not found"
        if not self.config.sims:
            return "Can't send message: No SIMs found"
        return None

    def _leave(self, text: StoredText) -> None:
        now_s, limit = trio.current_time(), self.behaviour.half_hour_max
        self._sent_s = [each for each in self._sent_s if now_s - each < HALF_HOUR_S]
        if limit is not None and len(self._sent_s) >= limit:
            self._become(text, "Failed", LIMIT_EXCEEDED)
            return
        if self.behaviour.fails_with:
            self._become(text, "Failed", f"Send result: {self.behaviour.fails_with}")
            return
        self._sent_s.append(now_s)
        sim = text.sim or 1
        self.tell(TextSent(text.id, text.recipient, sim, text.text, text.valid_until_ms))
        self._become(text, "Sent")
        if self.behaviour.is_out_of_order:
            self._become(text, "Processed")
        if text.reports and self.behaviour.gives_receipts:
            self._start(self._deliver, text)

    async def _deliver(self, text: StoredText) -> None:
        await trio.sleep(self.config.delivered_after_s)
        self._become(text, "Delivered")

    def _become(self, text: StoredText, state: str, error: str | None = None) -> None:
        text.become(state, self.now_ms(), error)
        self._report(text)
        self._kick()

    def _report(self, text: StoredText) -> None:
        if not self.behaviour.is_mute:
            self._start(self._tell_state, text)
            if self.behaviour.reports_twice:
                self._start(self._tell_state, text)

    async def _tell_state(self, text: StoredText) -> None:
        await trio.sleep(self.behaviour.late_s)
        for tried in range(REPORT_TRIES):
            await self._until(lambda: not self.behaviour.is_dozing)
            report = text.report  # as it is now, which may be further than when this began
            answer = await self._ask("PATCH", "/message", [report])
            if answer is not None and answer[0] < 300:
                self.tell(StateReported(text.id, report["state"], text.error or ""))
                return
            await trio.sleep(self.config.retry_s * 2**tried)

    # -- what it receives --------------------------------------------------------------------------

    async def _bring(self) -> None:
        """Bring received texts, each until the service has it."""
        while True:
            await self._until(lambda: bool(self._received) and not self.behaviour.is_dozing)
            url, event = self._received[0]
            tries = 1
            while not await self._is_uploaded(url, event):
                tries += 1
                await trio.sleep(self.config.retry_s)
            self._received.pop(0)
            self.tell(TextUploaded(event["payload"].get("sender", ""), tries))

    async def _is_uploaded(self, url: str, event: dict[str, Any]) -> bool:
        body = json.dumps(event, ensure_ascii=False).encode()
        stamp = str(self.now_ms() // 1000)
        key = self._settings.get("webhooks", {}).get("signing_key", "own-key")
        signature = hmac.new(key.encode(), body + stamp.encode(), sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-Timestamp": stamp,
            "X-Signature": signature,
        }
        status = await self._call("POST", url, headers, body)
        return status is not None and status[0] < 300

    # -- calls -------------------------------------------------------------------------------------

    def _headers(self, token: str | None = None) -> dict[str, str]:
        own = (self._account or {}).get("token", "")
        return {
            "Authorization": f"Bearer {token or own}",
            "User-Agent": "me.capcom.smsgateway/simulated",
            "Content-Type": "application/json",
        }

    async def _ask(
        self, method: str, path: str, fields: object = None, *, token: str | None = None
    ) -> tuple[int, bytes] | None:
        body = b"" if fields is None else json.dumps(fields).encode()
        return await self._call(method, path, self._headers(token), body)

    async def _call(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, bytes] | None:
        """Status and body of the answer; None: there was none."""
        assert self.network is not None
        await self._until(lambda: not self.behaviour.is_dozing)
        call = f"{method} {path.rpartition('/mobile/v1')[2]}"
        try:
            answer = await self.network.ask(method, path, headers, body)
        except NetworkLostError:
            self.tell(NetworkLost(call))
            return None
        if answer[0] >= 300:
            self.tell(PhoneRefused(call, answer[0]))
        return answer

    # -- watching ----------------------------------------------------------------------------------

    def tell(self, event: PhoneHappening) -> None:
        """Note that something happened."""
        self.events.append(event)
        self._on_event(event)
        self._kick()

    async def wait(
        self, kind: type[Happened], matches: Callable[[Happened], bool] = _any_event
    ) -> Happened:
        """The first event of a kind, which may have been already."""
        while True:
            for event in self.events:
                if isinstance(event, kind) and matches(event):
                    return event
            await self._changed.wait()

    async def wait_ready(self) -> None:
        """Wait until it knows what the service wants to hear of, and how to sign it."""
        await self._until(lambda: bool(self._webhooks and self._settings))

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()

    def _start(self, task: Callable[[StoredText], Any], text: StoredText) -> None:
        if self._app is not None:
            self._app.start_soon(task, text)

    def _kick(self) -> None:
        changed, self._changed = self._changed, trio.Event()
        changed.set()
