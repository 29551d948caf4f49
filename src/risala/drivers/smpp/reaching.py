"""A connection to the carrier, over TCP or TLS, or one sentence with the reason against it."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator
from typing import Final

import trio

from risala.drivers.smpp import tls
from risala.drivers.smpp.settings import SmppSettings
from risala.drivers.smpp.tls import TlsError

_TEXTS: Final = {
    errno.ECONNREFUSED: "nothing listens there, or a firewall refuses us",
    errno.EHOSTUNREACH: "there is no route to it",
    errno.ENETUNREACH: "there is no route to it; is this machine online?",
    errno.ETIMEDOUT: "there is no answer",
    errno.ECONNRESET: "it was closed at once",
}


class UnreachableError(Exception):
    """No connection; ``str()`` is a sentence for the operator."""


async def open_stream(settings: SmppSettings) -> trio.abc.Stream:
    """Connect, and shake hands if TLS is requested.

    Raises:
        UnreachableError: no TCP connection could be made.
        TlsError: TLS failed on it, or the certificate is not the carrier's.
    """
    peer = f"{settings.host}:{settings.port}"
    # The context comes before the connection: if our own files are at fault, no connection is made
    # to the carrier.
    context = tls.client_context(settings) if settings.tls else None
    stream = await _connect(peer, settings)
    if context is None:
        return stream
    secured = trio.SSLStream(
        stream, context, server_hostname=tls.server_name(settings), https_compatible=False
    )
    try:
        with trio.fail_after(settings.connect_timeout_s):
            await secured.do_handshake()
    except trio.TooSlowError:
        await trio.aclose_forcefully(secured)
        raise tls.silent(peer, settings.connect_timeout_s) from None
    except trio.BrokenResourceError as fault:
        await trio.aclose_forcefully(secured)
        raise broken_tls(peer, fault, settings) or tls.hung_up(peer) from None
    except BaseException:
        await trio.aclose_forcefully(secured)
        raise
    return secured


def broken_tls(peer: str, fault: BaseException | None, settings: SmppSettings) -> TlsError | None:
    """TLS's reason for a broken connection; None if TLS was not the reason."""
    for one in _causes(fault):
        # OpenSSL reports a connection that merely ended as an error too; that is no fault of TLS.
        if isinstance(one, ssl.SSLError) and not isinstance(one, ssl.SSLEOFError):
            return tls.why(peer, one, settings)
    return None


async def _connect(peer: str, settings: SmppSettings) -> trio.SocketStream:
    try:
        with trio.fail_after(settings.connect_timeout_s):
            return await trio.open_tcp_stream(
                settings.host, settings.port, local_address=settings.source_address
            )
    except trio.TooSlowError:
        waited = f"within {settings.connect_timeout_s:g} s"
        raise UnreachableError(f"No connection to {peer}: no answer {waited}.") from None
    except OSError as fault:
        raise UnreachableError(_why(peer, fault, settings)) from None


def _why(peer: str, fault: OSError, settings: SmppSettings) -> str:
    text = ""
    for one in _causes(fault):
        if isinstance(one, socket.gaierror):
            return f"No connection to {peer}: the name {settings.host} is not known here."
        if "local_address=" in str(one):  # Trio's own sentence, without an errno
            return f"This machine has no address {settings.source_address}: see source_address."
        if isinstance(one, OSError) and one.errno in _TEXTS:
            text = _TEXTS[one.errno]
    return f"No connection to {peer}: {text}." if text else f"No connection to {peer}."


def _causes(fault: BaseException | None) -> Iterator[BaseException]:
    """A fault and its causes: Trio tries several addresses and groups their faults."""
    if fault is None:
        return
    yield fault
    if isinstance(fault, BaseExceptionGroup):
        for one in fault.exceptions:
            yield from _causes(one)
    yield from _causes(fault.__cause__)
