"""One connection to an MQTT broker, on Trio.

``paho-mqtt`` writes and reads the packets (MQTT 3.1.1); what waits for the socket is ours, so that
no thread of the library runs. Only the first connect, which blocks, has a thread.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import trio
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.reasoncodes import ReasonCode

from risala.drivers.sinks.mqtt_settings import OFFLINE, PLAIN_PORT, TLS_PORT
from risala.plugins.sink import SinkUnavailableError

if TYPE_CHECKING:
    from risala.drivers.sinks.mqtt_settings import MqttSettings

CONNECT_S: Final = 10.0
"""For TCP and TLS, and then for the broker's yes."""
KEEPALIVE_S: Final = 30
"""A broker that is silent for longer is gone, and so are we for the broker."""
TICK_S: Final = 5.0
"""How often the library looks at its clock."""
INFLIGHT_MAX: Final = 100
"""Messages that wait for their acknowledgement; the others of a batch wait here."""
QUEUED_MAX: Final = 4000
"""Messages that wait for a place among those: twice the largest batch, and the states."""

Post = tuple[str, bytes, bool]
"""Topic, payload, and whether the broker keeps it for who subscribes later."""


class MqttLink:
    """See the module's text. It is opened once."""

    def __init__(self, settings: MqttSettings, client_id: str, status: str) -> None:
        self._settings = settings
        self._answered = trio.Event()
        self._ended = trio.Event()
        self._wake = trio.Event()
        self._fault = "The broker closed the connection."
        self._is_up = False
        self._is_abandoned = False
        self._unacknowledged: dict[int, trio.Event] = {}
        client = self._client = Client(
            CallbackAPIVersion.VERSION2, client_id, protocol=MQTTProtocolVersion.MQTTv311
        )
        client.connect_timeout = CONNECT_S
        client.max_inflight_messages = INFLIGHT_MAX
        client.max_queued_messages = QUEUED_MAX
        client.will_set(status, OFFLINE, qos=1, retain=True)
        self._status = status
        if settings.user:
            client.username_pw_set(settings.user, settings.password.get_secret_value())
        client.on_connect = self._on_connect
        client.on_publish = self._on_publish
        client.on_disconnect = self._on_disconnect
        # With it set, the library leaves all writing to us; the first packet is made in a thread.
        client.on_socket_register_write = _do_nothing
        client.on_socket_close = _closing

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Connected for as long as the block runs.

        Raises:
            SinkUnavailableError: the broker cannot be reached or refuses, or the connection has
                ended.
        """
        await self._connect()
        fault: SinkUnavailableError | None = None
        try:
            async with trio.open_nursery() as nursery:
                for each in (self._read, self._write, self._tick):
                    nursery.start_soon(each)
                try:
                    await self._wait_answer()
                    yield
                except SinkUnavailableError as error:
                    fault = error
                nursery.cancel_scope.cancel()
        finally:
            self._leave()
        if fault is not None:
            raise fault

    async def publish(self, posts: Sequence[Post]) -> None:
        """Return once the broker has acknowledged all of them.

        Raises:
            SinkUnavailableError: the connection ended before.
        """
        waits: list[trio.Event] = []
        for topic, payload, is_kept in posts:
            if self._ended.is_set():
                raise SinkUnavailableError(self._fault)
            info = self._client.publish(topic, payload, qos=1, retain=is_kept)
            if info.rc:
                raise SinkUnavailableError(f"The message cannot be queued: {info.rc!s}")
            acknowledged = self._unacknowledged[info.mid] = trio.Event()
            waits.append(acknowledged)
        self._wake.set()
        for each in waits:
            await each.wait()
        if self._ended.is_set():
            raise SinkUnavailableError(self._fault)

    async def wait_ended(self) -> None:
        """Wait until the connection ends.

        Raises:
            SinkUnavailableError: always then; it says why.
        """
        await self._ended.wait()
        raise SinkUnavailableError(self._fault)

    # -- the beginning and the end

    async def _connect(self) -> None:
        settings = self._settings
        port = settings.port or (TLS_PORT if settings.tls else PLAIN_PORT)
        try:
            if settings.tls:
                # At each connection, so that renewed certificates take effect.
                self._client.tls_set_context(_context(settings))
            await trio.to_thread.run_sync(self._reach, port, abandon_on_cancel=True)
        except ssl.SSLCertVerificationError as error:
            raise SinkUnavailableError(
                f"The broker's certificate is not trusted: {error.verify_message}. Give the file "
                "of who signed it as tls_ca_file."
            ) from None
        except (ssl.SSLError, ConnectionResetError) as error:
            # A port without TLS breaks the connection at the first octets.
            reason = getattr(error, "reason", None) or "the broker broke the connection"
            raise SinkUnavailableError(
                f"No connection: {reason}. With tls = true the port must be the broker's TLS port."
            ) from None
        except OSError as error:
            reason = error.strerror or "no answer in time"
            raise SinkUnavailableError(
                f"The broker at {settings.host}:{port} cannot be reached: {reason}."
            ) from None
        except trio.Cancelled:
            self._is_abandoned = True
            self._close()
            raise

    def _reach(self, port: int) -> None:
        """Connect, in a thread. Where nobody waits for it any more, close what was opened: either
        this or who was cancelled comes last, and sees the socket."""
        self._client.connect(self._settings.host, port, KEEPALIVE_S)
        if self._is_abandoned:
            self._close()

    def _close(self) -> None:
        if (sock := self._client.socket()) is not None:
            sock.close()

    async def _wait_answer(self) -> None:
        with trio.move_on_after(CONNECT_S):
            await self._answered.wait()
        if not self._answered.is_set():
            self._end("The broker did not answer. Is it an MQTT broker, and its TLS as set?")
        if not self._is_up:
            raise SinkUnavailableError(self._fault)

    def _leave(self) -> None:
        """Say goodbye, as far as that goes without waiting; a broker that misses it sends the
        will."""
        if self._is_up and not self._ended.is_set():
            self._client.publish(self._status, OFFLINE, qos=1, retain=True)
            self._client.disconnect()
            self._client.loop_write()
        self._end(self._fault)
        if (sock := self._client.socket()) is not None:
            trio.lowlevel.notify_closing(sock)
        self._close()

    def _end(self, fault: str) -> None:
        if not self._ended.is_set():
            self._fault = fault
        for each in (self._ended, self._answered, self._wake, *self._unacknowledged.values()):
            each.set()

    # -- what the library tells, on the loop's thread

    def _on_connect(
        self, _client: object, _data: object, _flags: object, code: ReasonCode, _: object
    ) -> None:
        self._is_up = not code.is_failure
        if code.is_failure:
            self._end(f"The broker refuses the connection: {code!s}. Look at user and password.")
        self._answered.set()

    def _on_publish(self, _client: object, _data: object, mid: int, *_: object) -> None:
        if (acknowledged := self._unacknowledged.pop(mid, None)) is not None:
            acknowledged.set()

    def _on_disconnect(self, *_: object) -> None:
        self._end("The broker closed the connection.")

    # -- the socket

    async def _read(self) -> None:
        await self._while_up(trio.lowlevel.wait_readable, self._read_all)

    def _read_all(self) -> None:
        while self._client.loop_read() == 0:
            sock = self._client.socket()
            # Octets that TLS has deciphered already do not make the socket readable.
            if not isinstance(sock, ssl.SSLSocket) or not sock.pending():
                return
        self._end("The connection to the broker broke.")

    async def _write(self) -> None:
        while not self._ended.is_set():
            await self._wake.wait()
            self._wake = trio.Event()
            while self._client.want_write() and not self._ended.is_set():
                if self._client.loop_write():
                    self._end("The connection to the broker broke.")
                elif self._client.want_write():
                    await self._ready(trio.lowlevel.wait_writable)

    async def _tick(self) -> None:
        self._wake.set()
        while not self._ended.is_set():
            await trio.sleep(TICK_S)
            if self._client.loop_misc():
                self._end("The broker fell silent.")
            self._wake.set()

    async def _while_up(self, wait: Callable[[Any], Any], work: Callable[[], None]) -> None:
        while not self._ended.is_set():
            await self._ready(wait)
            if not self._ended.is_set():
                work()
                self._wake.set()

    async def _ready(self, wait: Callable[[Any], Any]) -> None:
        sock = self._client.socket()
        if sock is None:
            self._end("The connection to the broker broke.")
            return
        try:
            await wait(sock)
        except trio.ClosedResourceError:
            self._end("The connection to the broker broke.")


class _ShakenSocket(ssl.SSLSocket):
    """Closes itself where the handshake fails: the library would leave it open."""

    def do_handshake(self, block: bool = False) -> None:
        try:
            super().do_handshake(block)
        except BaseException:
            self.close()
            raise


def _context(settings: MqttSettings) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=settings.tls_ca_file)
        context.sslsocket_class = _ShakenSocket
        return context
    except OSError as error:
        raise SinkUnavailableError(
            f"The certificates to trust cannot be read: tls_ca_file {settings.tls_ca_file}: "
            f"{error.strerror or 'they are none'}."
        ) from None


def _do_nothing(*_: object) -> None:
    pass


def _closing(_client: object, _data: object, sock: Any) -> None:  # noqa: ANN401 -- a socket of either kind
    if trio.lowlevel.in_trio_run():
        trio.lowlevel.notify_closing(sock)
