"""One aggregator on this machine: takes messages by HTTP, answers in its JSON, and calls back."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import h11
import httpcore2
import trio

from risala.drivers.http.sources import CarrierContent, content_of, looked_up, source_of
from risala.drivers.http.templates import filled, filled_text
from risala.lab.aggregators.row import (
    ACCESS_TOKEN,
    PASSWORD,
    USER,
    Aggregator,
    AggregatorCallback,
)

READ_BYTES: Final = 65_536
CALLBACK_S: Final = 30.0
_ids = count(1)


@dataclass(frozen=True, slots=True)
class AggregatorMessage:
    """One message, as the aggregator understood it."""

    id: str
    to: str
    sender: str
    text: str = field(repr=False)
    callback: str = ""
    validity_s: int = 0
    """How long it may try; 0: it was not told."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    flash: bool = False


@dataclass(frozen=True, slots=True)
class PlannedAnswer:
    """What is answered instead of the usual, once."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ArrivedRequest:
    """A request, parsed."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    content: CarrierContent


@dataclass
class StandIn:
    """Plays an aggregator. Run :meth:`run` in a nursery; :attr:`url` is known then."""

    aggregator: Aggregator
    called_at: str = ""
    """Our service's address for it, for what the account is set up with."""
    receipts: bool = True
    """Whether it sends a receipt for what it takes."""
    lose_answers: int = 0
    """How many messages are taken and get no answer: their connection is dropped."""
    pages: dict[str, list[Any]] = field(default_factory=dict)
    """Lists that can be asked for, by their path: each is given once, the last for ever."""
    look_status: int = 200
    """The status with which it shows its account."""
    mute: bool = False
    """True: it takes requests, and answers nothing."""
    again_s: float = 0.01
    """Wait before a callback that was not taken is made again."""
    planned: list[PlannedAnswer] = field(default_factory=list)
    """Answers to the next messages, instead of the usual."""
    taken: list[AggregatorMessage] = field(default_factory=list)
    requests: list[ArrivedRequest] = field(default_factory=list)
    """Every request that came."""
    requests_for_messages: list[ArrivedRequest] = field(default_factory=list)
    """The requests that would send something."""
    callback_statuses: list[int] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    """The id of the message that each key was given with."""
    states: dict[str, AggregatorMessage] = field(default_factory=dict)
    url: str = ""
    tokens_given: int = 0
    on_taken: Callable[[AggregatorMessage], None] | None = None
    _scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    _nursery: trio.Nursery | None = None

    @property
    def nursery(self) -> trio.Nursery:
        """What its tasks run in."""
        assert self._nursery is not None
        return self._nursery

    async def run(
        self, *, task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED, port: int = 0
    ) -> None:
        """Serve until cancelled."""
        async with trio.open_nursery() as nursery, httpcore2.AsyncConnectionPool() as pool:
            self._nursery, self._pool = nursery, pool
            await self._open(port)
            task_status.started(self.url)
            await trio.sleep_forever()

    async def _open(self, port: int = 0) -> None:
        assert self._nursery is not None
        listeners = await trio.open_tcp_listeners(port, host="127.0.0.1", backlog=1000)
        self.url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        self._scope = trio.CancelScope()
        self._nursery.start_soon(self._listen, listeners, self._scope)

    async def _listen(self, listeners: list[trio.SocketListener], scope: trio.CancelScope) -> None:
        with scope:
            await trio.serve_listeners(self._serve, listeners)

    def close(self) -> None:
        """Listen no more, and drop what is connected."""
        self._scope.cancel()

    async def go_away(self, for_s: float) -> None:
        """:meth:`close` for a while."""
        self.close()
        await trio.sleep(for_s)
        await self._open(int(self.url.rpartition(":")[2]))

    async def _serve(self, stream: trio.SocketStream) -> None:
        async with stream:
            with suppress(h11.RemoteProtocolError, trio.BrokenResourceError):
                connection = h11.Connection(h11.SERVER)
                while True:
                    request = await read_request(connection, stream)
                    if request is None:
                        return
                    await self._answer(connection, stream, request)
                    if connection.our_state is not h11.DONE:
                        return
                    connection.start_next_cycle()

    async def _answer(
        self, connection: h11.Connection, stream: trio.SocketStream, request: ArrivedRequest
    ) -> None:
        self.requests.append(request)
        taken = len(self.requests_for_messages)
        answer = self._answer_to(request)
        if self.lose_answers and len(self.requests_for_messages) > taken:
            self.lose_answers -= 1
            await trio.aclose_forcefully(stream)
            return
        if answer is None:
            await trio.sleep_forever()
        head = [*answer.headers, ("content-length", str(len(answer.body)))]
        if not any(name.lower() == "content-type" for name, _ in answer.headers):
            head.append(("content-type", "application/json"))
        for event in (
            h11.Response(status_code=answer.status, headers=head),
            h11.Data(data=answer.body),
            h11.EndOfMessage(),
        ):
            await stream.send_all(connection.send(event) or b"")

    def _answer_to(self, request: ArrivedRequest) -> PlannedAnswer | None:
        api = self.aggregator
        if api.tokens and request.path == api.tokens:
            return self._token(request)
        if not api.proved(request.headers, {**request.query, **request.content.fields}):
            return PlannedAnswer(401, _json(api.no_account))
        if pages := self.pages.get(request.path):
            return PlannedAnswer(200, _json(pages.pop(0) if len(pages) > 1 else pages[0]))
        is_message = request.method == "POST" and re.fullmatch(api.send, request.path)
        if request.path in api.looks and not is_message:
            return PlannedAnswer(self.look_status, _json(api.looks[request.path]))
        if api.lookup and (match := re.fullmatch(api.lookup, request.path)):
            in_body = looked_up(source_of(api.lookup_id), request.content) if api.lookup_id else ""
            return self._looked_up(in_body or match[1])
        if not re.fullmatch(api.send, request.path):
            return PlannedAnswer(404, _json({"error": "not found"}))
        self.requests_for_messages.append(request)
        if self.mute:
            return None
        if self.planned:
            return self.planned.pop(0)
        return self._take(request)

    def _token(self, request: ArrivedRequest) -> PlannedAnswer:
        if self.aggregator.login is not None:
            return self._logged_in(request)
        pair = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {pair}":
            return PlannedAnswer(401, _json({"error": "invalid_client"}))
        self.tokens_given += 1
        content = {"token_type": "Bearer", "access_token": ACCESS_TOKEN, "expires_in": "3600"}
        return PlannedAnswer(200, _json(content))

    def _logged_in(self, request: ArrivedRequest) -> PlannedAnswer:
        name_and_password = [
            looked_up(source_of(name), request.content) for name in ("/username", "/password")
        ]
        if name_and_password != [USER, PASSWORD]:
            return PlannedAnswer(401, _json(self.aggregator.no_account))
        self.tokens_given += 1
        return PlannedAnswer(200, _json(self.aggregator.login))

    def _looked_up(self, message_id: str) -> PlannedAnswer:
        message = self.states.get(message_id)
        if message is None:
            return PlannedAnswer(404, _json({"code": 20404, "status": 404}))
        if self.aggregator.lookup_answer is not None:
            return PlannedAnswer(
                200, _json(filled(self.aggregator.lookup_answer, _values(message)))
            )
        content = filled(self.aggregator.answer, _values(message))
        return PlannedAnswer(200, _json({**content, "status": "delivered"}))

    def _take(self, request: ArrivedRequest) -> PlannedAnswer:
        api, content = self.aggregator, request.content

        def value(written: str) -> str:
            return looked_up(source_of(written), content) if written else ""

        key = value(api.once)
        if key and key in self.keys:
            return self._accepted(self.states[self.keys[key]])
        message = AggregatorMessage(
            id=value(api.own_id) or f"{api.name}-{next(_ids)}-{trio.current_time():.3f}",
            to=_international(value(api.to).removeprefix("tel:")),
            sender=value(api.sender).removeprefix("tel:"),
            text=value(api.text),
            callback=value(api.callback),
            validity_s=_seconds(value(api.validity), api.validity_unit_s),
            headers=request.headers,
            flash=bool(api.flash) and value(api.flash) == api.flash_word,
        )
        if key:
            self.keys[key] = message.id
        self.taken.append(message)
        self.states[message.id] = message
        if self.on_taken is not None:
            self.on_taken(message)
        if self.receipts:
            self.send_receipt(message)
        return self._accepted(message)

    def _accepted(self, message: AggregatorMessage) -> PlannedAnswer:
        """The answer to a message that is taken."""
        api = self.aggregator
        if isinstance(api.answer, str):
            return PlannedAnswer(api.status, api.answer.encode(), (("content-type", "text/html"),))
        return PlannedAnswer(api.status, _json(filled(api.answer, _values(message))))

    def send_receipt(self, message: AggregatorMessage, **changes: str) -> None:
        """Send a receipt, if it does; ``changes`` replace members of it."""
        brought = self.aggregator.receipt
        if brought is None:
            return
        address = message.callback or f"{self.called_at}{brought.path}"
        if address.startswith("http"):
            self.bring(brought, address, _values(message), changes)

    def send_text(self, sender: str, to: str, text: str) -> None:
        """Bring a text from a phone."""
        brought = self.aggregator.inbound
        assert brought is not None
        values = {"id": f"in-{next(_ids)}", "from": sender, "to": to, "text": text}
        self.bring(brought, f"{self.called_at}{brought.path}", values, {})

    def bring(
        self,
        brought: AggregatorCallback,
        address: str,
        values: Mapping[str, str],
        changes: Mapping[str, str],
    ) -> None:
        """HttpCall our service until it takes what is brought."""
        request = callback_request(brought, address, values, changes)
        self.nursery.start_soon(self._call, request)

    async def _call(self, request: CallbackRequest) -> None:
        while True:
            headers = {
                "Host": urlsplit(request.address).netloc,
                "Content-Length": str(len(request.body)),
                **request.headers,
                **self.aggregator.sign(request.address, request.body),
            }
            with suppress(httpcore2.TimeoutException, httpcore2.NetworkError):
                answer = await self._pool.request(
                    request.method,
                    request.address,
                    headers=list(headers.items()),
                    content=request.body,
                    extensions={"timeout": dict.fromkeys(("connect", "read"), CALLBACK_S)},
                )
                self.callback_statuses.append(answer.status)
                if answer.status < 500:
                    return
            await trio.sleep(self.again_s)


@dataclass(frozen=True, slots=True)
class CallbackRequest:
    """A request with which an aggregator calls a service, before it signs it."""

    method: str
    address: str
    headers: Mapping[str, str]
    body: bytes


def callback_request(
    brought: AggregatorCallback,
    address: str,
    values: Mapping[str, str],
    changes: Mapping[str, str] | None = None,
) -> CallbackRequest:
    """The request of a callback.

    Args:
        values: what fills its holes.
        changes: members that are other than usual.
    """
    values = {
        **values,
        "to_digits": values.get("to", "").removeprefix("+"),
        "from_digits": values.get("from", "").removeprefix("+"),
    }
    for escape, filling in brought.escapes.items():
        address = address.replace(escape, quote(filled_text(filling, values)))
    address = filled_text(address, values, quote)
    fields = filled(brought.fields, values) or {}
    if isinstance(fields, str):
        headers = {"content-type": 'text/plain; charset="UTF-16BE"'}
        return CallbackRequest(brought.method, address, headers, fields.encode("utf-16-be"))
    fields = {**fields, **(changes or {})}
    kind = "application/x-www-form-urlencoded" if brought.form else "application/json"
    if brought.method == "GET":
        mark = "&" if "?" in address else "?"
        address = f"{address}{mark}{urlencode(fields)}" if fields else address
        return CallbackRequest("GET", address, {}, b"")
    body = urlencode(fields).encode() if brought.form else _json(fields)
    return CallbackRequest(brought.method, address, {"content-type": kind}, body)


def _seconds(validity: str, unit_s: float) -> int:
    """How long from now a validity is: a number of units, or a time in UTC."""
    if validity.endswith("Z"):
        return round(datetime.fromisoformat(validity).timestamp() - time.time())
    return int(int(validity or 0) * unit_s)


def _international(number: str) -> str:
    return f"+{number}" if number.isdigit() else number


def _values(message: AggregatorMessage) -> dict[str, str]:
    return {
        "id": message.id,
        "to": message.to,
        "to_digits": message.to.removeprefix("+"),
        "from": message.sender,
        "text": message.text,
        "parts": str(1 if len(message.text) <= 160 else -(-len(message.text) // 153)),
    }


def _json(content: Any) -> bytes:  # noqa: ANN401 -- any JSON
    return json.dumps(content).encode()


async def read_request(
    connection: h11.Connection, stream: trio.SocketStream
) -> ArrivedRequest | None:
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
            break
        else:
            return None
    headers = {name.decode().lower(): value.decode("latin-1") for name, value in head.headers}
    path, _, query = head.target.decode().partition("?")
    fields = dict(parse_qsl(query, keep_blank_values=True))
    content = content_of(body, headers.get("content-type", ""), headers, fields)
    return ArrivedRequest(head.method.decode(), path, fields, headers, content)
