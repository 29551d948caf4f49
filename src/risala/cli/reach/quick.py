"""The short way to a running service: one connection, no event loop, no settings.

Most commands ask one or two questions of a service on this machine. Trio, the settings and the HTTP
client would be nine tenths of the time; so the standard library's client asks, and the command's
coroutine, which then never waits, is run by hand. Without a listener, the long way
(:mod:`risala.cli.reach.session`) opens the engine, or reports why it cannot.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
from collections.abc import Awaitable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from risala.cli.reach.refused import CommandRefused
from risala.http.common.control_path import CONTROL_NAME, unix_address
from risala.sms.currencies import USUAL, count_with
from risala.sms.numbering.plan import DEFAULT_COUNTRIES

T = TypeVar("T")

DATA_DIR: Final = "risala-data"
"""The settings' own default; a test holds the two together."""
_VARIABLE: Final = "RISALA_STORAGE__DATA_DIR"
_SECTION: Final = "RISALA_STORAGE"
_NUMBERS: Final = "RISALA_NUMBERS"


def data_dir(path: Path | None, config: Path | None) -> Path | None:
    """The data directory, found in the order of the settings, without reading any other setting.

    None if it cannot be found in this way, so that the settings must be read.
    """
    if path is not None:
        return path
    named = os.environ.get(_VARIABLE, "").strip()
    other = [name for name in os.environ if name.upper().startswith(_SECTION) and name != _VARIABLE]
    if other:
        return None  # a variable has the whole section as JSON, or is written in other letters
    if named:
        return Path(named)
    return Path(DATA_DIR) if config is None else _in_file(config)


def countries(config: Path | None) -> tuple[str, ...] | None:
    """The countries that are served, without reading any other setting; None as of
    :func:`data_dir`."""
    if any(name.upper().startswith(_NUMBERS) for name in os.environ):
        return None
    if config is None:
        return DEFAULT_COUNTRIES
    import tomllib

    try:
        tree = tomllib.loads(config.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return None
    match tree.get("numbers", {}):
        case {"countries": [*codes]}:
            return tuple(map(str, codes))
        case {"countries": _}:
            return None
    return DEFAULT_COUNTRIES


def _in_file(config: Path) -> Path | None:
    import tomllib

    try:
        tree = tomllib.loads(config.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return None
    storage = tree.get("storage", {})
    folder = storage.get("data_dir", DATA_DIR) if isinstance(storage, dict) else None
    return Path(folder) if isinstance(folder, str) else None


class QuickGateway:
    """The gateway of the running service, for calls that wait for nothing else."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection

    async def perform(self, name: str, arguments: dict[str, Any], /) -> dict[str, Any]:
        """As :meth:`risala.engine.gateway.gateway.Gateway.perform`; nothing else runs meanwhile.

        Raises:
            CommandRefused: the engine refused; it has the engine's sentence.
        """
        body = json.dumps({"operation": name, "arguments": arguments})
        result: dict[str, Any] = self._posted("/perform", body.encode(), "result")
        return result

    async def upload(self, organization_id: str, name: str, content: bytes, /) -> str:
        """As :meth:`risala.engine.gateway.gateway.Gateway.receive_upload`. Raises the same as
        :meth:`perform`."""
        return str(self._posted(upload_path(organization_id, name), content, "upload"))

    def post(self, path: str, arguments: dict[str, Any], /) -> dict[str, Any] | None:
        """The result of a path that only some services have; None: this one has it not. Raises the
        same as :meth:`perform`."""
        try:
            result: dict[str, Any] = self._posted(path, json.dumps(arguments).encode(), "result")
        except CommandRefused as refused:
            if refused.status == 404:
                return None
            raise
        return result

    def _posted(self, path: str, body: bytes, member: str) -> Any:  # noqa: ANN401 -- JSON
        """POST a request, and return a member of its answer."""
        try:
            status, answer = _asked(self._connection, "POST", path, body)
        except TimeoutError:
            raise CommandRefused.unavailable(TIMED_OUT, unknown=True) from None
        except (OSError, http.client.HTTPException):
            raise CommandRefused.unavailable(WENT_AWAY, unknown=True) from None
        payload = json.loads(answer)
        if status != 200:
            raise CommandRefused.by_api(payload)
        return payload[member]


@contextmanager
def connected(directory: Path) -> Iterator[QuickGateway | None]:
    """The gateway of the service that holds ``directory``; None if there is no answer."""
    with ExitStack() as stack:
        try:
            address = stack.enter_context(unix_address(directory / CONTROL_NAME))
            connection = stack.enter_context(closing(_UnixConnection(address)))
            status, body = _asked(connection, "GET", "/healthz")
            gateway = QuickGateway(connection) if status == 200 else None
            places = json.loads(body).get("decimals", USUAL) if gateway is not None else USUAL
            count_with(places)  # until the command ends: it prints amounts after the last answer
        except (OSError, ValueError, http.client.HTTPException):
            gateway = None
        yield gateway


def served(directory: Path) -> tuple[str, ...] | None:
    """The countries that the service which holds ``directory`` serves; None: no answer."""
    try:
        with (
            unix_address(directory / CONTROL_NAME) as address,
            closing(_UnixConnection(address)) as connection,
        ):
            status, body = _asked(connection, "GET", "/healthz")
            codes = json.loads(body).get("countries", DEFAULT_COUNTRIES)
    except (OSError, ValueError, http.client.HTTPException):
        return None
    return tuple(map(str, codes)) if status == 200 else None


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, address: str) -> None:
        super().__init__("control", timeout=TIMEOUT_S)
        self._address = address

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._address)


def _asked(
    connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None = None
) -> tuple[int, bytes]:
    connection.request(method, path, body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    return response.status, response.read()


def run(work: Awaitable[T]) -> T:
    """Run a coroutine that waits for nothing."""
    steps = work.__await__()
    try:
        next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    raise RuntimeError("this command waits for something: run it with `waits=True`")


# The message about a running service that does not answer a command; and where files go.

TIMEOUT_S: Final = 60.0
"""Seconds for one operation; an audit of a large file takes longest."""
TIMED_OUT: Final = f"The service did not answer within {TIMEOUT_S:.0f} seconds. Try again."
WENT_AWAY: Final = (
    "The service stopped before it answered, so it is not known whether this was done. Check "
    "before you try again."
)


def upload_path(organization_id: str, name: str) -> str:
    """The path at which the control socket takes a file, with its query."""
    return f"/uploads?{urlencode({'organization': organization_id, 'name': name})}"
