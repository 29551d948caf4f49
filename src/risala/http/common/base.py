"""The Quart app behind the plain paths of both faces (public API, control socket).

It answers in JSON only. Importing this module takes a quarter of a second and ten megabytes: who
serves one imports it when the app is first asked (:mod:`risala.http.server.late`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, Protocol

import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, WebsocketScope
from quart import request as current_request
from quart.routing import QuartRule
from quart.wrappers import Request
from quart.wrappers import Response as QuartResponse
from quart_trio import QuartTrio
from quart_trio.asgi import TrioASGIHTTPConnection
from quart_trio.wrappers import TrioRequest, TrioResponse
from quart_trio.wrappers.request import TrioBody
from trio import Nursery
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Response as WerkzeugResponse

from risala.http.common.failed_keys import AnswerTally
from risala.http.common.plain import MARKS, Handler, PlainRoutes
from risala.http.common.plain_asgi import answer_by_asgi, fields_of
from risala.http.common.problems import Problem, plain, report
from risala.http.common.request import IN_PLACE, REQUEST_ID, is_plain_path, new_request_id
from risala.http.common.respond import problem_response

View = Callable[[], Awaitable[TrioResponse]]


def id_of_request() -> str:
    """The id of the request that is being answered, which its answer carries."""
    request_id: str = current_request.scope["state"]["request_id"]
    return request_id


class Connection(TrioASGIHTTPConnection):
    """One request. Creates its id, and adds our headers to every answer, from any source."""

    async def __call__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        query = self.scope.get("query_string", b"")
        target = self.scope["raw_path"]
        path = self._routes.find(target + b"?" + query if query else target)
        if path is not None:
            await answer_by_asgi(self._routes, path, self.scope, receive, send)
            return
        state = self.scope.get("state")
        if not state or IN_PLACE not in state:
            await super().__call__(receive, send)
            return
        request = self._create_request_from_scope(send)
        if isinstance(request.body, PulledBody):
            request.body.pull = receive
        await self.respond(request, send)

    async def handle_request(  # type: ignore[override]
        self, nursery: Nursery, request: Request, send: ASGISendCallable
    ) -> None:
        await self.respond(request, send)
        nursery.cancel_scope.cancel()

    async def respond(self, request: Request, send: ASGISendCallable) -> None:
        """Answer ``request``."""
        request_id = new_request_id()
        self.scope.setdefault("state", {})["request_id"] = request_id  # type: ignore[typeddict-item]
        response: QuartResponse | WerkzeugResponse
        token = REQUEST_ID.set(request_id)
        try:
            if is_plain_path(self.scope["raw_path"]):
                response = await self.app.handle_request(request)
            else:
                response = problem_response(plain(404), request_id)
        except Exception as error:  # noqa: BLE001 -- Quart itself failed: still an answer in JSON
            response = problem_response(report(error, request_id), request_id)
        finally:
            REQUEST_ID.reset(token)
        self._routes.tally.answers[response.status_code] += 1
        if response.status_code == 401:
            await self._routes.hold(fields_of(self.scope["headers"]), self.scope.get("client"))
        response.headers["x-request-id"] = request_id
        for name, value in MARKS.items():
            response.headers.setdefault(name, value)
        await self._send_response(send, response)

    @property
    def _routes(self) -> PlainRoutes:
        assert isinstance(self.app, JsonApp), "only a JsonApp has connections of this class"
        return self.app.plain

    def _create_request_from_scope(self, send: ASGISendCallable) -> Request:
        request = super()._create_request_from_scope(send)
        assert isinstance(self.app, JsonApp), "only a JsonApp has connections of this class"
        bytes_max = self.app.bytes_max_of(request)
        if bytes_max is not None:
            request.body = PulledBody(request.content_length, bytes_max)
        return request


class PulledBody(TrioBody):
    """A body that is read only when the handler wants it, if the server allows that.

    If the head announces a body that is too large, none of it is read.
    """

    pull: ASGIReceiveCallable | None = None
    """Reads the next part from the server; None: Quart appends the body as it comes."""

    def __await__(self) -> Generator[Any, None, Any]:
        yield from self._fill(all_of_it=True).__await__()
        return (yield from super().__await__())

    async def __anext__(self) -> bytes:
        await self._fill(all_of_it=False)
        return await super().__anext__()

    async def _fill(self, *, all_of_it: bool) -> None:
        received = 0
        while self.pull is not None and self._must_raise is None and not self._complete.is_set():
            message = await self.pull()
            if message["type"] == "http.request":
                part = message["body"]
                received += len(part)
                await self._keep(part)
                if self._max_content_length is not None and received > self._max_content_length:
                    self._must_raise = RequestEntityTooLarge()
                if not message["more_body"] or self._must_raise is not None:
                    self.set_complete()
                if part and not all_of_it:
                    return

    async def _keep(self, part: bytes) -> None:
        """As Quart keeps it: until 0.22 in one piece, since 0.23 in a queue that counts nothing."""
        put: Callable[[bytes], Awaitable[None]] | None = getattr(self, "put", None)
        if put is None:
            self.append(part)
        elif part:
            await put(part)


class JsonRequest(TrioRequest):
    body_class = PulledBody  # type: ignore[mutable-override]


class NoWebsocket:
    """Answers a WebSocket handshake, on any path, as the HTTP request that it also is."""

    def __init__(self, app: QuartTrio, scope: WebsocketScope) -> None:
        pass

    async def __call__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        request_id = new_request_id()
        body = Problem(400, "This service does not speak WebSocket.").body(request_id)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"x-request-id", request_id.encode()),
        ]
        await send({"type": "websocket.http.response.start", "status": 400, "headers": headers})
        await send(
            {
                "type": "websocket.http.response.body",
                "body": body,
                "more_body": False,
            }
        )


class LazyRule(QuartRule):
    """A route that compiles its address builder only on demand.

    Our code never needs it: pages write their links themselves. werkzeug compiles two functions for
    each route in advance, which is nine tenths of the cost of an app's routes.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compile_it = super()._compile_builder

        def build(route: LazyRule, **values: object) -> tuple[str, str]:
            return compile_it(append_unknown)(route, **values)

        return build


class Pages(Protocol):
    """An app of pages next to one that speaks JSON."""

    def serves(self, path: str) -> bool:
        """Whether a path belongs to a page, or would if the page existed."""

    def bytes_max_of(self, request: Request, /) -> int | None:
        """The largest body of a request that has a limit of its own; None: it has not."""

    async def handle_request(self, request: Request, /) -> QuartResponse | WerkzeugResponse: ...

    async def attend(self) -> None:
        """Run what the pages have running beside requests."""


class JsonApp(QuartTrio):
    """Answers every exception in our shape, in tests as in production."""

    asgi_websocket_class = NoWebsocket  # type: ignore[assignment]
    asgi_http_class = Connection  # type: ignore[mutable-override]
    request_class = JsonRequest  # type: ignore[mutable-override]
    url_rule_class = LazyRule  # type: ignore[mutable-override]

    def __init__(
        self,
        name: str,
        *,
        body_bytes_max: int,
        body_timeout_s: float,
        plain: PlainRoutes | None = None,
        pages: Sequence[Pages] = (),
    ) -> None:
        """
        Args:
            plain: paths that never come to Quart; without it a table without any.
            pages: the first of them that serves a path answers it, on the same listener.
        """
        super().__init__(name, static_folder=None, template_folder=None)
        self.config["MAX_CONTENT_LENGTH"] = body_bytes_max
        self.config["BODY_TIMEOUT"] = body_timeout_s
        self.body_bytes_max: dict[str, int] = {}
        """Largest bodies of the paths that have a limit of their own."""
        self.plain = plain or PlainRoutes(
            body_bytes_max=body_bytes_max,
            body_timeout_s=body_timeout_s,
            tally=AnswerTally(),
            failed_keys=None,
        )
        """Paths that never come to Quart."""
        self.tally = self.plain.tally
        self._pages = pages
        # Only the documented spelling of a path is served: no redirect from other spellings.
        self.url_map.merge_slashes = False

    def route_to(
        self, path: str, view: View, *, method: str = "POST", body_bytes_max: int | None = None
    ) -> None:
        """Serve ``path`` by ``view`` and answer every other method (OPTIONS too) with 405."""
        if body_bytes_max is not None:
            self.body_bytes_max[path] = body_bytes_max
        self.add_url_rule(path, path, view, methods=[method], provide_automatic_options=False)

    def route_plain(
        self,
        path: str,
        handler: Handler,
        *,
        method: str = "POST",
        body_bytes_max: int | None = None,
    ) -> None:
        """Have ``path`` answered past Quart; every other method (OPTIONS too) is 405."""
        self.plain.route(path, handler, method=method, body_bytes_max=body_bytes_max)

    def bytes_max_of(self, request: Request) -> int | None:
        """The largest body of a request whose path has a limit of its own; None: it has not."""
        for pages in self._pages:
            if pages.serves(request.path):
                return pages.bytes_max_of(request)
        return self.body_bytes_max.get(request.path)

    def answers_at(self, path: str) -> bool:
        """Whether a path already has a handler."""
        rules = {rule.rule for rule in self.url_map.iter_rules()}
        served = any(pages.serves(path) for pages in self._pages)
        return served or path in rules or self.plain.find(path.encode()) is not None

    async def attend(self) -> None:
        """Run what the pages have running beside requests, until they end."""
        async with trio.open_nursery() as nursery:
            for pages in self._pages:
                nursery.start_soon(pages.attend)

    async def handle_request(self, request: Request) -> QuartResponse | WerkzeugResponse:
        for pages in self._pages:
            if pages.serves(request.path):
                return await pages.handle_request(request)
        return await super().handle_request(request)

    async def handle_user_exception(self, *arguments: object, **_: object) -> TrioResponse:
        """The error comes last: before it, quart-trio gives the context, since 0.13."""
        error = arguments[-1]
        if isinstance(error, BaseExceptionGroup) and not isinstance(error, ExceptionGroup):
            raise error  # the group holds a Cancelled, which must reach Trio
        assert isinstance(error, Exception)
        return await self.answer_to(error)

    async def answer_to(self, error: Exception) -> TrioResponse:
        """The answer to an error that no handler caught: an unknown path or method."""
        return problem_response(report(error, id_of_request()), id_of_request())
