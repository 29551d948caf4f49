"""What happens to the pair, in turn."""

from __future__ import annotations

import errno
import random
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import trio

from bad_machine import Call, Files
from proofs.pair.databases import Databases
from proofs.pair.machines import Machine
from proofs.pair.network import Network

LONG_S: Final = 8.0
"""Longer than the lease of 3 s and its margin, so that the standby takes over meanwhile."""
SHORT_S: Final = 1.0
"""Shorter than the third of the lease after which the primary stops."""
SYNCS: Final = 40
"""So many calls to sync are passed over at most, before one fails: those of some seconds."""


@dataclass
class Scene:
    """Who is there when a strike comes."""

    network: Network
    databases: Databases
    primary: Machine
    standby: Machine
    chance: random.Random
    number: int


async def _thread(work: Callable[[], object]) -> None:
    await trio.to_thread.run_sync(work)


async def disk_gone(scene: Scene) -> None:
    await _thread(scene.primary.take_away)
    await trio.sleep(LONG_S)
    scene.primary.go()


async def orderly_stop(scene: Scene) -> None:
    await _ended_by(signal.SIGTERM, scene.primary)


async def killed_and_back(scene: Scene) -> None:
    await _ended_by(signal.SIGKILL, scene.primary)


async def _ended_by(number: signal.Signals, machine: Machine) -> None:
    """Its process is started again once it has ended."""
    process = machine.process
    machine.signal(number)
    if process is not None:
        await trio.to_thread.run_sync(process.wait_exit)


async def failover(scene: Scene) -> None:
    await _thread(lambda: scene.databases.fail_over(lambda: None))


async def server_restart(scene: Scene) -> None:
    def again() -> None:
        scene.databases.primary.stop()
        scene.databases.primary.start()

    await _thread(again)


async def cut_off(scene: Scene) -> None:
    await _thread(lambda: scene.network.cut_off(scene.primary.name))
    await trio.sleep(LONG_S)
    await _thread(lambda: scene.network.join(scene.primary.name))


async def cut_out(scene: Scene) -> None:
    hosts = [each.name for each in scene.databases.both]
    await _thread(lambda: scene.network.cut_out(scene.primary.name, hosts))
    await trio.sleep(LONG_S)
    await _thread(scene.network.mend)


async def cut_back(scene: Scene) -> None:
    hosts = [each.name for each in scene.databases.both]
    await _thread(lambda: scene.network.cut_back(scene.primary.name, hosts))
    await trio.sleep(LONG_S)
    await _thread(scene.network.mend)


async def frozen(scene: Scene) -> None:
    scene.primary.signal(signal.SIGSTOP)
    await trio.sleep(LONG_S)
    scene.primary.signal(signal.SIGCONT)


async def frozen_shortly(scene: Scene) -> None:
    scene.primary.signal(signal.SIGSTOP)
    await trio.sleep(SHORT_S)
    scene.primary.signal(signal.SIGCONT)


async def clock_moved(scene: Scene) -> None:
    by_s = scene.chance.choice((-3600, -30, 30, 3600))
    scene.primary.bad.set_clock(by_s)
    scene.standby.bad.set_clock(-by_s // 2)
    await trio.sleep(LONG_S / 2)
    scene.primary.bad.set_clock(0)
    scene.standby.bad.set_clock(0)


async def replica_slow(scene: Scene) -> None:
    replica = scene.databases.replica
    await _thread(lambda: replica.signal(signal.SIGSTOP))
    await trio.sleep(SHORT_S)
    await _thread(lambda: replica.signal(signal.SIGCONT))


async def replica_away(scene: Scene) -> None:
    await _thread(scene.databases.replica.stop)
    await trio.sleep(LONG_S / 2)
    await _thread(scene.databases.replica.start)


async def replica_full(scene: Scene) -> None:
    await _thread(scene.databases.replica.fill)
    await trio.sleep(LONG_S / 2)
    await _thread(scene.databases.restore)


async def sync_fails_there(scene: Scene) -> None:
    await _sync_fails(scene.primary, scene)


async def sync_fails_here(scene: Scene) -> None:
    await _sync_fails(scene.standby, scene)


async def _sync_fails(machine: Machine, scene: Scene) -> None:
    """The n-th call to sync fails, another one each time."""
    after = scene.number * 7 % SYNCS
    machine.bad.order(Call.SYNC, errno.EIO, Files.ANY, after=after, times=1)
    await trio.sleep(LONG_S / 2)
    machine.bad.mend(Call.SYNC)


STRIKES: Final[dict[str, Callable[[Scene], Awaitable[None]]]] = {
    "primary killed, its disk taken away": disk_gone,
    "PostgreSQL's primary killed, its replica promoted": failover,
    "primary cut off from everybody": cut_off,
    "primary frozen, and thawed after its lease": frozen,
    "primary stopped in order": orderly_stop,
    "a call to sync fails at the primary": sync_fails_there,
    "replica of PostgreSQL away": replica_away,
    "primary does not reach PostgreSQL": cut_out,
    "clocks moved": clock_moved,
    "PostgreSQL does not reach the primary": cut_back,
    "replica of PostgreSQL slow": replica_slow,
    "primary killed, and started again at once": killed_and_back,
    "a call to sync fails at the standby": sync_fails_here,
    "replica of PostgreSQL full": replica_full,
    "PostgreSQL restarted as after a crash": server_restart,
    "primary frozen for a second": frozen_shortly,
}
"""In this order, again and again: the first six are those of a short run."""
EITHER_WAY: Final = frozenset({"clocks moved"})
"""The moments that machines tell are of no use then."""
