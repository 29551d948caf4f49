"""What a simulated phone does with texts that it is to send: Android, the radio, the reports."""

from __future__ import annotations

from typing import Final

import trio

from risala.lab.phone.events import StateReported, TextSent
from risala.lab.phone.phone import SimulatedPhone
from risala.lab.phone.store import StoredText

REPORT_TRIES: Final = 10
"""The app tries so often to report a state."""
HALF_HOUR_S: Final = 1800.0
LIMIT_EXCEEDED: Final = "Send result: RESULT_ERROR_LIMIT_EXCEEDED (Failed because …)"


class TextSender:
    """Sends a phone's texts."""

    def __init__(self, phone: SimulatedPhone) -> None:
        self._phone = phone
        self._sent_s: list[float] = []

    async def run(self) -> None:
        """Send what is pending, one after the other."""
        while True:
            await self._phone.until(lambda: self._phone.store.next_pending() is not None)
            text = self._phone.store.next_pending()
            assert text is not None
            if (error := self._fault(text)) is not None:
                self._become(text, "Failed", error)
                continue
            if not self._phone.behaviour.is_out_of_order:
                self._become(text, "Processed")
            else:
                text.state = "Processed"
            await self.finish(text)

    async def finish(self, text: StoredText) -> None:
        """Send what Android has."""
        await trio.sleep(self._phone.config.sent_after_s)
        self._leave(text)

    def _fault(self, text: StoredText) -> str | None:
        """Why Android never gets a message; None: it does."""
        if text.valid_until_ms is not None and text.valid_until_ms < self._phone.now_ms():
            return "TTL expired"
        if text.sim is not None and text.sim > len(self._phone.config.sims):
            return f"Can't send message: SIM {text.sim} not found"
        if not self._phone.config.sims:
            return "Can't send message: No SIMs found"
        return None

    def _leave(self, text: StoredText) -> None:
        now_s, limit = trio.current_time(), self._phone.behaviour.half_hour_max
        self._sent_s = [each for each in self._sent_s if now_s - each < HALF_HOUR_S]
        if limit is not None and len(self._sent_s) >= limit:
            self._become(text, "Failed", LIMIT_EXCEEDED)
            return
        if self._phone.behaviour.fails_with:
            self._become(text, "Failed", f"Send result: {self._phone.behaviour.fails_with}")
            return
        self._sent_s.append(now_s)
        text.has_left = True
        sim = text.sim or 1
        self._phone.tell(TextSent(text.id, text.recipient, sim, text.text, text.valid_until_ms))
        self._become(text, "Sent")
        if self._phone.behaviour.is_out_of_order:
            self._become(text, "Processed")
        if text.reports and self._phone.behaviour.gives_receipts:
            self._phone.start(self._deliver, text)

    async def _deliver(self, text: StoredText) -> None:
        await trio.sleep(self._phone.config.delivered_after_s)
        self._become(text, "Delivered")

    def _become(self, text: StoredText, state: str, error: str | None = None) -> None:
        text.become(state, self._phone.now_ms(), error)
        self.report(text)
        self._phone.kick()

    def report(self, text: StoredText) -> None:
        """Tell the service what a text's state is."""
        if not self._phone.behaviour.is_mute:
            self._phone.start(self._tell_state, text)
            if self._phone.behaviour.reports_twice:
                self._phone.start(self._tell_state, text)

    async def _tell_state(self, text: StoredText) -> None:
        await trio.sleep(self._phone.behaviour.late_s)
        for tried in range(REPORT_TRIES):
            await self._phone.until(lambda: not self._phone.behaviour.is_dozing)
            report = text.report  # as it is now, which may be further than when this began
            answer = await self._phone.ask("PATCH", "/message", [report])
            if answer is not None and answer[0] < 300:
                self._phone.tell(StateReported(text.id, report["state"], text.error or ""))
                return
            await trio.sleep(self._phone.config.retry_s * 2**tried)
