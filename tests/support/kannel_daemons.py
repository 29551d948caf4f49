"""Kannel's two daemons, as tests start them."""

from __future__ import annotations

import shutil
import socket
from functools import partial
from pathlib import Path

import httpx2
import pytest

from patience import HANG_S, until

_PATH = "/usr/sbin:/usr/bin"


def start_kannel(premises, config: Path, box: int) -> None:
    """Start bearerbox, and smsbox once it is waited for: else it ends, and nobody takes messages.

    Args:
        box: the port at which bearerbox waits for smsbox, as ``config`` has it.
    """
    daemons = [shutil.which(name, path=_PATH) for name in ("bearerbox", "smsbox")]
    if None in daemons:
        pytest.skip("NOT TRIED: there is no kannel; `make peers` gets it")
    bearerbox, smsbox = daemons
    premises.process(bearerbox, "-v", "4", str(config))
    until(partial(_is_waited_for, box), "bearerbox waits for smsbox")
    premises.process(smsbox, "-v", "4", str(config))


def _is_waited_for(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def hand_to_kannel(http: int, query: str) -> None:
    """Hand a message to smsbox, as soon as it listens at its port."""
    url = f"http://127.0.0.1:{http}/cgi-bin/sendsms?{query}"
    said = ""
    with httpx2.Client(trust_env=False, timeout=HANG_S) as client:

        def is_taken() -> bool:
            nonlocal said
            try:
                answer = client.get(url)
            except httpx2.TransportError as error:
                said = repr(error)
                return False
            said = f"{answer.status_code} {answer.text}"
            return answer.status_code == 202

        try:
            until(is_taken, "Kannel takes the message")
        except AssertionError as error:
            error.add_note(f"What Kannel said last: {said}")
            raise
