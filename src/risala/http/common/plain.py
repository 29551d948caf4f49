"""Paths that are answered from bytes to bytes, without Quart and ASGI: the API's own.

A handler gets a request's header fields as they came and its body on demand, and returns bytes. The
server that received the request, our own or any other by ASGI
(:mod:`risala.http.common.plain_asgi`), calls :meth:`PlainRoutes.answer`; each rule about requests
and answers is there or in the functions that handlers call, and only once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import trio

from risala.engine.model.commands import NotedRequest, Principal, RequestNotes, noted
from risala.engine.model.records.keys import KeyType
from risala.http.common.client_address import ClientAddresses
from risala.http.common.failed_keys import AnswerTally, FailedKeys
from risala.http.common.origins import cors_headers
from risala.http.common.problems import Problem, not_allowed, report
from risala.http.common.request import REQUEST_ID
from risala.http.common.unknown_members import HEADER, shown, take_unknown

Fields = Mapping[bytes, Sequence[bytes]]
"""A request's header fields: names in lower case, each with all its values."""
Client = tuple[str, int]

JSON: Final = "application/json"
MARKS: Final = {"x-content-type-options": "nosniff", "cache-control": "no-store"}
"""Header fields of every answer, from any source; a page may set another ``cache-control``."""
_MARKED: Final = "".join(f"{name}: {value}\r\n" for name, value in MARKS.items()).encode()
_LINES: Final = b"content-type: %s\r\ncontent-length: %%d\r\nx-request-id: %%s\r\n%s" % (
    JSON.encode(),
    _MARKED,
)
_BODILESS_LINES: Final = b"x-request-id: %%s\r\n%s" % _MARKED


class IncomingBody(Protocol):
    """A request's body while it comes in."""

    @property
    def length(self) -> int | None:
        """Bytes of the whole body; None if the head has no length."""

    @property
    def complete(self) -> bool:
        """Whether the whole body has come, so that :meth:`next_part` does not wait."""

    async def next_part(self) -> bytes:
        """The bytes that have come since the last call, waited for if need be; empty at the end."""


class PlainRequest:
    __slots__ = (
        "body",
        "body_bytes_max",
        "body_timeout_s",
        "client",
        "fields",
        "id",
        "principal",
        "raw",
        "shown",
        "unknown",
    )

    def __init__(
        self,
        request_id: str,
        fields: Fields,
        client: Client | None,
        body: IncomingBody,
        body_bytes_max: int,
        body_timeout_s: float,
    ) -> None:
        self.id = request_id
        self.fields = fields
        self.client = client
        """The other end of the socket; None if it has no address."""
        self.body = body
        self.body_bytes_max = body_bytes_max
        self.body_timeout_s = body_timeout_s
        self.principal: Principal | None = None
        """The holder of its key; None until the key has been checked and found."""
        self.raw: bytes | None = None
        """The body, once it has been read."""
        self.shown: bytes | None = None
        """What the request log shows in place of the answer's body."""
        self.unknown: tuple[str, ...] = ()
        """Names of its body's members that the endpoint does not read."""


class PlainAnswer:
    """An answer with a JSON body, or without a body and with status 204."""

    __slots__ = ("body", "is_crowd", "more", "status")

    def __init__(
        self, body: bytes, status: int = 200, more: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.body = body
        self.status = status
        self.is_crowd = False
        """Whether a crowd of callers took all places, which is no error of the service."""
        self.more = more
        """Header fields in addition to those of every answer."""

    def lines(self, request_id: str) -> bytes:
        """The header's lines, without those that the server adds.

        Raises:
            ValueError: a field would break out of its line.
        """
        if self.status == 204:
            lines = _BODILESS_LINES % request_id.encode()
        else:
            lines = _LINES % (len(self.body), request_id.encode())
        if not self.more:
            return lines
        more = [f"{name.lower()}: {value}".encode("latin-1") for name, value in self.more]
        if any(byte in line for line in more for byte in (b"\r", b"\n", b"\0")):
            raise ValueError("a header field of the answer has an end of line in it")
        return lines + b"\r\n".join([*more, b""])


WritePart = Callable[[bytes], Awaitable[None]]
"""Sends a part of an answer; returns once the client's side has taken it."""


class StreamedAnswer(PlainAnswer):
    """An answer that is sent as it comes, such as server-sent events."""

    __slots__ = ("content_type", "end", "write")

    def __init__(
        self,
        write: Callable[[WritePart], Awaitable[None]],
        end: Callable[[], None],
        content_type: str,
        more: Sequence[tuple[str, str]] = (),
    ) -> None:
        """
        Args:
            write: sends its parts, and returns at its end.
            end: called when it is over, however far it came.
        """
        super().__init__(b"", 200, more)
        self.write = write
        self.end = end
        self.content_type = content_type

    def header(self, request_id: str) -> list[tuple[bytes, bytes]]:
        """The header's fields."""
        fields = {"content-type": self.content_type, "x-request-id": request_id, **MARKS}
        return [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in (*fields.items(), *self.more)
        ]


def problem_answer(problem: Problem, request_id: str) -> PlainAnswer:
    return PlainAnswer(problem.body(request_id), problem.status, tuple(problem.headers.items()))


Handler = Callable[[PlainRequest], Awaitable[PlainAnswer]]


class GroupHandler(Protocol):
    """Answers requests of one holder together. What is left to wait for then is the journal alone;
    a request for which that is not so is answered by its path's handler."""

    def takes(self, fields: Fields, /) -> bool:
        """Whether requests with this header may be answered together. Pure."""

    def command(self, raw: bytes, /) -> Any | None:  # noqa: ANN401 -- of whatever the path does
        """What a body asks for; None: the path's handler has to look at it. Pure."""

    def holder(self, request: PlainRequest, /) -> Principal:
        """The holder of the key of a request. Raises what the path's handler would raise."""

    async def answers(
        self, principal: Principal, commands: Sequence[Any], /
    ) -> Sequence[bytes | Exception | None] | None:
        """A body or an error for each, in their order. None for one or all: nothing was done, and
        the path's handler has to do it. What is raised is the answer to all of them."""


class PlainPath:
    """One path: its handlers by method, and the largest body that it takes."""

    __slots__ = (
        *("body_bytes_max", "group", "handlers", "has_keys", "is_open", "other_method"),
        *("otherwise", "path"),
    )

    def __init__(
        self,
        path: str,
        handlers: Mapping[str, Handler],
        body_bytes_max: int,
        otherwise: Handler | None = None,
    ) -> None:
        self.path = path
        self.handlers = {method.encode(): handler for method, handler in handlers.items()}
        self.body_bytes_max = body_bytes_max
        self.is_open = "OPTIONS" in handlers
        """Whether pages of other origins may read the path's answers."""
        self.other_method = not_allowed(handlers)
        self.otherwise = otherwise
        """Answers every other method; None: :attr:`other_method` does."""
        self.has_keys = True
        """Whether a 401 of it may be one to a wrong API key, and so is held for guessers."""
        self.group: GroupHandler | None = None
        """Answers several POST requests together; None: each is answered alone."""


FindPath = Callable[[bytes], "PlainPath | None"]
"""Finds a path by a request's whole target, for a path with placeholders; None: not this one."""


class PlainRoutes:
    """The table of plain paths of one app, and the handling of their requests."""

    def __init__(
        self,
        *,
        body_bytes_max: int,
        body_timeout_s: float,
        tally: AnswerTally,
        failed_keys: FailedKeys | None,
        notes: RequestNotes | None = None,
        addresses: ClientAddresses | None = None,
    ) -> None:
        """
        Args:
            notes: gets each request with a valid key; None: nothing is noted.
            addresses: finds the clients' addresses for it; None: they are not noted.
        """
        self.tally = tally
        self.open_paths: set[str] = set()
        """Paths whose answers pages of any origin may read (:mod:`risala.http.common.origins`)."""
        self._body_bytes_max = body_bytes_max
        self._body_timeout_s = body_timeout_s
        self._failed_keys = failed_keys
        self._notes = notes
        self._addresses = addresses
        self._paths: dict[bytes, PlainPath] = {}
        self._mounts: list[FindPath] = []

    def add(
        self, path: str, handlers: Mapping[str, Handler], body_bytes_max: int | None = None
    ) -> None:
        """Answer ``path``, by method; GET answers HEAD too, every other method is 405.

        With OPTIONS the path is an open one: browsers send it as a preflight.
        """
        if "GET" in handlers:
            handlers = {**handlers, "HEAD": handlers["GET"]}
        made = PlainPath(path, handlers, body_bytes_max or self._body_bytes_max)
        self._paths[path.encode()] = made
        if made.is_open:
            self.open_paths.add(path)

    def route(
        self,
        path: str,
        handler: Handler,
        *,
        method: str = "POST",
        body_bytes_max: int | None = None,
    ) -> None:
        """Answer one method of ``path``; every other one (OPTIONS too) is 405."""
        self.add(path, {method: handler}, body_bytes_max)

    def together(self, path: str, group: GroupHandler) -> None:
        """Let the POST requests of a path that is there be answered together."""
        self._paths[path.encode()].group = group

    def grouped(self, target: bytes) -> PlainPath | None:
        """The path that a target names, if it answers requests together."""
        path = self._paths.get(target)
        return None if path is None or path.group is None else path

    @property
    def bytes_max(self) -> int:
        """The largest body of a path without a limit of its own."""
        return self._body_bytes_max

    def mount(self, find: FindPath) -> None:
        """Ask this for the path of a target that is not in the table."""
        self._mounts.append(find)

    def paths(self) -> Mapping[str, frozenset[str]]:
        """All paths with their methods."""
        return {
            each.path: frozenset(method.decode() for method in each.handlers)
            for each in self._paths.values()
        }

    def find(self, target: bytes) -> PlainPath | None:
        """The path that a request's target names; None if it is not in the table."""
        path = self._paths.get(target)
        if path is None and b"?" in target:
            path = self._paths.get(target.partition(b"?")[0])
        if path is None:
            for find in self._mounts:
                if (path := find(target)) is not None:
                    break
        return path

    async def answer(
        self,
        path: PlainPath,
        method: bytes,
        request_id: str,
        fields: Fields,
        client: Client | None,
        body: IncomingBody,
    ) -> PlainAnswer:
        """Have a request answered by its handler; an error becomes an answer too."""
        request = PlainRequest(
            request_id, fields, client, body, path.body_bytes_max, self._body_timeout_s
        )
        token, began_s = REQUEST_ID.set(request_id), trio.current_time()
        take_unknown()  # of what this task read before, for no path of this table
        try:
            handler = path.handlers.get(method, path.otherwise)
            if handler is None:
                answer = problem_answer(path.other_method, request_id)
            else:
                answer = await handler(request)
        except Exception as error:  # noqa: BLE001 -- whatever it is, it has an answer
            answer = problem_answer(report(error, request_id), request_id)
        finally:
            REQUEST_ID.reset(token)
        request.unknown = shown(take_unknown())
        self._tell(path, method, request, answer, began_s)
        if answer.status == 401 and path.has_keys:
            await self.hold(fields, client)
        if path.is_open:
            origins = fields.get(b"origin")
            origin = origins[0].decode("latin-1") if origins else None
            answer.more = (*answer.more, *cors_headers(self.open_paths, path.path, origin))
        return answer

    def group_answer(
        self, path: PlainPath, request: PlainRequest, result: bytes | Exception, began_s: float
    ) -> PlainAnswer:
        """The answer to a request of a group, by what its handler found for it."""
        if isinstance(result, bytes):
            answer = PlainAnswer(result)
        else:
            answer = problem_answer(report(result, request.id), request.id)
        self._tell(path, b"POST", request, answer, began_s)
        return answer

    def _tell(
        self,
        path: PlainPath,
        method: bytes,
        request: PlainRequest,
        answer: PlainAnswer,
        began_s: float,
    ) -> None:
        """Count an answer and note it; it names the members that nobody reads."""
        self.tally.answers[answer.status] += 1
        self.tally.crowded += answer.is_crowd
        principal = request.principal
        if principal is None:
            return
        if request.unknown:
            answer.more = (*answer.more, (HEADER, ", ".join(request.unknown)))
        # Checked first: a note that is dropped under load must not cost more than this.
        if self._notes is not None and self._notes.has_room(principal):
            self._notes.note(self._noted(principal, request, path, method, answer, began_s))

    def _noted(
        self,
        principal: Principal,
        request: PlainRequest,
        path: PlainPath,
        method: bytes,
        answer: PlainAnswer,
        began_s: float,
    ) -> NotedRequest:
        address = None
        if self._addresses is not None and principal.type is KeyType.SECRET:
            forwarded = request.fields.get(b"x-forwarded-for", ())
            client = request.client
            address = self._addresses.text_of(client[0] if client else None, tuple(forwarded))
        raw = request.raw
        return NotedRequest(
            principal,
            request.id,
            method.decode("ascii"),
            path.path,
            answer.status,
            trio.current_time() - began_s,
            address,
            None if raw is None else noted(raw),
            noted(answer.body if request.shown is None else request.shown),
            request.unknown,
        )

    async def hold(self, fields: Fields, client: Client | None) -> None:
        """Delay a 401 if its client has sent many wrong keys."""
        # A request without any key is no guess and is not counted.
        if b"x-api-key" in fields or b"authorization" in fields:
            await self._hold(fields, client)

    async def hold_guess(self, fields: Fields, client: Client | None, status: int) -> None:
        """:meth:`hold` for a caller of a face that gave none of our credentials, for any status; an
        answer already held for its header is not counted twice."""
        if status != 401 or b"authorization" not in fields:
            await self._hold(fields, client)

    async def _hold(self, fields: Fields, client: Client | None) -> None:
        if self._failed_keys is not None:
            forwarded = [each.decode("latin-1") for each in fields.get(b"x-forwarded-for", ())]
            await self._failed_keys.hold(client[0] if client else None, forwarded)
