"""The service's control socket, as commands use it: operations and files. It shares no code with
Risala, as :mod:`benchmarks.carrier` does not."""

from __future__ import annotations

import http.client
import json
import socket
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.processes import START_S, Absent

_SOCKET = "control.sock"
_PATIENCE_S = 300.0
"""For one answer, and for a state: a file of the most rows on a machine that does other things."""
_LOOK_S = 0.1


class _Connection(http.client.HTTPConnection):
    """To a socket in the file system."""

    def __init__(self, path: Path) -> None:
        super().__init__("control", timeout=_PATIENCE_S)
        self._path = path

    def connect(self) -> None:
        """It comes a moment after the port that a service is waited for at."""
        until = time.monotonic() + START_S
        while True:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(_PATIENCE_S)
            try:
                return self.sock.connect(str(self._path))
            except OSError:
                self.sock.close()
                if time.monotonic() > until:
                    raise
                time.sleep(_LOOK_S)


def _post(data: Path, path: str, body: bytes, kind: str) -> dict:
    with closing(_Connection(data / _SOCKET)) as connection:
        connection.request("POST", path, body, {"content-type": kind})
        response = connection.getresponse()
        told = response.read()
    if response.status == 404 or b"unknown operation" in told.lower():
        raise Absent(f"this tree has no {path}: {told[:200]!r}")
    if response.status != 200:
        raise SystemExit(f"{path}: {response.status} {told[:300]!r}")
    answer: dict = json.loads(told)
    return answer


def perform(data: Path, operation: str, **arguments: object) -> dict:
    """One operation, its result.

    Raises:
        SystemExit: it was refused.
    """
    body = json.dumps({"operation": operation, "arguments": arguments}).encode()
    result: dict = _post(data, "/perform", body, "application/json")["result"]
    return result


def draft(data: Path, organization: str, content: bytes, text: str) -> str:
    """A mailing to the people of a file; its id once each row is checked."""
    query = urlencode({"organization": organization, "name": "people.csv"})
    upload = _post(data, f"/uploads?{query}", content, "application/octet-stream")["upload"]
    given = {"organization_id": organization, "upload": upload, "text": text}
    mailing: str = perform(data, "mailing.create", **given)["id"]
    wait_state(data, mailing, "draft")
    return mailing


def wait_state(data: Path, mailing: str, state: str) -> None:
    """Until a mailing is in a state.

    Raises:
        SystemExit: that takes too long.
    """
    until = time.monotonic() + _PATIENCE_S
    while perform(data, "mailing.show", mailing_id=mailing)["mailing"]["state"] != state:
        if time.monotonic() > until:
            raise SystemExit(f"{mailing} is not {state} within {_PATIENCE_S:.0f} s")
        time.sleep(_LOOK_S)
