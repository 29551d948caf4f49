"""A crash between any two steps: each part is with the carrier, in a note, or in a message.

The carrier here does what carriers do: it brings everything again that it got no answer for.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from cases import examples
from risala.drivers.smpp.parts import SmppParts
from risala.drivers.smpp.protocol.pdu import DeliverSm
from risala.drivers.smpp.protocol.submit import DefaultAlphabet
from risala.plugins.contract import Inbound, NotStoredError
from risala.plugins.testing.context import RecordingContext

TIMEOUT_S = 60.0
_TEXTS = {1: "a", 2: "b", 3: "c"}


class Disk(RecordingContext):
    """Dies at its so-many-th write: before it, or right after."""

    def __init__(self, notes: dict[str, str], dies_at: int | None, *, after: bool) -> None:
        super().__init__()
        self.notes = dict(notes)
        self._dies_in = dies_at
        self._after = after
        self.dead = trio.Event()
        self._queue = trio.StrictFIFOLock()

    async def inbound(self, message: Inbound, *, forget: Iterable[str] = ()) -> None:
        await self._in_turn(partial(super().inbound, message, forget=forget))

    async def remember(self, notes: Mapping[str, str | None]) -> None:
        await self._in_turn(partial(super().remember, notes))

    async def _in_turn(self, write: Callable[[], Awaitable[None]]) -> None:
        async with self._queue:  # in the order in which they were asked for, as the journal's
            if self.dead.is_set():
                await trio.sleep_forever()
            if self._dies_in is not None:
                self._dies_in -= 1
            dies = self._dies_in == 0
            if not dies or self._after:
                await write()
            if dies:
                await self._die()

    async def _die(self) -> None:
        self.dead.set()
        await trio.sleep_forever()


@dataclass
class Carrier:
    """Keeps a part until it has an answer that reached it."""

    waiting: list[int]
    answered: list[int] = field(default_factory=list)
    """In the life of one link."""

    def lose_answers(self, count: int) -> None:
        """The last ones never left the dying process."""
        self.waiting += self.answered[len(self.answered) - count :] if count else []


@dataclass
class Brought:
    carrier: Carrier
    number: int

    @property
    def request(self) -> DeliverSm:
        header = bytes((5, 0, 3, 9, len(_TEXTS), self.number))
        text = _TEXTS[self.number].encode()
        ends = {"source_addr": "36123456", "destination_addr": "1234"}
        return DeliverSm(**ends, esm_class=0x40, short_message=header + text)

    def answer(self, command_status: int = 0) -> None:
        if not command_status:
            self.carrier.waiting.remove(self.number)
            self.carrier.answered.append(self.number)


async def one_life(disk: Disk, carrier: Carrier, *, together: bool, then_s: float = 0.0) -> None:
    """Until the process dies, or until all is quiet."""
    parts = SmppParts(
        disk, TIMEOUT_S, DefaultAlphabet.GSM7, lambda: round(trio.current_time() * 1000)
    )
    carrier.answered.clear()

    async def bring() -> None:
        async with trio.open_nursery() as nursery:
            for number in list(carrier.waiting):
                nursery.start_soon(parts.take, Brought(carrier, number))
                if not together:
                    await wait_all_tasks_blocked()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(parts.run)
        with trio.move_on_after(1):
            nursery.start_soon(bring)
            await disk.dead.wait()
        if not disk.dead.is_set():
            await trio.sleep(then_s)
        nursery.cancel_scope.cancel()


async def story(
    order: list[int], dies_at: int, *, after: bool, together: bool, lost: int, then_s: float
) -> tuple[list[str], dict[str, str], bool]:
    """The messages of two lives, and the notes that are left."""
    carrier = Carrier(list(order))
    first = Disk({}, dies_at, after=after)
    await one_life(first, carrier, together=together)
    died = first.dead.is_set()
    carrier.lose_answers(min(lost, len(carrier.answered)) if died else 0)
    await trio.sleep(5)
    second = Disk(first.notes, None, after=False)
    await one_life(second, carrier, together=together, then_s=then_s)
    assert carrier.waiting == []
    messages = [*first.inbounds, *second.inbounds]
    return [message.text for message in messages], second.notes, died


def told(*arguments, **more):
    async def main():
        return await story(*arguments, **more)

    return trio.run(main, clock=MockClock(autojump_threshold=0))


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("together", [False, True], ids=["one_by_one", "at_once"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("dies_at", [1, 2, 3, 4, 5])
def test_a_crash_at_each_step_loses_and_doubles_nothing(dies_at, after, together, lost):
    texts, notes, died = told(
        [1, 2, 3], dies_at, after=after, together=together, lost=lost, then_s=0
    )
    assert died == (dies_at <= 4), "three parts are noted, and one message is stored"
    assert texts == ["abc"]
    kinds = [key.partition("/")[0] for key in notes]
    assert kinds[0] == "whole"
    assert kinds[1:] == ["part"] * (len(kinds) - 1), "parts that came again, to be forgotten"


@settings(max_examples=examples(60), deadline=None)
@given(
    order=st.permutations([1, 2, 3, 1, 3]),
    dies_at=st.integers(1, 8),
    after=st.booleans(),
    together=st.booleans(),
    lost=st.integers(0, 3),
)
def test_whatever_the_order_what_comes_twice_and_where_it_dies(
    order, dies_at, after, together, lost
):
    """And a long time later nothing has come of what came again."""
    texts, notes, _ = told(
        order, dies_at, after=after, together=together, lost=lost, then_s=3 * TIMEOUT_S
    )
    assert texts == ["abc"]
    assert [key.partition("/")[0] for key in notes] == ["whole"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("dies_at", [1, 2, 3])
def test_an_incomplete_message_is_given_up_on_once_across_a_crash(dies_at, after):
    """The third write is the one that stores it as it is."""

    async def main():
        first, carrier = Disk({}, dies_at, after=after), Carrier([1, 2])
        await one_life(first, carrier, together=False)
        if not first.dead.is_set():
            again = Disk(first.notes, 1, after=after)
            await one_life(again, carrier, together=False, then_s=TIMEOUT_S + 2)
            assert again.dead.is_set()
        else:
            again = first
        last = Disk(again.notes, None, after=False)
        await one_life(last, carrier, together=False, then_s=2 * TIMEOUT_S)
        assert carrier.waiting == []
        stored = [*again.inbounds, *last.inbounds]
        assert [message.text for message in stored] == ["ab[…]"]
        assert last.notes == {}

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_the_time_that_a_part_has_waited_outlives_a_restart():
    async def main():
        first, carrier = Disk({}, None, after=False), Carrier([1])
        await one_life(first, carrier, together=False, then_s=TIMEOUT_S / 2)
        last = Disk(first.notes, None, after=False)
        await one_life(last, carrier, together=False, then_s=TIMEOUT_S / 2)
        assert [message.text for message in last.inbounds] == ["a[…]"]
        assert last.inbounds[0].received_at_ms < 1000

    trio.run(main, clock=MockClock(autojump_threshold=0))


class Moody(Disk):
    """Refuses these of its writes."""

    def __init__(
        self,
        refused: frozenset[int],
        notes: dict[str, str] | None = None,
        dies_at: int | None = None,
    ) -> None:
        super().__init__(notes or {}, dies_at, after=True)
        self._writes = 0
        self._moods = refused

    async def _store(self, *arguments: object) -> None:
        self._writes += 1
        if self._writes in self._moods:
            await trio.lowlevel.checkpoint()
            raise NotStoredError
        await super()._store(*arguments)


@pytest.mark.parametrize("together", [False, True], ids=["one_by_one", "at_once"])
@pytest.mark.parametrize("dies_at", range(1, 7))
def test_parts_that_all_come_again_strike_nothing_of_what_is_not_stored_yet(dies_at, together):
    """Dies before it stores the message, all answers lost; the next time the disk refuses it."""

    async def main():
        first, carrier = Disk({}, 4, after=False), Carrier([1, 2, 3])
        await one_life(first, carrier, together=False)
        assert first.dead.is_set()
        carrier.lose_answers(3)
        second = Moody(frozenset({1}), first.notes, dies_at)
        await one_life(second, carrier, together=together)
        last = Disk(second.notes, None, after=False)
        await one_life(last, carrier, together=together, then_s=3 * TIMEOUT_S)
        texts = [message.text for one in (first, second, last) for message in one.inbounds]
        assert texts == ["abc"]
        assert [key.partition("/")[0] for key in last.notes] == ["whole"]

    trio.run(main, clock=MockClock(autojump_threshold=0))


@settings(max_examples=examples(60), deadline=None)
@given(
    order=st.permutations([1, 2, 3, 1, 3]),
    refused=st.frozensets(st.integers(1, 12), max_size=8),
    together=st.booleans(),
)
def test_a_disk_that_refuses_now_and_then_loses_and_doubles_nothing(order, refused, together):
    async def main():
        disk, carrier = Moody(refused), Carrier(list(order))
        parts = SmppParts(disk, TIMEOUT_S, DefaultAlphabet.GSM7, lambda: 0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(parts.run)
            while carrier.waiting:
                async with trio.open_nursery() as bringing:
                    for number in list(carrier.waiting):
                        bringing.start_soon(parts.take, Brought(carrier, number))
                        if not together:
                            await wait_all_tasks_blocked()
            await trio.sleep(5 * TIMEOUT_S)
            nursery.cancel_scope.cancel()
        assert [message.text for message in disk.inbounds] == ["abc"]
        assert not any(key.startswith(("part/", "storing/")) for key in disk.notes)

    trio.run(main, clock=MockClock(autojump_threshold=0))
