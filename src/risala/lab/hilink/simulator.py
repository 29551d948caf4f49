"""A HiLink stick on this machine: it has the HTTP API of Huawei's E3372h, as far as texts need it.

In a test or another program, under Trio::

    stick = HilinkSimulator(HilinkConfig(port=0))
    async with trio.open_nursery() as nursery:
        await nursery.start(stick.run)
        driver_settings = HilinkSettings(url=stick.url)
        stick.device.receive("+33612345678", "Yes")     # somebody writes to the stick
        stick.reboot(2.0)                               # it is gone for two seconds
        nursery.cancel_scope.cancel()

It is made after what public programs for such sticks send and expect, and is no proof that every
firmware does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from html import escape, unescape
from re import DOTALL, findall
from typing import Any, Final

import h11
import trio

from risala.lab.hilink.config import HilinkConfig
from risala.lab.hilink.gate import LOGIN_TOKENS
from risala.lab.hilink.stick import (
    BAD_REQUEST,
    Fields,
    SimulatedStick,
    StickChanged,
    StickHappening,
    StickRequest,
    StickSignedIn,
    Told,
)

READ_BYTES: Final = 65_536
EVENTS_MAX: Final = 10_000
_HEADER: Final = "__RequestVerificationToken"
_HOME: Final = b"<html><head><title>HiLink</title></head><body></body></html>"
Headers = Mapping[str, str]


def unheard(_event: StickHappening) -> None:
    """Nobody hears what happens."""


class HilinkSimulator:
    """A stick that runs until it is cancelled.

    Args:
        on_event: hears what happens.
    """

    def __init__(
        self,
        config: HilinkConfig,
        *,
        on_event: Callable[[StickHappening], None] = unheard,
    ) -> None:
        self.config = config
        self.url = ""
        self.events: list[StickHappening] = []
        self._on_event = on_event
        self._nursery: trio.Nursery | None = None
        self._scope = trio.CancelScope()
        self._changed = trio.Event()
        self.device = SimulatedStick(config, self.tell, self._start)

    def tell(self, event: StickHappening) -> None:
        """Something happened."""
        self.events = [*self.events, event][-EVENTS_MAX:]
        self._on_event(event)
        changed, self._changed = self._changed, trio.Event()
        changed.set()

    async def wait(self, is_it: Callable[[HilinkSimulator], bool]) -> None:
        """Wait until something is so."""
        while not is_it(self):
            await self._changed.wait()

    def count(self, path: str) -> int:
        """How many requests of a path were answered."""
        return sum(isinstance(each, StickRequest) and each.path == path for each in self.events)

    # -- its life ----------------------------------------------------------------------------------

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Live, until cancelled."""
        async with trio.open_nursery() as self._nursery:
            await self._open(self.config.port)
            task_status.started()
            await trio.sleep_forever()

    def reboot(self, gone_s: float) -> None:
        """The stick restarts, and is gone for a while."""
        self._start(self._reboot, gone_s)

    async def _reboot(self, gone_s: float) -> None:
        self._scope.cancel()
        self.device.restart()
        await trio.sleep(gone_s)
        await self._open(int(self.url.rpartition(":")[2]))
        self.tell(StickChanged("the stick is there"))

    def _start(self, run: Callable[..., Any], *arguments: object) -> None:
        assert self._nursery is not None
        self._nursery.start_soon(run, *arguments)

    async def _open(self, port: int) -> None:
        listeners = await trio.open_tcp_listeners(port, host=self.config.host)
        self.url = f"http://{self.config.host}:{listeners[0].socket.getsockname()[1]}"
        self._scope = trio.CancelScope()
        self._start(self._listen, listeners, self._scope)

    async def _listen(self, listeners: list[trio.SocketListener], scope: trio.CancelScope) -> None:
        with scope:
            await trio.serve_listeners(self._serve, listeners)

    # -- its wire ----------------------------------------------------------------------------------

    async def _serve(self, stream: trio.SocketStream) -> None:
        async with stream:
            with suppress(h11.RemoteProtocolError, trio.BrokenResourceError):
                connection = h11.Connection(h11.SERVER)
                while await self._answer(connection, stream):
                    connection.start_next_cycle()

    async def _answer(self, connection: h11.Connection, stream: trio.SocketStream) -> bool:
        """Answer a request; whether another one may follow."""
        request = await _request(connection, stream)
        if request is None:
            return False
        head, body = request
        path = head.target.decode().partition("?")[0].removeprefix("/api/")
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in head.headers}
        behaviour = self.device.behaviour
        if behaviour.slow_s:
            await trio.sleep(behaviour.slow_s)
        if behaviour.is_mute and path != "monitoring/status":
            await trio.sleep_forever()
        octets, more = self._answer_to(path, headers, body if head.method == b"POST" else None)
        if path in behaviour.lose_answers:
            behaviour.lose_answers.remove(path)
            await trio.aclose_forcefully(stream)
            return False
        sent = [("content-length", str(len(octets))), ("content-type", "text/html"), *more]
        for event in (
            h11.Response(status_code=200, headers=sent),
            h11.Data(data=octets),
            h11.EndOfMessage(),
        ):
            await stream.send_all(connection.send(event) or b"")
        return connection.our_state is h11.DONE and connection.their_state is h11.DONE

    def _answer_to(
        self, path: str, headers: Headers, body: bytes | None
    ) -> tuple[bytes, Sequence[tuple[str, str]]]:
        gate, cookie = self.device.gate, headers.get("cookie", "")
        if path in ("/", ""):
            return _HOME, [("Set-Cookie", f"{gate.begin(cookie)[0]}; path=/; HttpOnly")]
        planned = self.device.behaviour.errors.get(path)
        token = None if body is None else headers.get(_HEADER.lower(), "")
        answer: Told
        more: list[tuple[str, str]] = []
        if planned:
            answer = planned.pop(0)
        elif path == "webserver/SesTokInfo":
            session, new = gate.begin(cookie)
            answer = {"SesInfo": session, "TokInfo": new}
        elif path == "user/state-login":
            answer = gate.state()
        elif fault := gate.fault(path, cookie, token):
            answer = fault
        else:
            answer = self._done(path, None if body is None else _fields(body), token or "", more)
        if body is not None and not isinstance(answer, int) and not more and gate.rotates:
            more.append((_HEADER, gate.new_token()))
        self.tell(StickRequest(path, answer if isinstance(answer, int) else 0))
        return _written(answer), more

    def _done(
        self, path: str, fields: Fields | None, token: str, more: list[tuple[str, str]]
    ) -> Told:
        gate = self.device.gate
        if fields is None:
            return self.device.answer_to(path, None)
        if path == "user/challenge_login":
            return gate.challenge(fields) or BAD_REQUEST
        if path == "user/logout":
            gate.forget()
            return "OK"
        if path not in ("user/login", "user/authentication_login"):
            return self.device.answer_to(path, fields)
        is_plain = path == "user/login"
        code = gate.log_in(fields, token) if is_plain else gate.authenticate(fields)
        self.tell(StickSignedIn(not code))
        if code:
            return code
        more.append(("Set-Cookie", f"SessionID={gate.session}; path=/; HttpOnly"))
        if self.config.lists_tokens:
            tokens = [gate.new_token() for _ in range(LOGIN_TOKENS)]
            more.append((_HEADER, "#".join(tokens) + "#"))
        else:
            more += [(f"{_HEADER}one", gate.new_token()), (f"{_HEADER}two", gate.new_token())]
        return "OK"


async def _request(
    connection: h11.Connection, stream: trio.SocketStream
) -> tuple[h11.Request, bytes] | None:
    """The next request; None: the other side has gone."""
    head: h11.Request | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some(READ_BYTES))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            return head, body
        else:
            return None


def _fields(body: bytes) -> Fields:
    text = body.decode("utf-8", "surrogatepass")
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    inner = text.partition("<request>")[2].rpartition("</request>")[0].replace("<Phones>", "")
    pairs = findall(r"<(\w+)>(.*?)</\1>", inner, DOTALL)
    return {name: unescape(value) for name, value in pairs}


def _written(answer: Told) -> bytes:
    if isinstance(answer, int):
        inner = f"<error><code>{answer}</code><message></message></error>"
    elif isinstance(answer, str):
        inner = f"<response>{answer}</response>"
    else:
        inner = f"<response>{_elements(answer)}</response>"
    document = f'<?xml version="1.0" encoding="UTF-8"?>{inner}'
    units = document.encode("utf-16-be")
    halves = (units[at : at + 2] for at in range(0, len(units), 2))
    text = "".join(each.decode("utf-16-be", "surrogatepass") for each in halves)
    return text.encode("utf-8", "surrogatepass")  # CESU-8, as sticks write it


def _elements(fields: Mapping[str, Any]) -> str:
    written = []
    for name, value in fields.items():
        if isinstance(value, list):
            inner = "".join(f"<Message>{_elements(each)}</Message>" for each in value)
        else:
            inner = escape(str(value), quote=False)
        written.append(f"<{name}>{inner}</{name}>")
    return "".join(written)
