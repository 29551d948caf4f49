"""No number is approved that was not proven: sessions by the hundred, texts and calls in any order,
with forwards, replays, origins that nobody believes, other forms of numbers and broken words.

``make reverse SESSIONS=10000`` plays it at length, with any ``SEED``.
"""

from __future__ import annotations

import json
import os
import random
from dataclasses import dataclass

import pytest

from risala.engine.journal.webhooks import outbox
from risala.engine.model.records.verify.sessions import Method, StartedReverse

SESSIONS = int(os.environ.get("RISALA_REVERSE_SESSIONS", "150"))
SEED = int(os.environ.get("RISALA_REVERSE_SEED", "7"))
OPEN_AT_ONCE = 300
"""Sessions that are open when the texts of a round come."""
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
BELIEVED = ("sim", "vouched")
UNKNOWN = ("RISALA", "1234", "", "+33612345678", "22")


@dataclass
class Pair:
    """A session, and what the oracle knows of it."""

    started: StartedReverse
    to: str | None
    proven: str | None = None
    is_over: bool = False


@dataclass(frozen=True)
class Arrival:
    """A text, or a call, and what it proves."""

    number: str
    written: str
    """The number as the carrier writes it."""
    carrier: str
    text: str | None
    of: Pair | None
    """Whose word is in it."""
    carrier_id: str


class Oracle:
    """What should be approved, by rules of its own."""

    def __init__(self):
        self.pairs: list[Pair] = []
        self.seen: set[tuple[str, str]] = set()

    def opened(self, pair: Pair) -> None:
        if pair.started.method == Method.MISSED_CALL:
            for other in self.calling(pair.to):
                other.is_over = True
        self.pairs.append(pair)

    def calling(self, number: str | None) -> list[Pair]:
        return [
            each
            for each in self.pairs
            if each.started.method == Method.MISSED_CALL and each.to == number and not each.is_over
        ]

    def came(self, arrival: Arrival) -> None:
        is_mobile = arrival.number not in UNKNOWN
        if arrival.text is None:
            calling = self.calling(arrival.number) if arrival.carrier in BELIEVED else []
            if is_mobile and calling:
                self.approve(calling[-1], arrival.number)
            return
        is_first = (arrival.carrier, arrival.carrier_id) not in self.seen
        self.seen.add((arrival.carrier, arrival.carrier_id))
        pair = arrival.of
        if not is_first or pair is None or arrival.carrier not in BELIEVED or not is_mobile:
            return
        if not pair.is_over and pair.to in (None, arrival.number):
            self.approve(pair, arrival.number)

    def approve(self, pair: Pair, number: str) -> None:
        pair.proven, pair.is_over = number, True


class Play:
    """Draws what comes."""

    def __init__(self, seed: int):
        self.draw = random.Random(seed)
        self.numbers = [
            f"+222{self.draw.choice('234')}{self.draw.randrange(10**7):07}" for _ in range(4000)
        ]

    def number(self) -> str:
        return self.draw.choice(self.numbers)

    def start(self) -> tuple[Method, str | None]:
        if self.draw.random() < 0.25:
            return Method.MISSED_CALL, self.number()
        return Method.INBOUND_SMS, None if self.draw.random() < 0.3 else self.number()

    def written(self, number: str) -> str:
        if not number.startswith("+222"):
            return number
        return self.draw.choice((number, number[1:], f"00{number[1:]}", number[4:]))

    def mangled(self, text: str) -> str:
        """One character of the word is another one."""
        at = self.draw.randrange(len(text) - 8, len(text))
        other = self.draw.choice([each for each in ALPHABET if each != text[at]])
        return text[:at] + other + text[at + 1 :]

    def shaped(self, text: str) -> str:
        word = text.split()[-1]
        return self.draw.choice(
            (text, text.lower(), f"FWD: {text}", f"{word[:4]} {word[4:]}", f"« {word} »")
        )

    def arrivals(self, pair: Pair, count: int) -> list[Arrival]:
        """What comes of one session: the right thing, mostly, and much else."""
        made = []
        for index in range(count):
            number = self.draw.choice(
                (pair.to or self.number(), pair.to or self.number(), self.number(),
                 self.draw.choice(UNKNOWN))
            )  # fmt: skip
            carrier = self.draw.choice(("sim", "sim", "vouched", "wild"))
            text, of = pair.started.text, pair
            if text is not None and self.draw.random() < 0.2:
                text, of = self.mangled(text), None
            elif text is not None:
                text = self.shaped(text)
            carrier_id = f"{pair.started.verification_id}-{index}"
            made.append(Arrival(number, self.written(number), carrier, text, of, carrier_id))
        return made + [each for each in made if self.draw.random() < 0.3]  # replays


async def play(reverse, seed: int, sessions: int) -> Oracle:
    """One history; everything that is approved is compared with the oracle at its end."""
    draw, oracle = Play(seed), Oracle()
    house = reverse.house
    whose = {"organization_id": house.principal.organization_id}
    limits = {"per_organization_per_hour": 100_000, "per_phone_per_hour": 100}
    await house.gateway.perform("verify.config", {**whose, **limits})
    while len(oracle.pairs) < sessions:
        opened = []
        for _ in range(min(OPEN_AT_ONCE, sessions - len(oracle.pairs))):
            method, to = draw.start()
            pair = Pair(await reverse.start(to, method), to)
            oracle.opened(pair)
            opened.append(pair)
        arrivals = [each for pair in opened for each in draw.arrivals(pair, 2)]
        draw.draw.shuffle(arrivals)
        for arrival in arrivals:
            if arrival.text is None:
                await reverse.ring(arrival.written, arrival.carrier)
            else:
                await reverse.text(
                    arrival.text, arrival.written, arrival.carrier, arrival.carrier_id
                )
            oracle.came(arrival)
    return oracle


@pytest.mark.slow
async def test_none_is_approved_that_was_not_proven(open_reverse, quick):
    async with open_reverse() as reverse:
        oracle = await play(reverse, SEED, SESSIONS)
        for pair in oracle.pairs:
            view = reverse.view(pair.started)
            assert (view.status == "approved") is (pair.proven is not None), pair
            if pair.proven is not None:
                assert view.to == pair.proven
                assert pair.to in (None, pair.proven)
        proven = sorted(
            each.started.verification_id for each in oracle.pairs if each.proven is not None
        )
        reader = reverse.house.gateway.services.repositories._store.reader
        bodies = [json.loads(each.body) for each in outbox.after(reader, 0, 10 * SESSIONS)]
        told = [each["verificationId"] for each in bodies if each["type"] == "verify.approved"]
        assert sorted(told) == proven
        assert 0.2 * len(oracle.pairs) < len(proven) < 0.9 * len(oracle.pairs)
        print(f"{len(oracle.pairs)} sessions, {len(proven)} proven, each approved once")
