"""A run that is cut down complains in no other test."""

from __future__ import annotations

import gc
import sys
import threading

import pytest
import trio

from risala.plugins.testing.apart import ApartRun, EndlessRunError


async def hang() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep_forever)
        with trio.CancelScope(shield=True):
            await trio.sleep_forever()


def test_what_is_collected_while_it_is_left_says_nothing(monkeypatch):
    """Not only what is collected at the end: Python collects whenever it likes."""
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    join = threading.Thread.join

    def join_and_collect(thread: threading.Thread, timeout: float | None = None) -> None:
        join(thread, timeout)
        gc.collect()

    monkeypatch.setattr(threading.Thread, "join", join_and_collect)
    with pytest.raises(EndlessRunError):
        ApartRun(clock=None, blocked_s=60, whole_s=0.1).run(hang)
    assert [str(each.exc_value) for each in told] == []
    assert sys.unraisablehook == told.append
