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

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import trio

from risala.lab.phone.events import (
    MessageFetched,
    PhoneChanged,
    PhoneHappening,
    PhoneRefused,
    PhoneRegistered,
    StreamChanged,
)
from risala.lab.phone.network import DroppingNetwork, HttpNetwork, NetworkLostError, PhoneNetwork
from risala.lab.phone.phone import PhoneConfig, SimulatedPhone, unheard, wall_ms
from risala.lab.phone.receiver import TextReceiver
from risala.lab.phone.sender import TextSender
from risala.lab.phone.store import AppStore, StoredText


class PhoneSimulator(SimulatedPhone):
    """A phone that runs until it is cancelled. Arguments: see
    :class:`~risala.lab.phone.phone.SimulatedPhone`."""

    def __init__(
        self,
        config: PhoneConfig,
        *,
        network: PhoneNetwork | None = None,
        on_event: Callable[[PhoneHappening], None] = unheard,
        now_ms: Callable[[], int] = wall_ms,
    ) -> None:
        super().__init__(config, network=network, on_event=on_event, now_ms=now_ms)
        self.is_open = True
        """Whether the app runs; Android may have killed it."""
        self._sender = TextSender(self)
        self._receiver = TextReceiver(self)
        self._wanted = {"pull": False, "webhooks": False, "settings": False}

    # -- what somebody does to it ----------------------------------------------------------------

    def kill(self) -> None:
        """Android ends the app. What it keeps stays."""
        self.is_open = False
        if self.app is not None:
            self.app.cancel_scope.cancel()
        self.tell(PhoneChanged("the app is killed"))

    def open(self) -> None:
        """Somebody opens the app, or Android starts it again."""
        self.is_open = True
        self.tell(PhoneChanged("the app is open"))

    def restart(self) -> None:
        """Somebody restarts the app, which registers where the service does not know it."""
        self.tell(PhoneChanged("the app is restarted"))
        if self.app is not None:
            self.app.cancel_scope.cancel()

    def wipe(self) -> None:
        """The app's data is deleted: its messages, and who it is."""
        self.store = AppStore(self.now_ms)
        self.account, self.webhooks, self.settings = None, [], {}
        self.tell(PhoneChanged("the app's data is wiped"))
        if self.app is not None:
            self.app.cancel_scope.cancel()

    def doze(self, *, is_dozing: bool) -> None:
        """Android puts the phone to sleep, or lets it wake."""
        self.behaviour.is_dozing = is_dozing
        self.tell(PhoneChanged("the phone dozes" if is_dozing else "the phone is awake"))

    def receive(self, sender: str, text: str, sim: int = 1) -> None:
        """Somebody writes to the phone."""
        self._receiver.receive(sender, text, sim)

    # -- its life ----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Live, until cancelled."""
        own = None
        if self.network is None:
            own = HttpNetwork(self.config.url)
            self.network = DroppingNetwork(own)
        try:
            while True:
                await self.until(lambda: self.is_open)
                async with trio.open_nursery() as self.app:
                    await self._live(self.app)
                self.app = None
        finally:
            self.app = None
            if own is not None:
                with trio.move_on_after(2, shield=True):
                    await own.aclose()

    async def _live(self, app: trio.Nursery) -> None:
        self._wanted.update(pull=True, webhooks=True, settings=True)
        await self._registered()
        for text in self.store.texts.values():
            # Android has it, whatever became of the app.
            if text.state == "Processed" and not text.has_left:
                self.start(self._sender.finish, text)
        for task in (self._listen, self._pull_regularly, self._work):
            app.start_soon(task)
        for part in (self._sender, self._receiver):
            app.start_soon(part.run)

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
        if self.account is not None:
            fields = {"id": self.account["id"], "pushToken": None, "simCards": sims}
            answer = await self.ask("PATCH", "/device", fields)
            if answer is None or answer[0] != 401:
                return answer is not None and answer[0] < 300
            self.account = None
        fields = {"name": self.config.name, "pushToken": None, "simCards": sims}
        answer = await self.ask("POST", "/device", fields, token=self.config.token)
        if answer is None or answer[0] != 201:
            return False
        self.account = json.loads(answer[1])
        assert self.account is not None
        self.tell(PhoneRegistered(self.account["id"]))
        return True

    async def _listen(self) -> None:
        """Hear events, and connect again whenever the stream ends."""
        assert self.network is not None
        while True:
            await self.until(lambda: not self.behaviour.is_dozing)
            try:
                async with self.network.listen("/events", self.headers()) as (status, octets):
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
                await self.until(lambda: not self.behaviour.is_dozing)
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
        self.kick()

    async def _work(self) -> None:
        """Fetch what is to be fetched; again after a while where that failed."""
        while True:
            await self.until(lambda: any(self._wanted.values()) and not self.behaviour.is_dozing)
            what = next(what for what, is_wanted in self._wanted.items() if is_wanted)
            self._wanted[what] = False
            path = {"pull": "/message?order=fifo"}.get(what, f"/{what}")
            store = self.store
            answer = await self.ask("GET", path)
            if self.store is not store:
                return  # its data was deleted meanwhile, and the app that asked with it
            if answer is None or answer[0] >= 300:
                self._wanted[what] = True
                await trio.sleep(self.config.retry_s)
            elif what == "pull":
                self._fetched(json.loads(answer[1]))
            elif what == "webhooks":
                self.webhooks = json.loads(answer[1])
            else:
                self.settings = json.loads(answer[1])
            self.kick()

    def _fetched(self, messages: list[dict[str, Any]]) -> None:
        for fields in messages:
            known = self.store.texts.get(fields["id"])
            if fields["state"] == "Cancelling":
                self._cancel(fields["id"], fields)
            elif known is not None:
                self._sender.report(known)
            else:
                self.store.add(fields)
                self.tell(MessageFetched(fields["id"]))

    def _cancel(self, text_id: str, fields: dict[str, Any] | None = None) -> None:
        text = self.store.cancel(text_id)
        if text is None and fields is not None and text_id not in self.store.texts:
            text = StoredText(text_id, fields["phoneNumbers"][0], "", None, None, 0, reports=False)
            text.become("Cancelled", self.now_ms())  # it is told, and not kept
        if text is not None:
            self._sender.report(text)
