"""The clock of tests: it jumps when nobody has anything to do, and a thread is somebody."""

from __future__ import annotations

import threading

import trio


async def test_time_stands_still_while_a_thread_works(autojump_clock):
    reached, let_go = trio.Event(), threading.Event()

    async def pass_time():
        await trio.sleep(1)
        reached.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(pass_time)
        began_s = trio.current_time()
        # Real time, in which a clock that did not wait for the thread would jump.
        threading.Timer(0.2, let_go.set).start()
        await trio.to_thread.run_sync(let_go.wait)
        assert trio.current_time() == began_s
        assert not reached.is_set()
        await reached.wait()
    assert trio.current_time() == began_s + 1
