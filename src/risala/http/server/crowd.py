"""One task for all idle connections of a listener. It answers usual requests without their tasks.

A connection's own task sleeps in :meth:`Crowd.unusual` while it is idle. If a whole request comes
in one piece, with a header that was seen before or reads without a fault, for a path that answers
several together, the crowd gathers it with those of the same key. All that came in one turn of
the loop, or while the group before them was answered, are answered by one unit of work. Whatever
else comes wakes the connection's own task, with the bytes.

By Linux's ``epoll``; elsewhere each connection waits for itself.
"""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import outcome
import structlog
import trio

from risala.http.common.plain import Fields, GroupHandler, IncomingBody, PlainPath, PlainRequest
from risala.http.common.request import REQUEST_ID, new_request_id
from risala.http.server.answer import whole
from risala.http.server.parser import RequestParser

if TYPE_CHECKING:
    from risala.http.common.plain import PlainRoutes
    from risala.http.server.listener_state import ListenerState

log = structlog.get_logger("risala.http")

READ_BYTES: Final = 16 * 1024
"""Bytes that are read of a connection at once. A request that is longer has its connection's task.
"""
EVENTS_MAX: Final = 256
"""Connections that are looked at in one turn of the loop; the others come in the next one."""
GROUP_MAX: Final = 256
"""Requests that are answered together at most."""
GATHER_S: Final = 0.05
"""Requests are gathered so long at most while a group is under way."""
HEADS_MAX: Final = 512
"""Headers that are remembered, the newest."""
HEAD_BYTES_MAX: Final = 2048
"""Bytes of a header that is remembered: with :data:`HEADS_MAX` a few megabytes at most."""
_START: Final = b"POST "
_END: Final = b"\r\n\r\n"
_WHO: Final = (b"x-api-key", b"authorization", b"x-forwarded-for")


class CrowdConnection(Protocol):
    """A connection as the crowd uses it."""

    descriptor: int
    client: tuple[str, int] | None

    @property
    def busy(self) -> bool:
        """Whether a request is under way."""

    @property
    def stopping(self) -> bool:
        """Whether no other request is taken."""

    def mark_busy(self) -> None:
        """A request has come, and is being answered."""

    def mark_idle(self) -> None:
        """No request is under way."""

    def mark_heard(self) -> None:
        """Bytes were read, at which its task looks in the next turn of the loop."""

    def write_now(self, data: bytes) -> int:
        """Write what the socket has room for; how many bytes that were. Raises ``OSError``."""

    async def send(self, data: bytes) -> None:
        """Write all of it."""


class KnownHead(NamedTuple):
    """What the header of a usual request says."""

    path: PlainPath
    group: GroupHandler
    fields: Fields
    length: int
    """Bytes of the body."""
    who: tuple[tuple[bytes, ...], ...]
    """The fields that tell whose the request is."""


class KnownHeads:
    """Headers of usual requests, by their bytes. What one says follows from its bytes alone."""

    def __init__(self, routes: PlainRoutes) -> None:
        self._routes = routes
        self._known: dict[bytes, KnownHead] = {}

    def __len__(self) -> int:
        return len(self._known)

    def find(self, head: bytes) -> KnownHead | None:
        """What a header says; None if the request is not a usual one."""
        known = self._known.get(head)
        if known is None and (known := self._read(head)) is not None:
            if len(self._known) >= HEADS_MAX:
                del self._known[next(iter(self._known))]
            self._known[head] = known
        return known

    def _read(self, head: bytes) -> KnownHead | None:
        if not head.startswith(_START) or len(head) > HEAD_BYTES_MAX:
            return None
        path = self._routes.grouped(head[len(_START) : head.find(b" ", len(_START))])
        if path is None or path.group is None or path.is_open:
            return None
        parser = RequestParser()
        parser.feed(head)
        if len(parser.requests) != 1:
            return None
        request = parser.requests[0]
        fields, length = request.fields, request.length
        if (
            request.fault is not None
            or request.waits
            or not request.keep
            or not length
            or length > path.body_bytes_max
            or not path.group.takes(fields)
        ):
            return None
        who = tuple(tuple(fields.get(name, ())) for name in _WHO)
        return KnownHead(path, path.group, fields, length, who)


class _WaitingRequest:
    """A request that is answered together with others."""

    __slots__ = ("began_s", "connection", "data", "known", "raw", "request")

    def __init__(
        self, connection: CrowdConnection, known: KnownHead, data: bytes, raw: bytes
    ) -> None:
        self.connection = connection
        self.known = known
        self.data = data
        self.raw = raw
        self.began_s = trio.current_time()
        path = known.path
        self.request = PlainRequest(
            new_request_id(), known.fields, connection.client, _READ, path.body_bytes_max, 0.0
        )


_Who = tuple[PlainPath, tuple[tuple[bytes, ...], ...], str | None]


class Crowd:
    """The idle connections of one listener. It is possible on Linux alone."""

    def __init__(self, face: ListenerState) -> None:
        self._face = face
        self._epoll = select.epoll()
        self._sleeping: dict[int, tuple[CrowdConnection, trio.lowlevel.Task]] = {}
        """By their descriptors: connections whose own tasks sleep."""
        self._more: set[int] = set()
        """Descriptors of those that may have sent what is not read yet. The kernel tells it once;
        they are read again after the answer."""
        self._heads = KnownHeads(face.routes)
        self._gathered: dict[_Who, list[_WaitingRequest]] = {}
        self._waiting: set[_Who] = set()
        """Keys whose gathered requests have a task."""
        self._under_way: dict[_Who, trio.Event] = {}
        """The end of the latest group of a key."""
        self._nursery: trio.Nursery | None = None

    @staticmethod
    def is_possible() -> bool:
        """Whether this system has what it needs."""
        return hasattr(select, "epoll")

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve the connections until cancelled."""
        descriptor = self._epoll.fileno()
        try:
            async with trio.open_nursery() as self._nursery:
                task_status.started()
                while True:
                    await trio.lowlevel.wait_readable(descriptor)
                    for ready, happened in self._epoll.poll(0, EVENTS_MAX):
                        self._read(ready, has_ended=bool(happened & select.EPOLLRDHUP))
                    self._begin()
        finally:
            self._epoll.close()

    async def unusual(self, connection: CrowdConnection) -> bytes:
        """The next bytes that a connection's own task has to look at; empty when the client sends
        no more, or has gone, or the listener stops. Usual requests are answered meanwhile."""
        while True:
            woken_by: _Unsent | bytes = await self._sleep(connection)
            if not isinstance(woken_by, _Unsent):
                return woken_by
            await connection.send(woken_by.data)
            connection.mark_idle()
            if connection.stopping:
                return b""

    async def _sleep(self, connection: CrowdConnection) -> Any:  # noqa: ANN401 -- of _wake
        descriptor = connection.descriptor
        # Edge-triggered: what is there already comes at once, and nothing comes twice.
        self._epoll.register(
            descriptor, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET | select.EPOLLERR
        )
        self._sleeping[descriptor] = connection, trio.lowlevel.current_task()

        def abort(_: object) -> trio.lowlevel.Abort:
            self._leave(descriptor)
            return trio.lowlevel.Abort.SUCCEEDED

        return await trio.lowlevel.wait_task_rescheduled(abort)

    def _leave(self, descriptor: int) -> None:
        del self._sleeping[descriptor]
        self._more.discard(descriptor)
        self._epoll.unregister(descriptor)

    def _wake(self, connection: CrowdConnection, result: _Unsent | bytes) -> None:
        _, task = self._sleeping[connection.descriptor]
        self._leave(connection.descriptor)
        trio.lowlevel.reschedule(task, outcome.Value(result))

    def _is_here(self, connection: CrowdConnection) -> bool:
        """Whether a connection still waits here. Its descriptor may be another's by now."""
        sleeper = self._sleeping.get(connection.descriptor)
        return sleeper is not None and sleeper[0] is connection

    # -- requests

    def _read(self, descriptor: int, *, has_ended: bool = False) -> None:
        """Read what a connection has sent. ``has_ended``: it sends no more after that."""
        sleeper = self._sleeping.get(descriptor)
        if sleeper is None:
            return
        connection = sleeper[0]
        if connection.busy or has_ended:
            self._more.add(descriptor)
        if connection.busy:
            return
        try:
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            self._more.discard(descriptor)
            return
        except OSError:
            data = b""  # the connection broke: the same as a client that has gone
        if len(data) == READ_BYTES:
            self._more.add(descriptor)
        try:
            waiting = None if self._face.stopping else self._usual(connection, data)
        except Exception:  # noqa: BLE001 -- of one client: its connection's task meets it
            waiting = None
        if waiting is None:
            connection.mark_heard()
            self._wake(connection, data)
            return
        connection.mark_busy()
        client = connection.client
        who = waiting.known.path, waiting.known.who, None if client is None else client[0]
        self._gathered.setdefault(who, []).append(waiting)

    def _usual(self, connection: CrowdConnection, data: bytes) -> _WaitingRequest | None:
        """The request that these bytes are, if it is a usual one, and whole."""
        end = data.find(_END) + len(_END)
        if end < len(_END):
            return None
        known = self._heads.find(data[:end])
        if known is None or len(data) != end + known.length:
            return None
        waiting = _WaitingRequest(connection, known, data, data[end:])
        waiting.request.raw = waiting.raw
        return waiting

    def _begin(self) -> None:
        """Have answered what was gathered."""
        assert self._nursery is not None
        for who in self._gathered.keys() - self._waiting:
            self._waiting.add(who)
            self._nursery.start_soon(self._answer_next, who)

    async def _answer_next(self, who: _Who) -> None:
        """Answer what was gathered of a key, after the group under way. One that takes long is not
        waited for, so that whoever takes them in counts all, and refuses what is too much."""
        before = self._under_way.get(who)
        if before is not None:
            with trio.move_on_after(GATHER_S):
                await before.wait()
        self._waiting.discard(who)
        gathered = self._gathered.pop(who)
        if len(gathered) > GROUP_MAX:
            self._gathered[who] = gathered[GROUP_MAX:]
            self._begin()
        over = self._under_way[who] = trio.Event()
        try:
            await self._answer_group(gathered[:GROUP_MAX])
        finally:
            over.set()
            if self._under_way.get(who) is over:
                del self._under_way[who]

    async def _answer_group(self, group: list[_WaitingRequest]) -> None:
        """Answer requests of one key; where they cannot be answered together, their connections'
        tasks do it."""
        handler = group[0].known.group
        REQUEST_ID.set(" ".join([each.request.id for each in group]))
        try:
            principal = handler.holder(group[0].request)
        except Exception:  # noqa: BLE001 -- each meets it again in its own task
            self._give_back(group)
            return
        # Only now: nobody has a body read without a key.
        commands = {each: command for each in group if (command := _command(each)) is not None}
        self._give_back([each for each in group if each not in commands])
        if not commands:
            return
        group = [*commands]
        answers: Any
        try:
            answers = await handler.answers(principal, [*commands.values()])
        except Exception as error:  # noqa: BLE001 -- whatever it is, it has an answer
            answers = [error] * len(group)
        if answers is None:
            self._give_back(group)
            return
        for waiting, answer in zip(group, answers, strict=True):
            if answer is None:
                self._give_back([waiting])
            else:
                waiting.request.principal = principal
                self._answer(waiting, answer)

    def _give_back(self, group: list[_WaitingRequest]) -> None:
        for waiting in group:
            if self._is_here(waiting.connection):
                waiting.connection.mark_idle()
                self._wake(waiting.connection, waiting.data)

    def _answer(self, waiting: _WaitingRequest, result: bytes | Exception) -> None:
        """Write the answer to a request, if its client is still there."""
        connection, request = waiting.connection, waiting.request
        keeps = not self._face.stopping
        try:
            routes = self._face.routes
            answer = routes.group_answer(waiting.known.path, request, result, waiting.began_s)
            data = whole(answer, request.id, bodiless=False, keeps=keeps)
        except Exception:
            log.exception("app.failed")
            if self._is_here(connection):
                self._wake(connection, b"")
            return
        if not self._is_here(connection):
            return
        try:
            written = connection.write_now(data)
        except OSError:
            self._wake(connection, b"")
            return
        if written < len(data):
            self._wake(connection, _Unsent(data[written:]))
            return
        connection.mark_idle()
        if not keeps:
            self._wake(connection, b"")
        elif connection.descriptor in self._more:
            self._read(connection.descriptor)
            self._begin()


def _command(waiting: _WaitingRequest) -> Any | None:  # noqa: ANN401 -- of whatever the path does
    """What a request asks for; None: its connection's task has to look at it."""
    try:
        return waiting.known.group.command(waiting.raw)
    except Exception:  # noqa: BLE001 -- of one client: its connection's task meets it
        return None


class _Unsent(NamedTuple):
    """The rest of an answer for which the socket had no room."""

    data: bytes


class _Read:
    """A body that has been read."""

    length: int | None = None
    complete = True

    async def next_part(self) -> bytes:
        return b""


_READ: Final[IncomingBody] = _Read()
