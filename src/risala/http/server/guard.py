"""One connection, guarded: whatever its client does costs that connection and nothing else.

Stock Hypercorn 0.18 lets what a connection raises end the whole service, keeps pipelined
connections that are gone, and waits for ever for a client that reads nothing.
``docs/discussion/hostile-clients.md`` tells what is refused, and after how long.
"""

from __future__ import annotations

from typing import Final

import h11
import structlog
import trio
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ConnectionState, LifespanState
from hypercorn.utils import parse_socket_addr

from risala.http.common.problems import Problem
from risala.http.server.connection import GuardedProtocol, refusal
from risala.http.server.face import FaceConfig
from risala.http.server.peer import client_of

log = structlog.get_logger("risala.http")

_READ_BYTES: Final = 16 * 1024
"""All that one read takes, and so all that a client can have pipelined."""
_SLICE_BYTES: Final = 16 * 1024
"""What must be taken within ``write_s``: 1.6 KiB a second, which any link does."""
_GONE: Final = (OSError, trio.BrokenResourceError, trio.ClosedResourceError)


class GuardedServer:
    """One connection: a scope that holds all of it, and that scope's deadline.

    Idle, it has ``idle_s``; once a header has begun, ``header_s``; with a request under way,
    ``quiet_s`` from the last bytes sent. Whoever ends the connection cancels the scope.
    """

    protocol: GuardedProtocol

    def __init__(
        self,
        app: AppWrapper,
        config: FaceConfig,
        context: WorkerContext,
        state: LifespanState,
        stream: trio.SocketStream,
    ) -> None:
        self.app = app
        self.config = config
        self.context = context
        self.state = state
        self.stream = stream
        self.send_lock = trio.Lock()
        self._face = config.face
        self._patience = config.face.patience
        self._scope = trio.CancelScope()
        self._writing: trio.CancelScope | None = None
        self._busy = False
        self._header_begun = False
        self._lingers = False

    async def run(self) -> None:
        try:
            if self._face.stopping:
                pass
            elif self._face.admit(self):
                with self._scope:
                    await self._serve()
                await self._linger()
            else:
                await self._turn_away()
        except* _GONE:
            pass  # the client's end of it; nobody is left to tell
        except* Exception as group:
            names = sorted({type(error).__name__ for error in _leaves(group)})
            # Without the text, which may be the client's own.
            log.warning("connection.failed", errors=names)
            log.debug("connection.failed", exc_info=group)
        finally:
            self._face.leave(self)
            await trio.aclose_forcefully(self.stream)

    async def protocol_send(self, event: Event) -> None:
        if isinstance(event, RawData):
            await self._send(event.data)
        elif isinstance(event, Closed):
            self._lingers = self.protocol.unread
            self._scope.cancel()
        elif isinstance(event, Updated):
            if event.idle:
                self._rest()
            else:
                self._work()

    def close_idle(self) -> None:
        self._scope.cancel()

    def hurry(self, until: float) -> None:
        if self._writing is not None:
            self._writing.deadline = min(self._writing.deadline, until)

    async def _serve(self) -> None:
        self._rest()
        sock = self.stream.socket
        async with TaskGroup() as tasks:
            self.protocol = GuardedProtocol(
                self.app,
                self.config,
                self.context,
                tasks,
                ConnectionState(self.state),
                False,
                client_of(sock),
                parse_socket_addr(sock.family, sock.getsockname()),
                self.protocol_send,
            )
            await self._read_data()

    async def _read_data(self) -> None:
        while data := await self.stream.receive_some(_READ_BYTES):
            if not self._busy and not self._header_begun:
                # Empty lines before a request are none of it (RFC 9112 §2.2), nor do they begin
                # one: an idle connection that sends them stays an idle one.
                data = data.lstrip(b"\r\n")
                if not data:
                    continue
                self._header_begun = True
                self._scope.deadline = trio.current_time() + self._patience.header_s
            await self.protocol.handle(RawData(bytes(data)))
        # The client is gone, and so is the reason for all that is done on its behalf.
        self._scope.cancel()

    def _rest(self) -> None:
        self._busy = self._header_begun = False
        self._scope.deadline = trio.current_time() + self._patience.idle_s
        self._face.mark_idle(self)
        if self._face.stopping:
            self._scope.cancel()

    def _work(self) -> None:
        self._busy = True
        self._scope.deadline = trio.current_time() + self._patience.quiet_s
        self._face.mark_busy(self)

    async def _send(self, data: bytes) -> None:
        async with self.send_lock:
            try:
                view = memoryview(data)
                for start in range(0, len(data), _SLICE_BYTES):
                    if start:
                        await trio.lowlevel.checkpoint_if_cancelled()
                    await self._send_slice(view[start : start + _SLICE_BYTES])
            except trio.Cancelled:
                # By some scope of the handler's own, perhaps; but half an answer is out.
                self._scope.cancel()
                raise
            except (*_GONE, trio.TooSlowError):
                self._scope.cancel()

    async def _send_slice(self, data: memoryview) -> None:
        """Send so much that a client which reads at all takes it in time.

        Shielded: a handler that is cancelled must not leave half of it; hence the deadline.
        """
        now = trio.current_time()
        self._scope.deadline = now + self._patience.quiet_s
        until = min(now + self._patience.write_s, self._face.stop_at)
        with trio.CancelScope(deadline=until, shield=True) as self._writing:
            await self.stream.send_all(data)
        if self._writing.cancelled_caught:
            raise trio.TooSlowError
        self._writing = None

    async def _linger(self) -> None:
        """After an answer that came before the end of its request: read on for a moment.

        Closing a socket that has unread bytes sends a reset, which would overtake the answer.
        """
        if not self._lingers:
            return
        until = min(trio.current_time() + self._patience.linger_s, self._face.stop_at)
        self._scope = trio.CancelScope(deadline=until)
        self._face.mark_idle(self)
        with self._scope:
            await self.stream.send_eof()
            while await self.stream.receive_some(4 * _READ_BYTES):
                pass

    async def _turn_away(self) -> None:
        problem = Problem(503, "There are too many connections.", headers={"Retry-After": "1"})
        headers, body = refusal(problem, self._face, path=None, origin=None)
        answer = h11.Connection(h11.SERVER)
        response = h11.Response(status_code=problem.status, headers=headers)
        head = answer.send(response) or b""
        with trio.move_on_after(1):
            await self.stream.send_all(head + body)


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    leaves: list[BaseException] = []
    for error in group.exceptions:
        leaves.extend(_leaves(error) if isinstance(error, BaseExceptionGroup) else [error])
    return leaves
