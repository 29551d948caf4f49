"""A connection to D-Bus, on Trio: calls to ModemManager, and the news that it tells.

``jeepney`` writes and reads the messages (D-Bus specification); what waits for what is ours, so
that a connection that ends ends every call that waits on it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from typing import Any, Final, Protocol

import trio

from risala.drivers.modem.manager.words import MANAGER

try:
    from jeepney import DBusAddress, HeaderFields, MatchRule, MessageType, new_method_call
    from jeepney.bus_messages import message_bus
    from jeepney.io.trio import DBusConnection, open_dbus_connection
except ModuleNotFoundError as missing:  # pragma: no cover -- where the extra is not installed
    raise ModuleNotFoundError(
        'driver = "modemmanager" needs the package jeepney: install risala[modemmanager].'
    ) from missing

CALL_S: Final = 30.0
"""Seconds in which ModemManager must answer what needs no network."""
OPEN_S: Final = 10.0
TEXT_MAX: Final = 200
"""Characters of an error's own text that are kept."""


class BusGoneError(Exception):
    """D-Bus is not there, or has gone; ``str()`` says why, in the system's words."""


class BusTimeoutError(Exception):
    """No answer came in time."""


class BusCallError(Exception):
    """ModemManager, or the bus for it, answered with an error.

    Attributes:
        name: the error's name, as ``org.freedesktop.ModemManager1.Error.Core.WrongState``.
    """

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text[:TEXT_MAX])
        self.name = name


class ModemBus(Protocol):
    """What the driver needs of D-Bus."""

    @property
    def lives(self) -> int:
        """How often ModemManager came or went: its paths are others after that."""

    async def call(
        self,
        path: str,
        method: str,
        signature: str = "",
        body: tuple[object, ...] = (),
        *,
        timeout_s: float = CALL_S,
    ) -> tuple[Any, ...]:
        """Call ModemManager.

        Args:
            method: with its interface: ``org.freedesktop.DBus.Properties.Get``.

        Raises:
            BusCallError: it answered with an error.
            BusTimeoutError: it did not answer in time.
            BusGoneError: the connection has ended.
        """

    async def wait_news(self) -> None:
        """Return when something may have changed since the last call.

        Raises:
            BusGoneError: the connection has ended.
        """


class _Reply:
    def __init__(self) -> None:
        self.came = trio.Event()
        self.message: Any = None


class JeepneyBus:
    """See :class:`ModemBus`."""

    def __init__(self, connection: DBusConnection) -> None:
        self._connection = connection
        self._waiting: dict[int, _Reply] = {}
        self._serials = count(1000)
        self._news = trio.Event()
        self._gone: str | None = None
        self.lives = 0

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Read until the connection ends."""
        task_status.started()
        try:
            while True:
                self._take(await self._connection.receive())
        except (trio.EndOfChannel, trio.BrokenResourceError, trio.ClosedResourceError, OSError):
            pass
        except ValueError:
            self._end("what came is no D-Bus message")
        finally:
            self._end("the connection was closed")

    def _end(self, why: str) -> None:
        self._gone = self._gone or why
        for reply in self._waiting.values():
            reply.came.set()
        self._news.set()

    def _take(self, message: Any) -> None:  # noqa: ANN401 -- jeepney's Message
        kind, fields = message.header.message_type, message.header.fields
        if kind in (MessageType.method_return, MessageType.error):
            reply = self._waiting.get(fields.get(HeaderFields.reply_serial, -1))
            if reply is not None:
                reply.message = message
                reply.came.set()
        elif kind is MessageType.signal:
            if fields.get(HeaderFields.member) == "NameOwnerChanged":
                self.lives += 1
            self._news.set()

    async def watch(self) -> None:
        """Be told of ModemManager's signals, and of its coming and going."""
        signals = MatchRule(type="signal", sender=MANAGER)
        owner = MatchRule(
            type="signal",
            sender="org.freedesktop.DBus",
            interface="org.freedesktop.DBus",
            member="NameOwnerChanged",
        )
        owner.add_arg_condition(0, MANAGER)
        for rule in (signals, owner):
            await self._ask(message_bus.AddMatch(rule), CALL_S)

    async def call(
        self,
        path: str,
        method: str,
        signature: str = "",
        body: tuple[object, ...] = (),
        *,
        timeout_s: float = CALL_S,
    ) -> tuple[Any, ...]:
        interface, _, member = method.rpartition(".")
        address = DBusAddress(path, bus_name=MANAGER, interface=interface)
        return await self._ask(new_method_call(address, member, signature or None, body), timeout_s)

    async def _ask(self, message: Any, timeout_s: float) -> tuple[Any, ...]:  # noqa: ANN401
        if self._gone is not None:
            raise BusGoneError(self._gone)
        serial = next(self._serials)
        reply = self._waiting[serial] = _Reply()
        try:
            with trio.move_on_after(timeout_s):
                await self._connection.send(message, serial=serial)
                await reply.came.wait()
        except (trio.BrokenResourceError, trio.ClosedResourceError) as fault:
            raise BusGoneError(self._gone or "the connection was closed") from fault
        finally:
            del self._waiting[serial]
        if reply.message is None:
            if self._gone is not None:
                raise BusGoneError(self._gone)
            raise BusTimeoutError
        body = reply.message.body
        if reply.message.header.message_type is MessageType.error:
            name = str(reply.message.header.fields.get(HeaderFields.error_name, ""))
            raise BusCallError(name, str(body[0]) if body else "")
        return tuple(body)

    async def wait_news(self) -> None:
        await self._news.wait()
        if self._gone is not None:
            raise BusGoneError(self._gone)
        self._news = trio.Event()


@asynccontextmanager
async def open_bus(address: str) -> AsyncIterator[ModemBus]:
    """A connection to a bus, watched, for the length of the context.

    Raises:
        BusGoneError: there is none.
    """
    async with AsyncExitStack() as stack:
        connection = await _connection(address)
        stack.push_async_callback(connection.aclose)
        nursery = await stack.enter_async_context(trio.open_nursery())
        bus = JeepneyBus(connection)
        await nursery.start(bus.run)
        try:
            await bus.watch()
            yield bus
        finally:
            nursery.cancel_scope.cancel()


async def _connection(address: str) -> DBusConnection:
    try:
        with trio.fail_after(OPEN_S):
            return await open_dbus_connection("SYSTEM" if address == "system" else address)
    except trio.TooSlowError:
        raise BusGoneError("it does not answer") from None
    except Exception as fault:  # jeepney raises its own kinds where the bus refuses us
        raise BusGoneError(_why(fault)) from fault


def _why(fault: BaseException) -> str:
    if isinstance(fault, OSError) and fault.strerror:
        return fault.strerror
    return type(fault).__name__
