"""What those who run a service do to it: stop it, have it read its settings anew, freeze it."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import trio

from proofs.crashes.rounds import Lives
from proofs.process.faces import Customers
from proofs.process.house import in_thread

DEADLINE_S: Final = 20.0
"""What the settings state: ``http.graceful_stop_s`` and ``engine.drain_s``, ten seconds each."""
RELOADS: Final = 20
_PAUSE_S: Final = 0.05
_BEGUN_S: Final = 1.0
"""Of load before something happens: queues and windows are full by then."""
_FIRST_S: Final = 30.0
"""What answers nothing for so long after it was let go on does not answer."""
_LAST_LINES: Final = 5
_UNDER_WAY: Final = "SELECT carrier, segments, resolve_at FROM messages WHERE status = 'processing'"


class Broken(Exception):
    """A promise did not hold; ``str()`` says which."""


@dataclass
class Stopped:
    """What came of orders to stop."""

    took_s: list[float]
    pending: int
    """Messages that waited when it had stopped, in all."""


async def _loaded(lives: Lives, name: str, then: Callable[[Customers], Awaitable[None]]) -> None:
    load = Customers(lives.house, lives.told, name, pause_s=_PAUSE_S)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(load.run)
        await trio.sleep(_BEGUN_S)
        await then(load)
        load.stop()


async def stopped(
    lives: Lives, rounds: int, *, deadline_s: float = DEADLINE_S, seed: int = 1
) -> Stopped:
    """SIGTERM under load, so many times; everything is there afterwards.

    Args:
        deadline_s: what the settings state.

    Raises:
        Broken: it took longer than the settings say, or ended otherwise than in order.
    """
    rng, told = random.Random(seed), Stopped([], 0)
    for number in range(rounds):

        async def stop(_: Customers) -> None:
            await trio.sleep(rng.uniform(0, 0.3))
            began_s = time.monotonic()
            status = await _ended(lives)
            told.took_s.append(time.monotonic() - began_s)
            if status != 0 or told.took_s[-1] > deadline_s:
                last = lives.house.process.errors[-_LAST_LINES:]
                raise Broken(f"SIGTERM: status {status} after {told.took_s[-1]:.1f} s: {last}")

        await _loaded(lives, f"stop{number}", stop)
        rows = lives.house.service.rows
        left = rows(_UNDER_WAY)
        if left:
            took = f"after {told.took_s[-1]:.1f} s"
            raise Broken(f"SIGTERM: {len(left)} messages were left under way {took}: {left}")
        told.pending += len(rows("SELECT id FROM messages WHERE status = 'pending'"))
        await lives.start({})
        await lives.judge(number)
    return told


async def stopped_twice(lives: Lives) -> float:
    """A second SIGTERM ends it at once; how long that took. Everything is there afterwards.

    Raises:
        Broken: it did not end by the second.
    """
    took_s = 0.0

    async def stop(_: Customers) -> None:
        nonlocal took_s
        process = lives.house.process
        process.signal(signal.SIGTERM)
        # Not before the first was heard: two signals at once are one.
        await in_thread(process.wait_error, lambda line: "service.stopping" in line)
        began_s = time.monotonic()
        status = await _ended(lives)
        took_s = time.monotonic() - began_s
        if status not in (0, 128 + signal.SIGTERM):
            raise Broken(f"a second SIGTERM: status {status}")

    await _loaded(lives, "twice", stop)
    await lives.start({})
    await lives.judge(0)
    return took_s


async def _ended(lives: Lives) -> int:
    lives.house.service.close()
    lives.house.process.signal(signal.SIGTERM)
    return await in_thread(lives.house.process.wait_exit)


async def reloaded(lives: Lives) -> int:
    """SIGHUP again and again under load: nobody is cut off; how many were accepted meanwhile.

    Raises:
        Broken: somebody was.
    """
    accepted = 0

    async def reload(load: Customers) -> None:
        nonlocal accepted
        for _ in range(RELOADS):
            lives.house.process.signal(signal.SIGHUP)
            await trio.sleep(0.05)
        accepted = load.answers
        if load.cut_off or lives.house.process.popen.poll() is not None:
            raise Broken(f"SIGHUP: {load.cut_off[:3]}")

    await _loaded(lives, "reload", reload)
    await lives.judge(0)
    return accepted


async def frozen(lives: Lives, for_s: float) -> float:
    """SIGSTOP, and SIGCONT after a while; until the next message is accepted, in seconds.

    Raises:
        Broken: none is.
    """
    first_s = 0.0

    async def freeze(load: Customers) -> None:
        nonlocal first_s
        process = lives.house.process
        process.signal(signal.SIGSTOP)
        await trio.sleep(for_s)
        before, began_s = load.answers, time.monotonic()
        process.signal(signal.SIGCONT)
        with trio.move_on_after(_FIRST_S):
            await load.wait_answers(before + 1)
        first_s = time.monotonic() - began_s
        if load.answers == before:
            raise Broken(f"frozen for {for_s:g} s: nothing is accepted afterwards: {load.cut_off}")
        await trio.sleep(_BEGUN_S)

    await _loaded(lives, "frozen", freeze)
    await lives.judge(0)
    return first_s
