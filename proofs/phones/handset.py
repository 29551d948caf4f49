"""A simulated phone and its days: asleep, killed, cut off, late, out of order, wiped."""

from __future__ import annotations

import random
from collections import Counter
from typing import Final

import trio

from risala.lab.phone.events import (
    PhoneHappening,
    PhoneRegistered,
    StateReported,
    TextSent,
    TextUploaded,
)
from risala.lab.phone.phone import PhoneBehaviour, PhoneConfig
from risala.lab.phone.simulator import PhoneSimulator

MOODS: Final = {
    "well": 30,
    "asleep": 10,
    "app killed": 8,
    "app restarted": 4,
    "calls lost": 8,
    "answers lost": 20,
    "states late": 8,
    "states out of order and twice": 8,
    "silent": 3,
    "slow": 6,
    "without network": 5,
}
MOOD_S: Final = (0.5, 1.0, 2.0, 4.0)
"""Between two moods."""
LATE_S: Final = (1.0, 5.0)
SLOW_S: Final = (0.5, 3.0)
SENT_S: Final = 0.02
DELIVERED_S: Final = 0.1
AGAIN_S: Final = 0.5
"""After which the app tries again, or connects anew; the real one takes ten times as long."""
TEXT_S: Final = 2.0
"""Between two texts that somebody writes to a phone."""


class Handset:
    """One phone.

    Args:
        name: its carrier's name.
        url: the app's API URL.
    """

    def __init__(self, name: str, url: str, token: str, seed: int) -> None:
        self.name = name
        self._dice = random.Random(f"{seed}/{name}")
        config = PhoneConfig(
            url,
            token,
            sims=("Mauritel", "Chinguitel"),
            sent_after_s=SENT_S,
            delivered_after_s=DELIVERED_S,
            reconnect_s=AGAIN_S,
            retry_s=AGAIN_S,
        )
        self.phone = PhoneSimulator(config, on_event=self._happened)
        self.left: Counter[str] = Counter()
        """How often a text left, by its recipient: what people got."""
        self.ids: Counter[str] = Counter()
        """The same, by the id that the service gave it."""
        self.told: set[str] = set()
        """Recipients of whom the service took the report that they have their text."""
        self.brought: set[str] = set()
        """Who wrote to the phone, and the service said that it has the text."""
        self.moods: Counter[str] = Counter()
        self.registered = 0
        self.is_calm = False
        self._letters = 0

    def _happened(self, event: PhoneHappening) -> None:
        match event:
            case TextSent():
                self.left[event.recipient] += 1
                self.ids[event.id] += 1
            case StateReported() if event.state == "Delivered":
                text = self.phone.store.texts.get(event.id)
                if text is not None:
                    self.told.add(text.recipient)
            case TextUploaded():
                self.brought.add(event.sender)
            case PhoneRegistered():
                self.registered += 1

    async def live(self) -> None:
        """Until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.phone.run)
            nursery.start_soon(self._receive)
            while True:
                await trio.sleep(self._dice.choice(MOOD_S))
                mood = self._dice.choices([*MOODS], [*MOODS.values()])[0]
                self._take("well" if self.is_calm else mood)

    async def _receive(self) -> None:
        number = self.name[-1]
        while not self.is_calm:
            await trio.sleep(TEXT_S)
            self._letters += 1
            self.phone.receive(f"+2224{number}{self._letters:06}", f"text {self._letters}")

    def _take(self, mood: str) -> None:
        phone, network, choose = self.phone, self.phone.network, self._dice.choice
        if network is None:
            return
        self.moods[mood] += 1
        match mood:
            case "well":
                self._recover()
            case "asleep":
                phone.doze(is_dozing=True)
            case "app killed":
                phone.kill()
            case "app restarted":
                phone.restart()
            case "calls lost":
                network.drop_calls = self._dice.randrange(1, 4)
            case "answers lost":
                network.drop_answers = self._dice.randrange(1, 4)
            case "states late":
                phone.behaviour.late_s = choose(LATE_S)
            case "states out of order and twice":
                phone.behaviour.is_out_of_order = phone.behaviour.reports_twice = True
            case "silent":
                phone.behaviour.is_mute = True
            case "slow":
                phone.config.sent_after_s = choose(SLOW_S)
            case "without network":
                network.drop_calls = 20

    def _recover(self) -> None:
        phone, network = self.phone, self.phone.network
        assert network is not None
        network.drop_calls = network.drop_answers = 0
        was_dozing = phone.behaviour.is_dozing
        phone.behaviour = PhoneBehaviour()
        phone.config.sent_after_s = SENT_S
        if not phone.is_open:
            phone.open()
        if was_dozing:
            phone.doze(is_dozing=False)
