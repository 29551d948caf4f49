"""Signals to a service, the early ones too."""

from __future__ import annotations

import gc
import signal
import sys
import threading

import pytest
import trio

from risala.__main__ import main
from risala.app.stop import Stop
from risala.config.model import Settings


@pytest.fixture
def beginning(monkeypatch):
    """What begins as ``risala serve`` does, in the tests' own thread: what its signals do then, and
    whether it looks for garbage, is as it was afterwards."""
    collects, before = gc.isenabled(), signal.signal(signal.SIGHUP, signal.SIG_DFL)
    monkeypatch.setattr(sys, "argv", ["risala", "serve", "--help"])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    yield
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what waits still would end the tests
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
    signal.signal(signal.SIGHUP, before)
    if collects:
        gc.enable()


async def test_an_order_to_read_again_waits_while_it_starts_until_it_is_heard(beginning):
    with pytest.raises(SystemExit):
        main()
    for _ in range(3):
        signal.pthread_kill(threading.get_ident(), signal.SIGHUP)
    assert signal.SIGHUP in signal.sigpending()
    stop = Stop(Settings(), _had_terminal=False)
    async with trio.open_nursery() as nursery:
        await nursery.start(stop.wait_for_signals)
        await stop.reload.wait()
        nursery.cancel_scope.cancel()
    assert not stop.ordered.is_set()
    assert signal.SIGHUP not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
