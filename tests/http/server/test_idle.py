"""A socket to which nobody is connected costs nothing."""

from __future__ import annotations

import math

import trio
import trio.testing

from risala.http.common.failed_keys import AnswerTally
from risala.http.common.plain import PlainRoutes
from risala.http.server.listener_state import ListenerState, Patience


class Connection:
    def __init__(self) -> None:
        self.sweeps = 0

    def close_idle(self) -> None: ...

    def hurry(self, until: float) -> None: ...

    def sweep(self, now: float) -> None:
        self.sweeps += 1


def next_look_s() -> float:
    return trio.lowlevel.current_statistics().seconds_to_next_deadline


async def test_connections_are_swept_and_without_any_nothing_wakes(nursery, autojump_clock):
    routes = PlainRoutes(body_bytes_max=1, body_timeout_s=1, tally=AnswerTally(), failed_keys=None)
    face = ListenerState(Patience(), 10, routes)
    nursery.start_soon(face.keep_time)
    await trio.testing.wait_all_tasks_blocked()
    assert next_look_s() == math.inf
    for _ in range(2):
        connection = Connection()
        assert face.admit(connection)
        await trio.testing.wait_all_tasks_blocked()
        assert next_look_s() < 1
        await trio.sleep(2)
        assert connection.sweeps >= 4
        face.leave(connection)
        await trio.sleep(1)
        await trio.testing.wait_all_tasks_blocked()
        assert next_look_s() == math.inf
