"""What both faces (public API, control socket) have in common: a Quart that speaks only JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, WebsocketScope
from quart import request as current_request
from quart.wrappers import Request
from quart_trio import QuartTrio
from quart_trio.asgi import TrioASGIHTTPConnection
from quart_trio.wrappers import TrioResponse
from trio import Nursery

from risala.engine.clock import SystemClock
from risala.engine.ids import IdSource
from risala.http.problems import Problem, report
from risala.http.respond import problem_response

_IDS: Final = IdSource(SystemClock())
View = Callable[[], Awaitable[TrioResponse]]
DirectView = Callable[[Request], Awaitable[TrioResponse]]


def id_of_request() -> str:
    """The id that the answer to this request carries."""
    request_id: str = current_request.scope["state"]["request_id"]
    return request_id


class Connection(TrioASGIHTTPConnection):
    """One request: gives it its id, and every answer, whoever made it, our headers."""

    async def handle_request(  # type: ignore[override]
        self, nursery: Nursery, request: Request, send: ASGISendCallable
    ) -> None:
        # The client's own x-request-id is not looked at: it would let strangers write our log.
        request_id = _IDS.new("req")
        self.scope.setdefault("state", {})["request_id"] = request_id  # type: ignore[typeddict-item]
        direct = self.app.direct.get(request.path)  # type: ignore[attr-defined]
        try:
            if direct is not None and request.method == "POST":
                response = await direct(request)
            else:
                response = await self.app.handle_request(request)
        except Exception as error:  # noqa: BLE001 -- Quart itself failed: still an answer in JSON
            response = problem_response(report(error, request_id), request_id)
        headers = response.headers
        headers["x-request-id"] = request_id
        headers["x-content-type-options"] = "nosniff"
        headers.setdefault("cache-control", "no-store")
        await self._send_response(send, response)
        nursery.cancel_scope.cancel()

    def _create_request_from_scope(self, send: ASGISendCallable) -> Request:
        request = super()._create_request_from_scope(send)
        bytes_max = self.app.body_bytes_max.get(request.path)  # type: ignore[attr-defined]
        if bytes_max is not None:
            request.body = request.body_class(request.content_length, bytes_max)
        return request


class NoWebsocket:
    """Answers a WebSocket handshake, on any path, as the HTTP request that it also is."""

    def __init__(self, app: QuartTrio, scope: WebsocketScope) -> None:
        pass

    async def __call__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        request_id = _IDS.new("req")
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


class JsonApp(QuartTrio):
    """Answers every exception in our shape, in tests as in production."""

    asgi_websocket_class = NoWebsocket  # type: ignore[assignment]
    asgi_http_class = Connection  # type: ignore[mutable-override]

    def __init__(self, name: str, *, body_bytes_max: int, body_timeout_s: float) -> None:
        super().__init__(name, static_folder=None, template_folder=None)
        self.config["MAX_CONTENT_LENGTH"] = body_bytes_max
        self.config["BODY_TIMEOUT"] = body_timeout_s
        self.body_bytes_max: dict[str, int] = {}
        """Of the paths whose bodies have a limit of their own."""
        self.direct: dict[str, DirectView] = {}
        """Views of the hot path, by path: called with their request, past Quart's contexts."""
        # A path is the path that is documented: no redirect to another spelling of it.
        self.url_map.merge_slashes = False

    def route_to(
        self, path: str, view: View, *, method: str = "POST", body_bytes_max: int | None = None
    ) -> None:
        """Serve ``path`` by ``view`` and answer every other method (OPTIONS too) with 405."""
        if body_bytes_max is not None:
            self.body_bytes_max[path] = body_bytes_max
        self.add_url_rule(path, path, view, methods=[method], provide_automatic_options=False)

    def route_direct(self, path: str, view: DirectView) -> None:
        """Serve POST of ``path`` by a view that is handed its request.

        Quart's request context, its routing and its signals are a sixth of the time of a small
        request; a view that needs none of them goes without. Everything else about the path
        (other methods, the body's limit) is as with :meth:`route_to`.
        """
        self.direct[path] = view

        async def in_context() -> TrioResponse:
            return await view(current_request._get_current_object())  # type: ignore[attr-defined]

        self.route_to(path, in_context)

    async def handle_user_exception(
        self, error: Exception | BaseExceptionGroup[BaseException]
    ) -> TrioResponse:
        if isinstance(error, BaseExceptionGroup) and not isinstance(error, ExceptionGroup):
            raise error  # it holds a Cancelled, which is Trio's
        return problem_response(report(error, id_of_request()), id_of_request())
